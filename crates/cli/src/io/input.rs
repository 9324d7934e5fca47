//! Inputs from files and from the command line.

mod folders;

use crate::args::Source;
use crate::failure::Failure;
use crate::io::console::{count, thousands};
use crate::io::{ciphertexts, shown};
use duologue::circuit::program::{Owner, Step};
use duologue::circuit::{Binding, BitMatrix, Program, Type};
use duologue::{Inputs, Party};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;
use values::{Error, Form, Format, Location, Wanted, csv, lane, npy};

/// An input that was read.
pub struct Given {
    pub name: String,
    pub value: BitMatrix,
}

/// Reads what `party` supplies; every name must be an input that it may supply. A table is read once.
pub fn read(program: &Program, party: Party, sources: &[Source]) -> Result<Vec<Given>, Failure> {
    let sources = &folders::opened(program, party, sources)?[..];
    let (mut given, mut wishes) = (Vec::new(), Vec::new());
    let named = || sources.iter().filter_map(|source| Some((source.name.as_ref()?, &source.value)));
    for (place, (name, value)) in named().enumerate() {
        let ty = port(program, party, name)?;
        if named().take(place).any(|(known, _)| known == name) {
            return Err(twice(name));
        }
        let of_this = |failure: Failure| {
            let failure = Failure { message: format!("the input '{name}': {}", failure.message), ..failure };
            if value.contains('=') && failure.hint.is_none() { failure.hint(FIRST_SIGN) } else { failure }
        };
        let (name, location) = (name.clone(), value.parse().map_err(|why| of_this(Failure::from(why)))?);
        match location {
            Location { file, column: Some((column, form)) } => {
                wishes.push(Wish { file, name, column, form, ty, named: true })
            }
            Location { file, column: None } if Format::of(&file) != Format::Csv => {
                wishes.push(Wish { file, column: name.clone(), name, form: Form::default(), ty, named: true });
            }
            _ => given.push(Given { value: read_source(value, ty).map_err(of_this)?, name }),
        }
    }
    for table in sources.iter().filter(|source| source.name.is_none()) {
        let others = ports(program, party).filter(|(port, _)| named().all(|(name, _)| name != port));
        let before = wishes.len();
        wishes.extend(others.map(|(port, ty)| Wish::of_table(&table.value, port, ty)));
        if wishes.len() == before {
            let why = format!("{}: no input is left that it could fill", shown_file(&table.value));
            return Err(Failure::input(why));
        }
    }
    read_tables(&wishes, &mut given)?;
    Ok(given)
}

/// The files that these are read from, by their one path.
pub fn files(sources: &[Source]) -> Vec<PathBuf> {
    let is_file = |file: &str| {
        let endings = [".npy", ciphertexts::EXTENSION];
        Location::is_table(file) || endings.iter().any(|ending| Location::has_ending(file, ending))
    };
    let of = |source: &Source| source.value.parse().ok().map(|location: Location| location.file);
    let named = sources.iter().filter_map(of).chain(sources.iter().flat_map(folders::files));
    named.filter(|file| is_file(file)).filter_map(|file| fs::canonicalize(file).ok()).collect()
}

/// How `--input` is read, where there is more than one way.
const FIRST_SIGN: &str = "NAME=SOURCE ends its name at the first '='; one --input gives one input";

fn twice(name: &str) -> Failure {
    Failure::input(format!("the input '{name}' is given twice"))
}

/// A column of a table, for an input.
struct Wish {
    file: String,
    /// The input.
    name: String,
    column: String,
    form: Form,
    ty: Type,
    /// Whether the column must be there.
    named: bool,
}

impl Wish {
    fn of_table(file: &str, port: &str, ty: Type) -> Self {
        let [file, name, column] = [file, port, port].map(String::from);
        Wish { file, name, column, form: Form::default(), ty, named: false }
    }
}

/// Reads all columns of each table in one pass.
fn read_tables(wishes: &[Wish], given: &mut Vec<Given>) -> Result<(), Failure> {
    for (place, first) in wishes.iter().enumerate() {
        if wishes[..place].iter().any(|before| before.file == first.file) {
            continue;
        }
        let of_file: Vec<&Wish> = wishes.iter().filter(|wish| wish.file == first.file).collect();
        let before = given.len();
        for (wish, value) in of_file.iter().zip(read_columns(&first.file, &of_file)?) {
            match value {
                Some(_) if given.iter().any(|known| known.name == wish.name) => return Err(twice(&wish.name)),
                Some(value) => given.push(Given { name: wish.name.clone(), value }),
                None if wish.named => return Err(no_column(wish)),
                None => {}
            }
        }
        if given.len() == before {
            let why = format!("{}: no column has the name of an input", shown_file(&first.file));
            let names: Vec<String> = of_file.iter().map(|wish| shown::name(&wish.name)).collect();
            return Err(Failure::input(why).hint(format!("the inputs are {}", names.join(", "))));
        }
    }
    Ok(())
}

