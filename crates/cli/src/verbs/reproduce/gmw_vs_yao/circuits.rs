//! Table 7: circuits beside the paper's formulas.

use super::FIGURES;
use crate::failure::Failure;
use crate::program;
use crate::verbs::reproduce::{Cell, Effort, How};

/// Bits of a number.
pub const WIDTHS: [u32; 3] = [16, 32, 64];

/// A construction of the paper, and the circuit of ours that stands beside it; `n` is the width.
pub const ROWS: &[(&str, &str)] = &[
    ("add_rc", "block:add_carry:n:size"),
    ("add_lf", "block:add_carry:n:depth"),
    ("sub_rc", "block:subtract:n:size"),
    ("sub_lf", "block:subtract:n:depth"),
    ("add_csa", "block:sum:3xn:depth"),
    ("sum_rc", "block:sum:16xn:size"),
    ("sum_csa", "block:sum:16xn:depth"),
    ("mul_rc", "block:multiply:n:size"),
    ("mul_csn", "block:multiply:n:depth"),
    ("sqr_rc", "block:square:n:size"),
    ("sqr_lf", "block:square:n:depth"),
    ("equal", "block:equal:n"),
    ("greater_s", "block:greater:n:size"),
    ("greater_dc", "block:greater:n:depth"),
    ("mux", "block:mux:n"),
    ("min_s", "block:minimum_of:16xn:size"),
    ("min_index_s", "block:min_index:16xn:size"),
    ("min_dc", "block:minimum_of:16xn:depth"),
    ("min_index_dc", "block:min_index:16xn:depth"),
    ("union", "block:set_union:n"),
    ("intersection", "block:set_intersection:n"),
    ("inclusion", "block:set_inclusion:n"),
    ("count_fa", "block:population_count:n"),
    ("count_bp", "block:population_count:n"),
    ("manhattan_rc", "block:manhattan_distance:n:size"),
    ("manhattan_lf", "block:manhattan_distance:n:depth"),
    ("euclidean_rc", "block:squared_distance:n:size"),
    ("euclidean_lf", "block:squared_distance:n:depth"),
];

pub fn rows(effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for (row, circuit) in ROWS.iter().filter(|(row, _)| effort.wants(row)) {
        for width in WIDTHS {
            let (ands, depth) = cost(circuit, width)?;
            cells.push(exact(row, &format!("{width}/ands"), ands as f64, "ANDs"));
            cells.push(exact(row, &format!("{width}/depth"), f64::from(depth), "layers"));
        }
    }
    Ok(cells)
}

fn exact(row: &str, column: &str, ours: f64, unit: &'static str) -> Cell {
    debug_assert!(FIGURES.of("7", row, column).is_some());
    Cell { unit: Some(unit), ..FIGURES.cell("7", row, column, ours, How::Exact) }
}

fn cost(circuit: &str, width: u32) -> Result<(u64, u32), Failure> {
    let named = circuit.replace(":n", &format!(":{width}")).replace("xn", &format!("x{width}"));
    let program = program::load(&named, &[])?;
    Ok((program.circuits().iter().map(|c| c.and_count()).sum(), program.circuits().iter().map(|c| c.depth()).sum()))
}
