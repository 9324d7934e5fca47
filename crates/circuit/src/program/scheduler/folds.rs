//! Reductions and iterations as tasks: trees over neighbours, and cycles one after another.

use super::Scheduler;
use super::gather::{Found, Gather, Key, LaneRun, Made};
use crate::program::schedule::CellId;
use crate::program::wiring::{Node, Piece};
use crate::program::{Step, Value};

impl Scheduler<'_> {
    /// Part `t + 1` folds tile `t` and merges trees of equal height, like a binary counter; the node itself merges
    /// the rest from the right. The result is the tree over neighbours at any size of tile.
    pub(super) fn make_reduce(&mut self, key: Key, circuit: u32, args: &[Value]) -> Made {
        let lanes = self.binding.lanes_of(args[0]);
        let parts = self.tiles(lanes);
        let before = Key { part: if key.part == 0 { parts } else { key.part - 1 }, ..key };
        if before.part > 0 && !self.cells.contains_key(&before) {
            return Err(vec![before]);
        }
        let mut trees = self.reductions.remove(&key.node).unwrap_or_default();
        if key.part > 0 {
            match self.fold_tile(key, circuit, args) {
                Ok(cell) => trees.push((cell, 0)),
                Err(missing) => {
                    self.reductions.insert(key.node, trees);
                    return Err(missing);
                }
            }
        }
        while let [.., (left, height), (right, other)] = trees[..] {
            if key.part > 0 && height != other {
                break;
            }
            trees.truncate(trees.len() - 2);
            trees.push((self.fold_pair(key.node, circuit, left, right), height + 1));
        }
        let (top, _) = trees[trees.len() - 1];
        self.cells.insert(key, top);
        self.reductions.insert(key.node, trees);
        Ok(())
    }

    /// Folds one tile to one lane.
    pub(super) fn fold_tile(&mut self, key: Key, circuit: u32, args: &[Value]) -> Found<CellId> {
        let (from, mut lanes) = self.tile_lanes(self.binding.lanes_of(args[0]), key.part - 1);
        let mut gather = self.gather(args, LaneRun::straight(from, lanes))?;
        let rows = self.shape(key.node).rows;
        if lanes == 1 {
            return Ok(self.push_view(key.node, (rows, 1), gather));
        }
        while lanes > 1 {
            let half = lanes / 2;
            let folded = self.push_map(key.node, circuit, pair_up(&gather, rows, half), half);
            let mut next = Gather::default();
            next.whole(folded, rows, half as usize, 0);
            if lanes % 2 == 1 {
                gather.add_lane(&mut next, lanes as usize - 1, half as usize);
            }
            lanes = lanes.div_ceil(2);
            gather = next;
        }
        Ok(gather.args[0])
    }

    /// Folds two trees of one lane.
    pub(super) fn fold_pair(&mut self, node: Node, circuit: u32, left: CellId, right: CellId) -> CellId {
        let rows = self.shape(node).rows;
        let mut gather = Gather::default();
        gather.whole(left, rows, 1, 0);
        gather.whole(right, rows, 1, rows);
        self.push_map(node, circuit, gather, 1)
    }

    /// Part `c + 1` is cycle `c` on a tile; the node itself is the last cycle's state.
    pub(super) fn make_iterate(&mut self, key: Key, circuit: u32, (state, inputs): (&[Value], &[Value])) -> Made {
        if key.node % 2 == 1 {
            return self.make_cycle_outputs(key, state);
        }
        let lanes = self.binding.lanes_of(state[0]);
        let (from, count) = self.tile_lanes(lanes, key.tile);
        let before = if key.part == 0 { self.cycles(key.node) } else { key.part - 1 };
        let mut gather = match before {
            0 => self.gather(state, LaneRun::straight(from, count))?,
            part => {
                let before = self.need(Key { part, ..key })?;
                let mut gather = Gather::default();
                gather.whole(before, self.shape(key.node).rows, count as usize, 0);
                gather
            }
        };
        let cell = match (key.part, before) {
            (0, 0) => self.push_view(key.node, (self.shape(key.node).rows, count), gather),
            // The state is the first rows of the last cycle's cell.
            (0, _) => gather.args[0],
            (part, _) => {
                let run = LaneRun::straight((part - 1) * lanes + from, count);
                gather = self.gather_onto(gather, self.shape(key.node).rows, inputs, run)?;
                self.push_map(key.node, circuit, gather, count)
            }
        };
        self.cells.insert(key, cell);
        Ok(())
    }

    pub(super) fn cycles(&self, node: Node) -> u64 {
        match self.step(node) {
            Step::Iterate { cycles, .. } => cycles.count(self.binding.sizes()).expect("counted when bound"),
            _ => 0,
        }
    }

    /// Makes the outputs of all cycles of an iteration: lane `cycle × lanes + lane`.
    pub(super) fn make_cycle_outputs(&mut self, key: Key, state: &[Value]) -> Made {
        let shape = self.shape(key.node);
        let lanes = self.binding.lanes_of(state[0]);
        let states = self.shape(key.node - 1).rows;
        let (from, count) = self.tile_lanes(shape.lanes, key.tile);
        let mut gather = Gather::default();
        let mut lane = from;
        while lane < from + count {
            let (cycle, inner) = (lane / lanes, lane % lanes);
            let (tile_from, tile_lanes) = self.tile_lanes(lanes, inner / self.tile);
            let run = (tile_from + tile_lanes - inner).min(from + count - lane);
            let part = Key { node: key.node - 1, tile: inner / self.tile, part: cycle + 1 };
            match self.cells.get(&part) {
                None => gather.missing.push(part),
                Some(&cell) => gather.piece(
                    cell,
                    (states, 0, shape.rows),
                    LaneRun { from: inner - tile_from, step: 1, to: (lane - from) as usize, to_step: 1, count: run },
                ),
            }
            lane += run;
        }
        let gather = gather.complete()?;
        let cell = self.push_view(key.node, (shape.rows, count), gather);
        self.cells.insert(key, cell);
        Ok(())
    }
}

/// The even lanes as left arguments and the odd ones as right, `half` pairs.
fn pair_up(gather: &Gather, rows: u32, half: u64) -> Gather {
    let side = |parity: usize| {
        let pieces = gather.pieces.iter().filter_map(move |piece| every_second(piece, parity, half as usize));
        pieces.map(move |piece| Piece { to_row: piece.to_row + parity as u32 * rows, ..piece })
    };
    gather.rewired(side(0).chain(side(1)).collect())
}

/// The part of a piece that is written to lanes of one parity, as lanes `0..half`.
fn every_second(piece: &Piece, parity: usize, half: usize) -> Option<Piece> {
    let skip = (piece.to_lane + parity) % 2;
    let to_lane = (piece.to_lane + skip) / 2;
    let count = piece.count.saturating_sub(skip).div_ceil(2).min(half.saturating_sub(to_lane));
    let from_lane = piece.from_lane + skip * piece.from_step;
    (count > 0).then_some(Piece { from_lane, from_step: piece.from_step * 2, to_lane, to_step: 1, count, ..*piece })
}
