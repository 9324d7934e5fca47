//! Both parties in one process, over a channel in memory: for tests of programs.

use crate::beside::beside;
use crate::matrix::Matrix;
use crate::program::{Binding, given};
use crate::settings::Settings;
use duologue::channel::Channel;
use duologue::circuit::program::{Owner, Recipient};
use duologue::circuit::{self, BitMatrix};
use duologue::{Inputs, Options, Outputs, Party, Result, Scheme, Session};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::thread;

/// All outputs of a run by the protocol that the settings name, on the inputs of both parties; what stays shared is put
/// together. Of a shared input Alice holds the value as her share, and Bob zeros.
#[pyfunction]
pub fn simulate(
    py: Python<'_>,
    binding: &Binding,
    settings: Settings,
    inputs: HashMap<String, Py<Matrix>>,
) -> PyResult<HashMap<String, Matrix>> {
    let inputs = given(&inputs);
    let (alice, bob) = Channel::pair();
    let canceller = alice.canceller();
    beside(py, &canceller, || {
        let scheme = settings.scheme()?.unwrap_or(Scheme::Yao);
        both((alice, bob), &binding.binding, &settings.options(scheme)?, &inputs)
    })
}

fn both(
    (alice, bob): (Channel, Channel),
    binding: &circuit::Binding,
    options: &Options,
    inputs: &Inputs,
) -> Result<HashMap<String, Matrix>> {
    let [ours, theirs] = [Party::Alice, Party::Bob].map(|party| inputs_of(binding, party, inputs));
    let (mine, other) = thread::scope(|scope| {
        let other = scope.spawn(|| party(bob, Party::Bob, binding, options, &theirs));
        let mine = party(alice, Party::Alice, binding, options, &ours);
        (mine, other.join())
    });
    let other = other.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(together(binding, mine?, other?))
}

fn party(
    channel: Channel,
    party: Party,
    binding: &circuit::Binding,
    options: &Options,
    inputs: &Inputs,
) -> Result<Outputs> {
    let mut session = Session::connect(channel, party)?;
    session.register_all(&apps::calls());
    let outcome = session.run(binding, options, inputs)?;
    session.close()?;
    Ok(outcome.outputs)
}

fn inputs_of(binding: &circuit::Binding, party: Party, all: &Inputs) -> Inputs {
    let mut inputs = Inputs::new();
    for port in binding.inputs() {
        let Some(matrix) = all.get(&port.name) else { continue };
        match port.who {
            Owner::Party(owner) if owner != party => {}
            Owner::Shared if party == Party::Bob => {
                inputs = inputs.with(&port.name, BitMatrix::zeros(matrix.rows(), matrix.lanes()));
            }
            _ => inputs = inputs.with(&port.name, matrix.clone()),
        }
    }
    inputs
}

/// What either party learned; shares are added.
fn together(binding: &circuit::Binding, mut ours: Outputs, mut theirs: Outputs) -> HashMap<String, Matrix> {
    let ports = binding.outputs().iter().filter_map(|port| {
        let value = match (ours.take(&port.name), theirs.take(&port.name)) {
            (Some(ours), Some(theirs)) if port.who == Recipient::Shared => ours.xor(&theirs),
            (ours, theirs) => ours.or(theirs)?,
        };
        Some((port.name.clone(), Matrix(value.into())))
    });
    ports.collect()
}
