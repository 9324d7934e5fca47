//! Folders as sources: a file for each input, by its name.

use super::{ports, twice};
use crate::args::Source;
use crate::failure::Failure;
use crate::io::shown;
use duologue::Party;
use duologue::circuit::Program;
use std::fs;
use std::path::Path;
use values::Location;

/// How the names of such files end.
const ENDINGS: [&str; 3] = [".npy", ".csv", ".parquet"];

/// Whether a source is a folder.
fn is_folder(source: &Source) -> bool {
    source.name.is_none() && !Location::is_table(&source.value) && Path::new(&source.value).is_dir()
}

/// The sources with files in place of folders. What is said by name wins; no input is filled by two folders.
pub fn opened(program: &Program, party: Party, sources: &[Source]) -> Result<Vec<Source>, Failure> {
    let (folders, mut opened): (Vec<Source>, Vec<Source>) = sources.iter().cloned().partition(is_folder);
    let named: Vec<String> = opened.iter().filter_map(|source| source.name.clone()).collect();
    for Source { value: folder, .. } in &folders {
        let before = opened.len();
        for (port, _) in ports(program, party).filter(|(port, _)| named.iter().all(|name| name != port)) {
            let Some(value) = file_of(folder, port)? else { continue };
            if opened.iter().any(|known| known.name.as_deref() == Some(port)) {
                return Err(twice(port));
            }
            opened.push(Source { name: Some(port.into()), value });
        }
        if opened.len() == before {
            let names: Vec<String> = ports(program, party).map(|(name, _)| shown::name(name)).collect();
            let why = Failure::input(format!("{folder}: no file has the name of an input that is left"));
            return Err(why.hint(format!("NAME.npy, NAME.csv or NAME.parquet; the inputs are {}", names.join(", "))));
        }
    }
    Ok(opened)
}

/// The file of an input, if there is one.
fn file_of(folder: &str, port: &str) -> Result<Option<String>, Failure> {
    let path = |ending: &str| Path::new(folder).join(format!("{port}{ending}"));
    // A name with a separator in it would lead out of the folder.
    let is_plain = !port.contains(['/', '\\']);
    let mut there = ENDINGS.iter().map(|ending| path(ending)).filter(|path| is_plain && path.is_file());
    match (there.next(), there.next()) {
        (Some(first), Some(second)) => {
            let why = format!("the input '{port}' has two files: {} and {}", first.display(), second.display());
            Err(Failure::input(why).hint(format!("say which by --input {port}=FILE")))
        }
        (first, _) => Ok(first.map(|path| path.display().to_string())),
    }
}

/// All files of a source that is a folder.
pub fn files(source: &Source) -> Vec<String> {
    let entries = is_folder(source).then(|| fs::read_dir(&source.value).ok()).flatten();
    entries.into_iter().flatten().flatten().map(|entry| entry.path().display().to_string()).collect()
}
