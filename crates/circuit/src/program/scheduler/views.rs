//! Views that move lanes, as copies.

use super::Scheduler;
use super::gather::{Bits, Gather, Key, LaneRun, Made};
use crate::program::{Value, View};

impl Scheduler<'_> {
    pub(super) fn make_view(&mut self, key: Key, view: &View, args: &[Value]) -> Made {
        let shape = self.shape(key.node);
        let (from, count) = self.tile_lanes(shape.lanes, key.tile);
        let mut gather = Gather::default();
        for (arg, bits, run) in self.view_runs(view, args, from, count) {
            self.gather_rows(&mut gather, arg, bits, run);
        }
        let gather = gather.complete()?;
        let cell = self.push_view(key.node, (shape.rows, count), gather);
        self.cells.insert(key, cell);
        Ok(())
    }

    /// A lane-crossing view as copies: for each the argument, its bits and where they go, and the lanes.
    pub(super) fn view_runs(&self, view: &View, args: &[Value], from: u64, count: u64) -> Vec<(Value, Bits, LaneRun)> {
        let all = |arg: Value| Bits { from: 0, to: 0, count: self.width(arg) };
        let lanes = self.binding.lanes_of(args[0]);
        match view {
            View::Bits(_) | View::Join => Vec::new(),
            View::Repeat(_) => split_by(from, count, |lane| (lane % lanes, lanes - lane % lanes))
                .map(|run| (args[0], all(args[0]), run))
                .collect(),
            View::Slice { start, step, .. } => {
                // A single lane has no next one, whatever the step; of several the last lies within the value.
                let first = start + from * step;
                let run = LaneRun { from: first, step: if count > 1 { *step } else { 1 }, to: 0, to_step: 1, count };
                vec![(args[0], all(args[0]), run)]
            }
            View::Chain => self.chain_runs(args, from, count),
            View::Lanes(lanes) => {
                let wanted = &lanes[from as usize..(from + count) as usize];
                let single = |(to, &lane): (usize, &u64)| LaneRun { from: lane, step: 1, to, to_step: 1, count: 1 };
                wanted.iter().enumerate().map(|at| (args[0], all(args[0]), single(at))).collect()
            }
            View::Split(parts) => {
                let (parts, width) = (*parts as u64, self.width(args[0]) / parts);
                let phase = |part: u64| {
                    let skip = (part + parts - from % parts) % parts;
                    let count = count.saturating_sub(skip).div_ceil(parts);
                    let run = LaneRun {
                        from: (from + skip) / parts,
                        step: 1,
                        to: skip as usize,
                        to_step: parts as usize,
                        count,
                    };
                    (args[0], Bits { from: part as u32 * width, to: 0, count: width }, run)
                };
                (0..parts).map(phase).collect()
            }
            View::Merge(parts) => {
                let (parts, width) = (*parts as u64, self.width(args[0]));
                let phase = |part: u64| {
                    let run = LaneRun { from: from * parts + part, step: parts, to: 0, to_step: 1, count };
                    (args[0], Bits { from: 0, to: part as u32 * width, count: width }, run)
                };
                (0..parts).map(phase).collect()
            }
        }
    }

    pub(super) fn chain_runs(&self, args: &[Value], from: u64, count: u64) -> Vec<(Value, Bits, LaneRun)> {
        let mut runs = Vec::new();
        let mut start = 0;
        for &arg in args {
            let end = start + self.binding.lanes_of(arg);
            let (low, high) = (start.max(from), end.min(from + count));
            if low < high {
                let run =
                    LaneRun { from: low - start, step: 1, to: (low - from) as usize, to_step: 1, count: high - low };
                runs.push((arg, Bits { from: 0, to: 0, count: self.width(arg) }, run));
            }
            start = end;
        }
        runs
    }
}

/// Runs of lanes of one source: `place(lane)` says where a lane lies and how many follow there.
fn split_by(from: u64, count: u64, place: impl Fn(u64) -> (u64, u64)) -> impl Iterator<Item = LaneRun> {
    let mut lane = from;
    std::iter::from_fn(move || {
        let left = from + count - lane;
        let (at, follow) = (left > 0).then(|| place(lane))?;
        let run = LaneRun { from: at, step: 1, to: (lane - from) as usize, to_step: 1, count: follow.min(left) };
        lane += run.count;
        Some(run)
    })
}
