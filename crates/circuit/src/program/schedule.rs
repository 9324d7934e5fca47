//! The schedule: tasks = step × tile of lanes, in one order that both parties derive.
//!
//! A *tile* is a run of lanes that are computed together; a *cell* is what one task makes: the rows of one node for one
//! tile. Tasks are ordered by demand, tile after tile over all outputs and reductions, so that a tile goes through the
//! whole program before the next one starts, and lives no longer than it is needed. Every task has a *seat*: its first
//! AND, input and output number. Hash tweaks and share streams come of seats and of the tasks' numbers, which makes them
//! unique by construction.

use super::parts::{CallPart, Parts, ProgramPart};
use super::wiring::Piece;
use super::{Owner, Recipient};
use crate::plan::{Order, Plan};
use std::sync::Arc;

/// The number of a cell: the rows that one task makes.
pub type CellId = u32;

/// The first AND, input and output number of a task, in bits over all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Seat {
    /// ANDs of the tasks before, over all lanes. Yao's numbers are made of it.
    pub and0: u64,
    /// Number of the first secret input bit.
    pub in0: u64,
    /// Number of the first secret output bit.
    pub out0: u64,
}

/// The work of a task.
#[derive(Clone, Debug)]
pub enum TaskKind {
    /// Takes lanes from `from` of an input port.
    Input {
        /// The port by its place in [`Binding::inputs`](super::Binding::inputs).
        port: u32,
        /// Who supplies it.
        owner: Owner,
        /// The first lane.
        from: u64,
    },
    /// Makes a public constant.
    Constant {
        /// The bits of each lane.
        bits: Arc<[bool]>,
    },
    /// Runs a plan on every lane; the pieces fill the circuit's input rows.
    Map {
        /// The plan by its place in [`Schedule::plans`].
        plan: u32,
        /// Where the input rows come from.
        wiring: Arc<[Piece]>,
    },
    /// Copies pieces together.
    View {
        /// Where the rows come from.
        wiring: Arc<[Piece]>,
    },
    /// Delivers lanes from `from` of an output port.
    Output {
        /// The port by its place in [`Binding::outputs`](super::Binding::outputs).
        port: u32,
        /// Who learns it.
        recipient: Recipient,
        /// The first lane.
        from: u64,
        /// Where the rows come from.
        wiring: Arc<[Piece]>,
    },
}

/// One step on one tile.
#[derive(Clone, Debug)]
pub struct Task {
    /// The work.
    pub kind: TaskKind,
    /// The cell that it makes; its number is the task's.
    pub cell: CellId,
    /// Rows of the cell.
    pub rows: usize,
    /// Lanes of the cell.
    pub lanes: usize,
    /// The cells that it reads.
    pub args: Vec<CellId>,
    /// Whether both parties know all that it reads: it runs in plain.
    pub public: bool,
    /// Its numbers.
    pub seat: Seat,
}

/// Tasks in the order of their numbers, arguments before their readers.
#[derive(Clone)]
pub struct Schedule {
    /// The tasks; task `i` makes cell `i`.
    pub tasks: Vec<Task>,
    /// The plans that maps run.
    pub plans: Vec<Arc<Plan>>,
    /// How many tasks read each cell.
    pub uses: Vec<u32>,
    /// The order of every plan.
    pub order: Order,
    /// The most lanes of a tile: a power of two.
    pub tile: usize,
    /// ANDs, secret input bits and secret output bits of the whole program.
    pub totals: Seat,
    /// The parts of a program with calls, or of a mixed one, which has no tasks of its own; none of any other.
    pub parts: Option<Arc<Parts>>,
}

impl Schedule {
    /// The plan of a map.
    pub fn plan(&self, plan: u32) -> &Arc<Plan> {
        &self.plans[plan as usize]
    }

    /// The parts of a program with calls, or of a mixed one, that have tasks.
    #[doc(hidden)]
    pub fn programs(&self) -> impl Iterator<Item = &ProgramPart> {
        self.parts.iter().flat_map(|parts| parts.programs())
    }

    /// The calls.
    #[doc(hidden)]
    pub fn calls(&self) -> impl Iterator<Item = &CallPart> {
        self.parts.iter().flat_map(|parts| parts.calls())
    }
}
