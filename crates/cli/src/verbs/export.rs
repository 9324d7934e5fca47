//! `duologue export`: a program as a `.duo` file, or its circuit as a Bristol Fashion file.

use crate::args::Export;
use crate::failure::Failure;
use crate::io::console::{Console, hex};
use crate::io::output;
use crate::program;
use circuit::Program;
use circuit::format::bristol;
use serde::Serialize;
use std::fmt;
use std::path::Path;

pub fn run(args: &Export, console: &Console) -> Result<(), Failure> {
    let program = program::load(&args.program, &args.inputs)?;
    let extension = args.output.extension().and_then(|extension| extension.to_str());
    let bytes = match extension {
        Some("duo") => program.to_bytes()?,
        Some("txt") => bristol::write(circuit(&program)?).into_bytes(),
        _ => {
            return Err(Failure::input("name the file FILE.duo (a program) or FILE.txt (Bristol Fashion)"));
        }
    };
    output::write_file(&args.output, &bytes)?;
    console.show(&Written::new(&program, &args.output)?)
}

/// The one circuit of a program.
fn circuit(program: &Program) -> Result<&circuit::Circuit, Failure> {
    match program.circuits() {
        [circuit] => Ok(circuit),
        circuits => {
            let why = format!("'{}' has {} circuits", program.name(), circuits.len());
            Err(Failure::input(why).hint("a Bristol file holds one circuit"))
        }
    }
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
        writeln!(f, "{}: {}, digest {}", self.file, self.program, self.digest)
    }
}
