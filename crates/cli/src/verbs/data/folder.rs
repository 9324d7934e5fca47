//! A new folder of inputs: whole, or not at all, and for its owner's eyes.

use crate::failure::Failure;
use crate::io::console::{Console, count, thousands};
use duologue::circuit::program::{Owner, Step};
use duologue::circuit::{Program, Type};
use duologue::{Inputs, Party};
use serde::Serialize;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::TempDir;
use values::npy;

/// A folder that has its name when all files are in it.
pub struct Folder<'a> {
    at: &'a Path,
    hidden: TempDir,
    report: Report,
}

#[derive(Serialize)]
struct Report {
    folder: String,
    files: Vec<Written>,
}

#[derive(Serialize)]
struct Written {
    file: String,
    lanes: u64,
}

impl<'a> Folder<'a> {
    /// # Errors
    /// If there is something of that name, or nothing can be written beside it.
    pub fn new(at: &'a Path) -> Result<Self, Failure> {
        refuse_taken(at)?;
        let beside = at.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let hidden = tempfile::Builder::new().prefix(".duologue-data-").tempdir_in(beside);
        let hidden = hidden.map_err(Failure::io(format!("making the folder {}", at.display())))?;
        Ok(Folder { at, hidden, report: Report { folder: at.display().to_string(), files: Vec::new() } })
    }

    /// Writes those of these inputs that are a party's in the program.
    pub fn inputs(&mut self, program: &Program, party: Party, inputs: &Inputs) -> Result<(), Failure> {
        for step in program.steps() {
            let Step::Input { name, owner: Owner::Party(owner), ty, .. } = step else { continue };
            let (true, Some(value)) = (*owner == party, inputs.get(name)) else { continue };
            let ty: Type = *ty;
            self.write(&format!("{name}.npy"), value.lanes() as u64, |to| npy::write(value, ty, to))?;
        }
        Ok(())
    }

    /// Writes a file of so many values.
    pub fn write(
        &mut self,
        name: &str,
        lanes: u64,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let write = || {
            let mut to = BufWriter::new(private(&self.hidden.path().join(name))?);
            content(&mut to)?;
            to.flush()?;
            to.get_ref().sync_all()
        };
        write().map_err(Failure::io(format!("writing {}", self.at.join(name).display())))?;
        self.report.files.push(Written { file: name.into(), lanes });
        Ok(())
    }

    /// Gives the folder its name, and says what is in it.
    pub fn finish(self, console: &Console) -> Result<(), Failure> {
        refuse_taken(self.at)?;
        fs::rename(self.hidden.path(), self.at).map_err(Failure::io(format!("making {}", self.at.display())))?;
        // What had its hidden name is no more.
        let _ = self.hidden.keep();
        console.show(&self.report)
    }
}

fn refuse_taken(at: &Path) -> Result<(), Failure> {
    let why = || Failure::input(format!("{} exists: it is never overwritten, move it away first", at.display()));
    if at.symlink_metadata().is_ok() { Err(why()) } else { Ok(()) }
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.folder, count(self.files.len() as u64, "file"))?;
        self.files.iter().try_for_each(|file| writeln!(f, "  {}: {} lanes", file.file, thousands(file.lanes)))
    }
}
