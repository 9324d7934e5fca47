//! Which task begins next: a function of the schedule and the window, the same at both parties.

use super::store::Store;
use super::{Scheduling, Window};
use circuit::program::{CellId, Schedule, Task, TaskKind};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Tasks beyond the oldest unfinished one that may be under way.
const LOOKAHEAD: usize = 1 << 10;

/// The tasks that have not begun, and the memory of those that have.
pub(super) struct Queue {
    schedule: Arc<Schedule>,
    scheduling: Scheduling,
    window: Window,
    /// Bytes of each task while it is under way.
    weights: Vec<usize>,
    /// Which cells wait for readers, those of maps that were gathered among them.
    cells: Store<()>,
    /// The bytes of these cells, and of maps under way.
    live: Window,
    peak: usize,
    /// How many arguments each task still waits for, and who waits for each cell.
    missing: Vec<u32>,
    readers: Vec<Vec<u32>>,
    ready: BTreeSet<u32>,
    finished: Vec<bool>,
    /// The oldest unfinished task.
    oldest: usize,
    unfinished: usize,
    /// Whether inputs are taken, where they are taken many at a time.
    filling: bool,
}

/// The tasks that wait for the peer, as far as the queue must know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnderWay {
    Nothing,
    /// Tasks whose first step is still to be taken.
    Begun {
        only_outputs: bool,
    },
    /// Tasks that wait.
    Waiting {
        only_outputs: bool,
    },
}

impl Queue {
    pub fn new(schedule: &Arc<Schedule>, scheduling: Scheduling, window: Window, weights: Vec<usize>) -> Queue {
        let tasks = &schedule.tasks;
        let mut queue = Queue {
            schedule: schedule.clone(),
            scheduling,
            window,
            weights,
            cells: Store::new(&schedule.uses),
            live: Window { cells: 0, maps: 0 },
            peak: 0,
            missing: vec![0; tasks.len()],
            readers: vec![Vec::new(); tasks.len()],
            ready: BTreeSet::new(),
            finished: tasks.iter().map(|task| task.public).collect(),
            oldest: 0,
            unfinished: 0,
            filling: false,
        };
        tasks.iter().filter(|task| !task.public).for_each(|task| queue.add(task));
        queue
    }

    fn add(&mut self, task: &Task) {
        let id = task.cell;
        for &arg in task.args.iter().filter(|&&arg| !self.schedule.tasks[arg as usize].public) {
            self.missing[id as usize] += 1;
            self.readers[arg as usize].push(id);
        }
        if self.missing[id as usize] == 0 {
            self.ready.insert(id);
        }
        self.unfinished += 1;
    }

    /// Tasks that are not finished.
    pub fn unfinished(&self) -> usize {
        self.unfinished
    }

    /// The most bytes of cells and maps at once.
    pub fn peak(&self) -> usize {
        self.peak
    }

    /// Takes the lowest ready task that fits into the window; any, if nothing else is under way.
    pub fn next(&mut self, under_way: UnderWay) -> Option<u32> {
        let next = match self.scheduling.one_way {
            true => self.next_one_way(under_way),
            false => self.near().find(|&id| self.fits(self.task(id))),
        };
        let next = next.or_else(|| self.near().next().filter(|_| under_way == UnderWay::Nothing))?;
        self.ready.remove(&next);
        Some(next)
    }

    /// Maps and views as long as there are some. Then what one party waits for the other in: outputs, for which it is time
    /// too when the window is over-full, and inputs until it is full.
    fn next_one_way(&mut self, under_way: UnderWay) -> Option<u32> {
        let find = |wanted: fn(&Task) -> bool| self.near().find(|&id| wanted(self.task(id)));
        let is_full = self.live.cells > self.window.cells && find(is_output).is_some();
        let waits = matches!(under_way, UnderWay::Waiting { .. });
        let local = if is_full || waits { None } else { find(|task| !is_awaited(task)) };
        if local.is_some() {
            return local;
        }
        let opens = under_way.only_opens();
        let output = if opens || is_full { find(is_output) } else { None };
        if output.is_some() {
            return output;
        }
        let input = find(is_input);
        let has_room = |id| self.live.cells + self.cell_bytes(self.task(id)) <= self.window.cells;
        self.filling = (self.filling || opens) && input.is_some_and(has_room);
        input.filter(|_| self.filling)
    }

