//! Private functions: one party has the function and the other the data.

use crate::beside::{beside, left};
use crate::errors::{raised, usage};
use crate::matrix::Matrix;
use crate::meeting::{Canceller, Meeting};
use crate::program::Program;
use duologue::circuit::BitMatrix;
use duologue::{Error, Result};
use duologue_cli::embed::{self, PrivateRuns, PrivateTold};
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
    let function = match function {
        Function::Program(program) => Ok(program.program.clone()),
        Function::Named(name) => Err(name),
    };
    let canceller = &canceller.0;
    // It takes a while for a large function.
    let prepare = move || embed::private_function(function.as_ref().map_err(String::as_str), own, &words);
    let function = left(py, canceller, prepare)?;
    let runs = beside(py, canceller, || embed::serve_private(function, || meeting.channel(canceller)))?;
    told(py, &runs)
}

/// Rows of bytes, or of bits, whose number is known when the parties have met.
type Rows = (Vec<u8>, usize);

/// Bob: the results on rows of data, as many lanes, and what ended the runs before their time.
#[pyfunction]
pub fn ask_private<'py>(
    py: Python<'py>,
    meeting: &Meeting,
    canceller: &Canceller,
    data: Rows,
    words: Vec<String>,
    most_gates: u64,
) -> PyResult<(Matrix, Bound<'py, PyDict>, Option<Py<PyAny>>)> {
    let (rows, columns) = data;
    if columns == 0 || rows.is_empty() || !rows.len().is_multiple_of(columns) {
        return Err(usage("the data: expected rows of bytes, or of 0 and 1"));
    }
    let canceller = &canceller.0;
    let lanes = |told: PrivateTold| lanes(&rows, columns, &told, most_gates);
    let (y, runs, why) = beside(py, canceller, || embed::ask_private(&words, lanes, || meeting.channel(canceller)))?;
    let why = why.map(|why| raised(why).into_value(py).into_any());
    Ok((Matrix(y.into()), told(py, &runs)?, why))
}

/// Additions that a function has for each gate at most.
const ADDITIONS: u64 = 8;

/// The data as lanes of a function of which this is told.
fn lanes(rows: &[u8], columns: usize, told: &PrivateTold, most_gates: u64) -> Result<BitMatrix> {
    let &PrivateTold { inputs, gates, additions, runs } = told;
    let (count, inputs, most_additions) = (rows.len() / columns, inputs as usize, most_gates.saturating_mul(ADDITIONS));
    let refuse = |why: String| Err(Error::usage(why));
    if gates > most_gates {
        return refuse(format!("the peer's function has {gates} gates, more than most_gates={most_gates}"));
    }
    if additions > most_additions {
        return refuse(format!(
            "the peer's function has {additions} additions, more than {ADDITIONS} for each of most_gates={most_gates}"
        ));
    }
    if count as u64 > runs {
        return refuse(format!("the data have {count} rows, and the peer allows {runs} runs"));
    }
    let other = rows.iter().position(|&bit| bit > 1);
    let is_bits = columns == inputs && other.is_none();
    if let Some(place) = other
        && columns == inputs
        && columns != inputs.div_ceil(8)
    {
        return refuse(format!("row {} of the data: expected {inputs} times 0 or 1", place / columns));
    }
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
