//! Which lanes each shard has, and how a reduction's tree is cut at their ends.
//!
//! A reduction is a tree over neighbours whose nodes are *blocks*: 2^h lanes from a multiple of 2^h on. Any range of lanes is a
//! sequence of few blocks, so a shard folds each of its own to one lane, and the last program folds those of all shards like a
//! binary counter: two neighbours as soon as they have the same size, and at the end what is left from the right. That is the
//! tree that one machine would have, at every node and for every circuit, whether it is associative or not.
//!
//! Shards begin at multiples of one power of two, so that blocks are few and large.

use super::Cut;
use super::places::Layout;
use crate::{Error, Result};
use std::ops::Range;

/// The most shards of a job.
pub const MOST_SHARDS: u32 = 1 << 14;

/// A shard may have so much more than its equal share, a 32nd of it, for the sake of a larger power of two.
const MOST_UNEVEN: u64 = 32;

/// The lanes that a size counts, divided among shards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ranges {
    /// The lanes that are divided.
    pub lanes: u64,
    pub shards: u32,
    /// How many of the shards have lanes: all but some at the end, if there are fewer lanes than shards.
    pub used: u32,
    /// Lanes that come before the first one where reductions count.
    phase: u64,
    /// The power of two at whose multiples shards begin, counted with the phase.
    pub block: u64,
}

impl Ranges {
    /// Ranges as equal as the largest possible power of two allows, of at least one lane.
    pub fn new(by: &str, lanes: u64, cut: &Cut, phase: u64) -> Result<Ranges> {
        let shards = cut.shards;
        let refuse = |why: String| Err(Error::usage(why));
        match shards {
            _ if !(1..=MOST_SHARDS).contains(&shards) => {
                return refuse(format!("a job has 1 to {MOST_SHARDS} shards, not {shards}"));
            }
            _ if lanes < shards.into() && !cut.allow_empty => {
                return refuse(format!(
                    "{shards} shards, but the size '{by}' counts {lanes} lanes: take {lanes} shards or fewer"
                ));
            }
            _ => {}
        }
        let used = lanes.min(shards.into()) as u32;
        let mut ranges = Ranges { lanes, shards, used, phase, block: 1 << (lanes + phase).ilog2() };
        while ranges.block > 1 && !ranges.is_even() {
            ranges.block /= 2;
        }
        Ok(ranges)
    }

    /// Whether each shard has lanes, and none has many more than others.
    fn is_even(&self) -> bool {
        let equal = self.lanes.div_ceil(self.used.into());
        let most = equal + equal / MOST_UNEVEN;
        let mut lengths = (0..self.used).map(|shard| self.start(shard + 1).saturating_sub(self.start(shard)));
        lengths.all(|length| (1..=most).contains(&length))
    }

    /// The first lane of a shard, or the end of the one before it.
    fn start(&self, shard: u32) -> u64 {
        if shard == 0 || shard >= self.used {
            return if shard == 0 { 0 } else { self.lanes };
        }
        let [lanes, phase, shard, used, block] =
            [self.lanes, self.phase, shard.into(), self.used.into(), self.block].map(u128::from);
        let nearest = (2 * (phase * used + lanes * shard) + block * used) / (2 * block * used) * block;
        (nearest.saturating_sub(phase)).min(lanes) as u64
    }

    /// The lanes of a shard.
    pub fn of(&self, shard: u32) -> Range<u64> {
        self.start(shard)..self.start(shard.saturating_add(1))
    }

    /// The lanes of a value that a shard has: its own, in the first shard those before them, in the last one those after.
    pub fn rows(&self, layout: Layout, shard: u32) -> Range<u64> {
        let all = layout.before + layout.per * self.lanes + layout.after;
        let Range { start, end } = self.of(shard);
        let (start, end) = (layout.before + layout.per * start, layout.before + layout.per * end);
        match shard {
            _ if shard >= self.used => all..all,
            _ if self.used == 1 => 0..all,
            0 => 0..end,
            _ if shard == self.used - 1 => start..all,
            _ => start..end,
        }
    }

