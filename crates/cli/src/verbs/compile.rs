//! `duologue compile`: a program, or a circuit in Bristol Fashion, from a design in Verilog.

use super::export::Written;
use crate::args::Compile;
use crate::failure::Failure;
use crate::io::console::{Console, count};
use crate::io::output;
use duologue::circuit::Circuit;
use duologue::circuit::format::bristol;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;
use std::{fmt, fs};
use synthesis::netlist::Module;
use synthesis::parties::{self, Said};
use synthesis::yosys::{Design, Yosys};

pub fn run(args: &Compile, console: &Console) -> Result<(), Failure> {
    let form = Form::of(&args.output)?;
    let module = Module::read(&netlist(args)?)?;
    let made = synthesis::circuit(&module, args.goal)?;
    let (bytes, written) = match form {
        Form::Program => {
            let program = parties::program(&made, &said(args)?)?;
            (program.to_bytes()?, File::Program(Written::new(&program, &args.output)?))
        }
        Form::Bristol => {
            let file = args.output.display().to_string();
            (bristol::write(&made.circuit).into_bytes(), File::Circuit { file })
        }
    };
    output::write_file(&args.output, &bytes)?;
    console.show(&Compiled { written, front_end: module.creator.clone(), figures: Figures::of(&made.circuit) })
}

/// What is written, by the end of the file's name.
enum Form {
    Program,
    Bristol,
}

impl Form {
    fn of(path: &Path) -> Result<Form, Failure> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("duo") => Ok(Form::Program),
            Some("bristol" | "txt") => Ok(Form::Bristol),
            _ => {
                let why = format!("{}: the end of a file's name says its format", path.display());
                let hint = "name it FILE.duo (a program) or FILE.bristol (a circuit in Bristol Fashion)";
                Err(Failure::input(why).hint(hint))
            }
        }
    }
}

/// What Yosys wrote, now or before.
fn netlist(args: &Compile) -> Result<Vec<u8>, Failure> {
    let is_netlist = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
    for file in &args.files {
        fs::metadata(file).map_err(Failure::io(format!("reading {}", file.display())))?;
    }
    match &args.files[..] {
        [file] if is_netlist(file) => fs::read(file).map_err(Failure::io(format!("reading {}", file.display()))),
        files if files.iter().any(|file| is_netlist(file)) => {
            Err(Failure::input("a netlist (FILE.json) is compiled alone, without other files"))
        }
        files => {
            let yosys = Yosys::find(args.yosys.as_deref(), Duration::from_secs(args.time_limit))?;
            Ok(yosys.netlist(&Design { files: files.to_vec(), top: args.top.clone() })?)
        }
    }
}

fn said(args: &Compile) -> Result<Said, Failure> {
    let mut said = Said::default();
    for pair in &args.inputs {
        said.inputs.push((pair.name.clone(), parties::owner(&pair.value)?));
    }
    for pair in &args.outputs {
        said.outputs.push((pair.name.clone(), parties::recipient(&pair.value)?));
    }
    Ok(said)
}

/// The file that was written.
#[derive(Serialize)]
#[serde(untagged)]
enum File {
    Program(Written),
    Circuit { file: String },
}

#[derive(Serialize)]
struct Compiled {
    #[serde(flatten)]
    written: File,
    front_end: String,
    #[serde(flatten)]
    figures: Figures,
}

/// What the circuit costs.
#[derive(Serialize)]
struct Figures {
    inputs: u64,
    outputs: u64,
    gates: u64,
    ands: u64,
    depth: u32,
}

impl Figures {
    fn of(circuit: &Circuit) -> Figures {
        let bits = |ports: &[duologue::circuit::Port]| ports.iter().map(|port| u64::from(port.ty.width)).sum();
        Figures {
            inputs: bits(circuit.inputs()),
            outputs: bits(circuit.outputs()),
            gates: circuit.gates().len() as u64,
            ands: circuit.and_count(),
            depth: circuit.depth(),
        }
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            File::Program(written) => write!(f, "{written}")?,
            File::Circuit { file } => writeln!(f, "{file}")?,
        }
        let Figures { inputs, outputs, ands, depth, .. } = &self.figures;
        let bits = |number: u64| count(number, "bit");
        writeln!(f, "{}, depth {depth}; {} in, {} out", count(*ands, "AND"), bits(*inputs), bits(*outputs))
    }
}
