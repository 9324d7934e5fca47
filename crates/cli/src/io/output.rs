//! Outputs to files: whole, or not at all.
//!
//! A file is written under a temporary name in its folder, for its owner's eyes, and renamed when every output of the run
//! is on the disk. What is there and is no file (`/dev/null`, a pipe) is written to as it is.

use crate::args::{Pair, Source};
use crate::failure::{Exit, Failure};
use crate::io::drawn::Drawn;
use crate::io::{ciphertexts, console, input, shown};
use duologue::circuit::program::Recipient;
use duologue::circuit::{Binding, BitMatrix, Kind, Type};
use duologue::{Outputs, Party};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use values::{Form, Format, Location, Written, csv, npy};

/// Where the outputs go that do not go into the report.
pub struct Destinations(Vec<Destination>);

struct Destination {
    name: String,
    /// Whose ciphertexts it has, if it has any.
    key: Option<[u8; 32]>,
    ty: Type,
    lanes: u64,
    target: Target,
}

/// A file, or a column of a table in a file.
pub struct Target {
    /// Its file, as it was given.
    file: String,
    place: Place,
    column: Option<(String, Form)>,
}

/// Where one output goes.
#[derive(PartialEq)]
enum Place {
    Stdout,
    /// A device or pipe that is there.
    Device(PathBuf),
    File(PathBuf),
}

impl Destinations {
    /// Checks before the run that the outputs are ours and that the files can be written.
    /// Outputs that are ciphertexts have the key's digest in their files.
    pub fn new(
        binding: &Binding,
        party: Party,
        drawn: &[Drawn],
        wanted: &[Pair<String>],
        key: Option<[u8; 32]>,
    ) -> Result<Self, Failure> {
        let mut destinations: Vec<Destination> = Vec::new();
        for Pair { name, value } in wanted {
            if destinations.iter().any(|known| known.name == *name) {
                return Err(Failure::input(format!("the output '{name}' is written twice")));
            }
            let known = drawn.iter().find(|drawn| drawn.name == *name);
            let known = known.map(|drawn| (drawn.ty, drawn.value.lanes() as u64));
            let (ty, lanes) = known.map_or_else(|| port(binding, party, name), Ok)?;
            let (name, target) = (name.clone(), Target::new(value, name)?);
            let new = Destination { name, key, ty, lanes, target };
            if destinations.iter().any(|known| known.target.is_in_the_way_of(&new.target)) {
                return Err(Failure::input(format!("two outputs go to {value}")));
            }
            destinations.push(new);
        }
        destinations.iter().try_for_each(|first| table(&destinations, first).check())?;
        Ok(Destinations(destinations))
    }

    /// Refuses to replace a file that an input comes from.
    pub fn spare(&self, inputs: &[Source]) -> Result<(), Failure> {
        self.spare_files(&input::files(inputs))
    }

    /// Refuses to replace one of these files, whose paths are canonical.
    pub fn spare_files(&self, files: &[PathBuf]) -> Result<(), Failure> {
        self.0.iter().try_for_each(|destination| destination.target.spare_files(files))
    }

    /// The file that an output goes to, if it does.
    pub fn of(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|destination| destination.name == name)?;
        Some(found.target.file.clone())
    }

    /// Whether an output has a file to itself.
    pub fn is_alone(&self, name: &str) -> bool {
        let found = self.0.iter().find(|destination| destination.name == name);
        found.is_some_and(|Destination { target, .. }| target.column.is_none() && target.place.is_file())
    }

    pub fn use_stdout(&self) -> bool {
        self.0.iter().any(|destination| destination.target.place == Place::Stdout)
    }

    /// Writes all outputs; files get their names last.
    pub fn write(&self, outputs: &Outputs, drawn: &[Drawn]) -> Result<(), Failure> {
        let of_ours = |name: &str| drawn.iter().find(|drawn| drawn.name == name).map(|drawn| &drawn.value);
        self.write_values(|name| outputs.get(name).or_else(|| of_ours(name)))
    }

    /// The same with the values wherever they are.
    fn write_values<'a>(&self, value: impl Fn(&str) -> Option<&'a BitMatrix>) -> Result<(), Failure> {
        let mut complete = Complete::default();
        self.prepare(value, &mut complete)?;
        complete.name()
    }

    /// Writes all outputs; files wait for their names.
    pub fn prepare<'a>(
        &self,
        value: impl Fn(&str) -> Option<&'a BitMatrix>,
        complete: &mut Complete,
    ) -> Result<(), Failure> {
        for first in &self.0 {
            let table = table(&self.0, first);
            let values: Option<Vec<_>> = table.0.iter().map(|destination| value(&destination.name)).collect();
            // All columns of a table are written with its first.
            let (Some(values), true) = (values, std::ptr::eq(table.0[0], first)) else { continue };
            match &first.target.place {
                Place::File(path) => complete.add(path, |to| table.encode(&values, to))?,
                place => place.write_through(|to| table.encode(&values, to))?,
            }
        }
        Ok(())
    }
}

