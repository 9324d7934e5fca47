//! Setup of a map: masks of all its wires, and shares of the products of masks that its ANDs need.
//!
//! A product u·v of shared bits takes a random triple (a, b, c): the parties open d = u ⊕ a and e = v ⊕ b, and have
//! u·v = c ⊕ d·b ⊕ e·a ⊕ d·e. An AND of n inputs needs the products of all sets of two or more of its masks. Sets of two
//! are opened first; larger ones are products of two sets that are there, so that a second exchange is the last. What is
//! sent, for each layer, number of inputs and product: d of all its ANDs, then e, each filled up to a byte.

use super::MaskedGmw;
use super::layout::{Group, Layout};
use super::online::{Evaluation, Online};
use super::wires::Wires;
use crate::correlation::Triples;
use crate::executor::Job;
use crate::outbox::Outbox;
use crate::protocol::gmw::narrow::CellWires;
use circuit::BitMatrix;
use circuit::optimise::fuse::{And, Fused};
use kernels::generator::Generator;
use kernels::pages;
use std::sync::Arc;

/// Sets of inputs, as sums of 1, 2, 4 and 8, whose products an exchange makes: of 2, 3 and 4 inputs.
const ROUNDS: [[&[[usize; 2]]; 3]; 2] = [
    [&[[1, 2]], &[[1, 2], [1, 4], [2, 4]], &[[1, 2], [1, 4], [1, 8], [2, 4], [2, 8], [4, 8]]],
    [&[], &[[3, 4]], &[[3, 4], [3, 8], [12, 1], [12, 2], [3, 12]]],
];

fn products(round: usize, group: Group) -> &'static [[usize; 2]] {
    ROUNDS[round][group.inputs - 2]
}

/// Bytes of each of a map's setup messages; the same each way.
pub(super) fn messages(fused: &Fused, lanes: usize) -> Vec<usize> {
    if lanes == 0 {
        return Vec::new();
    }
    let layout = Layout::new(lanes);
    let bytes =
        |round| Group::all(fused).map(|group| products(round, group).len() * 2 * layout.bytes(group.ands)).sum();
    [0, 1].map(bytes).into_iter().take_while(|&bytes| bytes > 0).collect()
}

/// The prepared state of a map: for each layer and number of inputs a *plane* for each set of inputs, the share of the product of
/// their masks for each AND. The mask of the AND itself is added to the product of all.
pub(crate) struct Products {
    fused: Arc<Fused>,
    lanes: usize,
    planes: Vec<u64>,
    triples: Triples,
    /// Bytes of the exchanges that are left.
    messages: Vec<usize>,
    round: usize,
    /// The first triple of the next exchange.
    drawn: usize,
}

/// Words that products are made of; their memory serves all planes.
#[derive(Default)]
struct Factors {
    a: Vec<u64>,
    b: Vec<u64>,
    c: Vec<u64>,
    d: Vec<u64>,
    e: Vec<u64>,
}

impl Products {
    /// Draws the masks of a map; those of its outputs come with it.
    pub(super) fn new(
        masked: &MaskedGmw,
        job: &Job,
        fused: Arc<Fused>,
        inputs: &BitMatrix,
        triples: Triples,
    ) -> (Products, BitMatrix) {
        let lanes = job.task.lanes;
        let mut messages = messages(&fused, lanes);
        messages.reverse();
        let mut products = Products { fused, lanes, planes: Vec::new(), triples, messages, round: 0, drawn: 0 };
        if lanes == 0 {
            return (products, BitMatrix::zeros(job.task.rows, 0));
        }
        let (layout, fresh) = (Layout::new(lanes), masked.masks(job));
        let made = match layout {
            Layout::Many(_) => products.draw::<BitMatrix>(layout, inputs, &job.public, fresh),
            Layout::Few(_) if lanes <= 8 => products.draw::<CellWires<u8>>(layout, inputs, &job.public, fresh),
            Layout::Few(_) => products.draw::<CellWires<u64>>(layout, inputs, &job.public, fresh),
        };
        (products, made)
    }

    /// Goes through the plan with masks in place of values.
    fn draw<W: Wires>(
        &mut self,
        layout: Layout,
        inputs: &BitMatrix,
        public: &BitMatrix,
        mut fresh: Generator,
    ) -> BitMatrix {
        let fused = &self.fused;
        let size = Group::all(fused).map(|group| group.planes() * layout.words(group.ands)).sum();
        self.planes = pages::with_room(size);
        self.planes.resize(size, 0);
        let (mut wires, mut random) = (W::new(fused, inputs), Vec::new());
        let mut planes = &mut self.planes[..];
        for layer in fused.layers() {
            fused.code().runs(layer.code.clone()).for_each(|run| wires.local(run, public, false));
            for group in Group::of(layer) {
                let words = layout.words(group.ands);
                let planes = planes.split_off_mut(..group.planes() * words).expect("there is room for all");
                let full = (group.planes() - 1) * words;
                fill(layout, group.ands, &mut fresh, &mut random, &mut planes[full..]);
                match group.inputs {
                    2 => draw(&mut wires, &fused.twos()[layer.twos.clone()], words, planes),
                    3 => draw(&mut wires, &fused.threes()[layer.threes.clone()], words, planes),
                    _ => draw(&mut wires, &fused.fours()[layer.fours.clone()], words, planes),
                }
            }
        }
        fused.code().runs(fused.tail()).for_each(|run| wires.local(run, public, false));
        wires.outputs(fused.outputs(), public, false)
    }

