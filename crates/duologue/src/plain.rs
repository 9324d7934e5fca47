//! The plain protocol: a bit is a bit. One process, no secrets; the reference of all others.

use crate::cells::{self, Nothing};
use crate::correlation::{Demand, Stock};
use crate::data::{Inputs, Outputs};
use crate::executor::{Alone, Executor, Window};
use crate::outbox::Outbox;
use crate::protocol::{Arg, Flow, Job, Protocol};
use crate::{Error, Party, Result};
use circuit::plan::{Instr, Op, Plan, Source};
use circuit::program::{Binding, Kind, Piece};
use circuit::{BitMatrix, Order, Schedule};
use std::sync::Arc;

/// Runs a program on plain bits; an output goes to whoever asks.
pub struct Plain;

/// Runs a bound program on all inputs at once, a shared one given as its value; all outputs.
///
/// # Errors
/// If an input is missing or misshapen.
pub fn run(binding: &Binding, inputs: &Inputs) -> Result<Outputs> {
    let feeds = inputs.feeds(binding, |_| true)?;
    let schedule = Schedule::new(binding, Order::DepthFirst, |slots| (CACHE * 8 / slots.max(1)).max(64));
    let schedule = Arc::new(schedule.map_err(|error| Error::usage(error.to_string()))?);
    let window = Window { cells: 1 << 26, maps: 1 << 24 };
    let job = (Arc::new(binding.clone()), schedule);
    let executor = Executor::new(Plain, None, job, (window, false), &feeds)?;
    let ran = executor.online(&feeds, &mut Stock::new(Party::Alice), &mut Alone)?;
    Ok(Outputs::new(binding, ran.outputs))
}

/// The working set of a tile in bytes.
const CACHE: usize = 1 << 20;

impl Protocol for Plain {
    type Mask = Nothing;
    type Value = BitMatrix;
    type Prepared = ();
    type Run = BitMatrix;

    fn demand(&self, _: &Job) -> Demand {
        Demand::NONE
    }

    fn setup_bytes(&self, _: &Job) -> usize {
        0
    }

    fn prepare(
        &self,
        _: &Job,
        _: &[Arg<'_, Nothing>],
        _: &mut Stock,
        _: &[u8],
        _: &mut Outbox,
    ) -> Result<((), Nothing)> {
        Ok(((), Nothing))
    }

    fn begin(&self, job: &Job, _: (), args: &[Arg<'_, BitMatrix>], feed: Option<BitMatrix>) -> Result<BitMatrix> {
        match &job.task.kind {
            Kind::Input { .. } => feed.ok_or_else(|| Error::usage("an input is missing")),
            Kind::Output { wiring, .. } => Ok(gather(wiring, job.task.rows, job.task.lanes, args)),
            Kind::Map { wiring, .. } => {
                let plan = job.plan.as_ref().expect("a map has a plan");
                Ok(map(plan, wiring, job.task.lanes, args, &job.public))
            }
            Kind::Constant { .. } | Kind::View { .. } => Err(Error::usage("not a task of a protocol")),
        }
    }

    fn step(&self, job: &Job, run: &mut BitMatrix, _: &[u8], _: &mut Outbox) -> Result<Flow<BitMatrix>> {
        let made = std::mem::replace(run, BitMatrix::zeros(0, 0));
        Ok(if matches!(job.task.kind, Kind::Output { .. }) { Flow::Output(Some(made)) } else { Flow::Value(made) })
    }

    fn lift_mask(&self, _: &BitMatrix) -> Nothing {
        Nothing
    }

    fn lift(&self, public: &BitMatrix) -> BitMatrix {
        public.clone()
    }
}

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
    for instr in plan.code() {
        execute(instr, &mut slots, public);
    }
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
    public.code().iter().for_each(|instr| execute(instr, &mut slots, &none));
    slots.clear_padding();
    outputs(public, &slots, &none)
}

fn execute(instr: &Instr, slots: &mut BitMatrix, public: &BitMatrix) {
    let stride = slots.stride();
    let (dst, a, b) = (instr.dst as usize * stride, instr.a as usize * stride, instr.b as usize * stride);
    let (flip_a, flip_b) = (mask(instr.flip_a), mask(instr.flip_b));
    let words = slots.words_mut();
    for i in 0..stride {
        words[dst + i] = match instr.op {
            Op::Xor => words[a + i] ^ words[b + i],
            Op::And => (words[a + i] ^ flip_a) & (words[b + i] ^ flip_b),
            Op::XorPublic => words[a + i] ^ public.words()[b + i],
            Op::AndPublic => (words[a + i] ^ flip_a) & (public.words()[b + i] ^ flip_b),
        };
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
