//! `duologue import`: a program from a circuit file in Bristol Fashion, in the old Bristol format or in AIGER, or one that
//! keeps the circuit to a party.

use super::export::Written;
use crate::args::{Format, Import};
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::{output, private};
use crate::program;
use apps::universal::{gate_bytes, universal};
use duologue::circuit::format::aiger;
use duologue::circuit::format::bristol::{self, Dialect, Names};
use duologue::circuit::universal::Nodes;
use duologue::circuit::{Circuit, Program};
use ndarray::aview2;
use ndarray_npy::WriteNpyExt;
use std::path::{Path, PathBuf};
use std::{fs, io};
use zeroize::Zeroizing;

/// More bytes than an NPY header of two dimensions has.
const NPY_HEADER: usize = 256;

pub fn run(args: &Import, console: &Console) -> Result<(), Failure> {
    let circuit = read(&args.file, args.format)?;
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
    if place(private) == place(&args.output) {
        let why = format!("{}: the program and the private function go to two files", private.display());
        return Err(Failure::input(why));
    }
    let function = Nodes::of_circuit(circuit)?;
    let function = match args.gates {
        Some(gates) => function.padded(gates)?,
        None => function,
    };
    let program = universal(circuit.inputs(), circuit.outputs(), function.size().gates)?;
    let gates: Zeroizing<Vec<[u8; 9]>> = Zeroizing::new(function.nodes().iter().map(gate_bytes).collect());
    // In room for all: where a vector grows, it leaves its bytes behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(NPY_HEADER + gates.as_flattened().len()));
    let writing = |why| Failure::io(format!("writing {}", private.display()))(io::Error::other(why));
    aview2(&gates).write_npy(&mut *bytes).map_err(writing)?;
    let program_bytes = program.to_bytes()?;
    private::write_new(private, &bytes)?;
    if let Err(why) = output::write_file(&args.output, &program_bytes) {
        // Without its program the function is of no use, and the next try would meet a file that exists.
        let _ = fs::remove_file(private);
        return Err(why);
    }
    console.show(&Written::new(&program, &args.output)?)
}

/// A path whose folder is written in one way alone.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.join(path.file_name().unwrap_or_default())
}

/// The circuit in a file.
pub(super) fn read(file: &Path, format: Format) -> Result<Circuit, Failure> {
    let path = file.display();
    let bytes = fs::read(file).map_err(Failure::io(format!("reading {path}")))?;
    let name = file.file_stem().map(|stem| stem.to_string_lossy());
    let name = name.as_deref().unwrap_or("circuit");
    let names = Names { circuit: name, ..Names::default() };
    let is_aiger = bytes.starts_with(b"aag ") || bytes.starts_with(b"aig ");
    let circuit = match format {
        Format::Auto if is_aiger => aiger::read(&bytes, name),
        Format::Auto => bristol::read(&bytes, &names),
        Format::Bristol => bristol::read_as(&bytes, Dialect::Fashion, &names),
        Format::BristolOld => bristol::read_as(&bytes, Dialect::Old, &names),
        Format::Aiger => aiger::read(&bytes, name),
    };
    circuit.map_err(|why| Failure::malformed(path, why))
}
