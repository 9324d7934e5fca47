//! Gathering: which cells a task reads, and what it copies from them.

use super::Scheduler;
use crate::program::Value;
use crate::program::schedule::CellId;
use crate::program::wiring::{Node, Piece};
use rustc_hash::FxHashMap;

/// Something that a task makes on the way: a node's tile, or a part of a reduction or an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub node: Node,
    pub tile: u64,
    /// 0 for the node's tile itself; n + 1 for the n-th part.
    pub part: u64,
}

/// Pieces and the cells that they read, while a task is made; what is missing must be made first.
#[derive(Default)]
pub(super) struct Gather {
    pub args: Vec<CellId>,
    place: FxHashMap<CellId, u32>,
    pub pieces: Vec<Piece>,
    pub missing: Vec<Key>,
}

/// A cell was made, or these must be made before it.
pub(super) type Made = Found<()>;

/// Something was found, or these must be made before it.
pub(super) type Found<T> = Result<T, Vec<Key>>;

/// Bits `from..from + count` of a value become rows from `to`.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    pub from: u32,
    pub to: u32,
    pub count: u32,
}

/// Lanes `from + i·step` become lanes `to + i·to_step`.
#[derive(Clone, Copy)]
pub(super) struct LaneRun {
    pub from: u64,
    pub step: u64,
    pub to: usize,
    pub to_step: usize,
    pub count: u64,
}

impl LaneRun {
    pub fn straight(from: u64, count: u64) -> LaneRun {
        LaneRun { from, step: 1, to: 0, to_step: 1, count }
    }
}

impl Scheduler<'_> {
    /// Reads a run of lanes of all arguments; the rows of each argument follow those of the one before.
    pub(super) fn gather(&self, args: &[Value], run: LaneRun) -> Found<Gather> {
        self.gather_onto(Gather::default(), 0, args, run)
    }

    pub(super) fn gather_onto(&self, mut gather: Gather, mut to: u32, args: &[Value], run: LaneRun) -> Found<Gather> {
        for &arg in args {
            self.gather_rows(&mut gather, arg, Bits { from: 0, to, count: self.width(arg) }, run);
            to += self.width(arg);
        }
        gather.complete()
    }

    /// Some bits of a value over some of its lanes, run by run of its rows.
    pub(super) fn gather_rows(&self, gather: &mut Gather, value: Value, bits: Bits, run: LaneRun) {
        let mut position = 0;
        for rows in &self.rows[value.0 as usize] {
            let (low, high) = (position.max(bits.from), (position + rows.count).min(bits.from + bits.count));
            if low < high {
                let copy = (rows.from + low - position, bits.to + low - bits.from, high - low);
                self.gather_lanes(gather, rows.node, copy, self.binding.lanes_of(value), run);
            }
            position += rows.count;
        }
    }

    /// A run of lanes cut at the borders of the node's tiles; a single lane stands for all.
    pub(super) fn gather_lanes(
        &self,
        gather: &mut Gather,
        node: Node,
        rows: (u32, u32, u32),
        lanes: u64,
        mut run: LaneRun,
    ) {
        if self.shape(node).lanes != lanes {
            run = LaneRun { from: 0, step: 0, ..run };
        }
        while run.count > 0 {
            let tile = run.from / self.tile;
            let inside = match run.step {
                0 => run.count,
                step => ((tile + 1) * self.tile - run.from).div_ceil(step).min(run.count),
            };
            let key = Key { node, tile, part: 0 };
            match self.cells.get(&key) {
                None => gather.missing.push(key),
                Some(&cell) => gather.piece(cell, rows, LaneRun { from: run.from % self.tile, count: inside, ..run }),
            }
            run.from += inside * run.step;
            run.to += inside as usize * run.to_step;
            run.count -= inside;
        }
    }
}

impl Gather {
    /// Other pieces of the same cells.
    pub fn rewired(&self, pieces: Vec<Piece>) -> Gather {
        Gather { args: self.args.clone(), place: self.place.clone(), pieces, missing: Vec::new() }
    }

    pub fn complete(self) -> Found<Gather> {
        if self.missing.is_empty() { Ok(self) } else { Err(self.missing) }
    }

    fn arg(&mut self, cell: CellId) -> u32 {
        *self.place.entry(cell).or_insert_with(|| {
            self.args.push(cell);
            self.args.len() as u32 - 1
        })
    }

    pub fn piece(&mut self, cell: CellId, (from_row, to_row, rows): (u32, u32, u32), run: LaneRun) {
        let piece = Piece {
            arg: self.arg(cell),
            from_row,
            to_row,
            rows,
            from_lane: run.from as usize,
            from_step: run.step as usize,
            to_lane: run.to,
            to_step: run.to_step,
            count: run.count as usize,
        };
        self.pieces.push(piece);
    }

    /// The first `rows` rows of a cell, all lanes, to rows from `to_row`.
    pub fn whole(&mut self, cell: CellId, rows: u32, lanes: usize, to_row: u32) {
        self.piece(cell, (0, to_row, rows), LaneRun::straight(0, lanes as u64));
    }

    /// Adds to `next` as lane `to_lane` what lane `lane` of this is.
    pub fn add_lane(&self, next: &mut Gather, lane: usize, to_lane: usize) {
        for piece in self.pieces.iter().filter(|p| (p.to_lane..p.to_lane + p.count).contains(&lane)) {
            let from = (piece.from_lane + (lane - piece.to_lane) * piece.from_step) as u64;
            let run = LaneRun { from, step: 1, to: to_lane, to_step: 1, count: 1 };
            next.piece(self.args[piece.arg as usize], (piece.from_row, piece.to_row, piece.rows), run);
        }
    }
}
