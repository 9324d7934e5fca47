//! Cut rewriting: a node is built anew over the leaves of a cut if that takes fewer ANDs than die with it.

use super::affine::Synthesis;
use super::affine::recipe::{Form, ONE, Recipe, terms};
use super::affine::truth::INPUTS;
use super::cuts::{Cut, Cuts, Limits};
use super::network::{Kind, Network};
use super::prints::Print;
use crate::graph::Bit;

/// Leaves of a cut that is tried even if only one AND dies.
const SMALL: usize = 4;

/// Nodes that are counted to see whether any AND dies with a node: else a long chain of XORs takes time by its square.
const MOST_DYING: usize = 1_000;

/// What a replacement of a node has to fulfil.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub limits: Limits,
    /// The node may not come later than before.
    pub keep_depth: bool,
    /// As many ANDs as before are taken if there are fewer XORs.
    pub sideways: bool,
}

/// A recipe for a cut, by what it costs.
struct Offer {
    gain: i64,
    /// XORs that are not there yet.
    xors: usize,
    cut: Cut,
    recipe: std::rc::Rc<Recipe>,
}

/// One pass over all nodes, each before those that read it: what replaces a node reads none that is still to come, so that
/// cuts stay as they were found and nothing reads itself.
pub fn rewrite(network: &mut Network<'_>, synthesis: &mut Synthesis, rules: Rules) {
    let mut cuts = Cuts::new(rules.limits);
    let end = network.nodes.len() as u32;
    for node in 1..end {
        if !matches!(network.nodes[node as usize].kind, Kind::Xor | Kind::And) {
            continue;
        }
        network.closed = node..end;
        // It may have been built for another one.
        if let Some(bit) = network.open(network.print[node as usize]) {
            network.replace(node, bit);
            continue;
        }
        if !frees(network, node, 1) {
            continue;
        }
        let of_node = cuts.of(network, node).to_vec();
        if let Some(offer) = best(network, synthesis, node, &of_node, rules) {
            let before = network.nodes.len() as u32;
            let bit = build(network, &offer.cut, &offer.recipe);
            network.replace(node, bit);
            (before..network.nodes.len() as u32).rev().for_each(|unused| network.bury(unused));
        }
    }
}

/// Whether so many ANDs at least die with a node, as far as the first [`MOST_DYING`] nodes tell.
pub fn frees(network: &mut Network<'_>, node: u32, ands: usize) -> bool {
    let mut dying = Vec::new();
    let freed = die_within(network, node, &mut dying, ands, MOST_DYING);
    revive(network, &dying);
    freed >= ands
}

/// Counts readers as if a node were dead; lists the nodes that die with it, itself first.
pub fn die(network: &mut Network<'_>, node: u32, dying: &mut Vec<u32>) -> usize {
    die_within(network, node, dying, usize::MAX, usize::MAX)
}

/// As [`die`], but for what comes after so many ANDs or nodes.
pub fn die_within(network: &mut Network<'_>, node: u32, dying: &mut Vec<u32>, most_ands: usize, most: usize) -> usize {
    let mut ands = 0;
    dying.push(node);
    let mut at = 0;
    while at < dying.len().min(most) && ands < most_ands {
        let node = &network.nodes[dying[at] as usize];
        at += 1;
        ands += usize::from(node.kind == Kind::And);
        for below in node.operands.map(Bit::node) {
            let below_node = &mut network.nodes[below as usize];
            below_node.readers -= 1;
            if below_node.readers == 0 && below_node.kind != Kind::Leaf {
                dying.push(below);
            }
        }
    }
    dying.truncate(at);
    ands
}

/// Undoes [`die`].
pub fn revive(network: &mut Network<'_>, dying: &[u32]) {
    for &node in dying {
        let operands = network.nodes[node as usize].operands;
        operands.iter().for_each(|bit| network.nodes[bit.node() as usize].readers += 1);
    }
}

