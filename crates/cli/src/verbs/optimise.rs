//! `duologue optimise`: the circuits of a program, or of a circuit file, with fewer ANDs.

use super::export::{self, Written};
use super::import;
use crate::args::{Format, Optimise};
use crate::failure::Failure;
use crate::io::console::{Console, count};
use crate::io::output;
use crate::program;
use duologue::circuit::format::bristol;
use duologue::circuit::optimise::gates::{self, Settings};
use duologue::circuit::{Party, Program};
use serde::Serialize;
use std::fmt;
use std::path::Path;

pub fn run(args: &Optimise, console: &Console) -> Result<(), Failure> {
    let is_program = is_program(&args.output)?;
    let program = read(args)?;
    let settings = Settings::of(args.effort, args.goal);
    let optimised = program.with_circuits(|circuit| gates::optimise(circuit, settings))?;
    let bytes = match is_program {
        true => optimised.to_bytes()?,
        false => bristol::write(export::circuit(&optimised)?).into_bytes(),
    };
    output::write_file(&args.output, &bytes)?;
    let written = Written::new(&optimised, &args.output)?;
    console.show(&Optimised { written, before: Figures::of(&program), after: Figures::of(&optimised) })
}

/// Whether a program is written, by the end of the file's name.
fn is_program(path: &Path) -> Result<bool, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("duo") => Ok(true),
        Some("bristol" | "txt") => Ok(false),
        _ => {
            let why = format!("{}: the end of a file's name says its format", path.display());
            let hint = "name it FILE.duo (a program) or FILE.bristol (a circuit in Bristol Fashion)";
            Err(Failure::input(why).hint(hint))
        }
    }
}

fn read(args: &Optimise) -> Result<Program, Failure> {
    if args.file.extension().is_some_and(|extension| extension == "duo") {
        if args.inputs.is_some() {
            let why = format!("{}: a program has its own owners of inputs", args.file.display());
            return Err(Failure::input(why).hint("leave out --inputs"));
        }
        return program::load(&args.file.to_string_lossy(), &[]);
    }
    let circuit = import::read(&args.file, Format::Auto)?;
    let owners = args.inputs.as_deref().unwrap_or(&[Party::Alice, Party::Bob]);
    Ok(Program::of_circuit(&circuit, &program::cycle(owners, circuit.inputs().len())))
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
