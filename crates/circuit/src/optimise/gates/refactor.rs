//! Refactoring: a node with a large cone is built anew over up to twelve leaves, an AND at a time.
//!
//! A function that is affine on a hyperplane ℓ = c is f = m ⊕ (ℓ ⊕ c)·g, where m is that affine form and g has a variable
//! less. Carries, comparisons, selections and conjunctions are all of that kind, and so is what is left of them, however
//! their gates were arranged. What is left with six variables or fewer is built by its recipe. The whole plan is evaluated over
//! the leaves and compared with the node before anything is built.

use super::affine::Synthesis;
use super::affine::recipe::{self, Recipe, terms};
use super::affine::truth::{INPUT, INPUTS};
use super::network::{Kind, Network};
use super::resubstitute::reads;
use super::rewrite::{assemble, freed, frees, gain};
use super::window::{self, Table, Window, and, input, leaves_of, xor};
use crate::graph::Bit;
use std::rc::Rc;

/// ANDs that must die with a node.
const LEAST: usize = 2;
/// The bit of the constant in a form.
const ONE: u16 = 1 << 15;

/// An affine form of the leaves.
type Form = u16;

/// m ⊕ ℓ·(what is left).
struct Step {
    by: Form,
    plus: Form,
}

/// A function of forms of the leaves.
struct Rest<const W: usize> {
    table: Table<W>,
    variables: Vec<(usize, Form)>,
    plus: Form,
}

/// How a function of the leaves is computed.
struct Plan<const W: usize> {
    steps: Vec<Step>,
    rest: Rest<W>,
    recipe: Rc<Recipe>,
}

/// What a replacement of a node has to fulfil.
#[derive(Clone, Copy)]
pub struct Rules {
    /// The node may not come later than before.
    pub keep_depth: bool,
    /// As many ANDs as before are taken too.
    pub sideways: bool,
}

/// One pass over all nodes: over twelve leaves, else over nine.
pub fn refactor(network: &mut Network<'_>, synthesis: &mut Synthesis, rules: Rules) {
    let mut places = Vec::new();
    for node in 1..network.nodes.len() as u32 {
        if matches!(network.nodes[node as usize].kind, Kind::And | Kind::Xor) && frees(network, node, LEAST) {
            window::places(&mut places, network);
            if !anew::<64>(network, synthesis, node, rules, &mut places) {
                window::places(&mut places, network);
                anew::<8>(network, synthesis, node, rules, &mut places);
            }
        }
    }
}

/// Whether the node was built anew.
fn anew<const W: usize>(
    network: &mut Network<'_>,
    synthesis: &mut Synthesis,
    node: u32,
    rules: Rules,
    places: &mut [u32],
) -> bool {
    let (leaves, goal) = {
        let (_, around) = Window::<W>::new(network, node, false, places);
        (around.leaves, around.goal)
    };
    let most = freed(network, node, &leaves) + usize::from(rules.sideways);
    if most < LEAST {
        return false;
    }
    let Some(plan) = plan(goal, leaves.len(), synthesis, most) else { return false };
    let before = network.nodes.len() as u32;
    let bit = plan.build(network, &leaves);
    let late = rules.keep_depth && network.nodes[bit.node() as usize].depth > network.nodes[node as usize].depth;
    let better = gain(network, node, bit, &leaves, before) + i64::from(rules.sideways) > 0;
    let done = better && !late && bit.node() != node && !reads(network, bit.node(), node, &leaves);
    if done {
        network.replace(node, bit);
    }
    (before..network.nodes.len() as u32).rev().for_each(|unused| network.bury(unused));
    done
}

/// A plan of fewer ANDs than `most`, proved by its table.
fn plan<const W: usize>(goal: Table<W>, leaves: usize, synthesis: &mut Synthesis, most: usize) -> Option<Plan<W>> {
    let variables = (0..leaves).map(|i| (i, 1 << i)).collect();
    let mut rest = Rest { table: goal, variables, plus: 0 };
    let mut steps = Vec::new();
    rest.simplify();
    while rest.variables.len() > INPUTS {
        if steps.len() + 1 >= most {
            return None;
        }
        steps.push(rest.step()?);
    }
    let recipe = synthesis.recipe(rest.six());
    let plan = Plan { steps, rest, recipe };
    (plan.ands() < most && plan.table() == goal).then_some(plan)
}

