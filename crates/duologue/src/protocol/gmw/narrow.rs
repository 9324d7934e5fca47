//! Maps of at most 64 lanes, packed across gates.
//!
//! With few lanes a row of bits does not fill a word, and a wire costs as much as 64 lanes of it would. Here a wire is
//! one cell of 8 or 64 bits that holds all its lanes, and a layer of ANDs becomes two vectors of words, d and e of all
//! its gates, that are opened and multiplied a word at a time: 64 gates of one lane at once. In such a vector a gate
//! takes 1, 2, 4 … 64 bits: its lanes, and zeros up to the next power of two. Setup puts the
//! triples into such words, and complements of operands are added a word at a time. What travels, and which triple belongs
//! to which AND, is as in wide maps.

use super::{Gmw, with_share};
use crate::correlation::Triples;
use crate::executor::cells;
use crate::executor::interpreter::mask;
use crate::executor::{Arg, Job};
use crate::outbox::Outbox;
use crate::packed::{byte_len, row_word};
use circuit::BitMatrix;
use circuit::plan::{GateRun, Op, Operand, Plan, Source};
use kernels::prefetch;
use std::ops::{BitAnd, BitXor, Range};
use std::sync::Arc;

/// The most lanes that fit a cell.
pub(crate) const MOST_LANES: usize = 64;

/// All lanes of a wire.
pub(crate) trait Cell:
    Copy + Default + BitXor<Output = Self> + BitAnd<Output = Self> + Into<u64> + Send
{
    /// The low bits of a word.
    fn of(word: u64) -> Self;
}

impl Cell for u8 {
    fn of(word: u64) -> Self {
        word as u8
    }
}

impl Cell for u64 {
    fn of(word: u64) -> Self {
        word
    }
}

/// How the gates of a layer lie in words.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub lanes: usize,
    /// Bits of a gate.
    pub width: usize,
    /// Gates of a word.
    pub gates: usize,
    /// The lanes of a gate.
    pub ones: u64,
}

impl Layout {
    pub fn new(lanes: usize) -> Self {
        let width = lanes.next_power_of_two();
        Layout { lanes, width, gates: 64 / width, ones: u64::MAX >> (64 - lanes) }
    }

    pub fn words(self, gates: usize) -> usize {
        gates.div_ceil(self.gates)
    }

    /// Ones in the lanes of each gate whose first operand, and whose second one, enters complemented.
    fn complements(self, gates: &[[u32; 3]]) -> [u64; 2] {
        let word = |place: usize| {
            let ones = |gate: &[u32; 3]| mask(Operand::of(gate[place]).flip()) & self.ones;
            gates.iter().enumerate().fold(0, |word, (i, gate)| word | ones(gate) << (i * self.width))
        };
        [word(1), word(2)]
    }

    /// Copies rows of `lanes` bits that are packed without gaps.
    pub fn spread(self, packed: &[u64], from: usize, rows: usize, out: &mut Vec<u64>) {
        let row = |i: usize| row_word(packed, from + i * self.lanes, self.lanes, 0);
        if self.width == self.lanes {
            let bits = rows * self.lanes;
            return out.extend((0..bits.div_ceil(64)).map(|i| row_word(packed, from, bits, i)));
        }
        let word = |word: usize| {
            let rows = word * self.gates..rows.min((word + 1) * self.gates);
            rows.rev().fold(0, |bits, i| (bits << (self.width % 64)) | row(i))
        };
        out.extend((0..self.words(rows)).map(word));
    }

    /// The bytes of rows that were spread, without gaps.
    pub fn squeeze(self, words: &[u64], rows: usize, out: &mut Outbox) {
        if self.width == self.lanes {
            return out.extend_from_slice(&bytemuck::cast_slice(words)[..byte_len(rows * self.lanes)]);
        }
        let (mut bits, mut filled) = (0u128, 0);
        for i in 0..rows {
            let row = words[i / self.gates] >> (i % self.gates * self.width) & self.ones;
            bits |= u128::from(row) << filled;
            filled += self.lanes;
            if filled >= 64 {
                out.extend_from_slice(&(bits as u64).to_le_bytes());
                (bits, filled) = (bits >> 64, filled - 64);
            }
        }
        out.extend_from_slice(&(bits as u64).to_le_bytes()[..byte_len(filled)]);
    }
}

/// Triples, each layer from a word of its own on.
pub(crate) struct PackedTriples {
    /// One of each factor and of the product, side by side.
    words: Vec<[u64; 3]>,
}