/// The ANDs that die with a node if the leaves stay.
pub fn freed(network: &mut Network<'_>, node: u32, leaves: &[u32]) -> usize {
    let mut dying = Vec::new();
    dying_above(network, node, leaves, &mut dying)
}

/// As [`freed`]; lists the nodes that die.
pub fn dying_above(network: &mut Network<'_>, node: u32, leaves: &[u32], dying: &mut Vec<u32>) -> usize {
    leaves.iter().for_each(|&leaf| network.nodes[leaf as usize].readers += 1);
    let freed = die(network, node, dying);
    revive(network, dying);
    leaves.iter().for_each(|&leaf| network.nodes[leaf as usize].readers -= 1);
    freed
}

/// The ANDs that a node takes with it more than were built for `bit` in its place, which are those from `before` on: what it
/// shares with what would die does not die.
pub fn gain(network: &mut Network<'_>, node: u32, bit: Bit, leaves: &[u32], before: u32) -> i64 {
    let new = network.nodes[before as usize..].iter().filter(|new| new.kind == Kind::And).count();
    network.nodes[bit.node() as usize].readers += 1;
    let freed = freed(network, node, leaves);
    network.nodes[bit.node() as usize].readers -= 1;
    freed as i64 - new as i64
}

fn best(network: &mut Network<'_>, synthesis: &mut Synthesis, node: u32, cuts: &[Cut], rules: Rules) -> Option<Offer> {
    let mut best: Option<Offer> = None;
    for cut in cuts.iter().filter(|cut| cut.leaves() != [node]) {
        if !cut.leaves().iter().all(|&leaf| network.is_alive(leaf)) {
            continue;
        }
        let Some(offer) = offer(network, synthesis, node, cut, rules) else { continue };
        if best.as_ref().is_none_or(|best| (offer.gain, best.xors) > (best.gain, offer.xors)) {
            best = Some(offer);
        }
    }
    best
}

/// What a cut has to offer, if it may be taken.
fn offer(network: &mut Network<'_>, synthesis: &mut Synthesis, node: u32, cut: &Cut, rules: Rules) -> Option<Offer> {
    cut.leaves().iter().for_each(|&leaf| network.nodes[leaf as usize].readers += 1);
    let mut dying = Vec::new();
    let freed = die(network, node, &mut dying);
    // Recipes of many inputs take time, and hardly one has no AND that is not there.
    let tried = freed > usize::from(cut.leaves().len() > SMALL);
    let recipe = tried.then(|| synthesis.recipe(cut.table));
    let cost = recipe.as_ref().and_then(|recipe| cost(network, cut, recipe, node));
    revive(network, &dying);
    cut.leaves().iter().for_each(|&leaf| network.nodes[leaf as usize].readers -= 1);
    let (recipe, cost) = recipe.zip(cost)?;
    let late = rules.keep_depth && cost.depth > network.nodes[node as usize].depth;
    let gain = freed as i64 - cost.ands as i64;
    let xors_freed = dying.len() - freed;
    let worth = gain > 0 || rules.sideways && gain == 0 && cost.xors < xors_freed;
    (worth && !late).then_some(Offer { gain, xors: cost.xors, cut: *cut, recipe })
}

/// What a recipe takes beyond what is there.
struct Cost {
    ands: usize,
    xors: usize,
    depth: u32,
}

/// The print and the depth of each term.
struct Terms {
    prints: [Print; 16],
    depths: [u32; 16],
}

impl Terms {
    fn form(&self, form: Form) -> (Print, u32) {
        let constant = Print::from(form & ONE != 0);
        terms(form)
            .fold((constant, 0), |(print, depth), term| (print ^ self.prints[term], depth.max(self.depths[term])))
    }
}

