//! Inputs from files and from the command line.

use crate::args::Pair;
use crate::failure::Failure;
use crate::io::console::{count, thousands};
use crate::io::{ciphertexts, shown};
use duologue::circuit::program::{Owner, Step};
use duologue::circuit::{Binding, BitMatrix, Program, Type};
use duologue::{Inputs, Party};
use std::fs::File;
use std::io;
use values::{csv, lane, npy};

/// An input that was read.
pub struct Given {
    pub name: String,
    pub value: BitMatrix,
}

/// Reads what `party` supplies; every name must be an input that it may supply.
pub fn read(program: &Program, party: Party, sources: &[Pair<String>]) -> Result<Vec<Given>, Failure> {
    let mut given: Vec<Given> = Vec::new();
    for Pair { name, value } in sources {
        let ty = port(program, party, name)?;
        if given.iter().any(|known| known.name == *name) {
            return Err(Failure::input(format!("the input '{name}' is given twice")));
        }
        let value = read_source(value, ty).map_err(|failure| {
            let failure = Failure { message: format!("the input '{name}': {}", failure.message), ..failure };
            if value.contains('=') && failure.hint.is_none() { failure.hint(FIRST_SIGN) } else { failure }
        })?;
        let name = name.clone();
        given.push(Given { name, value });
    }
    Ok(given)
}

/// How `--input` is read, where there is more than one way.
const FIRST_SIGN: &str = "NAME=SOURCE ends its name at the first '='; one --input gives one input";

/// The type of an input, if this party may supply it.
fn port(program: &Program, party: Party, wanted: &str) -> Result<Type, Failure> {
    let ports = || {
        program.steps().iter().filter_map(|step| match step {
            Step::Input { name, owner, ty, .. } => Some((name, owner, ty)),
            _ => None,
        })
    };
    match ports().find(|(name, ..)| *name == wanted) {
        Some((_, &owner, &ty)) if owner != Owner::Party(party.peer()) => Ok(ty),
        Some(_) => {
            let why = format!("the input '{wanted}' belongs to {}, not to {party}", party.peer());
            Err(Failure::input(why))
        }
        None => {
            let names: Vec<String> = ports().map(|(name, ..)| shown::name(name)).collect();
            let why = format!("'{}' has no input '{wanted}'", program.name());
            Err(Failure::input(why).hint(format!("its inputs are {}", names.join(", "))))
        }
    }
}

fn read_source(source: &str, ty: Type) -> Result<BitMatrix, Failure> {
    match source {
        "-" => Ok(csv::lanes(io::stdin().lock(), "standard input", ty)?),
        path if path.ends_with(".npy") => read_npy(path, ty),
        path if path.ends_with(ciphertexts::EXTENSION) => ciphertexts::read(path, ty),
        path if path.ends_with(".csv") => Ok(csv::lanes(open(path)?, path, ty)?),
        list => lane::list(list, ty).map_err(|why| {
            let looks_like_a_file = list.contains(['.', '/']);
            let failure = Failure::from(why);
            if looks_like_a_file { failure.hint(FILES) } else { failure }
        }),
    }
}

/// What is taken for a file.
const FILES: &str = "files are read if their names end in .npy or .csv, of ciphertexts in .enc";

fn open(path: &str) -> Result<File, Failure> {
    File::open(path).map_err(Failure::io(format!("reading {path}")))
}

fn read_npy(path: &str, ty: Type) -> Result<BitMatrix, Failure> {
    let file = open(path)?;
    let length = file.metadata().map_err(Failure::io(format!("reading {path}")))?.len();
    Ok(npy::read(file, length, path, ty)?)
}

/// Checks that everything that `party` supplies is there with its number of lanes.
pub fn complete(binding: &Binding, party: Party, given: Vec<Given>) -> Result<Inputs, Failure> {
    let ours = |owner: Owner| owner != Owner::Party(party.peer());
    for port in binding.inputs().iter().filter(|port| ours(port.who)) {
        let lanes = given.iter().find(|given| given.name == port.name);
        match lanes.map(|given| given.value.lanes() as u64) {
            Some(lanes) if lanes != port.lanes => {
                let expected = format!("expected {} of {}", thousands(port.lanes), port.ty);
                let why = format!("the input '{}' has {}: {expected}", port.name, count(lanes, "lane"));
                return Err(Failure::input(why));
            }
            None if port.lanes > 0 => return Err(missing(binding, &port.name)),
            _ => {}
        }
    }
    let mut inputs = Inputs::new();
    for Given { name, value } in given {
        inputs.set(&name, value);
    }
    Ok(inputs)
}

fn missing(binding: &Binding, name: &str) -> Failure {
    let shape = binding.input(name).map_or(String::new(), |port| format!(": {} × {}", port.lanes, port.ty));
    let why = format!("the input '{name}' is not given{shape}");
    if name.contains('=') {
        return Failure::input(why).hint("no command line can give a name with '=' in it: rename it in the program");
    }
    Failure::input(why).hint(format!("--input {name}=FILE.npy, FILE.csv or values; see --help"))
}
