//! What the processors of both parties compute in a run, counted from its schedule.

use crate::protocol::terms::Terms;
use crate::{Garbling, Scheme};
use circuit::program::{Piece, TaskKind, Technique};
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
        schedule.programs().for_each(|part| work += Work::of(&part.schedule));
        work
    }

    /// That of each protocol that takes part, with its terms; in a mixed program what waits for rounds comes first.
    pub(super) fn by_protocol(terms: &Terms, schedule: &Schedule) -> Vec<(Terms, Work)> {
        if terms.scheme != Scheme::Mixed {
            return vec![(*terms, Work::of(schedule))];
        }
        let of_technique = |technique| {
            let mut parts = schedule.programs().filter(|part| part.technique == Some(technique)).peekable();
            parts.peek()?;
            let mut work = Work::default();
            parts.for_each(|part| work += Work::of(&part.schedule));
            Some((terms.of_part(Some(technique)), work))
        };
        [Technique::Sharing, Technique::Garbling].into_iter().filter_map(of_technique).collect()
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

/// What work computes, in thousandths of an AES block.
///
/// Fitted to runs of ten programs, from one lane to 10,000, over a channel without a line. Without the makers' part they are
/// within a quarter of what nine runs in ten took.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// Of a phase that computes at all.
    begin: u64,
    gate: u64,
    and: u64,
    xor: u64,
    moved: u64,
    input: u64,
    /// Of a turn from sending to receiving.
    round: u64,
}

const YAO: [Pace; 2] = [
    Pace { begin: 77_500_000, gate: 2_770, and: 7_040, xor: 359, moved: 2_530, input: 11_000, round: 0 },
    Pace { begin: 21_700_000, gate: 1_620, and: 3_870, xor: 436, moved: 2_530, input: 0, round: 6_690_000 },
];
/// What an AND takes more by three-halves than by half-gates.
const THREE_HALVES: u64 = 2_300;
const GMW: [Pace; 2] = [
    Pace { begin: 82_500_000, gate: 4_860, and: 0, xor: 0, moved: 250, input: 0, round: 0 },
    Pace { begin: 42_500_000, gate: 1_380, and: 86, xor: 31, moved: 78, input: 0, round: 3_220_000 },
];
const MASKED_GMW: [Pace; 2] = [
    Pace { begin: 59_000_000, gate: 59_600, and: 129, xor: 0, moved: 1_170, input: 0, round: 0 },
    Pace { begin: 84_000_000, gate: 1_580, and: 61, xor: 6, moved: 79, input: 0, round: 2_770_000 },
];

impl Pace {
    /// Those of setup and of the online phase, where all of setup comes first.
    pub fn of(terms: &Terms) -> [Pace; 2] {
        let more = if terms.garbling == Garbling::ThreeHalves { THREE_HALVES } else { 0 };
        match terms.scheme {
            Scheme::Yao => YAO.map(|pace| Pace { and: pace.and + more, ..pace }),
            Scheme::Gmw | Scheme::Mixed => GMW,
            Scheme::MaskedGmw => MASKED_GMW,
        }
    }

    /// AES blocks that work is taken to compute in a phase of so many rounds.
    pub fn blocks(&self, work: &Work, rounds: u64) -> u64 {
        let terms = [
            (self.gate, work.gates),
            (self.and, work.ands),
            (self.xor, work.xors),
            (self.moved, work.moved),
            (self.input, work.inputs),
            (self.round, rounds),
        ];
        let sum: u128 = terms.into_iter().map(|(each, count)| u128::from(each) * u128::from(count)).sum();
        u64::try_from((sum + u128::from(self.begin)) / 1_000).unwrap_or(u64::MAX)
    }
}