/// The names of the other columns are not told: where there is no header they would be values.
fn no_column(wish: &Wish) -> Failure {
    let why = format!("the input '{}': {} has no column '{}'", wish.name, shown_file(&wish.file), wish.column);
    Failure::input(why).hint("the first line of a CSV file names its columns, letter by letter")
}

fn shown_file(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

fn read_columns(file: &str, wishes: &[&Wish]) -> Result<Vec<Option<BitMatrix>>, Failure> {
    let wanted = wishes.iter().map(|wish| Wanted { column: &wish.column, ty: wish.ty, form: &wish.form });
    columns(file, &wanted.collect::<Vec<_>>())
}

/// Columns of a table in one pass; `None` for one that is not there.
pub fn columns(file: &str, wanted: &[Wanted<'_>]) -> Result<Vec<Option<BitMatrix>>, Failure> {
    let format = Format::of(file);
    format.available()?;
    Ok(match format {
        Format::Csv if file == "-" => csv::columns(io::stdin().lock(), shown_file(file), wanted)?,
        Format::Csv => csv::columns(open(file)?, file, wanted)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => values::parquet::columns(open(file)?, file, wanted)?,
        #[cfg(feature = "parquet")]
        Format::Arrow => values::arrow::columns(open(file)?, file, wanted)?,
        _ => return Err(Failure::input(format!("{file}: no input is read from JSON")).hint(FILES)),
    })
}

/// The inputs that this party may supply.
fn ports(program: &Program, party: Party) -> impl Iterator<Item = (&str, Type)> {
    program.steps().iter().filter_map(move |step| match step {
        Step::Input { name, owner, ty, .. } if *owner != Owner::Party(party.peer()) => Some((&**name, *ty)),
        _ => None,
    })
}

/// The type of an input, if this party may supply it.
fn port(program: &Program, party: Party, wanted: &str) -> Result<Type, Failure> {
    let inputs = || {
        program.steps().iter().filter_map(|step| match step {
            Step::Input { name, .. } => Some(name),
            _ => None,
        })
    };
    if let Some((_, ty)) = ports(program, party).find(|(name, _)| *name == wanted) {
        return Ok(ty);
    }
    if inputs().any(|name| name == wanted) {
        let why = format!("the input '{wanted}' belongs to {}, not to {party}", party.peer());
        return Err(Failure::input(why));
    }
    let names: Vec<String> = inputs().map(|name| shown::name(name)).collect();
    let why = format!("'{}' has no input '{wanted}'", program.name());
    Err(Failure::input(why).hint(format!("its inputs are {}", names.join(", "))))
}

/// Lanes of this type from a file, a column of a table, or a list.
pub fn lanes(source: &str, ty: Type) -> Result<BitMatrix, Failure> {
    let Location { file, column: Some((column, form)) } = source.parse()? else { return read_source(source, ty) };
    let read = columns(&file, &[Wanted { column: &column, ty, form: &form }])?.pop().flatten();
    read.ok_or_else(|| Failure::input(format!("{} has no column '{column}'", shown_file(&file))))
}

fn read_source(source: &str, ty: Type) -> Result<BitMatrix, Failure> {
    match source {
        "-" => read_lanes(io::stdin().lock(), "standard input", ty),
        path if Location::has_ending(path, ".npy") => read_npy(path, ty),
        path if Location::has_ending(path, ciphertexts::EXTENSION) => ciphertexts::read(path, ty),
        path if Location::has_ending(path, ".csv") => read_lanes(open(path)?, path, ty),
        list => lane::list(list, ty).map_err(|why| {
            let looks_like_a_file = list.contains(['.', '/']);
            let failure = Failure::from(why);
            if looks_like_a_file { failure.hint(FILES) } else { failure }
        }),
    }
}

/// What is taken for a file.
const FILES: &str =
    "files are read if their names end in .npy or .csv, of ciphertexts in .enc; tables in .csv, .parquet or .arrow";

fn read_lanes(from: impl Read, file: &str, ty: Type) -> Result<BitMatrix, Failure> {
    csv::lanes(from, file, ty).map_err(|why| match &why {
        Error::Value { place, .. } if place.line == Some(1) => {
            let hint = "if the first line names columns, say which: NAME=FILE.csv:COLUMN";
            Failure::from(why).hint(hint)
        }
        _ => why.into(),
    })
}

/// Opens a file to read it.
pub fn open(path: &str) -> Result<File, Failure> {
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
    Failure::input(why).hint(format!("--input {name}=FILE.npy, FILE.csv, FILE.csv:COLUMN or values; see --help"))
}