/// Files that are whole under temporary names; dropped, they are gone.
#[derive(Default)]
pub struct Complete(Vec<(NamedTempFile, PathBuf)>);

impl Complete {
    fn add(&mut self, path: &Path, encode: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        self.0.push((write_beside(path, encode)?, path.into()));
        Ok(())
    }

    /// Gives them their names, which are on the disk when this returns.
    pub fn name(self) -> Result<(), Failure> {
        let folders: BTreeSet<PathBuf> = self.0.iter().map(|(_, path)| folder(path).into()).collect();
        self.0.into_iter().try_for_each(|(file, path)| rename(file, &path))?;
        folders.iter().try_for_each(|folder| sync_folder(folder))
    }
}

/// Outputs that are columns of one table, or one output that goes to a file of its own.
struct Table<'a>(Vec<&'a Destination>);

/// The table that an output is a column of.
fn table<'a>(all: &'a [Destination], one: &'a Destination) -> Table<'a> {
    match one.target.column {
        Some(_) => Table(all.iter().filter(|other| other.target.is_in_table_of(&one.target)).collect()),
        None => Table(vec![one]),
    }
}

impl Table<'_> {
    fn check(&self) -> Result<(), Failure> {
        let columns = self.0.iter().filter_map(|destination| {
            let (name, form) = destination.target.column.as_ref()?;
            Some((&**name, destination.ty, destination.lanes, form))
        });
        Ok(values::check_columns(columns)?)
    }

    fn encode(&self, values: &[&BitMatrix], to: &mut dyn Write) -> io::Result<()> {
        let [first, ..] = self.0[..] else { return Ok(()) };
        let mut columns = Vec::new();
        for (destination, value) in self.0.iter().zip(values) {
            let Some((name, form)) = &destination.target.column else {
                return encode(value, first.ty, (&first.target.place, first.key), to);
            };
            columns.push(Written::new(name, value, destination.ty, form).map_err(io::Error::other)?);
        }
        values::write(&columns, first.target.place.format(), to)
    }
}

/// The type and the lanes of an output that this party learns.
fn port(binding: &Binding, party: Party, name: &str) -> Result<(Type, u64), Failure> {
    let ours = |who: Recipient| who != Recipient::Party(party.peer());
    match binding.output(name) {
        Some(port) if port.who == Recipient::Shared => Ok((of_share(port.ty), port.lanes)),
        Some(port) if ours(port.who) => Ok((port.ty, port.lanes)),
        Some(_) => Err(Failure::input(format!("the output '{name}' is for {}", party.peer()))),
        None => {
            let names = binding.outputs().iter().filter(|port| ours(port.who));
            let names: Vec<String> = names.map(|port| shown::name(&port.name)).collect();
            let why = format!("'{}' has no output '{name}'", binding.program().name());
            Err(Failure::input(why).hint(format!("{party} learns {}", list(&names))))
        }
    }
}

/// The type as which a share of a value is written. The bits of a float's share may be NaN, of which numbers keep nothing.
pub fn of_share(ty: Type) -> Type {
    match ty.kind {
        Kind::Float { .. } => Type { kind: Kind::Bits, ..ty },
        _ => ty,
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "nothing".into(),
        names => names.join(", "),
    }
}

