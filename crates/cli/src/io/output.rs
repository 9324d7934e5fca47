//! Outputs to files: whole, or not at all.
//!
//! A file is written under a temporary name in its folder, for its owner's eyes, and renamed when every output of the run
//! is on the disk. What is there and is no file (`/dev/null`, a pipe) is written to as it is.

use crate::args::Pair;
use crate::failure::{Exit, Failure};
use crate::io::drawn::Drawn;
use crate::io::{ciphertexts, console, shown};
use duologue::circuit::program::Recipient;
use duologue::circuit::{Binding, BitMatrix, Type};
use duologue::{Outputs, Party};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use values::{lane, npy};

/// Where the outputs go that do not go into the report.
pub struct Destinations(Vec<Destination>);

struct Destination {
    name: String,
    /// Whose ciphertexts it has, if it has any.
    key: Option<[u8; 32]>,
    ty: Type,
    place: Place,
}

/// Where one output goes.
#[derive(PartialEq)]
pub enum Place {
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
            let ty = known.map_or_else(|| port(binding, party, name), |drawn| Ok(drawn.ty))?;
            let (name, place) = (name.clone(), Place::new(value)?);
            if place.is_file() && destinations.iter().any(|known| known.place == place) {
                return Err(Failure::input(format!("two outputs go to {value}")));
            }
            destinations.push(Destination { name, key, ty, place });
        }
        Ok(Destinations(destinations))
    }

    /// The file that an output goes to, if it does.
    pub fn of(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|destination| destination.name == name)?;
        Some(match &found.place {
            Place::Stdout => "-".into(),
            Place::Device(path) | Place::File(path) => path.display().to_string(),
        })
    }

    pub fn use_stdout(&self) -> bool {
        let stdout = |destination: &Destination| matches!(destination.place, Place::Stdout);
        self.0.iter().any(stdout)
    }

    /// Writes all outputs; files get their names last.
    pub fn write(&self, outputs: &Outputs, drawn: &[Drawn]) -> Result<(), Failure> {
        let mut complete = Vec::new();
        for Destination { name, key, ty, place } in &self.0 {
            let of_ours = || drawn.iter().find(|drawn| drawn.name == *name).map(|drawn| &drawn.value);
            let Some(value) = outputs.get(name).or_else(of_ours) else {
                continue;
            };
            let encoded = |to: &mut dyn Write| encode(value, *ty, (place, *key), to);
            match place {
                Place::Stdout => {
                    let mut bytes = Vec::new();
                    encoded(&mut bytes).map_err(Failure::io("writing to standard output"))?;
                    console::print(&bytes)?;
                }
                Place::Device(path) => write_device(path, encoded).map_err(writing(path))?,
                Place::File(path) => complete.push((write_beside(path, encoded)?, path)),
            }
        }
        complete.into_iter().try_for_each(|(file, path)| rename(file, path))
    }
}

/// The type of an output that this party learns.
fn port(binding: &Binding, party: Party, name: &str) -> Result<Type, Failure> {
    let ours = |who: Recipient| who != Recipient::Party(party.peer());
    match binding.output(name) {
        Some(port) if ours(port.who) => Ok(port.ty),
        Some(_) => Err(Failure::input(format!("the output '{name}' is for {}", party.peer()))),
        None => {
            let names = binding.outputs().iter().filter(|port| ours(port.who));
            let names: Vec<String> = names.map(|port| shown::name(&port.name)).collect();
            let why = format!("'{}' has no output '{name}'", binding.program().name());
            Err(Failure::input(why).hint(format!("{party} learns {}", list(&names))))
        }
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "nothing".into(),
        names => names.join(", "),
    }
}

impl Place {
    /// Checks that it can be written, which leaves it as it is.
    pub fn new(text: &str) -> Result<Self, Failure> {
        if text == "-" {
            return Ok(Place::Stdout);
        }
        // A link is followed, so that what it points to is replaced and not the link.
        let path = fs::canonicalize(text).unwrap_or_else(|_| PathBuf::from(text));
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

    /// Writes values there, in the form that its name says.
    pub fn write(&self, value: &BitMatrix, ty: Type) -> Result<(), Failure> {
        let encoded = |to: &mut dyn Write| encode(value, ty, (self, None), to);
        match self {
            Place::Stdout => encoded(&mut io::stdout().lock()).map_err(Failure::io("writing to standard output")),
            Place::Device(path) => write_device(path, encoded).map_err(writing(path)),
            Place::File(path) => rename(write_beside(path, encoded)?, path),
        }
    }

    fn is_file(&self) -> bool {
        matches!(self, Place::File(_))
    }

    fn ends_with(&self, extension: &str) -> bool {
        match self {
            Place::Stdout => false,
            Place::Device(path) | Place::File(path) => path.to_string_lossy().ends_with(extension),
        }
    }
}

fn encode(value: &BitMatrix, ty: Type, (place, key): (&Place, Option<[u8; 32]>), to: &mut dyn Write) -> io::Result<()> {
    if let Some(key) = key.filter(|_| place.ends_with(ciphertexts::EXTENSION)) {
        return ciphertexts::write(value, key, to);
    }
    if place.ends_with(".npy") {
        return npy::write(value, ty, to);
    }
    (0..value.lanes()).try_for_each(|lane| writeln!(to, "{}", lane::text(value, lane, ty)))
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
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(|why| {
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

/// Writes a whole file, replacing what is there.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    rename(write_beside(path, |to| to.write_all(bytes))?, path)
}
