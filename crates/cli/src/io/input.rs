//! Inputs from files and from the command line.

mod folders;

pub use folders::opened;

use crate::args::Source;
use crate::failure::Failure;
use crate::io::console::{self, thousands};
use crate::io::{ciphertexts, shown};
use duologue::circuit::program::{Owner, Step};
use duologue::circuit::{Binding, BitMatrix, Program, Type};
use duologue::{Inputs, Party};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use values::{Error, Form, Format, Location, Wanted, csv, lane, npy};

/// An input that was read.
pub struct Given {
    pub name: String,
    pub value: BitMatrix,
}

/// Reads what `party` supplies; every name must be an input that it may supply. A table is read once.
pub fn read(program: &Program, party: Party, sources: &[Source]) -> Result<Vec<Given>, Failure> {
    read_rows(program, party, sources, &|_| Some(ALL))
}

/// All lanes.
pub const ALL: Range<u64> = 0..u64::MAX;

/// Which lanes of an input are read; none if it is not.
pub type Rows<'a> = dyn Fn(&str) -> Option<Range<u64>> + 'a;

/// Reads some of the lanes of inputs, and nothing else of their files.
pub fn read_rows(program: &Program, party: Party, sources: &[Source], rows: &Rows<'_>) -> Result<Vec<Given>, Failure> {
    let said = Said::new(program, party, sources)?;
    let mut given = Vec::new();
    for Alone { name, source, ty } in said.alone {
        let Some(rows) = rows(&name) else { continue };
        let value = read_source(&source, ty, rows).map_err(|why| of_input(&name, &source, why))?;
        given.push(Given { value, name });
    }
    let wishes = said.wishes.into_iter().filter_map(|wish| Some(Wish { rows: rows(&wish.name)?, ..wish }));
    read_tables(&wishes.collect::<Vec<_>>(), &mut given)?;
    Ok(given)
}

/// How many lanes each source has for its input; no more of a file is kept than its header.
pub fn count(program: &Program, party: Party, sources: &[Source]) -> Result<Vec<(String, u64)>, Failure> {
    let said = Said::new(program, party, sources)?;
    let mut counts = Vec::new();
    for Alone { name, source, ty } in said.alone {
        let lanes = count_lanes(&source, ty).map_err(|why| of_input(&name, &source, why))?;
        counts.push((name, lanes));
    }
    // The header alone is read: the columns that there are have no rows then.
    let headers: Vec<Wish> = said.wishes.into_iter().map(|wish| Wish { rows: 0..0, ..wish }).collect();
    let mut there = Vec::new();
    read_tables(&headers, &mut there)?;
    let mut files: BTreeMap<&str, u64> = BTreeMap::new();
    for wish in headers.iter().filter(|wish| there.iter().any(|one| one.name == wish.name)) {
        if !files.contains_key(&*wish.file) {
            files.insert(&wish.file, count_rows(&wish.file)?);
        }
        let (rows, each) = (files[&*wish.file], wish.wanted().rows_of_lane()?);
        if rows % each != 0 {
            let (file, column, rows) = (shown_file(&wish.file), &wish.column, thousands(rows));
            let words = format!("expected a multiple of {each}, the words of a lane");
            let why = format!("the input '{}': {file}: column '{column}' has {rows} rows: {words}", wish.name);
            return Err(Failure::input(why));
        }
        counts.push((wish.name.clone(), rows / each));
    }
    Ok(counts)
}

/// What sources say: files or lists of one input, and columns of tables.
struct Said {
    alone: Vec<Alone>,
    wishes: Vec<Wish>,
}

/// A file or a list that has one input.
struct Alone {
    name: String,
    source: String,
    ty: Type,
}

impl Said {
    fn new(program: &Program, party: Party, sources: &[Source]) -> Result<Said, Failure> {
        let sources = &folders::opened(program, party, sources)?[..];
        let mut said = Said { alone: Vec::new(), wishes: Vec::new() };
        let named = || sources.iter().filter_map(|source| Some((source.name.as_ref()?, &source.value)));
        for (place, (name, value)) in named().enumerate() {
            let ty = port(program, party, name)?;
            if named().take(place).any(|(known, _)| known == name) {
                return Err(twice(name));
            }
            let location = value.parse().map_err(|why| of_input(name, value, Failure::from(why)))?;
            let (name, named, rows) = (name.clone(), true, ALL);
            match location {
                Location { file, column: Some((column, form)) } => {
                    said.wishes.push(Wish { file, name, column, form, ty, named, rows })
                }
                Location { file, column: None } if Format::of(&file) != Format::Csv => {
                    let (column, form) = (name.clone(), Form::default());
                    said.wishes.push(Wish { file, name, column, form, ty, named, rows });
                }
                _ => said.alone.push(Alone { name, source: value.clone(), ty }),
            }
        }
        for table in sources.iter().filter(|source| source.name.is_none()) {
            let others = ports(program, party).filter(|(port, _)| named().all(|(name, _)| name != port));
            let before = said.wishes.len();
            said.wishes.extend(others.map(|(port, ty)| Wish::of_table(&table.value, port, ty)));
            if said.wishes.len() == before {
                let why = format!("{}: no input is left that it could fill", shown_file(&table.value));
                return Err(Failure::input(why));
            }
        }
        Ok(said)
    }
}

