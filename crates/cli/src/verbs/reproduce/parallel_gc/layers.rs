//! Gates, layers and the share of XORs.

use super::{AES, FIGURES, IRIS, Subject};
use crate::failure::Failure;
use crate::grain::Work;
use crate::program;
use crate::verbs::reproduce::{Cell, Effort, How};
use duologue::Scheme;

/// The paper's circuits, once each.
const SUBJECTS: &[&Subject] = &[&IRIS, &AES];

pub fn rows(effort: &Effort) -> Result<Vec<Cell>, Failure> {
    let (mut cells, mut shares) = (Vec::new(), Vec::new());
    for subject in SUBJECTS {
        let program = program::load(&subject.program(Scheme::Yao), &[])?;
        let sizes: Vec<(&str, u64)> = program.sizes().iter().map(|range| (&*range.name, subject.size)).collect();
        let work = Work::new(&program.bind(&sizes)?)?;
        let (gates, share) = (work.gates(), work.gates().xor_share());
        shares.push(share);
        cells.extend([
            exact(subject.name, "gates", (gates.ands + gates.xors) as f64, "gates"),
            exact(subject.name, "ands", gates.ands as f64, "gates"),
            exact(subject.name, "xor_share", 100.0 * share, "%"),
            exact(subject.name, "layers", work.chain() as f64, "layers"),
            exact(subject.name, "and_layers", gates.layers as f64, "layers"),
        ]);
    }
    let mean = 100.0 * shares.iter().sum::<f64>() / shares.len() as f64;
    cells.push(exact("mean", "xor_share", mean, "%"));
    cells.retain(|cell| effort.wants(&cell.row));
    Ok(cells)
}

fn exact(row: &str, column: &str, ours: f64, unit: &'static str) -> Cell {
    Cell { unit: Some(unit), ..FIGURES.cell("layers", row, column, ours, How::Exact) }
}
