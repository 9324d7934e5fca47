//! `duologue export`: a program as a `.duo` file, or its circuit in one of the formats that others read.

use super::form::Form;
use crate::args::Export;
use crate::failure::Failure;
use crate::io::console::{Console, count, hex};
use crate::io::{output, shown};
use crate::program;
use duologue::circuit::program::{Step, Value};
use duologue::circuit::{Circuit, Program};
use serde::Serialize;
use std::fmt;
use std::path::Path;

pub fn run(args: &Export, console: &Console) -> Result<(), Failure> {
    let form = Form::of(&args.output)?;
    let program = program::load_with(
        &args.program,
        &args.inputs,
        &args.least,
        &[],
        program::Supply::default(),
        &program::Ours::default(),
    )?
    .program;
    let bytes = form.bytes(&program)?;
    output::write_file(&args.output, &bytes)?;
    console.show(&Written::new(&program, &args.output)?)
}

/// The circuit of a program that is nothing but one circuit, applied to its inputs as they are.
pub(super) fn circuit(program: &Program) -> Result<&Circuit, Failure> {
    let count_of = |is: fn(&Step) -> bool| program.steps().iter().filter(|step| is(step)).count();
    let lost = [
        (count_of(|step| matches!(step, Step::Map { .. })).saturating_sub(1), "more map"),
        (count_of(|step| matches!(step, Step::Reduce { .. })), "reduction"),
        (count_of(|step| matches!(step, Step::Iterate { .. })), "iteration"),
        (count_of(|step| matches!(step, Step::View { .. })), "view"),
        (count_of(|step| matches!(step, Step::Constant { .. })), "constant"),
    ];
    let lost: Vec<String> =
        lost.iter().filter(|(number, _)| *number > 0).map(|&(number, what)| count(number as u64, what)).collect();
    match program.circuits() {
        [circuit] if lost.is_empty() && is_applied_as_it_is(program, circuit) => Ok(circuit),
        [_] if lost.is_empty() => {
            Err(more_than_a_circuit(program, "inputs or outputs that are not those of the circuit, one for one"))
        }
        [] => Err(more_than_a_circuit(program, "no circuit")),
        _ => Err(more_than_a_circuit(program, &lost.join(", "))),
    }
}

/// Whether a program's inputs are those of the circuit, and its outputs the circuit's, each once and in their order.
fn is_applied_as_it_is(program: &Program, circuit: &Circuit) -> bool {
    let (inputs, outputs) = (circuit.inputs().len(), circuit.outputs().len());
    let numbers =
        |values: &[Value], from: usize| values.iter().map(|value| value.number()).eq(from..from + values.len());
    let given = program.steps().iter().filter(|step| matches!(step, Step::Input { .. })).count();
    let args = program.steps().iter().find_map(|step| match step {
        Step::Map { args, .. } => Some(args),
        _ => None,
    });
    let learned = program.steps().iter().filter_map(|step| match step {
        Step::Output { value, .. } => Some(*value),
        _ => None,
    });
    let learned: Vec<Value> = learned.collect();
    given == inputs
        && args.is_some_and(|args| numbers(args, 0))
        && learned.len() == outputs
        && numbers(&learned, inputs)
}

fn more_than_a_circuit(program: &Program, what: &str) -> Failure {
    let why = format!("'{}' is more than a circuit, and only a .duo file holds more: it has {what}", program.name());
    Failure::input(why).hint("name the file FILE.duo to keep all of it; `duologue inspect` shows the steps")
}

/// A program that was written.
#[derive(Serialize)]
pub struct Written {
    program: String,
    digest: String,
    file: String,
}

impl Written {
    pub fn new(program: &Program, file: &Path) -> Result<Written, Failure> {
        Ok(Written {
            program: program.name().to_string(),
            digest: hex(&program.digest()?),
            file: file.display().to_string(),
        })
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}, digest {}", self.file, shown::name(&self.program), self.digest)
    }
}
