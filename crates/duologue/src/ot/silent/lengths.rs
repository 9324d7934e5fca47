//! The batches and messages of silent OT in lengths alone, which follow from the set of parameters.

use super::sets::Schedule;
use super::{HASH, MASKED, Set};
use crate::ot::softspoken::SoftSpokenLengths;

/// The progress of a silent maker in lengths alone: it has the batches, exchanges and bytes of the maker's two sides.
#[derive(Clone, Debug)]
pub struct SilentLengths {
    schedule: Schedule,
    /// The other maker and the number of COTs asked of it, until the first base is there.
    seeds: Option<(SoftSpokenLengths, usize)>,
    rounds: u64,
    waiting: bool,
    /// The corrections' bytes of each round under way, by stages as the maker has them.
    stages: [Option<usize>; 3],
}

impl SilentLengths {
    /// The lengths of a maker that has made nothing yet, and that starts from COTs of `inner`.
    pub fn new(set: Set, inner: SoftSpokenLengths) -> Self {
        Self::scheduled(set.schedule(), inner)
    }

    pub(super) fn scheduled(schedule: Schedule, inner: SoftSpokenLengths) -> Self {
        SilentLengths { schedule, seeds: Some((inner, 0)), rounds: 0, waiting: false, stages: [None; 3] }
    }

    /// As [`CotMaker::batch`](crate::ot::CotMaker::batch).
    pub fn batch(&self) -> usize {
        self.schedule.every.outputs()
    }

    /// As [`CotMaker::ready`](crate::ot::CotMaker::ready).
    pub fn ready(&self) -> bool {
        !self.waiting
    }

    /// As [`CotMaker::idle`](crate::ot::CotMaker::idle).
    pub fn idle(&self) -> bool {
        !self.waiting && self.stages == [None; 3]
    }

    /// The next exchange, before which a batch is begun if `begin`: the bytes of the sender and of the receiver.
    pub fn exchange(&mut self, begin: bool) -> [usize; 2] {
        self.waiting |= begin;
        match self.seeds {
            Some(_) if self.waiting => self.seed(),
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
        self.stages[0] = self.waiting.then(|| match self.schedule.boot {
            Some(boot) if self.rounds == 0 => boot.message(),
            _ => {
                self.waiting = false;
                self.schedule.every.message()
            }
        });
        self.rounds += u64::from(self.stages[0].is_some());
        let [opened, masked, hashed] = self.stages;
        self.stages[2] = None;
        [opened.unwrap_or(0) + hashed.map_or(0, |_| HASH), masked.map_or(0, |_| MASKED)]
    }
}
