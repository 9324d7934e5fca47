//! The digest of a schedule: what was prepared for one is worthless for any other.

use super::{Piece, Schedule, Task, TaskKind};
use crate::plan::{Instr, Op, Plan, Source};

/// Bytes that are hashed at once.
const AT_ONCE: usize = 1 << 16;

impl Schedule {
    /// BLAKE3 of every task and every instruction: of one program, two schedules have the same if they compute in the
    /// same steps, whichever version of this crate made them. Who supplies and learns what is in the program's digest.
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Digest { hasher: blake3::Hasher::new_derive_key("duologue 1 schedule"), bytes: Vec::new() };
        digest.count(self.plans.len());
        self.plans.iter().for_each(|plan| digest.plan(plan));
        digest.count(self.tasks.len());
        self.tasks.iter().for_each(|task| digest.task(task));
        for part in self.parts.iter().flat_map(|parts| parts.programs()) {
            part.schedule.digest().chunks(8).for_each(|word| {
                digest.number(u64::from_le_bytes(word.try_into().expect("8 of 32 bytes")));
            });
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
mod tests {
    use crate::plan::Order;
    use crate::program::{Party, Program, Schedule};
    use crate::{blocks, uint};

    fn schedule(block: &str, order: Order, tile: usize, swap: bool) -> Schedule {
        let mut p = Program::new("digest");
        let a = p.input("a", Party::Alice, uint(8), 100);
        let b = p.input("b", Party::Bob, uint(8), 100);
        let circuit = blocks::find(block).unwrap().circuit(&[8], blocks::Goal::Size).unwrap();
        let made = p.map(&circuit, &if swap { [b, a] } else { [a, b] });
        p.output("made", Party::Alice, made);
        Schedule::new(&p.bind(&[]).unwrap(), order, |_| tile).unwrap()
    }

    #[test]
    fn every_difference_counts() {
        let digest = |block, order, tile, swap| schedule(block, order, tile, swap).digest();
        let first = digest("greater", Order::Layered, 64, false);
        assert_eq!(first, digest("greater", Order::Layered, 64, false));
        for other in [
            digest("equal", Order::Layered, 64, false),
            digest("greater", Order::DepthFirst, 64, false),
            digest("greater", Order::Layered, 128, false),
            digest("greater", Order::Layered, 64, true),
        ] {
            assert_ne!(first, other);
        }
    }

    /// One changed bit of one instruction is another program, with as many gates in the same places.
    #[test]
    fn a_complement_counts() {
        let (one, other) =
            (schedule("add", Order::Layered, 64, false), schedule("subtract", Order::Layered, 64, false));
        assert_ne!(one.digest(), other.digest());
    }
}
