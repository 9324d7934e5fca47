//! The public sizes of a program: given, or following from the lanes of our own inputs.

use crate::args::Pair;
use crate::failure::Failure;
use crate::io::input::Given;
use crate::io::shown;
use duologue::circuit::program::{Lanes, Step};
use duologue::circuit::{Binding, Program};
use std::collections::BTreeMap;

/// Binds a program to the sizes that are given and to those that `inputs` imply.
pub fn bind(program: &Program, given: &[Pair<u64>], inputs: &[Given]) -> Result<Binding, Failure> {
    let lanes = |name: &str| inputs.iter().find(|given| given.name == name).map(|given| given.value.lanes() as u64);
    Ok(program.bind(&all(program, given, lanes)?)?)
}

/// The sizes that are given, and those that the lanes of inputs imply.
pub fn all<'a>(
    program: &'a Program,
    given: &'a [Pair<u64>],
    lanes: impl Fn(&str) -> Option<u64> + 'a,
) -> Result<Vec<(&'a str, u64)>, Failure> {
    let mut sizes: Vec<(&str, u64)> = Vec::new();
    for pair in given {
        if sizes.iter().any(|(name, _)| *name == pair.name) {
            return Err(Failure::input(format!("--size {} is given twice", pair.name)));
        }
        sizes.push((&pair.name, pair.value));
    }
    for (name, value) in implied(program, lanes) {
        if sizes.iter().all(|(known, _)| *known != name) {
            sizes.push((name, value));
        }
    }
    let known = |name: &str| program.sizes().iter().any(|size| size.name == name);
    // A misspelt size is missing under its right name: binding says what was meant.
    if sizes.iter().all(|(name, _)| known(name)) {
        complete(program, &sizes)?;
    }
    Ok(sizes)
}

/// Sizes whose every value is decided by how many lanes an input has.
pub fn implied<'a>(
    program: &'a Program,
    given: impl Fn(&str) -> Option<u64> + 'a,
) -> impl Iterator<Item = (&'a str, u64)> + 'a {
    program.steps().iter().filter_map(move |step| match step {
        Step::Input { name, lanes, .. } => implied_by(program, lanes, given(name)?),
        _ => None,
    })
}

fn implied_by<'a>(program: &'a Program, lanes: &Lanes, count: u64) -> Option<(&'a str, u64)> {
    let [size] = lanes.sizes() else { return None };
    let size = &program.sizes()[size.number()];
    let exact = lanes.factor() > 0 && count.is_multiple_of(lanes.factor());
    exact.then(|| (size.name.as_str(), count / lanes.factor()))
}

fn complete(program: &Program, sizes: &[(&str, u64)]) -> Result<(), Failure> {
    let open = program
        .sizes()
        .iter()
        .find(|size| size.range.start() != size.range.end() && sizes.iter().all(|(name, _)| *name != size.name));
    let Some(size) = open else { return Ok(()) };
    let (from, to) = (size.range.start(), size.range.end());
    let why = format!("the size '{}' of '{}' is not given: {from} to {to}", size.name, program.name());
    if size.name.contains('=') {
        return Err(
            Failure::input(why).hint("no command line can give a name with '=' in it: rename it in the program")
        );
    }
    Err(Failure::input(why).hint(format!("--size {}=NUMBER; both parties give the same", size.name)))
}

/// `faces = 100, bits = 900`.
pub fn text(binding: &Binding) -> String {
    let sizes = binding.program().sizes().iter().zip(binding.sizes());
    let sizes: Vec<String> = sizes.map(|(size, value)| format!("{} = {value}", shown::name(&size.name))).collect();
    sizes.join(", ")
}

/// The sizes by name.
pub fn map(binding: &Binding) -> BTreeMap<String, u64> {
    let sizes = binding.program().sizes().iter().zip(binding.sizes());
    sizes.map(|(size, &value)| (size.name.clone(), value)).collect()
}