impl PackedTriples {
    pub(super) fn new(triples: &Triples, lanes: usize, plan: &Plan) -> Self {
        let layout = Layout::new(lanes);
        let layers = || plan.layers().iter().map(Range::len);
        let size = layers().map(|layer| layout.words(layer)).sum();
        let [a, b, c] = [&triples.a, &triples.b, &triples.c].map(|bits| {
            let mut packed = Vec::with_capacity(size);
            let mut from = 0;
            for layer in layers() {
                layout.spread(bits, from, layer, &mut packed);
                from += layer * lanes;
            }
            packed
        });
        PackedTriples { words: (0..size).map(|i| [a[i], b[i], c[i]]).collect() }
    }
}

/// Complements of the operands of a plan's ANDs, in words like those of [`PackedTriples`].
pub(crate) struct Complements(Vec<[u64; 2]>);

impl Complements {
    pub(super) fn new(plan: &Plan, lanes: usize) -> Self {
        let layout = Layout::new(lanes);
        let layers = plan.layers().iter().map(|layer| plan.code().gates(layer.clone()));
        Complements(
            layers.flat_map(|gates| gates.chunks(layout.gates)).map(|gates| layout.complements(gates)).collect(),
        )
    }
}

/// The wires of at most 64 lanes: a cell each.
pub(crate) struct CellWires<C> {
    pub cells: Vec<C>,
    pub layout: Layout,
}

impl<C: Cell> CellWires<C> {
    /// Slots, of which the inputs have theirs.
    pub fn new(slots: usize, inputs: &[Option<u32>], values: &BitMatrix) -> Self {
        let mut cells = vec![C::default(); slots];
        for (slot, &word) in inputs.iter().zip(values.words()) {
            if let Some(slot) = slot {
                cells[*slot as usize] = C::of(word);
            }
        }
        CellWires { cells, layout: Layout::new(values.lanes()) }
    }

    /// Gates that cost nothing; `live` as in [`execute`](crate::executor::interpreter::execute).
    pub fn execute(&mut self, run: GateRun<'_>, public: &BitMatrix, live: u64) {
        let (cells, live) = (&mut self.cells[..], live & self.layout.ones);
        let public = |row: usize| public.words()[row];
        match run.op {
            Op::Xor => prefetch::chunks(run.gates, 16).flatten().for_each(|&[dst, a, b]| {
                cells[dst as usize] = cells[a as usize] ^ cells[b as usize];
            }),
            Op::XorPublic => run.gates.iter().for_each(|&[dst, a, b]| {
                cells[dst as usize] = cells[a as usize] ^ C::of(public(b as usize) & live);
            }),
            Op::AndPublic => run.gates.iter().for_each(|&[dst, a, b]| {
                let [a, b] = [a, b].map(Operand::of);
                let share = cells[a.slot()] ^ C::of(mask(a.flip()) & live);
                cells[dst as usize] = share & C::of(public(b.slot()) ^ mask(b.flip()));
            }),
            Op::And => unreachable!("ANDs stand in layers"),
        }
    }

    /// The rows that a plan makes.
    pub fn outputs(&self, sources: &[Source], public: &BitMatrix, live: u64) -> BitMatrix {
        let live = live & self.layout.ones;
        let mut made = BitMatrix::zeros(sources.len(), self.layout.lanes);
        for (to, source) in made.words_mut().iter_mut().zip(sources) {
            *to = match *source {
                Source::Slot { slot, flip } => self.cells[slot as usize].into() ^ mask(flip) & live,
                Source::Public { row, flip } => (public.words()[row as usize] ^ mask(flip)) & live,
                Source::Constant(bit) => mask(bit) & live,
            };
        }
        made
    }
}

/// A plan under way on shares of few lanes.
pub(crate) struct Narrow<C> {
    wires: CellWires<C>,
    triples: PackedTriples,
    complements: Arc<Complements>,
    /// The next gate, and the first word of triples of the next layer.
    next: usize,
    done: usize,
    /// This party's d and e of the layer that is being opened, as they travel but for the gaps.
    opened: Vec<u64>,
    came: Vec<u64>,
}

