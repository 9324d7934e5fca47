//! The argument at the place to which a tournament's comparisons lead, as a call: Bob walks down the tree of pairs, and so
//! **he learns the place**. Huang, Evans, Katz, Malka, *Faster secure two-party computation using garbled circuits* (USENIX
//! Security 2011, §5, backtracking tree).
//!
//! Of each node the parties share the bit t = s ⊕ e, s Alice's and e Bob's: whether the left one of the pair has lost. Of a
//! random OT of 128 bits a node Alice has w⁰ and w¹, Bob c and w^c. Alice draws a key K for each child, and ρ.
//!
//! ```text
//! Bob → Alice   d = c ⊕ e
//! Alice → Bob   node:  for x = 0, 1 with b = x ⊕ s ⊕ d   H(K_node, w^x) ⊕ (K_child(b), b)
//!               leaf:  H(K_leaf) ⊕ (her share of the argument ⊕ ρ)
//! shares        Alice ρ; Bob what he finds at the leaf ⊕ his share of that argument
//! ```
//!
//! For x = c it is b = t: of each node Bob can open what belongs to the true bit, if he has its key, and he begins with the
//! root's, which is zero. One path opens; of all other nodes he has a label and no key.
//!
//! **Security**: semi-honest parties, that of the random OTs, H a random oracle. Alice sees d, which c masks. Bob learns the
//! place of the least value, and the results of the comparisons on the way to it, which follow from the place; nothing else,
//! as for every other row he lacks K or w. **That is a leak**: harmless where Bob learns the index anyway, or where somebody
//! else has permuted the values.
//!
//! **Cost** of n values with arguments of w bits: n − 1 random OTs, n − 1 bits to Alice, 33·(n − 1) + n·⌈w/8⌉ bytes to Bob.
//!
//! **Departs** from the paper, where labels of a garbled circuit serve as w: random OTs make it a protocol of its own, so that
//! the comparisons may come from any. Arguments are shared by XOR and not garbled, a bit in place of a label.

use duologue::call::{
    Call, CallLengths, CallProtocol, Context, Drawn, Exchange, OnlineStage, Outbox, SetupStage, Stage, Zeroizing,
};
use duologue::circuit::program::{CallPort, Functionality, Holder};
use duologue::circuit::{self, BitMatrix, Party, bits};
use duologue::correlation::Demand;
use duologue::{Error, Result};
use kernels::generator::Generator;
use std::sync::Arc;

/// The party that draws the keys.
const SENDER: Party = Party::Alice;

/// Bytes of a label or key.
const KEY: usize = 16;

/// Bytes of a node: two keys, and the masked bits of both in a byte.
const NODE: usize = 2 * KEY + 1;

/// Nodes and leaves of an exchange.
const CHUNK: usize = 1 << 14;

/// Leaves at most.
const MOST_LEAVES: u64 = 1 << 20;

/// The argument to which comparisons lead. It has no parameters. Its arguments are a shared bit for each pair of a tournament,
/// level by level, whether the left one has lost; then one or more lists of arguments of equal width, in all one more than
/// pairs. Its result is the argument, shared; Bob learns which one it is.
#[derive(Clone, Copy, Debug)]
pub struct Backtrack;

impl Functionality for Backtrack {
    fn name(&self) -> &str {
        "duologue:backtrack"
    }

