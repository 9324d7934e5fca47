//! Table 1: circuits.

use super::FIGURES;
use crate::failure::Failure;
use crate::program;
use crate::verbs::reproduce::{Cell, Effort, How};

/// A construction of the paper, its widths, and the circuit of ours that stands beside it; `n` is the width.
pub const ROWS: &[(&str, [u32; 3], &str)] = &[
    ("add_lf", [20, 30, 40], "block:add:n:depth"),
    ("sub_lf", [16, 32, 64], "block:subtract:n:depth"),
    ("manhattan_lf", [16, 32, 64], "block:manhattan_distance:n:depth"),
    ("kmul", [32, 64, 128], "block:multiply:n:size"),
    ("manhattan_rc", [16, 32, 64], "block:manhattan_distance:n:size"),
];

pub fn rows(effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for (name, widths, circuit) in ROWS {
        for width in widths {
            let row = format!("{name}/{width}");
            if effort.wants(&row) {
                cells.extend(beside(&row, &circuit.replace(":n", &format!(":{width}")))?);
            }
        }
    }
    Ok(cells)
}

/// A circuit beside that of the paper and the one by hand.
fn beside(row: &str, circuit: &str) -> Result<[Cell; 4], Failure> {
    let program = program::load(circuit, &[])?;
    let ands: u64 = program.circuits().iter().map(|c| c.and_count()).sum();
    let depth: u32 = program.circuits().iter().map(|c| c.depth()).sum();
    let exact =
        |column: &str, ours: f64, unit| Cell { unit: Some(unit), ..FIGURES.cell("1", row, column, ours, How::Exact) };
    Ok([
        exact("hand/ands", ands as f64, "ANDs"),
        exact("synthesised/ands", ands as f64, "ANDs"),
        exact("hand/depth", f64::from(depth), "layers"),
        exact("synthesised/depth", f64::from(depth), "layers"),
    ])
}
