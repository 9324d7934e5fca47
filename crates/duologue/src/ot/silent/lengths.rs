//! The batches and messages of silent OT in lengths alone, which follow from the set of parameters.

use super::sets::{Round, Schedule};
use super::{HASH, MASKED, Set};
use crate::ot::softspoken::SoftSpokenLengths;

/// The progress of a silent maker in lengths alone: it has the batches, exchanges and bytes of the maker's two sides.
#[derive(Clone, Debug)]
pub struct SilentLengths {
    schedule: Schedule,
    /// The other maker and the number of COTs asked of it, until the first base is there.
    seeds: Option<(SoftSpokenLengths, usize)>,
    /// Whether a batch was begun.
    begun: bool,
    rounds: u64,
    /// The round of the batch that waits.
    waiting: Option<Round>,
    /// The corrections' bytes of each round under way, by stages as the maker has them.
    stages: [Option<usize>; 3],
}

impl SilentLengths {
    /// The lengths of a maker that has made nothing yet, and that starts from COTs of `inner`.
    pub fn new(set: Set, inner: SoftSpokenLengths) -> Self {
        Self::scheduled(set.schedule(), inner)
    }

    pub(super) fn scheduled(schedule: Schedule, inner: SoftSpokenLengths) -> Self {
        SilentLengths { schedule, seeds: Some((inner, 0)), begun: false, rounds: 0, waiting: None, stages: [None; 3] }
    }

    /// As [`CotMaker::batch`](crate::ot::CotMaker::batch).
    pub fn batch(&self, wanted: u64) -> usize {
        self.schedule.batch(wanted, self.begun)
    }

    /// As [`CotMaker::ready`](crate::ot::CotMaker::ready).
    pub fn ready(&self) -> bool {
        self.waiting.is_none()
    }

    /// As [`CotMaker::idle`](crate::ot::CotMaker::idle).
    pub fn idle(&self) -> bool {
        self.waiting.is_none() && self.stages == [None; 3]
    }

    /// The next exchange, before which a batch of `batch` COTs is begun unless that is zero: the bytes of the sender and
    /// of the receiver.
    pub fn exchange(&mut self, batch: usize) -> [usize; 2] {
        let first = batch > 0 && !std::mem::replace(&mut self.begun, true);
        if let Some((inner, _)) = self.seeds.as_mut().filter(|_| first && self.schedule.needs_no_round(batch)) {
            return inner.exchange(batch);
        }
        self.waiting = self.waiting.or_else(|| self.schedule.making(batch));
        match self.seeds {
            Some(_) if self.waiting.is_some() => self.seed(),
            Some(_) => [0, 0],
            None => self.turn(),
        }
    }

    fn seed(&mut self) -> [usize; 2] {
        let wanted = self.schedule.seeds();
        let Some((inner, asked)) = &mut self.seeds else { return [0, 0] };
        let left = wanted.saturating_sub(*asked);
        let batch = inner.batch(left as u64);
        *asked += batch;
        let lengths = inner.exchange(batch);
        if *asked >= wanted {
            self.seeds = None;
        }
        lengths
    }

    fn turn(&mut self) -> [usize; 2] {
        self.stages.rotate_right(1);
        self.stages[0] = match self.schedule.boot.filter(|_| self.rounds == 0) {
            Some(boot) => self.waiting.map(|_| boot.message()),
            None => self.waiting.take().map(|round| round.message()),
        };
        self.rounds += u64::from(self.stages[0].is_some());
        let [opened, masked, hashed] = self.stages;
        self.stages[2] = None;
        [opened.unwrap_or(0) + hashed.map_or(0, |_| HASH), masked.map_or(0, |_| MASKED)]
    }
}