    fn version(&self) -> u32 {
        1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> circuit::Result<Vec<CallPort>> {
        let refuse = |why: &str| Err(circuit::Error::usage(why));
        match args {
            _ if !parameters.is_empty() => refuse("no parameters"),
            [lost, first, more @ ..] if lost.ty.width == 1 && lost.holder == Holder::Shared => {
                match more.iter().all(|arg| arg.ty.width == first.ty.width)
                    && (1..=super::MOST_ARGUMENT).contains(&first.ty.width)
                {
                    true => Ok(vec![CallPort { ty: bits(first.ty.width), holder: Holder::Shared }]),
                    false => refuse("arguments of equal width of 1 to 4096 bits"),
                }
            }
            _ => refuse("a shared bit for each pair, and arguments"),
        }
    }

    fn lanes(&self, _: &[u8], args: &[u64]) -> circuit::Result<Vec<u64>> {
        let leaves = args.iter().skip(1).fold(0u64, |sum, &lanes| sum.saturating_add(lanes));
        match args.first() {
            Some(&pairs) if (1..MOST_LEAVES).contains(&pairs) && leaves == pairs + 1 => Ok(vec![1]),
            _ => {
                Err(circuit::Error::usage(format!("one argument more than pairs, at most {MOST_LEAVES}, not {args:?}")))
            }
        }
    }

    fn evaluate(&self, _: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        let Some((lost, arguments)) = args.split_first() else { return Vec::new() };
        let tree = Tree::new(lost.lanes() + 1);
        let leaf = tree.walk(|node| lost.get(0, node));
        let all: Vec<Vec<bool>> = arguments.iter().flat_map(BitMatrix::to_lanes).collect();
        vec![BitMatrix::from_lanes(arguments[0].rows(), &all[leaf..=leaf])]
    }
}

/// The pairs of a tournament over neighbours, in which an odd one out rests. Leaves are numbered first, then nodes level by
/// level; the last node is the root.
struct Tree {
    leaves: usize,
    children: Vec<[usize; 2]>,
}

impl Tree {
    fn new(leaves: usize) -> Tree {
        let mut children = Vec::with_capacity(leaves.saturating_sub(1));
        let mut left: Vec<usize> = (0..leaves).collect();
        while left.len() > 1 {
            let mut next = Vec::with_capacity(left.len().div_ceil(2));
            for pair in left.chunks(2) {
                match *pair {
                    [a, b] => {
                        next.push(leaves + children.len());
                        children.push([a, b]);
                    }
                    _ => next.extend(pair),
                }
            }
            left = next;
        }
        Tree { leaves, children }
    }

    /// The leaf to which the bits of nodes lead.
    fn walk(&self, mut right: impl FnMut(usize) -> bool) -> usize {
        let mut item = self.leaves + self.children.len() - 1;
        while let Some(node) = item.checked_sub(self.leaves) {
            item = self.children[node][usize::from(right(node))];
        }
        item
    }
}

/// What is public of a call.
#[derive(Clone, Copy)]
struct Layout {
    leaves: usize,
    /// Bytes of an argument, and its bits.
    bytes: usize,
    bits: usize,
}

impl Layout {
    fn new(call: &Call) -> Layout {
        let leaves: u64 = call.args.iter().skip(1).map(|arg| arg.lanes).sum();
        let bits = call.args.get(1).map_or(0, |arg| arg.ty.width as usize);
        Layout { leaves: leaves as usize, bytes: bits.div_ceil(8), bits }
    }

    fn nodes(&self) -> usize {
        self.leaves - 1
    }

    /// First and last of the nodes of each exchange.
    fn chunks(&self, of: usize) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        (0..of).step_by(CHUNK).map(move |from| from..(from + CHUNK).min(of))
    }

    fn lengths(&self, party: Party) -> CallLengths {
        let sends = party == SENDER;
        let demand = |chunk: std::ops::Range<usize>| Demand::of_cots(SENDER, chunk.len() as u64);
        let from_receiver = self.chunks(self.nodes()).map(|nodes| (0, nodes.len().div_ceil(8)));
        let nodes = self.chunks(self.nodes()).map(|nodes| (nodes.len() * NODE, 0));
        let leaves = self.chunks(self.leaves).map(|leaves| (leaves.len() * self.bytes, 0));
        let seen = |(from_sender, from_receiver)| {
            let (sent, read) = if sends { (from_sender, from_receiver) } else { (from_receiver, from_sender) };
            Exchange { sent, read, ..Exchange::default() }
        };
        CallLengths {
            setup: self
                .chunks(self.nodes())
                .map(|nodes| Exchange { demand: demand(nodes), ..Exchange::default() })
                .collect(),
            stored: 32 + self.nodes() * if sends { 2 * KEY } else { KEY + 1 },
            online: from_receiver.chain(nodes).chain(leaves).map(seen).collect(),
        }
    }
}

