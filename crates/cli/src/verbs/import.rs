//! `duologue import`: a program from a circuit file in any of the formats, or one that keeps the circuit to a party.

use super::export::Written;
use crate::args::{Format, Import};
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::{output, private};
use crate::program;
use apps::universal::{gate_bytes, universal};
use duologue::circuit::format::bristol::{self, Dialect, Names};
use duologue::circuit::format::ports::{Parties, with_ports};
use duologue::circuit::format::{aiger, blif, shdl};
use duologue::circuit::program::{Owner, Recipient};
use duologue::circuit::universal::Nodes;
use duologue::circuit::{Circuit, Party, Port, Program};
use ndarray::aview2;
use ndarray_npy::WriteNpyExt;
use std::iter::repeat;
use std::path::{Path, PathBuf};
use std::{fs, io};
use zeroize::Zeroizing;

/// More bytes than an NPY header of two dimensions has.
const NPY_HEADER: usize = 256;

pub fn run(args: &Import, console: &Console) -> Result<(), Failure> {
    if let Some(private) = &args.private {
        return keep(&read(&args.file, args.format, &args.ports)?.circuit, private, args, console);
    }
    let program = program(&args.file, args.format, &args.ports, args.inputs.as_deref())?;
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

/// A circuit, and the parties that its file names.
struct Found {
    circuit: Circuit,
    parties: Parties,
}

/// The circuit in a file.
pub(super) fn circuit(file: &Path) -> Result<Circuit, Failure> {
    Ok(read(file, Format::Auto, &[])?.circuit)
}

/// The program of the circuit in a file. Inputs are theirs whom `inputs` names in turn, without it those of the file, else
/// Alice's and Bob's in turn; outputs go to whom the file names, or to both.
pub(super) fn program(
    file: &Path,
    format: Format,
    ports: &[Port],
    inputs: Option<&[Party]>,
) -> Result<Program, Failure> {
    let Found { circuit, parties } = read(file, format, ports)?;
    let turns = program::cycle(inputs.unwrap_or(&[Party::Alice, Party::Bob]), circuit.inputs().len());
    let named = parties.inputs.iter().copied().filter(|_| inputs.is_none()).chain(repeat(None));
    let owners: Vec<Owner> =
        turns.into_iter().zip(named).map(|(turn, named)| named.map_or(turn, Owner::Party)).collect();
    let recipients: Vec<Recipient> =
        parties.outputs.iter().map(|party| party.map_or(Recipient::Both, Recipient::Party)).collect();
    Ok(Program::of_circuit_to(&circuit, &owners, &recipients))
}

/// The circuit in a file, with these ports if there are any.
fn read(file: &Path, format: Format, ports: &[Port]) -> Result<Found, Failure> {
    refuse(file)?;
    let path = file.display();
    let bytes = fs::read(file).map_err(Failure::io(format!("reading {path}")))?;
    if bytes.starts_with(b"duologue\n\0") {
        let hint = "`duologue optimise` and `duologue run` take it as it is";
        return Err(Failure::input(format!("{path} is a program already")).hint(hint));
    }
    let name = file.file_stem().map(|stem| stem.to_string_lossy());
    let name = name.as_deref().unwrap_or("circuit");
    let names = Names { circuit: name, ..Names::default() };
    let (mut parties, format) = (Parties::default(), if format == Format::Auto { detect(&bytes) } else { format });
    let circuit = match format {
        Format::Auto => bristol::read(&bytes, &names),
        Format::Bristol => bristol::read_as(&bytes, Dialect::Fashion, &names),
        Format::BristolOld => bristol::read_as(&bytes, Dialect::Old, &names),
        Format::Aiger => aiger::read(&bytes, name),
        Format::Blif => blif::read(&bytes, name),
        Format::Shdl => shdl::read(&bytes, name).map(|file| {
            parties = file.parties;
            file.circuit
        }),
    };
    let circuit = circuit.map_err(|why| Failure::malformed(path, why))?;
    if ports.is_empty() {
        return Ok(Found { circuit, parties });
    }
    // Whose bits they were is not said of other ports.
    Ok(Found { circuit: with_ports(circuit, ports)?, parties: Parties::default() })
}

/// What others read.
fn refuse(file: &Path) -> Result<(), Failure> {
    let path = file.display();
    let (what, hint) = match file.extension().and_then(|extension| extension.to_str()) {
        Some("v" | "sv") => {
            ("Verilog", format!("`duologue compile {path} -o OUT.duo` reads it, mapped netlists as well"))
        }
        Some("json") => ("a netlist of Yosys", format!("`duologue compile {path} -o OUT.duo` reads it")),
        _ => return Ok(()),
    };
    Err(Failure::input(format!("{path} is {what}")).hint(hint))
}

/// The format of a file by its beginning; Auto for one of Bristol's.
fn detect(file: &[u8]) -> Format {
    let is_text = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"//");
    let first = file.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(is_text).unwrap_or_default();
    let second = first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).nth(1);
    match (first, second) {
        _ if file.starts_with(b"aag ") || file.starts_with(b"aig ") => Format::Aiger,
        ([b'.', ..], _) => Format::Blif,
        (_, Some(b"input" | b"gate" | b"output")) => Format::Shdl,
        _ => Format::Auto,
    }
}