impl Target {
    /// Checks that it can be written, which leaves it as it is. A table whose column is not named gets the name of the output;
    /// CSV has no header then.
    pub fn new(text: &str, output: &str) -> Result<Self, Failure> {
        let Location { file, column } = text.parse()?;
        let format = Format::of(&file);
        format.available()?;
        let named = || (format != Format::Csv).then(|| (output.into(), Form::default()));
        Ok(Target { column: column.or_else(named), place: Place::new(&file)?, file })
    }

    /// Whether both are columns of one table. A device takes other outputs too, which are none.
    fn is_in_table_of(&self, other: &Target) -> bool {
        self.column.is_some() && other.column.is_some() && self.place == other.place
    }

    /// Whether another output cannot go there too.
    fn is_in_the_way_of(&self, other: &Target) -> bool {
        self.place.is_file() && self.place == other.place && !self.is_in_table_of(other)
    }

    /// Refuses to replace a file that an input comes from.
    pub fn spare(&self, inputs: &[Source]) -> Result<(), Failure> {
        self.spare_files(&input::files(inputs))
    }

    fn spare_files(&self, files: &[PathBuf]) -> Result<(), Failure> {
        match &self.place {
            Place::File(path) if files.contains(path) => Err(replaces(&self.file)),
            _ => Ok(()),
        }
    }

    /// Checks that its form fits the type of what it gets.
    pub fn check(&self, ty: Type) -> Result<(), Failure> {
        Ok(values::check_columns(self.column.iter().map(|(name, form)| (&**name, ty, 1, form)))?)
    }

    /// Writes values there, in the form that its name says.
    pub fn write(&self, value: &BitMatrix, ty: Type) -> Result<(), Failure> {
        let column = self.column.as_ref().map(|(name, form)| Written::new(name, value, ty, form)).transpose()?;
        let encoded = |to: &mut dyn Write| match &column {
            Some(column) => values::write(std::slice::from_ref(column), self.place.format(), to),
            None => encode(value, ty, (&self.place, None), to),
        };
        match &self.place {
            Place::File(path) => rename(write_beside(path, encoded)?, path),
            place => place.write_through(encoded),
        }
    }
}

/// A file, a device or standard output, for bytes of any form.
pub struct Sink {
    /// As it was given.
    file: String,
    place: Place,
}

impl Sink {
    /// Checks that it can be written, which leaves it as it is.
    pub fn new(file: &str) -> Result<Self, Failure> {
        Ok(Sink { file: file.into(), place: Place::new(file)? })
    }

    /// Refuses to replace a file that an input comes from.
    pub fn spare(&self, input: &str) -> Result<(), Failure> {
        match &self.place {
            Place::File(path) if fs::canonicalize(input).is_ok_and(|input| input == *path) => Err(replaces(&self.file)),
            _ => Ok(()),
        }
    }

    /// Writes it whole, or not at all.
    pub fn write(&self, encode: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let mut complete = Complete::default();
        self.prepare(encode, &mut complete)?;
        complete.name()
    }

    /// Writes it; a file waits for its name.
    pub fn prepare(
        &self,
        encode: impl Fn(&mut dyn Write) -> io::Result<()>,
        complete: &mut Complete,
    ) -> Result<(), Failure> {
        match &self.place {
            Place::File(path) => complete.add(path, encode),
            place => place.write_through(encode),
        }
    }
}

/// The refusal of an output where an input is.
fn replaces(file: &str) -> Failure {
    let why = format!("{file} is read as an input: an output would replace it");
    Failure::input(why).hint("write it to another file")
}

impl Place {
    /// Checks that it can be written, which leaves it as it is.
    fn new(text: &str) -> Result<Self, Failure> {
        if text == "-" {
            return Ok(Place::Stdout);
        }
        let path = canonical(Path::new(text));
        match fs::metadata(&path) {
            Ok(there) if there.is_dir() => Err(Failure::input(format!("{text} is a folder"))),
            Ok(there) if !there.is_file() => Ok(Place::Device(path)),
            _ => {
                // The temporary file is gone at once: it shows that one can be made.
                temporary(&path)?;
                Ok(Place::File(path))
            }
        }
    }

