//! Reports and predictions as dictionaries, of which Python makes its classes.

use duologue::correlation::Demand;
use duologue::cost::{Cost, Traffic};
use duologue::terms::Terms;
use duologue::{PhaseReport, Report, Scheme};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The terms that a report and a prediction share.
fn terms<'py>(py: Python<'py>, terms: &Terms) -> PyResult<Bound<'py, PyDict>> {
    let garbles = terms.scheme.has_garbler();
    let all = PyDict::new(py);
    all.set_item("protocol", terms.scheme.to_string())?;
    all.set_item("garbler", garbles.then(|| terms.garbler.to_string()))?;
    all.set_item("garbling", garbles.then(|| terms.garbling.to_string()))?;
    all.set_item("share_from", (terms.scheme == Scheme::Mixed).then_some(terms.share_from))?;
    all.set_item("ahead", terms.ahead)?;
    Ok(all)
}

/// Of a run.
pub fn of_run<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let all = terms(py, &report.terms)?;
    let maker = report.maker.filter(|_| report.demand != Demand::NONE);
    all.set_item("correlations", maker.map(|maker| maker.to_string()))?;
    all.set_item("ands", report.ands)?;
    all.set_item("tile", report.tile)?;
    all.set_item("setup", phase(py, &report.setup)?)?;
    all.set_item("online", phase(py, &report.online)?)?;
    Ok(all)
}

pub fn phase<'py>(py: Python<'py>, phase: &PhaseReport) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("seconds", phase.time.as_secs_f64())?;
    all.set_item("sent", phase.sent)?;
    all.set_item("received", phase.received)?;
    all.set_item("rounds", phase.rounds)?;
    Ok(all)
}

/// Of what a run will take, in setup and online for so many seconds.
pub fn of_cost<'py>(py: Python<'py>, cost: &Cost, seconds: (f64, f64)) -> PyResult<Bound<'py, PyDict>> {
    let all = terms(py, &cost.terms)?;
    all.set_item("correlations", (cost.demand != Demand::NONE).then(|| cost.maker.to_string()))?;
    all.set_item("ands", cost.ands)?;
    all.set_item("depth", cost.depth)?;
    all.set_item("tile", cost.tile)?;
    all.set_item("memory", cost.memory)?;
    all.set_item("setup", traffic(py, &cost.setup, seconds.0)?)?;
    all.set_item("online", traffic(py, &cost.online, seconds.1)?)?;
    Ok(all)
}

fn traffic<'py>(py: Python<'py>, traffic: &Traffic, seconds: f64) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("seconds", seconds)?;
    all.set_item("alice_to_bob", traffic.alice_to_bob)?;
    all.set_item("bob_to_alice", traffic.bob_to_alice)?;
    all.set_item("rounds", traffic.rounds())?;
    Ok(all)
}
