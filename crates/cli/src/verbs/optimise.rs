//! `duologue optimise`: the circuits of a program, or of a circuit file, with fewer ANDs.

use super::export::Written;
use super::form::Form;
use super::import;
use crate::args::{Format, Optimise};
use crate::failure::Failure;
use crate::io::console::{Console, count};
use crate::io::output;
use crate::program;
use duologue::circuit::Program;
use duologue::circuit::optimise::gates::{self, Settings};
use serde::Serialize;
use std::fmt;

pub fn run(args: &Optimise, console: &Console) -> Result<(), Failure> {
    let form = Form::of(&args.output)?;
    let program = read(args)?;
    let settings = Settings::of(args.effort, args.goal);
    let optimised = program.with_circuits(|circuit| gates::optimise(circuit, settings))?;
    output::write_file(&args.output, &form.bytes(&optimised)?)?;
    let written = Written::new(&optimised, &args.output)?;
    console.show(&Optimised { written, before: Figures::of(&program), after: Figures::of(&optimised) })
}

fn read(args: &Optimise) -> Result<Program, Failure> {
    if args.file.extension().is_some_and(|extension| extension == "duo") {
        if args.inputs.is_some() || !args.ports.is_empty() {
            let why = format!("{}: a program has its own owners and types of inputs", args.file.display());
            return Err(Failure::input(why).hint("leave out --inputs and --port"));
        }
        return program::load(&args.file.to_string_lossy(), &[]);
    }
    import::program(&args.file, Format::Auto, &args.ports, args.inputs.as_deref())
}

/// What the circuits of a program cost together, each once.
#[derive(Serialize)]
struct Figures {
    ands: u64,
    depth: u32,
    gates: u64,
}

impl Figures {
    fn of(program: &Program) -> Figures {
        let circuits = program.circuits();
        Figures {
            ands: circuits.iter().map(|circuit| circuit.and_count()).sum(),
            depth: circuits.iter().map(|circuit| circuit.depth()).max().unwrap_or(0),
            gates: circuits.iter().map(|circuit| circuit.gates().len() as u64).sum(),
        }
    }
}

#[derive(Serialize)]
struct Optimised {
    #[serde(flatten)]
    written: Written,
    before: Figures,
    after: Figures,
}

impl fmt::Display for Optimised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.written)?;
        let Optimised { before, after, .. } = self;
        let (ands, gates) = (count(before.ands, "AND"), count(before.gates, "gate"));
        writeln!(f, "before: {ands}, depth {}, {gates}", before.depth)?;
        let (ands, gates) = (count(after.ands, "AND"), count(after.gates, "gate"));
        writeln!(f, "after:  {ands}, depth {}, {gates}", after.depth)
    }
}
