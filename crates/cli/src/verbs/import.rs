//! `duologue import`: a program from a circuit file in Bristol Fashion or in the old Bristol format.

use super::export::Written;
use crate::args::{Format, Import};
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::output;
use crate::program;
use duologue::circuit::format::bristol::{self, Dialect, Names};
use duologue::circuit::{Circuit, Program};
use std::fs;

pub fn run(args: &Import, console: &Console) -> Result<(), Failure> {
    let circuit = read(args)?;
    let owners = program::cycle(&args.inputs, circuit.inputs().len());
    let program = Program::of_circuit(&circuit, &owners);
    output::write_file(&args.output, &program.to_bytes()?)?;
    console.show(&Written::new(&program, &args.output)?)
}

fn read(args: &Import) -> Result<Circuit, Failure> {
    let path = args.file.display();
    let bytes = fs::read(&args.file).map_err(Failure::io(format!("reading {path}")))?;
    let name = args.file.file_stem().map(|stem| stem.to_string_lossy());
    let names = Names { circuit: name.as_deref().unwrap_or("bristol"), ..Names::default() };
    let circuit = match args.format {
        Format::Auto => bristol::read(&bytes, &names),
        Format::Bristol => bristol::read_as(&bytes, Dialect::Fashion, &names),
        Format::BristolOld => bristol::read_as(&bytes, Dialect::Old, &names),
    };
    circuit.map_err(|why| Failure::malformed(path, why))
}
