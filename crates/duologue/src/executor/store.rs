//! Cells between their maker and their readers, and how lanes are cut and put together.

use super::Feeds;
use super::interpreter;
use crate::executor::Arg;
use crate::executor::cells::{self, Cells};
use crate::{Error, Result};
use circuit::BitMatrix;
use circuit::program::{CellId, Piece, Task};
use std::sync::Arc;

/// Cells that live until their last reader has begun.
pub(super) struct Store<C> {
    cells: Vec<Option<C>>,
    uses: Vec<u32>,
}

impl<C> Store<C> {
    pub fn new(uses: &[u32]) -> Self {
        Store { cells: uses.iter().map(|_| None).collect(), uses: uses.to_vec() }
    }

    pub fn put(&mut self, id: CellId, cell: C) {
        if self.uses[id as usize] > 0 {
            self.cells[id as usize] = Some(cell);
        }
    }

    /// A cell that lives.
    pub fn get(&self, id: CellId) -> Option<&C> {
        self.cells[id as usize].as_ref()
    }

    /// One reader of each has begun; gives those that nobody reads any more to `gone`.
    pub fn release(&mut self, ids: &[CellId], mut gone: impl FnMut(CellId, C)) {
        for &id in ids {
            self.uses[id as usize] -= 1;
            if self.uses[id as usize] == 0
                && let Some(cell) = self.cells[id as usize].take()
            {
                gone(id, cell);
            }
        }
    }
}

pub(super) fn feed(inputs: &Feeds, port: u32, from: u64, task: &Task) -> Result<BitMatrix> {
    let input = inputs.get(port as usize).and_then(Option::as_deref);
    let input = input.ok_or_else(|| Error::usage("a public input is missing"))?;
    Ok(tile(input, from as usize, task))
}

/// The lanes of one tile.
pub(super) fn tile(input: &BitMatrix, from: usize, task: &Task) -> BitMatrix {
    let mut tile = BitMatrix::zeros(task.rows, task.lanes);
    (0..task.rows).for_each(|row| tile.copy_bits(row, 0, input, row, from, 1, task.lanes));
    tile
}

pub(super) fn constant(bits: &[bool], lanes: usize) -> BitMatrix {
    let mut made = BitMatrix::zeros(bits.len(), lanes);
    for (row, &bit) in bits.iter().enumerate() {
        made.row_mut(row).fill(interpreter::mask(bit));
    }
    made.clear_padding();
    made
}

/// The arguments of a task, each from where it is known.
pub(super) fn args<'a, C>(task: &Task, cells: &'a Store<C>, public: &'a [Option<Arc<BitMatrix>>]) -> Vec<Arg<'a, C>> {
    args_from(task, |id| cells.get(id), public)
}

/// The same, if secret cells lie in several places.
pub(super) fn args_from<'a, C>(
    task: &Task,
    cell: impl Fn(CellId) -> Option<&'a C>,
    public: &'a [Option<Arc<BitMatrix>>],
) -> Vec<Arg<'a, C>> {
    let arg = |&id: &CellId| match &public[id as usize] {
        Some(public) => Arg::Public(public),
        None => Arg::Secret(cell(id).expect("a cell lives until its last reader")),
    };
    task.args.iter().map(arg).collect()
}

/// A view of secret and public cells.
pub(super) fn view<C: Cells>(wiring: &[Piece], task: &Task, args: &[Arg<'_, C>], lift: impl Fn(&BitMatrix) -> C) -> C {
    let mut made = C::zeros(task.rows, task.lanes);
    for piece in wiring {
        match &args[piece.arg as usize] {
            Arg::Secret(arg) => cells::copy(&mut made, *arg, piece),
            Arg::Public(public) => cells::copy(&mut made, &lift(public), piece),
        }
    }
    made
}