    /// Writes to what keeps its name.
    fn write_through(&self, encode: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        match self {
            Place::Stdout => {
                let mut bytes = Vec::new();
                encode(&mut bytes).map_err(Failure::io("writing to standard output"))?;
                console::print(&bytes)
            }
            Place::Device(path) | Place::File(path) => write_device(path, encode).map_err(writing(path)),
        }
    }

    fn is_file(&self) -> bool {
        matches!(self, Place::File(_))
    }

    fn format(&self) -> Format {
        match self {
            Place::Stdout => Format::Csv,
            Place::Device(path) | Place::File(path) => Format::of(&path.to_string_lossy()),
        }
    }

    fn ends_with(&self, extension: &str) -> bool {
        match self {
            Place::Stdout => false,
            Place::Device(path) | Place::File(path) => Location::has_ending(&path.to_string_lossy(), extension),
        }
    }
}

/// The one path of a file that may not be there yet. A link is followed, so that what it points to is replaced and not the link.
fn canonical(path: &Path) -> PathBuf {
    let beside = || Some(fs::canonicalize(folder(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.into())
}

/// The folder that a file is in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

fn encode(value: &BitMatrix, ty: Type, (place, key): (&Place, Option<[u8; 32]>), to: &mut dyn Write) -> io::Result<()> {
    if let Some(key) = key.filter(|_| place.ends_with(ciphertexts::EXTENSION)) {
        return ciphertexts::write(value, key, to);
    }
    if place.ends_with(".npy") {
        return npy::write(value, ty, to);
    }
    csv::write_lanes(value, ty, to)
}

fn writing(path: &Path) -> impl FnOnce(io::Error) -> Failure {
    Failure::io(format!("writing {}", path.display()))
}

fn write_device(path: &Path, encode: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut device = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    encode(&mut device)?;
    device.flush()
}

/// Writes `path`'s content under a temporary name beside it. The file is gone if it is dropped.
pub fn write_beside(path: &Path, encode: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<NamedTempFile, Failure> {
    let file = temporary(path)?;
    let write = |file: &File| {
        let mut buffered = BufWriter::new(file);
        encode(&mut buffered)?;
        buffered.flush()?;
        file.sync_all()
    };
    write(file.as_file()).map_err(writing(path))?;
    Ok(file)
}

fn temporary(path: &Path) -> Result<NamedTempFile, Failure> {
    NamedTempFile::new_in(folder(path)).map_err(|why| {
        // Without the temporary name, which means nothing to the user.
        let why = why.to_string();
        let why = why.split(" at path ").next().unwrap_or_default();
        Failure::new(Exit::Machine, format!("writing {}: {why}", path.display()))
    })
}

/// Gives a complete file its name.
pub fn rename(file: NamedTempFile, path: &Path) -> Result<(), Failure> {
    match file.persist(path) {
        Ok(_) => Ok(()),
        Err(why) => Err(writing(path)(why.error)),
    }
}

/// Waits until the names of files are on the disk.
pub fn sync_folder(folder: &Path) -> Result<(), Failure> {
    #[cfg(unix)]
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    #[cfg(not(unix))]
    let synced = Ok(());
    synced.map_err(Failure::io(format!("writing the folder {}", folder.display())))
}

/// Writes a whole file, replacing what is there.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    rename(write_beside(path, |to| to.write_all(bytes))?, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A share of a float is any bits, also those of NaN, of which an array of numbers keeps one alone.
    #[test]
    fn every_bit_of_a_share_is_written() {
        for (width, exponent) in [(16, 5), (32, 8), (64, 11)] {
            let ty = Type { kind: Kind::Float { exponent }, width };
            let rows: Vec<u8> =
                (0..100 * width / 8).map(|place| if place % 3 == 0 { 0xff } else { place as u8 }).collect();
            let share = BitMatrix::from_byte_rows(width as usize, &rows).unwrap();
            let read = |written: Type| {
                let mut file = Vec::new();
                encode(&share, written, (&Place::File("share.npy".into()), None), &mut file).unwrap();
                npy::read(Cursor::new(&file), file.len() as u64, "share.npy", ty).unwrap()
            };
            assert!(read(of_share(ty)) == share);
            assert!(read(ty) != share, "the twin that writes numbers is not noticed");
        }
    }
}
