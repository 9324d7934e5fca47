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
    plan.code().runs(0..plan.code().len()).for_each(|run| execute(run, &mut slots, public));
    slots.clear_padding();
    outputs(plan, &slots, public)
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
    public.code().runs(0..public.code().len()).for_each(|run| execute(run, &mut slots, &none));
    slots.clear_padding();
    outputs(public, &slots, &none)
}

fn execute(run: GateRun<'_>, slots: &mut BitMatrix, public: &BitMatrix) {
    let stride = slots.stride();
    let words = slots.words_mut();
    for &[dst, a, b] in run.gates {
        let [a, b] = [a, b].map(Operand::of);
        let (flip_a, flip_b) = (mask(a.flip()), mask(b.flip()));
        let (dst, a, b) = (dst as usize * stride, a.slot() * stride, b.slot() * stride);
        for i in 0..stride {
            words[dst + i] = match run.op {
                Op::Xor => words[a + i] ^ words[b + i],
                Op::And => (words[a + i] ^ flip_a) & (words[b + i] ^ flip_b),
                Op::XorPublic => words[a + i] ^ public.words()[b + i],
                Op::AndPublic => (words[a + i] ^ flip_a) & (public.words()[b + i] ^ flip_b),
            };
        }
    }
}

fn outputs(plan: &Plan, slots: &BitMatrix, public: &BitMatrix) -> BitMatrix {
    let mut made = BitMatrix::zeros(plan.outputs().len(), slots.lanes());
    for (row, source) in plan.outputs().iter().enumerate() {
        let flip = match *source {
            Source::Slot { slot, flip } => {
                made.row_mut(row).copy_from_slice(slots.row(slot as usize));
                flip
            }
            Source::Public { row: from, flip } => {
                made.row_mut(row).copy_from_slice(public.row(from as usize));
                flip
            }
            Source::Constant(bit) => bit,
        };
        let flip = mask(flip);
        made.row_mut(row).iter_mut().for_each(|word| *word ^= flip);
    }
    made.clear_padding();
    made
}

/// All ones or zero.
pub(crate) fn mask(bit: bool) -> u64 {
    (bit as u64).wrapping_neg()
}