impl CallProtocol for Backtrack {
    fn lengths(&self, call: &Call, party: Party) -> Result<CallLengths> {
        Ok(Layout::new(call).lengths(party))
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> Result<SetupStage> {
        let layout = Layout::new(call);
        let mut stored = Zeroizing::new(Vec::with_capacity(layout.lengths(context.party).stored));
        stored.extend_from_slice(&context.domain);
        Ok(Box::new(Setup { sends: context.party == SENDER, stored }))
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> Result<OnlineStage> {
        let layout = Layout::new(call);
        let (domain, ots) = setup.split_at(32);
        let hashes = Hashes { domain: domain.try_into().expect("32 bytes") };
        let shares = Shares::new(call, args);
        let tree = Tree::new(layout.leaves);
        let common = Common { layout, tree, hashes, ots: Zeroizing::new(ots.to_vec()), shares };
        match party {
            SENDER => Ok(Box::new(Sender::new(common)?)),
            _ => Ok(Box::new(Walker { common, masked: 0, nodes: Vec::new(), leaves: Vec::new() })),
        }
    }
}

/// Setup: the random OTs are kept. Alice has both messages of each, Bob his choice and its message.
struct Setup {
    sends: bool,
    stored: Zeroizing<Vec<u8>>,
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, drawn: Drawn, _: &[u8], _: &mut Outbox) -> Result<()> {
        if self.sends {
            let [zeros, ones] = drawn.ots.sent.messages();
            for message in zeros.iter().zip(ones).flat_map(|(zero, one)| [zero, one]) {
                self.stored.extend_from_slice(&message.to_bytes());
            }
            return Ok(());
        }
        let received = &drawn.ots.received;
        for (ot, message) in received.messages().iter().enumerate() {
            self.stored.push((received.choices()[ot / 64] >> (ot % 64) & 1) as u8);
            self.stored.extend_from_slice(&message.to_bytes());
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.stored)
    }
}

/// H, of this call alone.
struct Hashes {
    domain: [u8; 32],
}

impl Hashes {
    /// The mask of a node's row: of a key and a bit.
    fn row(&self, node: usize, key: u128, label: &[u8]) -> (u128, u8) {
        let mut hasher = blake3::Hasher::new_derive_key("duologue v1 backtrack: row");
        hasher.update(&self.domain).update(&(node as u64).to_le_bytes()).update(&key.to_le_bytes()).update(label);
        let mut mask = Zeroizing::new([0; KEY + 1]);
        hasher.finalize_xof().fill(&mut mask[..]);
        (number(&mask[..KEY]), mask[KEY] & 1)
    }