/// The cost of a recipe while what it replaces counts as dead; nothing if it needs what it replaces.
fn cost(network: &Network<'_>, cut: &Cut, recipe: &Recipe, node: u32) -> Option<Cost> {
    let mut known = Terms { prints: [0; 16], depths: [0; 16] };
    for (i, &leaf) in cut.leaves().iter().enumerate() {
        known.prints[i] = network.print[leaf as usize];
        known.depths[i] = network.nodes[leaf as usize].depth;
    }
    let mut cost = Cost { ands: 0, xors: 0, depth: 0 };
    let stays = |bit: Bit| network.nodes[bit.node() as usize].readers > 0;
    let missing = |print: Print, form: Form| match network.find(print).filter(|&bit| stays(bit) || bit.node() == 0) {
        Some(_) => 0,
        None => (terms(form).count() as u32).saturating_sub(1) as usize,
    };
    for (j, &[a, b]) in recipe.ands.iter().enumerate() {
        let [(pa, da), (pb, db)] = [a, b].map(|form| known.form(form));
        let print = network.and_print(pa, pb);
        let mut depth = da.max(db) + 1;
        match network.find(print).or_else(|| network.find_plane(pa, pb)) {
            Some(bit) if bit.node() == node => return None,
            Some(bit) if stays(bit) || bit.node() == 0 => {
                depth = depth.min(network.nodes[bit.node() as usize].depth.max(da.max(db)))
            }
            _ => {
                cost.ands += 1;
                cost.xors += missing(pa, a) + missing(pb, b);
            }
        }
        known.prints[INPUTS + j] = print;
        known.depths[INPUTS + j] = depth;
    }
    let (print, depth) = known.form(recipe.output);
    cost.xors += missing(print, recipe.output);
    cost.depth = depth;
    Some(cost)
}

/// Builds a recipe over the leaves of a cut.
fn build(network: &mut Network<'_>, cut: &Cut, recipe: &Recipe) -> Bit {
    let mut bits = [Bit::FALSE; 16];
    cut.leaves().iter().enumerate().for_each(|(i, &leaf)| bits[i] = Bit::new(leaf, false));
    assemble(network, bits, recipe)
}

/// Builds a recipe over bits.
pub fn assemble(network: &mut Network<'_>, mut bits: [Bit; 16], recipe: &Recipe) -> Bit {
    for (j, &[a, b]) in recipe.ands.iter().enumerate() {
        let (a, b) = (sum(network, &bits, a), sum(network, &bits, b));
        bits[INPUTS + j] = network.and(a, b);
    }
    sum(network, &bits, recipe.output)
}

fn sum(network: &mut Network<'_>, bits: &[Bit; 16], form: Form) -> Bit {
    let print = terms(form).fold(Print::from(form & ONE != 0), |print, term| print ^ network.print_of(bits[term]));
    if let Some(bit) = network.open(print) {
        return bit;
    }
    let constant = Bit::constant(form & ONE != 0);
    terms(form).fold(constant, |sum, term| network.xor(sum, bits[term]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::words::Bits;

    /// Of (a·b)·(c·d) three ANDs die, but only one where both factors are read by what comes in its place.
    #[test]
    fn what_is_shared_does_not_die() {
        let mut c = Builder::new("four");
        let [a, b, x, y] = [0, 1, 2, 3].map(|i| c.bits(format!("in_{i}"), 1).0[0]);
        let (ab, xy) = (c.and(a, b), c.and(x, y));
        let all = c.and(ab, xy);
        c.output("all", &Bits(vec![all]));
        let circuit = c.finish();
        let mut network = Network::read(&circuit);
        let leaves = [1, 2, 3, 4];
        let [a, b, x, y] = leaves.map(|leaf| Bit::new(leaf, false));
        let (ab, xy) = (network.and(a, b), network.and(x, y));
        let node = network.and(ab, xy).node();
        let before = network.nodes.len() as u32;
        let apart = network.and(a, x);
        assert_eq!(gain(&mut network, node, apart, &leaves, before), 3 - 1);
        let sum = network.xor(xy, a);
        let shared = network.and(ab, sum);
        let both = network.and(shared, apart);
        assert_eq!(gain(&mut network, node, both, &leaves, before), 1 - 3);
        assert_eq!(network.nodes[node as usize].readers, 1);
    }
}
