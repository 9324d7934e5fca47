//! `duologue import`: a program from a circuit file in Bristol Fashion or in the old Bristol format, or one that keeps the
//! circuit to a party.

use super::export::Written;
use crate::args::{Format, Import};
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::{output, private};
use crate::program;
use apps::universal::{gate_bytes, universal};
use duologue::circuit::format::bristol::{self, Dialect, Names};
use duologue::circuit::universal::Nodes;
use duologue::circuit::{Circuit, Program};
use ndarray::aview2;
use ndarray_npy::WriteNpyExt;
use std::path::Path;
use std::{fs, io};
use zeroize::Zeroizing;

pub fn run(args: &Import, console: &Console) -> Result<(), Failure> {
    let circuit = read(args)?;
    if let Some(private) = &args.private {
        return keep(&circuit, private, args, console);
    }
    let owners = program::cycle(&args.inputs, circuit.inputs().len());
    let program = Program::of_circuit(&circuit, &owners);
    output::write_file(&args.output, &program.to_bytes()?)?;
    console.show(&Written::new(&program, &args.output)?)
}

/// Writes a program that has the circuit's ports and its number of gates, and the circuit itself as an input.
fn keep(circuit: &Circuit, private: &Path, args: &Import, console: &Console) -> Result<(), Failure> {
    if private.extension().is_none_or(|extension| extension != "npy") {
        let why = format!("{}: the function goes to a file that is named FILE.npy", private.display());
        return Err(Failure::input(why));
    }
    let function = Nodes::of_circuit(circuit)?;
    let function = match args.gates {
        Some(gates) => function.padded(gates)?,
        None => function,
    };
    let program = universal(circuit.inputs(), circuit.outputs(), function.size().gates)?;
    let gates: Vec<[u8; 9]> = function.nodes().iter().map(gate_bytes).collect();
    let mut bytes = Zeroizing::new(Vec::new());
    let writing = |why| Failure::io(format!("writing {}", private.display()))(io::Error::other(why));
    aview2(&gates).write_npy(&mut *bytes).map_err(writing)?;
    private::write_new(private, &bytes)?;
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
