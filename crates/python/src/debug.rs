//! Every value of a program, in plain or as the shares that both parties would hold of it.

use crate::errors::{of_program, raised, usage};
use crate::matrix::Matrix;
use crate::program::{Binding, given};
use crate::settings::Settings;
use duologue::channel::Channel;
use duologue::circuit::program::Recipient;
use duologue::circuit::{self, BitMatrix};
use duologue::{Inputs, Options, Outputs, Party, Result, Scheme, Session, plain};
use duologue_cli::embed;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::thread;

/// A step: kind, text, the numbers of the values that it reads, and of those that it defines.
pub type Step = (&'static str, String, Vec<usize>, Vec<usize>);

/// Bits of all values that are kept at most: a gigabyte.
const MOST_BITS: u64 = 1 << 33;

/// Steps for Python.
pub fn shown(steps: Vec<embed::ShownStep>) -> Vec<Step> {
    steps.into_iter().map(|step| (step.kind, step.text, step.args, step.results.collect())).collect()
}

/// What is known of a value: its type, itself, and Alice's and Bob's shares if it is secret and a protocol had some.
type Seen = (String, Matrix, Option<(Matrix, Matrix)>);

/// The steps of a program, and its values by their numbers. In plain `alice` has the inputs of all.
#[pyfunction]
pub fn trace_values(
    py: Python<'_>,
    binding: &Binding,
    settings: Option<Settings>,
    alice: HashMap<String, Py<Matrix>>,
    bob: HashMap<String, Py<Matrix>>,
) -> PyResult<(Vec<Step>, Vec<Seen>)> {
    let (watched, names) = watched(&binding.binding)?;
    let options = settings.map(|settings| settings.options(settings.scheme()?.unwrap_or(Scheme::Gmw))).transpose();
    let (alice, bob) = (given(&alice), given(&bob));
    let seen = py.detach(|| match options? {
        None => Ok((plain::run(&watched, &alice)?, None)),
        Some(options) => both(&watched, &options, &alice, &bob).map(|(alice, bob)| (alice, Some(bob))),
    });
    let (first, second) = seen.map_err(raised)?;
    let steps = shown(embed::steps(binding.binding.program(), Some(&binding.binding)));
    let of = |(value, name): (circuit::program::Value, &String)| {
        seen_as(&binding.binding, value, name, (&first, second.as_ref()))
    };
    let seen = binding.binding.program().defined().zip(&names).map(of).collect::<Option<_>>();
    Ok((steps, seen.ok_or_else(|| usage("a value did not come out"))?))
}

fn seen_as(
    binding: &circuit::Binding,
    value: circuit::program::Value,
    name: &str,
    (first, second): (&Outputs, Option<&Outputs>),
) -> Option<Seen> {
    let (ty, one) = (binding.program().type_of(value).to_string(), first.get(name)?);
    let matrix = |matrix: &BitMatrix| Matrix(matrix.clone().into());
    let Some(other) = second else { return Some((ty, matrix(one), None)) };
    let other = other.get(name)?;
    let whole = Matrix(one.xor(other).into());
    Some((ty, whole, (!binding.is_public(value)).then(|| (matrix(one), matrix(other)))))
}

/// The program, whose every value stays shared as an output, too; and the names of these.
fn watched(binding: &circuit::Binding) -> PyResult<(circuit::Binding, Vec<String>)> {
    let mut program = binding.program().clone();
    let bits = |value| u64::from(program.type_of(value).width).saturating_mul(binding.lanes_of(value));
    if program.defined().map(bits).fold(0, u64::saturating_add) > MOST_BITS {
        return Err(usage("the values have more than 2^33 bits together: look at fewer lanes"));
    }
    let taken = |sign: &str| binding.outputs().iter().any(|port| port.name.starts_with(sign));
    let sign = (1..).map(|count| "~".repeat(count)).find(|sign| !taken(sign)).unwrap_or_default();
    let values: Vec<_> = program.defined().collect();
    let names: Vec<String> = values.iter().map(|value| format!("{sign}{}", value.number())).collect();
    values.iter().zip(&names).for_each(|(&value, name)| program.output(name, Recipient::Shared, value));
    let sizes = program.sizes().iter().zip(binding.sizes()).map(|(size, &value)| (size.name.clone(), value));
    let sizes: Vec<(String, u64)> = sizes.collect();
    let bound = program
        .check()
        .and_then(|()| program.bind(&sizes.iter().map(|(name, value)| (&**name, *value)).collect::<Vec<_>>()));
    Ok((bound.map_err(of_program)?, names))
}

/// Both parties in this process, each on a thread.
fn both(binding: &circuit::Binding, options: &Options, alice: &Inputs, bob: &Inputs) -> Result<(Outputs, Outputs)> {
    let (hers, his) = Channel::pair();
    let party = |channel, party, inputs: &Inputs| -> Result<Outputs> {
        let mut session = Session::connect(channel, party)?;
        session.register_all(&apps::calls());
        let outcome = session.run(binding, options, inputs)?;
        session.close()?;
        Ok(outcome.outputs)
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| party(his, Party::Bob, bob));
        let mine = party(hers, Party::Alice, alice);
        let his = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((mine?, his?))
    })
}