    /// The mask of an argument.
    fn leaf(&self, leaf: usize, key: u128, mask: &mut [u8]) {
        let mut hasher = blake3::Hasher::new_derive_key("duologue v1 backtrack: leaf");
        hasher.update(&self.domain).update(&(leaf as u64).to_le_bytes()).update(&key.to_le_bytes());
        hasher.finalize_xof().fill(mask);
    }
}

fn number(bytes: &[u8]) -> u128 {
    bytes.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

/// A party's shares: of the bit of each node, and of each argument. Of what the peer holds alone its share is zero.
struct Shares {
    lost: BitMatrix,
    arguments: Vec<(usize, Option<BitMatrix>)>,
}

impl Shares {
    fn new(call: &Call, args: Vec<Option<BitMatrix>>) -> Shares {
        let mut args = call.args.iter().map(|arg| arg.lanes as usize).zip(args);
        let lost = args.next().map(|(lanes, lost)| lost.unwrap_or(BitMatrix::zeros(1, lanes)));
        Shares { lost: lost.unwrap_or(BitMatrix::zeros(1, 0)), arguments: args.collect() }
    }

    fn lost(&self, node: usize) -> u8 {
        u8::from(self.lost.get(0, node))
    }

    /// Adds the share of an argument.
    fn add(&self, mut leaf: usize, to: &mut [u8]) {
        for (lanes, list) in &self.arguments {
            match (leaf.checked_sub(*lanes), list) {
                (Some(rest), _) => leaf = rest,
                (None, None) => return,
                (None, Some(list)) => {
                    return (0..list.rows()).for_each(|bit| to[bit / 8] ^= u8::from(list.get(bit, leaf)) << (bit % 8));
                }
            }
        }
    }
}

/// What both parties have online.
struct Common {
    layout: Layout,
    tree: Tree,
    hashes: Hashes,
    ots: Zeroizing<Vec<u8>>,
    shares: Shares,
}

impl Common {
    /// An argument's bytes as the result of the call.
    fn result(&self, bytes: &[u8]) -> Vec<Option<BitMatrix>> {
        let mut argument = BitMatrix::zeros(self.layout.bits, 1);
        (0..self.layout.bits).for_each(|bit| argument.set(bit, 0, bytes[bit / 8] >> (bit % 8) & 1 == 1));
        vec![Some(argument)]
    }
}

/// Alice online: reads d, then sends nodes, then leaves.
struct Sender {
    common: Common,
    /// Of leaves, then of nodes; the root's is zero.
    keys: Zeroizing<Vec<u128>>,
    /// ρ, which is her share of the result.
    share: Zeroizing<Vec<u8>>,
    masked: Vec<u8>,
    next: usize,
}

impl Sender {
    fn new(common: Common) -> Result<Sender> {
        let mut random = Generator::from_os().map_err(|why| {
            let what = "cannot draw from the operating system's generator".into();
            Error::Io { what, source: std::io::Error::other(why.to_string()) }
        })?;
        let items = common.layout.leaves + common.layout.nodes();
        let mut keys = Zeroizing::new(vec![0; items]);
        keys[..items - 1].iter_mut().for_each(|key| *key = random.block().get());
        let mut share = Zeroizing::new(vec![0; common.layout.bytes]);
        random.fill(&mut share);
        Ok(Sender { common, keys, share, masked: Vec::new(), next: 0 })
    }

    /// Both rows of a node, in the order of its labels: nothing is read by a secret place.
    fn node(&self, node: usize, outbox: &mut Outbox) {
        let Common { layout, tree, hashes, ots, shares } = &self.common;
        let [left, right] = tree.children[node].map(|child| self.keys[child]);
        let key = self.keys[layout.leaves + node];
        let mut bits = 0;
        for x in 0..2 {
            let label = &ots[(2 * node + x as usize) * KEY..][..KEY];
            let b = x ^ shares.lost(node) ^ self.masked[node / 8] >> (node % 8) & 1;
            let child = left ^ (left ^ right) & u128::from(b).wrapping_neg();
            let (mask, mask_of_bit) = hashes.row(node, key, label);
            outbox.extend_from_slice(&(mask ^ child).to_le_bytes());
            bits |= (mask_of_bit ^ b) << x;
        }
        outbox.extend_from_slice(&[bits]);
    }

    fn leaf(&self, leaf: usize, outbox: &mut Outbox) {
        let Common { layout, hashes, shares, .. } = &self.common;
        let mut row = vec![0; layout.bytes];
        hashes.leaf(leaf, self.keys[leaf], &mut row);
        row.iter_mut().zip(self.share.iter()).for_each(|(byte, share)| *byte ^= share);
        shares.add(leaf, &mut row);
        outbox.extend_from_slice(&cut(row, layout.bits));
    }
}

/// The bits of an argument alone.
fn cut(mut row: Vec<u8>, bits: usize) -> Vec<u8> {
    if let (Some(last), rest @ 1..) = (row.last_mut(), bits % 8) {
        *last &= (1 << rest) - 1;
    }
    row
}

impl Stage for Sender {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.masked.extend_from_slice(inbox);
        let layout = self.common.layout;
        let chunks = layout.chunks(layout.nodes()).count();
        if let Some(nodes) = self.next.checked_sub(chunks).and_then(|chunk| layout.chunks(layout.nodes()).nth(chunk)) {
            nodes.for_each(|node| self.node(node, outbox));
        } else if let Some(chunk) = self.next.checked_sub(2 * chunks) {
            layout.chunks(layout.leaves).nth(chunk).into_iter().flatten().for_each(|leaf| self.leaf(leaf, outbox));
        }
        self.next += 1;
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[u8]) -> Result<Self::Output> {
        Ok(self.common.result(&self.share))
    }
}

/// Bob online: sends d, then reads nodes and leaves, and walks.
struct Walker {
    common: Common,
    /// How many nodes have been masked.
    masked: usize,
    nodes: Vec<u8>,
    leaves: Vec<u8>,
}

impl Walker {
    /// c, and the label w^c.
    fn received(&self, node: usize) -> (u8, &[u8]) {
        let row = &self.common.ots[node * (KEY + 1)..][..KEY + 1];
        (row[0], &row[1..])
    }