    fn near(&self) -> impl Iterator<Item = u32> {
        self.ready.range(..(self.oldest + LOOKAHEAD) as u32).copied()
    }

    /// Whether a map is among the next tasks.
    pub fn has_map(&self) -> bool {
        self.near().any(|id| matches!(self.task(id).kind, TaskKind::Map { .. }))
    }

    fn fits(&self, task: &Task) -> bool {
        match task.kind {
            TaskKind::Input { .. } => self.live.cells + self.cell_bytes(task) <= self.window.cells,
            TaskKind::Map { .. } => self.live.maps == 0 || self.live.maps + self.weight(task) <= self.window.maps,
            _ => true,
        }
    }

    fn task(&self, id: u32) -> &Task {
        &self.schedule.tasks[id as usize]
    }

    fn weight(&self, task: &Task) -> usize {
        self.weights[task.cell as usize]
    }

    pub fn cell_bytes(&self, task: &Task) -> usize {
        bytes_of(task, self.scheduling)
    }

    /// Bytes that are counted from the moment a task begins: those of inputs, which wait for the peer in great number.
    fn reserved(&self, task: &Task) -> usize {
        if is_input(task) { self.cell_bytes(task) } else { 0 }
    }

    /// A view has read its arguments.
    pub fn release(&mut self, task: &Task) {
        let (mut gone, schedule, scheduling) = (0, &self.schedule, self.scheduling);
        self.cells.release(&task.args, |id, ()| gone += bytes_of(&schedule.tasks[id as usize], scheduling));
        self.live.cells -= gone;
    }

    /// A task of the protocol begins, and has read its arguments.
    pub fn begin(&mut self, task: &Task) {
        self.release(task);
        self.live.maps += self.weight(task);
        self.live.cells += self.reserved(task);
        self.peak = self.peak.max(self.live.cells + self.live.maps);
    }

    /// A task of the protocol ends, before or after [`finish`](Self::finish).
    pub fn leave(&mut self, task: &Task) {
        self.live.maps -= self.weight(task);
    }

    /// A task's cell is there, or will be: its readers may begin.
    pub fn finish(&mut self, task: &Task) {
        let id = task.cell;
        if self.schedule.uses[id as usize] > 0 {
            self.live.cells += self.cell_bytes(task) - self.reserved(task);
        }
        self.cells.put(id, ());
        for reader in std::mem::take(&mut self.readers[id as usize]) {
            self.missing[reader as usize] -= 1;
            if self.missing[reader as usize] == 0 {
                self.ready.insert(reader);
            }
        }
        self.mark_finished(id);
    }

    /// A task is finished, and nobody reads a cell of it.
    pub fn mark_finished(&mut self, id: CellId) {
        self.finished[id as usize] = true;
        self.unfinished -= 1;
        while self.finished.get(self.oldest) == Some(&true) {
            self.oldest += 1;
        }
    }
}

impl UnderWay {
    /// Whether nothing but outputs is under way.
    fn only_opens(self) -> bool {
        match self {
            UnderWay::Nothing => true,
            UnderWay::Begun { only_outputs } | UnderWay::Waiting { only_outputs } => only_outputs,
        }
    }
}

/// Bytes of the cell that a task makes.
fn bytes_of(task: &Task, scheduling: Scheduling) -> usize {
    (task.rows * task.lanes * scheduling.cell_bits).div_ceil(8)
}

/// Whether one party waits for the other in a task where maps are one way.
pub(super) fn is_awaited(task: &Task) -> bool {
    is_input(task) || is_output(task)
}

fn is_input(task: &Task) -> bool {
    matches!(task.kind, TaskKind::Input { .. })
}

pub(super) fn is_output(task: &Task) -> bool {
    matches!(task.kind, TaskKind::Output { .. })
}