impl<C: Cell> Narrow<C> {
    pub(super) fn new(
        gmw: &Gmw,
        job: &Job,
        (triples, complements): (PackedTriples, Arc<Complements>),
        args: &[Arg<'_, BitMatrix>],
    ) -> Self {
        let (plan, lanes) = (plan_of(job), job.task.lanes);
        let circuit::program::TaskKind::Map { wiring, .. } = &job.task.kind else {
            unreachable!("only maps have plans")
        };
        let mut inputs = BitMatrix::zeros(plan.inputs().len(), lanes);
        for piece in wiring.iter() {
            with_share(gmw, &args[piece.arg as usize], |arg| cells::copy(&mut inputs, arg, piece));
        }
        let wires = CellWires::new(plan.slots(), plan.inputs(), &inputs);
        Narrow { wires, triples, complements, next: 0, done: 0, opened: Vec::new(), came: Vec::new() }
    }

    /// Goes on until a layer must be exchanged, or to the cell that the plan makes.
    pub(super) fn step(&mut self, gmw: &Gmw, job: &Job, inbox: &[u8], outbox: &mut Outbox) -> Option<BitMatrix> {
        let code = plan_of(job).code();
        for run in code.runs(self.next..code.len()) {
            match run.op {
                Op::And if self.opened.is_empty() => {
                    self.open(gmw, run.gates);
                    self.wires.layout.squeeze(&self.opened, 2 * run.gates.len(), outbox);
                    return None;
                }
                Op::And => self.close(gmw, run.gates, inbox),
                _ => self.wires.execute(run, &job.public, gmw.public_share(!0)),
            }
            self.next = run.end();
        }
        Some(self.wires.outputs(plan_of(job).outputs(), &job.public, gmw.public_share(!0)))
    }

    /// This party's shares of d = x ⊕ a and e = y ⊕ b for every AND of a layer.
    fn open(&mut self, gmw: &Gmw, gates: &[[u32; 3]]) {
        let (Layout { width, gates: many, .. }, ours) = (self.wires.layout, gmw.public_share(!0));
        let words = self.triples.words[self.done..].iter().zip(&self.complements.0[self.done..]);
        for (gates, ([a, b, _], [not_x, not_y])) in prefetch::chunks(gates, many).zip(words) {
            let (mut d, mut e) = (a ^ not_x & ours, b ^ not_y & ours);
            for (i, &[_, x, y]) in gates.iter().enumerate() {
                d ^= self.wires.cells[Operand::of(x).slot()].into() << (i * width);
                e ^= self.wires.cells[Operand::of(y).slot()].into() << (i * width);
            }
            self.opened.extend(interleave([d, e], width));
        }
    }

    /// With both shares of d and e: xy = c ⊕ d·b ⊕ e·a ⊕ d·e, the last term with one party only.
    fn close(&mut self, gmw: &Gmw, gates: &[[u32; 3]], inbox: &[u8]) {
        let Layout { width, gates: many, ones, lanes, .. } = self.wires.layout;
        self.receive(inbox, 2 * gates.len(), lanes);
        let triples = &self.triples.words[self.done..];
        let opened = self.opened.as_chunks::<2>().0.iter().zip(self.came.as_chunks::<2>().0);
        for ((gates, &[a, b, c]), (ours, theirs)) in prefetch::chunks(gates, many).zip(triples).zip(opened) {
            let [d, e] = separate([ours[0] ^ theirs[0], ours[1] ^ theirs[1]], width);
            let product = c ^ (d & b) ^ (e & a) ^ gmw.public_share(d & e);
            for (i, gate) in gates.iter().enumerate() {
                self.wires.cells[gate[0] as usize] = C::of(product >> (i * width) & ones);
            }
        }
        self.done += self.wires.layout.words(gates.len());
        self.opened.clear();
    }

    /// The peer's d and e, spread as ours are.
    fn receive(&mut self, inbox: &[u8], rows: usize, lanes: usize) {
        let mut packed = vec![0u64; (rows * lanes).div_ceil(64)];
        bytemuck::cast_slice_mut(&mut packed)[..inbox.len()].copy_from_slice(inbox);
        self.came.clear();
        self.wires.layout.spread(&packed, 0, rows, &mut self.came);
        self.came.resize(self.opened.len(), 0);
    }
}

fn plan_of(job: &Job) -> &Plan {
    job.plan.as_ref().expect("a map has a plan")
}

/// The lower 2ⁱ bits of every 2ⁱ⁺¹.
const LOWER: [u64; 6] = [
    0x5555_5555_5555_5555,
    0x3333_3333_3333_3333,
    0x0f0f_0f0f_0f0f_0f0f,
    0x00ff_00ff_00ff_00ff,
    0x0000_ffff_0000_ffff,
    0x0000_0000_ffff_ffff,
];

/// Groups of `width` bits of two words by turns: the first of d, the first of e, the second of d.
#[inline(always)]
fn interleave([d, e]: [u64; 2], width: usize) -> [u64; 2] {
    if width == 64 {
        return [d, e];
    }
    let apart = |half: u64| {
        let steps = (width.ilog2() as usize..5).rev();
        steps.fold(half & LOWER[5], |bits, i| (bits | bits << (1 << i)) & LOWER[i])
    };
    [apart(d) | apart(e) << width, apart(d >> 32) | apart(e >> 32) << width]
}

/// The inverse of [`interleave`].
#[inline(always)]
fn separate([low, high]: [u64; 2], width: usize) -> [u64; 2] {
    if width == 64 {
        return [low, high];
    }
    let first = width.ilog2() as usize;
    let together = |bits: u64| (first..5).fold(bits & LOWER[first], |bits, i| (bits | bits >> (1 << i)) & LOWER[i + 1]);
    [together(low) | together(high) << 32, together(low >> width) | together(high >> width) << 32]
}