impl<const W: usize> Plan<W> {
    fn ands(&self) -> usize {
        self.steps.len() + self.recipe.ands.len()
    }

    /// What it computes.
    fn table(&self) -> Table<W> {
        let mut known = [[0; W]; 16];
        for (k, &(_, variable)) in self.rest.variables.iter().enumerate() {
            known[k] = table_of(variable);
        }
        let sum = |known: &[Table<W>; 16], form: recipe::Form| {
            terms(form).fold(table_of(form & ONE), |sum, term| xor(&sum, &known[term]))
        };
        for (j, &[a, b]) in self.recipe.ands.iter().enumerate() {
            known[INPUTS + j] = and(&sum(&known, a), &sum(&known, b));
        }
        let core = xor(&sum(&known, self.recipe.output), &table_of(self.rest.plus));
        let with = |core, step: &Step| xor(&and(&table_of(step.by), &core), &table_of(step.plus));
        self.steps.iter().rev().fold(core, with)
    }

    fn build(&self, network: &mut Network<'_>, leaves: &[u32]) -> Bit {
        let form = |network: &mut Network<'_>, form: Form, start: Bit| {
            let chosen = leaves.iter().enumerate().filter(|(i, _)| form >> i & 1 == 1);
            chosen.fold(start, |sum, (_, &leaf)| network.xor(sum, Bit::new(leaf, false))).flip(form & ONE != 0)
        };
        let mut bits = [Bit::FALSE; 16];
        for (k, &(_, variable)) in self.rest.variables.iter().enumerate() {
            bits[k] = form(network, variable, Bit::FALSE);
        }
        let core = assemble(network, bits, &self.recipe);
        let core = form(network, self.rest.plus, core);
        self.steps.iter().rev().fold(core, |core, step| {
            let by = form(network, step.by, Bit::FALSE);
            let product = network.and(by, core);
            form(network, step.plus, product)
        })
    }
}

/// The table of an affine form of the leaves.
fn table_of<const W: usize>(form: Form) -> Table<W> {
    let start = if form & ONE == 0 { [0; W] } else { [u64::MAX; W] };
    (0..leaves_of(W)).filter(|i| form >> i & 1 == 1).fold(start, |sum, i| xor(&sum, &input(i)))
}

impl<const W: usize> Rest<W> {
    /// Frees the function of directions in which it changes everywhere or nowhere.
    fn simplify(&mut self) {
        let mut a = 0;
        while a < self.variables.len() {
            let (i, form) = self.variables[a];
            if let Some(change) = constant(&xor(&self.table, &flipped(&self.table, i))) {
                self.drop(a, change, form);
                continue;
            }
            let with = (0..self.variables.len()).filter(|&b| b != a).find_map(|b| {
                let both = flipped(&flipped(&self.table, i), self.variables[b].0);
                Some((b, constant(&xor(&self.table, &both))?))
            });
            match with {
                Some((b, change)) => {
                    self.variables[b].1 ^= form;
                    self.drop(a, change, form);
                }
                None => a += 1,
            }
        }
        if self.table[0] & 1 == 1 {
            self.table = self.table.map(|word| !word);
            self.plus ^= ONE;
        }
    }

    /// Without variable `a`, which is 0 from now on.
    fn drop(&mut self, a: usize, change: bool, form: Form) {
        let (i, _) = self.variables.remove(a);
        self.table = substituted(&self.table, i, &[0; W]);
        if change {
            self.plus ^= form;
        }
    }

    /// Takes off an AND: of all hyperplanes where the function is affine the one that leaves fewest variables.
    fn step(&mut self) -> Option<Step> {
        let count = self.variables.len();
        let mut best: Option<(Step, Rest<W>)> = None;
        for a in 0..count {
            for b in a..count {
                for side in [false, true] {
                    let Some((step, rest)) = self.split(a, (a != b).then_some(b), side) else { continue };
                    if best.as_ref().is_none_or(|(_, best)| rest.variables.len() < best.variables.len()) {
                        best = Some((step, rest));
                    }
                }
            }
        }
        let (step, rest) = best?;
        *self = rest;
        Some(step)
    }