/// A failure with the input that it concerns.
fn of_input(name: &str, value: &str, failure: Failure) -> Failure {
    let failure = Failure { message: format!("the input '{name}': {}", failure.message), ..failure };
    if value.contains('=') && failure.hint.is_none() { failure.hint(FIRST_SIGN) } else { failure }
}

/// The files that these are read from, by their one path.
pub fn files(sources: &[Source]) -> Vec<PathBuf> {
    let named =
        sources.iter().filter_map(file_of).chain(sources.iter().flat_map(folders::files).filter(|file| is_file(file)));
    named.filter_map(|file| fs::canonicalize(file).ok()).collect()
}

/// The file of a source, unless it is a folder, a list of values or standard input.
pub fn file_of(source: &Source) -> Option<String> {
    let location: Location = source.value.parse().ok()?;
    is_file(&location.file).then_some(location.file)
}

/// The source by the path from the root, if it is a file: for a process with another current folder.
pub fn absolute(source: &Source) -> Result<String, Failure> {
    let Some(file) = file_of(source) else { return Ok(source.value.clone()) };
    let column = source.value.strip_prefix(&file).unwrap_or_default();
    let path = std::path::absolute(&file).map_err(Failure::io(format!("finding {file}")))?;
    let path = path.to_str().ok_or_else(|| Failure::input(format!("{}: its path is no text", path.display())))?;
    Ok(format!("{path}{column}"))
}

fn is_file(name: &str) -> bool {
    let endings = [".npy", ciphertexts::EXTENSION];
    Location::is_table(name) || endings.iter().any(|ending| Location::has_ending(name, ending))
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
    /// The lanes that are wanted.
    rows: Range<u64>,
}

impl Wish {
    fn of_table(file: &str, port: &str, ty: Type) -> Self {
        let [file, name, column] = [file, port, port].map(String::from);
        Wish { file, name, column, form: Form::default(), ty, named: false, rows: ALL }
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted { column: &self.column, ty: self.ty, form: &self.form }
    }

    /// The rows of the table that it takes.
    fn rows(&self) -> Result<Range<u64>, Failure> {
        let each = self.wanted().rows_of_lane()?;
        Ok(self.rows.start.saturating_mul(each)..self.rows.end.saturating_mul(each))
    }
}

/// Reads all columns of each table in one pass for each range of rows.
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
    let rows = wishes.iter().map(|wish| wish.rows()).collect::<Result<Vec<_>, _>>()?;
    let mut read: Vec<Option<BitMatrix>> = wishes.iter().map(|_| None).collect();
    for (place, range) in rows.iter().enumerate().filter(|(place, range)| !rows[..*place].contains(range)) {
        let alike: Vec<usize> = (place..rows.len()).filter(|other| rows[*other] == *range).collect();
        let wanted: Vec<_> = alike.iter().map(|&at| wishes[at].wanted()).collect();
        for (at, column) in alike.iter().zip(columns_of_rows(file, &wanted, range.clone())?) {
            read[*at] = column;
        }
    }
    Ok(read)
}