    /// Takes the peer's message, if one was asked for, and writes the next; whether there is one.
    pub(super) fn step(&mut self, leads: bool, asked: bool, answer: &[u8], outbox: &mut Outbox) -> bool {
        if asked {
            self.close(leads, answer);
        }
        self.open(outbox);
        !self.messages.is_empty()
    }

    /// This party's shares of d and e for all products of the next exchange.
    fn open(&self, outbox: &mut Outbox) {
        if self.messages.is_empty() {
            return;
        }
        let (layout, mut factors) = (Layout::new(self.lanes), Factors::default());
        let (mut at, mut from) = (0, self.drawn);
        for group in Group::all(&self.fused) {
            let words = layout.words(group.ands);
            let planes = &self.planes[at..][..group.planes() * words];
            for &product in products(self.round, group) {
                factors.mask(layout, (planes, words), product, (&self.triples, from), group.ands);
                layout.squeeze(&factors.d, group.ands, outbox);
                layout.squeeze(&factors.e, group.ands, outbox);
                from += group.ands * self.lanes;
            }
            at += planes.len();
        }
    }

    /// Adds the products to their planes, with both parties' shares of d and e.
    fn close(&mut self, leads: bool, mut answer: &[u8]) {
        let lead = crate::executor::interpreter::mask(leads);
        let layout = Layout::new(self.lanes);
        let (mut factors, mut d, mut e) = (Factors::default(), Vec::new(), Vec::new());
        let mut at = 0;
        for group in Group::all(&self.fused) {
            let words = layout.words(group.ands);
            let planes = &mut self.planes[at..][..group.planes() * words];
            for &product in products(self.round, group) {
                factors.mask(layout, (planes, words), product, (&self.triples, self.drawn), group.ands);
                layout.spread(&self.triples.c, self.drawn, group.ands, &mut factors.c);
                for theirs in [&mut d, &mut e] {
                    let bytes = answer.split_off(..layout.bytes(group.ands)).expect("exactly the sum was read");
                    layout.spread_bytes(bytes, group.ands, theirs);
                }
                factors.multiply([&d, &e], lead, &mut planes[(product[0] + product[1] - 1) * words..][..words]);
                self.drawn += group.ands * self.lanes;
            }
            at += planes.len();
        }
        self.messages.pop();
        self.round += 1;
        if self.messages.is_empty() {
            self.triples = Triples { a: Vec::new(), b: Vec::new(), c: Vec::new(), len: 0 };
        }
    }

    /// Goes online with the masked inputs.
    pub(super) fn online(self, leads: bool, inputs: &BitMatrix) -> Box<dyn Evaluation> {
        let Products { fused, lanes, planes, .. } = self;
        match lanes {
            0..=8 => Box::new(Online::<CellWires<u8>>::new(fused, lanes, planes, leads, inputs)),
            9..=64 => Box::new(Online::<CellWires<u64>>::new(fused, lanes, planes, leads, inputs)),
            _ => Box::new(Online::<BitMatrix>::new(fused, lanes, planes, leads, inputs)),
        }
    }
}

/// The masks of a group's inputs go to their planes; the fresh ones in the last plane are those of its ANDs.
fn draw<W: Wires, const N: usize>(wires: &mut W, ands: &[And<N>], words: usize, planes: &mut [u64]) {
    if ands.is_empty() {
        return;
    }
    for input in 0..N {
        wires.gather(ands, input, &mut planes[((1 << input) - 1) * words..][..words]);
    }
    wires.scatter(ands, &planes[((1 << N) - 2) * words..]);
}

/// Random bits in the places of lanes, zeros elsewhere.
fn fill(layout: Layout, ands: usize, fresh: &mut Generator, random: &mut Vec<u64>, out: &mut [u64]) {
    let bits = ands * layout.lanes();
    if bits.is_multiple_of(64) && out.len() == bits / 64 {
        return fresh.words(out);
    }
    let mut spread = Vec::with_capacity(out.len());
    random.clear();
    random.resize(bits.div_ceil(64), 0);
    fresh.words(random);
    layout.spread(random, 0, ands, &mut spread);
    out.copy_from_slice(&spread);
}

impl Factors {
    /// d = u ⊕ a and e = v ⊕ b, of this party's shares.
    fn mask(
        &mut self,
        layout: Layout,
        (planes, words): (&[u64], usize),
        [u, v]: [usize; 2],
        (triples, from): (&Triples, usize),
        ands: usize,
    ) {
        layout.spread(&triples.a, from, ands, &mut self.a);
        layout.spread(&triples.b, from, ands, &mut self.b);
        let plane = |set: usize| &planes[(set - 1) * words..][..words];
        let xor = |to: &mut Vec<u64>, one: &[u64], other: &[u64]| {
            to.clear();
            to.extend(one.iter().zip(other).map(|(one, other)| one ^ other));
        };
        xor(&mut self.d, plane(u), &self.a);
        xor(&mut self.e, plane(v), &self.b);
    }

    /// Adds c ⊕ d·b ⊕ e·a ⊕ d·e, the last term with one party only, given the peer's shares of d and e.
    fn multiply(&self, [d, e]: [&[u64]; 2], lead: u64, product: &mut [u64]) {
        let ours = self.d.iter().zip(&self.e).zip(&self.a).zip(&self.b).zip(&self.c);
        for ((to, ((((ours_d, ours_e), a), b), c)), (d, e)) in product.iter_mut().zip(ours).zip(d.iter().zip(e)) {
            let (d, e) = (ours_d ^ d, ours_e ^ e);
            *to ^= c ^ (d & b) ^ (e & a) ^ (d & e & lead);
        }
    }
}
