//! What the processors of both parties compute in a run, counted from its schedule.

use circuit::program::{Piece, TaskKind};
use circuit::{Schedule, plan::Plan};
use std::ops::AddAssign;

/// Numbers of what one party computes with secrets, besides correlations; the same in setup and online, and at both parties.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Work {
    /// Gates of circuits, each once for every tile.
    pub gates: u64,
    /// ANDs over all lanes.
    pub ands: u64,
    /// XORs over all lanes.
    pub xors: u64,
    /// Bits that are copied on the way to a circuit or an output, over all lanes.
    pub moved: u64,
    /// Secret bits that come in, over all lanes.
    pub inputs: u64,
}

impl Work {
    /// That of a schedule; of a program with calls that of the parts between them.
    pub(super) fn of(schedule: &Schedule) -> Work {
        let mut work = Work { inputs: schedule.totals.in0, ..Work::default() };
        for task in schedule.tasks.iter().filter(|task| !task.public) {
            match &task.kind {
                TaskKind::Map { plan, wiring } => {
                    work += Work::of_plan(schedule.plan(*plan), task.lanes as u64);
                    work.moved += moved(wiring);
                }
                TaskKind::View { wiring } | TaskKind::Output { wiring, .. } => work.moved += moved(wiring),
                TaskKind::Input { .. } | TaskKind::Constant { .. } => {}
            }
        }
        let parts = schedule.parts.iter().flat_map(|parts| parts.programs());
        parts.for_each(|part| work += Work::of(&part.schedule));
        work
    }

    fn of_plan(plan: &Plan, lanes: u64) -> Work {
        let gates = plan.code().len() as u64;
        Work { gates, ands: plan.ands() * lanes, xors: (gates - plan.ands()) * lanes, ..Work::default() }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.gates += other.gates;
        self.ands += other.ands;
        self.xors += other.xors;
        self.moved += other.moved;
        self.inputs += other.inputs;
    }
}

fn moved(wiring: &[Piece]) -> u64 {
    wiring.iter().map(|piece| u64::from(piece.rows) * piece.count as u64).sum()
}