/// Columns of a table in one pass; `None` for one that is not there.
pub fn columns(file: &str, wanted: &[Wanted<'_>]) -> Result<Vec<Option<BitMatrix>>, Failure> {
    columns_of_rows(file, wanted, ALL)
}

fn columns_of_rows(file: &str, wanted: &[Wanted<'_>], rows: Range<u64>) -> Result<Vec<Option<BitMatrix>>, Failure> {
    let format = Format::of(file);
    format.available()?;
    Ok(match format {
        Format::Csv if file == "-" => csv::columns_of_rows(io::stdin().lock(), shown_file(file), wanted, rows)?,
        Format::Csv => csv::columns_of_rows(open(file)?, file, wanted, rows)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => values::parquet::columns_of_rows(open(file)?, file, wanted, rows)?,
        #[cfg(feature = "parquet")]
        Format::Arrow => values::arrow::columns_of_rows(open(file)?, file, wanted, rows)?,
        _ => return Err(no_json(file)),
    })
}

/// How many rows a table has behind its header.
fn count_rows(file: &str) -> Result<u64, Failure> {
    Ok(match Format::of(file) {
        Format::Csv => csv::rows(open(file)?, file, true)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => values::parquet::rows(open(file)?, file)?,
        #[cfg(feature = "parquet")]
        Format::Arrow => values::arrow::rows(open(file)?, file)?,
        _ => return Err(no_json(file)),
    })
}

fn no_json(file: &str) -> Failure {
    Failure::input(format!("{file}: no input is read from JSON")).hint(FILES)
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
    let Location { file, column: Some((column, form)) } = source.parse()? else { return read_source(source, ty, ALL) };
    let read = columns(&file, &[Wanted { column: &column, ty, form: &form }])?.pop().flatten();
    read.ok_or_else(|| Failure::input(format!("{} has no column '{column}'", shown_file(&file))))
}

fn read_source(source: &str, ty: Type, rows: Range<u64>) -> Result<BitMatrix, Failure> {
    match source {
        "-" => read_lanes(io::stdin().lock(), "standard input", ty, rows),
        path if Location::has_ending(path, ".npy") => read_npy(path, ty, rows),
        path if Location::has_ending(path, ciphertexts::EXTENSION) => some_of(ciphertexts::read(path, ty)?, rows),
        path if Location::has_ending(path, ".csv") => read_lanes(open(path)?, path, ty, rows),
        list => some_of(read_list(list, ty)?, rows),
    }
}

/// How many lanes a source has.
fn count_lanes(source: &str, ty: Type) -> Result<u64, Failure> {
    match source {
        path if Location::has_ending(path, ".npy") => Ok(npy::rows(open(path)?, length(path)?, path)?),
        path if Location::has_ending(path, ".csv") => Ok(csv::rows(open(path)?, path, false)?),
        source => Ok(read_source(source, ty, ALL)?.lanes() as u64),
    }
}

fn read_list(list: &str, ty: Type) -> Result<BitMatrix, Failure> {
    lane::list(list, ty).map_err(|why| {
        let looks_like_a_file = list.contains(['.', '/']);
        let failure = Failure::from(why);
        if looks_like_a_file { failure.hint(FILES) } else { failure }
    })
}

/// Some of the lanes.
fn some_of(all: BitMatrix, rows: Range<u64>) -> Result<BitMatrix, Failure> {
    let lanes = all.lanes() as u64;
    if rows.start == 0 && rows.end >= lanes {
        return Ok(all);
    }
    let each = all.rows().div_ceil(8);
    let [start, end] = [rows.start, rows.end].map(|row| each * row.min(lanes) as usize);
    Ok(BitMatrix::from_byte_rows(all.rows(), &all.to_byte_rows()[start..end])?)
}

/// What is taken for a file.
const FILES: &str =
    "files are read if their names end in .npy or .csv, of ciphertexts in .enc; tables in .csv, .parquet or .arrow";

fn read_lanes(from: impl Read, file: &str, ty: Type, rows: Range<u64>) -> Result<BitMatrix, Failure> {
    csv::lanes_of_rows(from, file, ty, rows).map_err(|why| match &why {
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

fn length(path: &str) -> Result<u64, Failure> {
    Ok(fs::metadata(path).map_err(Failure::io(format!("reading {path}")))?.len())
}

fn read_npy(path: &str, ty: Type, rows: Range<u64>) -> Result<BitMatrix, Failure> {
    let file = open(path)?;
    match rows == ALL {
        true => Ok(npy::read(file, length(path)?, path, ty)?),
        false => Ok(npy::read_rows(file, length(path)?, path, ty, rows)?),
    }
}

/// Checks that everything that `party` supplies is there with its number of lanes.
pub fn complete(binding: &Binding, party: Party, given: Vec<Given>) -> Result<Inputs, Failure> {
    check_lanes(binding, party, |name| {
        given.iter().find(|given| given.name == name).map(|given| given.value.lanes() as u64)
    })?;
    let mut inputs = Inputs::new();
    for Given { name, value } in given {
        inputs.set(&name, value);
    }
    Ok(inputs)
}

/// Checks that everything that `party` supplies has its number of lanes.
pub fn check_lanes(binding: &Binding, party: Party, lanes: impl Fn(&str) -> Option<u64>) -> Result<(), Failure> {
    let ours = |owner: Owner| owner != Owner::Party(party.peer());
    for port in binding.inputs().iter().filter(|port| ours(port.who)) {
        match lanes(&port.name) {
            Some(lanes) if lanes != port.lanes => {
                let expected = format!("expected {} of {}", thousands(port.lanes), port.ty);
                let why = format!("the input '{}' has {}: {expected}", port.name, console::count(lanes, "lane"));
                return Err(Failure::input(why));
            }
            None if port.lanes > 0 => return Err(missing(binding, &port.name)),
            _ => {}
        }
    }
    Ok(())
}

fn missing(binding: &Binding, name: &str) -> Failure {
    let shape = binding.input(name).map_or(String::new(), |port| format!(": {} × {}", port.lanes, port.ty));
    let why = format!("the input '{name}' is not given{shape}");
    if name.contains('=') {
        return Failure::input(why).hint("no command line can give a name with '=' in it: rename it in the program");
    }
    Failure::input(why).hint(format!("--input {name}=FILE.npy, FILE.csv, FILE.csv:COLUMN or values; see --help"))
}