    fn mask(&mut self, outbox: &mut Outbox) {
        let nodes = self.masked..(self.masked + CHUNK).min(self.common.layout.nodes());
        let mut bits = vec![0; nodes.len().div_ceil(8)];
        for (place, node) in nodes.clone().enumerate() {
            bits[place / 8] |= (self.received(node).0 ^ self.common.shares.lost(node)) << (place % 8);
        }
        outbox.extend_from_slice(&bits);
        self.masked = nodes.end;
    }

    fn read(&mut self, inbox: &[u8]) {
        let rest = (self.common.layout.nodes() * NODE - self.nodes.len()).min(inbox.len());
        let (nodes, leaves) = inbox.split_at(rest);
        self.nodes.extend_from_slice(nodes);
        self.leaves.extend_from_slice(leaves);
    }

    /// Opens what belongs to his label of a node: its child's key, and which child that is.
    fn open(&self, node: usize, key: u128) -> Result<(u128, bool)> {
        let (choice, label) = self.received(node);
        let (mask, mask_of_bit) = self.common.hashes.row(node, key, label);
        let row = &self.nodes[node * NODE..][..NODE];
        if row[2 * KEY] > 3 {
            return Err(Error::peer(format!("its row of node {node} has bits that no honest party sets")));
        }
        let child = number(&row[usize::from(choice) * KEY..]) ^ mask;
        Ok((child, row[2 * KEY] >> choice & 1 ^ mask_of_bit == 1))
    }
}

impl Stage for Walker {
    type Output = Vec<Option<BitMatrix>>;