    /// Whether a shard has what comes before the lanes that are cut, and what comes after.
    pub fn has_ends(&self, shard: u32) -> (bool, bool) {
        (shard == 0, shard + 1 == self.used)
    }

    /// The shard with most lanes.
    pub fn largest(&self) -> u32 {
        (0..self.used).max_by_key(|&shard| self.of(shard).end - self.of(shard).start).unwrap_or(0)
    }
}

/// The blocks that these lanes are made of, in their order: each begins at a multiple of its length, a power of two.
pub(super) fn blocks(rows: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut at = rows.start;
    std::iter::from_fn(move || {
        let start = at;
        let fits = (rows.end - start).checked_ilog2()?;
        at += 1 << fits.min(start.trailing_zeros());
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranges(lanes: u64, shards: u32, phase: u64) -> Result<Ranges> {
        Ranges::new("n", lanes, &Cut::into(shards), phase)
    }

    #[test]
    fn few_large_blocks_and_no_uneven_shards() {
        let eighth = ranges(1_000_000_000, 8, 0).unwrap();
        assert_eq!(eighth.block, 1 << 23);
        assert!((0..8).all(|shard| blocks(eighth.of(shard)).count() < 12 || shard == 7));
        assert_eq!(ranges(1 << 20, 4, 0).unwrap().of(1), 1 << 18..1 << 19);
        assert_eq!(ranges(1 << 20, 4, 1).unwrap().of(1), (1 << 18) - 1..(1 << 19) - 1);
        assert_eq!([0, 1, 2].map(|shard| ranges(5, 3, 0).unwrap().of(shard)), [0..2, 2..4, 4..5]);
    }

    #[test]
    fn every_shard_has_lanes_unless_empty_ones_are_allowed() {
        let why = ranges(3, 5, 0).unwrap_err().to_string();
        assert_eq!(why, "5 shards, but the size 'n' counts 3 lanes: take 3 shards or fewer");
        let cut = Cut { allow_empty: true, ..Cut::into(5) };
        let some = Ranges::new("n", 3, &cut, 0).unwrap();
        assert_eq!([0, 1, 2, 3, 4].map(|shard| some.of(shard)), [0..1, 1..2, 2..3, 3..3, 3..3]);
        for shards in [0, MOST_SHARDS + 1] {
            assert!(Ranges::new("n", 7, &Cut { allow_empty: true, ..Cut::into(shards) }, 0).is_err());
        }
    }

    proptest! {
        #[test]
        fn shards_cover_all_lanes(lanes in 1u64..1 << 40, few in 1u64..200, shards in 1u32..40, phase in 0u64..5) {
            for lanes in [lanes, few] {
                let cut = Cut { allow_empty: true, ..Cut::into(shards) };
                let ranges = Ranges::new("n", lanes, &cut, phase).unwrap();
                let layout = Layout { before: phase, per: 3, after: 2 };
                let (mut at, mut row) = (0, 0);
                for shard in 0..shards {
                    let (of, rows) = (ranges.of(shard), ranges.rows(layout, shard));
                    prop_assert_eq!((of.start, rows.start), (at, row));
                    prop_assert!(of.is_empty() == (shard >= ranges.used));
                    prop_assert!(shard == 0 || of.is_empty() || (of.start + phase).is_multiple_of(ranges.block));
                    (at, row) = (of.end, rows.end);
                }
                prop_assert_eq!((at, row), (lanes, phase + 3 * lanes + 2));
            }
        }

        #[test]
        fn blocks_cover_a_range(start in 0u64..1 << 40, length in 0u64..1 << 40) {
            let mut at = start;
            for block in blocks(start..start + length) {
                let length = block.end - block.start;
                prop_assert!(block.start == at && length.is_power_of_two() && at.is_multiple_of(length));
                at = block.end;
            }
            prop_assert_eq!(at, start + length);
        }
    }
}
