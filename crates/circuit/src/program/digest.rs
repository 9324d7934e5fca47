//! The digest of a schedule: what was prepared for one is worthless for any other.

use super::{CallPart, CallValue, Holder, Origin, Part, Parts, Piece, ProgramPart, Schedule, Target, Task, TaskKind};
use crate::plan::{Instr, Op, Plan, Source};

/// Bytes that are hashed at once.
const AT_ONCE: usize = 1 << 16;

impl Schedule {
    /// BLAKE3 of every task and every instruction: of one program, two schedules have the same if they compute in the
    /// same steps, whichever version of this crate made them. Of a program with calls, also how its parts and calls are
    /// joined. Who supplies and learns what is in the program's digest, as are names and parameters of calls.
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Digest { hasher: blake3::Hasher::new_derive_key("duologue 1 schedule"), bytes: Vec::new() };
        digest.count(self.plans.len());
        self.plans.iter().for_each(|plan| digest.plan(plan));
        digest.count(self.tasks.len());
        self.tasks.iter().for_each(|task| digest.task(task));
        if let Some(parts) = &self.parts {
            digest.parts(parts);
        }
        digest.end()
    }
}

struct Digest {
    hasher: blake3::Hasher,
    bytes: Vec<u8>,
}

impl Digest {
    fn number(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
        if self.bytes.len() >= AT_ONCE {
            self.hasher.update(&self.bytes);
            self.bytes.clear();
        }
    }

    fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    fn end(mut self) -> [u8; 32] {
        *self.hasher.update(&self.bytes).finalize().as_bytes()
    }

    fn numbers(&mut self, numbers: impl IntoIterator<Item = u64>) {
        numbers.into_iter().for_each(|number| self.number(number));
    }

    fn parts(&mut self, parts: &Parts) {
        self.count(parts.list.len());
        for part in &parts.list {
            match part {
                Part::Program(part) => self.program(part),
                Part::Call(part) => self.call(part),
            }
        }
        self.count(parts.direct.len());
        parts.direct.iter().for_each(|&(port, value)| self.numbers([port, value.number()].map(|place| place as u64)));
    }

    fn program(&mut self, part: &ProgramPart) {
        self.number(0);
        let digest = part.schedule.digest();
        self.numbers(digest.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)));
        self.origins(&part.inputs);
        self.count(part.outputs.len());
        self.numbers(part.outputs.iter().flat_map(|target| match *target {
            Target::Output(port) => [0, port as u64],
            Target::Value(value) => [1, value.number() as u64],
        }));
    }

    fn call(&mut self, part: &CallPart) {
        self.number(1);
        self.number(part.call.number.into());
        for values in [&part.call.args, &part.call.results] {
            self.count(values.len());
            self.numbers(values.iter().flat_map(|&CallValue { ty, lanes, holder }| {
                let holder = match holder {
                    Holder::Party(party) => party as u64,
                    Holder::Shared => 2,
                };
                [ty.width.into(), lanes, holder]
            }));
        }
        self.origins(&part.args);
        self.count(part.results.len());
        self.numbers(part.results.iter().map(|value| value.number() as u64));
    }

    fn origins(&mut self, origins: &[Origin]) {
        self.count(origins.len());
        self.numbers(origins.iter().flat_map(|origin| match *origin {
            Origin::Input(port) => [0, port as u64],
            Origin::Made(value) => [1, value.number() as u64],
        }));
    }

    fn plan(&mut self, plan: &Plan) {
        self.count(plan.slots());
        self.count(plan.inputs().len());
        plan.inputs().iter().for_each(|slot| self.number(slot.map_or(0, |slot| u64::from(slot) + 1)));
        self.count(plan.code().len());
        plan.code().iter().for_each(|instr| self.instr(instr));
        for runs in [plan.layers(), plan.vectors()] {
            self.count(runs.len());
            runs.iter().for_each(|run| [run.start, run.end].into_iter().for_each(|place| self.count(place)));
        }
        self.count(plan.outputs().len());
        plan.outputs().iter().for_each(|source| self.source(source));
        self.count(plan.public().is_some().into());
        if let Some(public) = plan.public() {
            self.plan(public);
        }
    }

    fn instr(&mut self, instr: Instr) {
        let op = match instr.op {
            Op::Xor => 0,
            Op::And => 1,
            Op::XorPublic => 2,
            Op::AndPublic => 3,
        };
        let flips = u64::from(instr.flip_a) << 8 | u64::from(instr.flip_b) << 9;
        self.number(op | flips | u64::from(instr.dst) << 32);
        self.number(u64::from(instr.a) | u64::from(instr.b) << 32);
    }

    fn source(&mut self, source: &Source) {
        self.number(match *source {
            Source::Slot { slot, flip } => u64::from(flip) << 8 | u64::from(slot) << 32,
            Source::Public { row, flip } => 1 | u64::from(flip) << 8 | u64::from(row) << 32,
            Source::Constant(bit) => 2 | u64::from(bit) << 8,
        });
    }

    fn task(&mut self, task: &Task) {
        let (kind, number, from, wiring): (u64, u32, u64, &[Piece]) = match &task.kind {
            TaskKind::Input { port, from, .. } => (0, *port, *from, &[]),
            TaskKind::Constant { bits } => (1, bits.len() as u32, 0, &[]),
            TaskKind::Map { plan, wiring } => (2, *plan, 0, wiring),
            TaskKind::View { wiring } => (3, 0, 0, wiring),
            TaskKind::Output { port, from, wiring, .. } => (4, *port, *from, wiring),
        };
        self.number(kind | u64::from(task.public) << 8 | u64::from(number) << 32);
        let seat = task.seat;
        [from, seat.and0, seat.in0, seat.out0].into_iter().for_each(|number| self.number(number));
        [task.cell as usize, task.rows, task.lanes, task.args.len(), wiring.len()]
            .into_iter()
            .for_each(|count| self.count(count));
        task.args.iter().for_each(|&arg| self.number(arg.into()));
        wiring.iter().for_each(|piece| self.piece(piece));
        if let TaskKind::Constant { bits } = &task.kind {
            bits.iter().for_each(|&bit| self.number(bit.into()));
        }
    }

    fn piece(&mut self, piece: &Piece) {
        let Piece { arg, from_row, to_row, rows, from_lane, from_step, to_lane, to_step, count } = *piece;
        [arg, from_row, to_row, rows].into_iter().for_each(|number| self.number(number.into()));
        [from_lane, from_step, to_lane, to_step, count].into_iter().for_each(|number| self.count(number));
    }
}

#[cfg(test)]
mod tests;