    fn step(&mut self, _: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.read(inbox);
        if self.masked < self.common.layout.nodes() {
            self.mask(outbox);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, inbox: &[u8]) -> Result<Self::Output> {
        self.read(inbox);
        let Common { layout, tree, hashes, shares, .. } = &self.common;
        let (mut item, mut key) = (layout.leaves + layout.nodes() - 1, 0);
        while let Some(node) = item.checked_sub(layout.leaves) {
            let (child, right) = self.open(node, key)?;
            (item, key) = (tree.children[node][usize::from(right)], child);
        }
        let mut share = Zeroizing::new(vec![0; layout.bytes]);
        hashes.leaf(item, key, &mut share);
        let row = &self.leaves[item * layout.bytes..][..layout.bytes];
        share.iter_mut().zip(row).for_each(|(byte, row)| *byte ^= row);
        shares.add(item, &mut share);
        Ok(self.common.result(&share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_the_pairs_of_a_tournament() {
        assert_eq!(Tree::new(2).children, [[0, 1]]);
        assert_eq!(Tree::new(5).children, [[0, 1], [2, 3], [5, 6], [7, 4]]);
        for leaves in 2..70 {
            let tree = Tree::new(leaves);
            assert_eq!(tree.children.len(), leaves - 1);
            let mut seen: Vec<usize> = tree.children.iter().flatten().copied().collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..2 * leaves - 2), "each but the root is a child once");
            assert_eq!((tree.walk(|_| false), tree.walk(|_| true)), (0, leaves - 1));
        }
    }

    /// Whether Alice draws a key for each node but the root.
    #[derive(Clone, Copy, PartialEq)]
    enum Keys {
        Drawn,
        /// The twin's: all are zero, as the root's.
        Zero,
    }

    /// Dealt labels for a tree in which Bob's share of every bit is zero: the rows that Alice sends, and Bob with all of it.
    fn dealt(leaves: usize, bits: &[u8], keys: Keys) -> Walker {
        let mut random = Generator::from_os().unwrap();
        let mut labels = vec![0; 2 * KEY * (leaves - 1)];
        random.fill(&mut labels);
        let lost: Vec<Vec<bool>> = bits.iter().map(|&bit| vec![bit == 1]).collect();
        let common = |ots: Vec<u8>, lost: BitMatrix| Common {
            layout: Layout { leaves, bytes: 2, bits: 16 },
            tree: Tree::new(leaves),
            hashes: Hashes { domain: [7; 32] },
            ots: Zeroizing::new(ots),
            shares: Shares { lost, arguments: Vec::new() },
        };
        let mut sender = Sender::new(common(labels.clone(), BitMatrix::from_lanes(1, &lost))).unwrap();
        let choices: Vec<u8> = (0..leaves - 1).map(|node| (node % 3 == 1) as u8).collect();
        if keys == Keys::Zero {
            sender.keys.fill(0);
        }
        sender.masked = vec![0; leaves.div_ceil(8)];
        choices.iter().enumerate().for_each(|(node, choice)| sender.masked[node / 8] |= choice << (node % 8));
        let chosen = choices.iter().zip(labels.chunks(2 * KEY));
        let received = chosen.flat_map(|(&c, pair)| [&[c], &pair[usize::from(c) * KEY..][..KEY]].concat()).collect();
        let mut outbox = Outbox::default();
        (0..leaves - 1).for_each(|node| sender.node(node, &mut outbox));
        (0..leaves).for_each(|leaf| sender.leaf(leaf, &mut outbox));
        let zeros = BitMatrix::zeros(1, leaves - 1);
        let mut walker = Walker { common: common(received, zeros), masked: 0, nodes: Vec::new(), leaves: Vec::new() };
        walker.read(&outbox);
        walker
    }

    /// How many nodes Bob opens to the right bit with a key.
    fn opened(walker: &Walker, bits: &[u8], key: impl Fn(usize) -> u128) -> usize {
        let right = |&node: &usize| walker.open(node, key(node)).unwrap().1 == (bits[node] == 1);
        (0..bits.len()).filter(right).count()
    }

    /// With keys that are drawn Bob opens the bits of one path, and of the others no more than a coin would tell; without them
    /// (the twin) every one.
    #[test]
    fn without_keys_of_nodes_every_comparison_is_seen() {
        let bits: Vec<u8> = (0..999).map(|node| (node * node % 7 < 3) as u8).collect();
        let opened = |keys| opened(&dealt(1000, &bits, keys), &bits, |_| 0);
        let honest = opened(Keys::Drawn);
        assert!((404..=595).contains(&honest), "{honest} of 999, where a coin has six standard deviations to it");
        assert_eq!(opened(Keys::Zero), 999);
    }

    #[test]
    fn a_row_that_nobody_sends_is_the_peers() {
        let mut walker = dealt(3, &[1, 0], Keys::Drawn);
        walker.nodes[NODE + 2 * KEY] = 4;
        let error = Box::new(walker).finish(&[]).unwrap_err();
        assert!(matches!(&error, Error::Peer(_)) && error.to_string().contains("node 1"), "{error}");
    }
}
