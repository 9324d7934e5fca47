//! Plans on plain bits: what both parties know, and the reference of all protocols.

use super::cells;
use super::protocol::Arg;
use circuit::BitMatrix;
use circuit::plan::{GateRun, Op, Operand, Plan, Source};
use circuit::program::Piece;

/// Copies pieces of arguments together.
pub(crate) fn gather(wiring: &[Piece], rows: usize, lanes: usize, args: &[Arg<'_, BitMatrix>]) -> BitMatrix {
    let mut made = BitMatrix::zeros(rows, lanes);
    for piece in wiring {
        let (Arg::Secret(arg) | Arg::Public(arg)) = &args[piece.arg as usize];
        cells::copy(&mut made, arg, piece);
    }
    made
}

/// Runs a plan on plain arguments.
pub(crate) fn map(
    plan: &Plan,
    wiring: &[Piece],
    lanes: usize,
    args: &[Arg<'_, BitMatrix>],
    public: &BitMatrix,
) -> BitMatrix {
    let mut slots = BitMatrix::zeros(plan.slots(), lanes);
    for piece in wiring {
        let (Arg::Secret(arg) | Arg::Public(arg)) = &args[piece.arg as usize];
        cells::load(plan, &mut slots, arg, piece);
    }
    plan.code().runs(0..plan.code().len()).for_each(|run| execute(run, &mut slots, public, !0));
    outputs(plan.outputs(), &slots, public, !0)
}

/// The public rows that a map's secret gates and outputs read; none if the plan has no public part.
pub(crate) fn public_rows(plan: &Plan, wiring: &[Piece], lanes: usize, args: &[Option<&BitMatrix>]) -> BitMatrix {
    let Some(public) = plan.public() else { return BitMatrix::zeros(0, lanes) };
    let mut slots = BitMatrix::zeros(public.slots(), lanes);
    for piece in wiring {
        if let Some(arg) = args[piece.arg as usize] {
            cells::load(public, &mut slots, arg, piece);
        }
    }
    let none = BitMatrix::zeros(0, lanes);
    public.code().runs(0..public.code().len()).for_each(|run| execute(run, &mut slots, &none, !0));
    outputs(public.outputs(), &slots, &none, !0)
}

/// Executes gates on rows of bits, shares or masks. `live` is all ones where what is complemented or added counts, and zero
/// where not: for plain and masked bits it does, for shares at one party, for masks not at all.
pub(crate) fn execute(run: GateRun<'_>, slots: &mut BitMatrix, public: &BitMatrix, live: u64) {
    let stride = slots.stride();
    for &[dst, a, b] in run.gates {
        let (a, b, words) = (Operand::of(a), Operand::of(b), slots.words_mut());
        let (flip_a, flip_b) = (mask(a.flip()) & live, mask(b.flip()));
        match run.op {
            Op::Xor => {
                let (to, [a, b]) = rows(words, stride, dst as usize, [a.slot(), b.slot()]);
                zip(to, a, b, |a, b| a ^ b);
            }
            Op::And => {
                let (to, [a, b]) = rows(words, stride, dst as usize, [a.slot(), b.slot()]);
                zip(to, a, b, |a, b| (a ^ flip_a) & (b ^ flip_b));
            }
            Op::XorPublic => {
                let (to, [a]) = rows(words, stride, dst as usize, [a.slot()]);
                zip(to, a, public.row(b.slot()), |a, b| a ^ b & live);
            }
            Op::AndPublic => {
                let (to, [a]) = rows(words, stride, dst as usize, [a.slot()]);
                zip(to, a, public.row(b.slot()), |a, b| (a ^ flip_a) & (b ^ flip_b));
            }
        }
    }
}

#[inline(always)]
fn zip(to: &mut [u64], a: &[u64], b: &[u64], gate: impl Fn(u64, u64) -> u64) {
    to.iter_mut().zip(a).zip(b).for_each(|((to, &a), &b)| *to = gate(a, b));
}

/// The row that is written, and rows that are read, which are others.
#[inline(always)]
pub(crate) fn rows<const N: usize>(
    words: &mut [u64],
    stride: usize,
    to: usize,
    read: [usize; N],
) -> (&mut [u64], [&[u64]; N]) {
    let (below, rest) = words.split_at_mut(to * stride);
    let (row, above) = rest.split_at_mut(stride);
    let (below, above) = (&*below, &*above);
    let place = |other: usize| match other < to {
        true => &below[other * stride..][..stride],
        false => &above[(other - to - 1) * stride..][..stride],
    };
    (row, read.map(place))
}

/// The rows that a plan makes; `live` as in [`execute`].
pub(crate) fn outputs(sources: &[Source], slots: &BitMatrix, public: &BitMatrix, live: u64) -> BitMatrix {
    let mut made = BitMatrix::zeros(sources.len(), slots.lanes());
    for (row, source) in sources.iter().enumerate() {
        let to = made.row_mut(row);
        let flip = match *source {
            Source::Slot { slot, flip } => {
                to.copy_from_slice(slots.row(slot as usize));
                flip
            }
            Source::Public { row, flip } => {
                to.iter_mut().zip(public.row(row as usize)).for_each(|(to, bit)| *to = bit & live);
                flip
            }
            Source::Constant(bit) => bit,
        };
        to.iter_mut().for_each(|word| *word ^= mask(flip) & live);
    }
    made.clear_padding();
    made
}

/// All ones or zero.
pub(crate) fn mask(bit: bool) -> u64 {
    (bit as u64).wrapping_neg()
}