    /// The step by v_a (⊕ v_b), if the function is affine where that is `side`.
    fn split(&self, a: usize, b: Option<usize>, side: bool) -> Option<(Step, Rest<W>)> {
        let (i, form) = self.variables[a];
        let at = |value: bool| {
            let table = b.map_or([0; W], |b| input(self.variables[b].0));
            if value { table.map(|word| !word) } else { table }
        };
        let (affine, plus) = self.affine(&substituted(&self.table, i, &at(side)), i)?;
        let table = xor(&substituted(&self.table, i, &at(!side)), &affine);
        let table = substituted(&table, i, &at(!side));
        let by = form ^ b.map_or(0, |b| self.variables[b].1) ^ if side { ONE } else { 0 };
        let mut variables = self.variables.clone();
        variables.remove(a);
        let mut rest = Rest { table, variables, plus: 0 };
        rest.simplify();
        Some((Step { by, plus: self.plus ^ plus }, rest))
    }

    /// A function without variable `but` as an affine form, if it is one.
    fn affine(&self, table: &Table<W>, but: usize) -> Option<(Table<W>, Form)> {
        let zero = table[0] & 1;
        let mut affine = if zero == 1 { [u64::MAX; W] } else { [0; W] };
        let mut plus = if zero == 1 { ONE } else { 0 };
        for &(k, form) in self.variables.iter().filter(|(k, _)| *k != but) {
            let place = 1usize << k;
            if table[place / 64] >> (place % 64) & 1 != zero {
                affine = xor(&affine, &input(k));
                plus ^= form;
            }
        }
        (affine == *table).then_some((affine, plus))
    }

    /// The table over its own variables, of which there are six at most.
    fn six(&self) -> u64 {
        let place = |point: usize| {
            let bits = self.variables.iter().enumerate().filter(|(k, _)| point >> k & 1 == 1);
            bits.fold(0usize, |place, (_, (i, _))| place | 1 << i)
        };
        (0..64).fold(0, |six, point| six | (self.table[place(point) / 64] >> (place(point) % 64) & 1) << point)
    }
}

/// The value of a function that has but one.
fn constant<const W: usize>(table: &Table<W>) -> Option<bool> {
    let first = table[0];
    (table.iter().all(|&word| word == first) && (first == 0 || first == u64::MAX)).then_some(first != 0)
}

/// f(x ⊕ e_i).
fn flipped<const W: usize>(table: &Table<W>, i: usize) -> Table<W> {
    match i {
        0..INPUTS => table.map(|word| (word & INPUT[i]) >> (1 << i) | (word & !INPUT[i]) << (1 << i)),
        _ => std::array::from_fn(|word| table[word ^ 1 << (i - INPUTS)]),
    }
}

/// The function where variable `i` is another function, which may not depend on it.
fn substituted<const W: usize>(table: &Table<W>, i: usize, by: &Table<W>) -> Table<W> {
    let (own, other) = (input::<W>(i), flipped(table, i));
    let one = std::array::from_fn(|word| table[word] & own[word] | other[word] & !own[word]);
    let zero = xor(&xor(table, &other), &one);
    xor(&zero, &and(&xor(&zero, &one), by))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x_0·x_1·…·x_8 ⊕ x_0, complemented: three steps and a recipe of five ANDs.
    #[test]
    fn a_wrong_recipe_is_refused() {
        let mut synthesis = Synthesis::new();
        let all = (0..9).fold([u64::MAX; 8], |all, i| and(&all, &input(i)));
        let goal = xor(&all, &table_of(1 | ONE));
        let found = plan(goal, 9, &mut synthesis, 9).expect("eight ANDs");
        assert_eq!((found.steps.len(), found.recipe.ands.len()), (3, 5));
        synthesis.spoil();
        assert!(plan(goal, 9, &mut synthesis, 9).is_none());
    }

    /// A plan with one form changed, in any of its places, computes something else.
    #[test]
    fn a_wrong_form_is_seen() {
        let mut synthesis = Synthesis::new();
        let goal: Table<8> = (0..9).fold([u64::MAX; 8], |all, i| and(&all, &input(i)));
        for place in 0..8 {
            let mut wrong = plan(goal, 9, &mut synthesis, 9).expect("eight ANDs");
            match place {
                0..3 => wrong.steps[place].by ^= ONE,
                3..6 => wrong.steps[place - 3].plus ^= 1 << place,
                6 => wrong.rest.plus ^= ONE,
                _ => wrong.rest.variables[0].1 ^= ONE,
            }
            assert_ne!(wrong.table(), goal, "place {place}");
        }
    }
}
