//! Wiring: where the bits of a value really lie.
//!
//! Lane-local views and the repetition of one lane copy nothing: a value is a list of rows of *nodes*, the steps that
//! make something. A [`Piece`] then says which lanes of which rows are copied where.

use super::budget::Budget;
use super::{Binding, Step, Value, View};
use crate::error::Result;

/// A step that makes a value; an iteration makes two, its last state and what its cycles put out.
pub(crate) type Node = u32;

pub(crate) fn node(step: u32) -> Node {
    step * 2
}

pub(crate) fn cycle_outputs(step: u32) -> Node {
    step * 2 + 1
}

/// A run of neighbouring rows of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rows {
    pub node: Node,
    pub from: u32,
    pub count: u32,
}

/// A copy of `rows` rows from an argument: lane `from_lane + i·from_step` of the argument becomes lane
/// `to_lane + i·to_step`, for i below `count`. A `from_step` of 0 repeats one lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Piece {
    /// The argument by its place among the task's.
    pub arg: u32,
    /// The first row read.
    pub from_row: u32,
    /// The first row written.
    pub to_row: u32,
    /// How many rows.
    pub rows: u32,
    /// The first lane read.
    pub from_lane: usize,
    /// How far the next lane read is.
    pub from_step: usize,
    /// The first lane written.
    pub to_lane: usize,
    /// How far the next lane written is.
    pub to_step: usize,
    /// How many lanes.
    pub count: usize,
}

/// The rows of every value, in the order of the values.
pub(super) fn wire(binding: &Binding, budget: &Budget) -> Result<Vec<Vec<Rows>>> {
    let mut rows: Vec<Vec<Rows>> = Vec::with_capacity(binding.program().values().len());
    let mut offset = 0;
    for (number, definition) in binding.program().values().iter().enumerate() {
        let step = &binding.program().steps()[definition.step as usize];
        if definition.port == 0 {
            offset = 0;
        }
        let wired = match (step, local_view(binding, step)) {
            (_, Some(args)) => {
                let read: usize = args.iter().map(|arg| rows[arg.0 as usize].len()).sum();
                budget.expect_runs(number, read)?;
                view_rows(step, &args, &rows)
            }
            (Step::Iterate { state, .. }, _) if definition.port as usize >= state.len() => {
                if definition.port as usize == state.len() {
                    offset = 0;
                }
                vec![Rows { node: cycle_outputs(definition.step), from: offset, count: definition.ty.width }]
            }
            _ => vec![Rows { node: node(definition.step), from: offset, count: definition.ty.width }],
        };
        budget.runs(number, wired.len())?;
        rows.push(wired);
        offset += definition.ty.width;
    }
    Ok(rows)
}

/// The arguments of a view that moves no lanes.
fn local_view(binding: &Binding, step: &Step) -> Option<Vec<Value>> {
    match step {
        Step::View { view: View::Bits(_) | View::Join, args } => Some(args.clone()),
        Step::View { view: View::Repeat(_), args } if binding.lanes_of(args[0]) == 1 => Some(args.clone()),
        _ => None,
    }
}

fn view_rows(step: &Step, args: &[Value], rows: &[Vec<Rows>]) -> Vec<Rows> {
    let Step::View { view, .. } = step else { return Vec::new() };
    let all = args.iter().flat_map(|arg| rows[arg.0 as usize].iter().copied());
    match view {
        View::Bits(bits) => select(&all.collect::<Vec<_>>(), bits),
        _ => merge(all),
    }
}

/// Picks single rows by position and joins neighbours again.
fn select(rows: &[Rows], bits: &[u32]) -> Vec<Rows> {
    let starts: Vec<u32> = rows
        .iter()
        .scan(0, |next, run| {
            *next += run.count;
            Some(*next - run.count)
        })
        .collect();
    merge(bits.iter().map(|&bit| {
        let run = starts.partition_point(|&start| start <= bit) - 1;
        let run = (run..).find(|&r| bit - starts[r] < rows[r].count).expect("checked when the step was written");
        Rows { node: rows[run].node, from: rows[run].from + bit - starts[run], count: 1 }
    }))
}

fn merge(rows: impl Iterator<Item = Rows>) -> Vec<Rows> {
    let mut merged: Vec<Rows> = Vec::new();
    for run in rows.filter(|run| run.count > 0) {
        match merged.last_mut() {
            Some(last) if last.node == run.node && last.from + last.count == run.from => last.count += run.count,
            _ => merged.push(run),
        }
    }
    merged
}
