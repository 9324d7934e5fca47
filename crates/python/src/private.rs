//! Private functions: one party has the function and the other the data.

use crate::beside::beside;
use crate::errors::{raised, usage};
use crate::matrix::Matrix;
use crate::meeting::{Canceller, Meeting};
use crate::program::Program;
use duologue::circuit::BitMatrix;
use duologue::{Error, Result};
use duologue_cli::embed::{self, PrivateRuns};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;

/// A function by its program, or by the name that the command takes.
#[derive(FromPyObject)]
pub enum Function<'py> {
    Program(PyRef<'py, Program>),
    Named(String),
}

/// Alice: serves as many runs as Bob asks for. Flags are those of `duologue private`.
#[pyfunction]
pub fn hold_private<'py>(
    py: Python<'py>,
    meeting: &Meeting,
    canceller: &Canceller,
    function: Function<'py>,
    own: HashMap<String, Py<Matrix>>,
    words: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let own = own.into_iter().map(|(name, matrix)| (name, BitMatrix::clone(&matrix.get().0))).collect();
    let function = match &function {
        Function::Program(program) => {
            let program = &program.program;
            py.detach(|| embed::private_function(Ok(program), own, &words))
        }
        Function::Named(name) => py.detach(|| embed::private_function(Err(name), own, &words)),
    };
    let function = function.map_err(raised)?;
    let canceller = &canceller.0;
    let runs = beside(py, canceller, || embed::serve_private(function, || meeting.channel(canceller)))?;
    told(py, &runs)
}

/// Rows of bytes, or of bits, whose number is known when the parties have met.
type Rows = (Vec<u8>, usize);

/// Bob: the results on rows of data, as many lanes.
#[pyfunction]
pub fn ask_private<'py>(
    py: Python<'py>,
    meeting: &Meeting,
    canceller: &Canceller,
    data: Rows,
    words: Vec<String>,
    most_gates: u64,
) -> PyResult<(Matrix, Bound<'py, PyDict>)> {
    let (rows, columns) = data;
    if columns == 0 || rows.is_empty() || !rows.len().is_multiple_of(columns) {
        return Err(usage("the data: expected rows of bytes, or of 0 and 1"));
    }
    let canceller = &canceller.0;
    let lanes = |told: [u64; 4]| lanes(&rows, columns, told, most_gates);
    let (y, runs) = beside(py, canceller, || embed::ask_private(&words, lanes, || meeting.channel(canceller)))?;
    Ok((Matrix(y.into()), told(py, &runs)?))
}

/// The data as lanes of a function that takes and gives so many bits, has so many gates, and runs so often.
fn lanes(rows: &[u8], columns: usize, told: [u64; 4], most_gates: u64) -> Result<BitMatrix> {
    let [inputs, _, gates, runs] = told;
    let (count, inputs) = (rows.len() / columns, inputs as usize);
    let refuse = |why: String| Err(Error::usage(why));
    if gates > most_gates {
        return refuse(format!("the peer's function has {gates} gates, more than most_gates={most_gates}"));
    }
    if count as u64 > runs {
        return refuse(format!("the data have {count} rows, and the peer allows {runs} runs"));
    }
    let is_bits = columns == inputs && rows.iter().all(|&bit| bit <= 1);
    if !is_bits && columns != inputs.div_ceil(8) {
        let octets = inputs.div_ceil(8);
        return refuse(format!(
            "rows of the data have {columns} columns: expected {octets} bytes, or {inputs} times 0 or 1"
        ));
    }
    let bit = |row: &[u8], bit: usize| if is_bits { row[bit] == 1 } else { row[bit / 8] >> (bit % 8) & 1 == 1 };
    if let Some(row) = rows.chunks(columns).position(|row| !is_bits && (inputs..8 * columns).any(|at| bit(row, at))) {
        return refuse(format!("row {row} of the data has more than {inputs} bits"));
    }
    let lanes: Vec<Vec<bool>> = rows.chunks(columns).map(|row| (0..inputs).map(|at| bit(row, at)).collect()).collect();
    Ok(BitMatrix::from_lanes(inputs, &lanes))
}

fn told<'py>(py: Python<'py>, runs: &PrivateRuns) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("method", runs.method)?;
    all.set_item("gates", runs.gates)?;
    all.set_item("additions", runs.additions)?;
    all.set_item("runs", runs.runs)?;
    all.set_item("seconds", runs.seconds)?;
    all.set_item("sent", runs.sent)?;
    all.set_item("received", runs.received)?;
    Ok(all)
}
