//! A new folder of inputs: whole, or not at all, and for its owner's eyes.

use crate::failure::Failure;
use crate::io::console::{Console, count, thousands};
use duologue::circuit::program::{Owner, Step};
use duologue::circuit::{Program, Type};
use duologue::{Inputs, Party};
use ndarray::Array2;
use ndarray_npy::WriteNpyExt;
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
    /// What it is for, where that depends on the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
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
        Ok(Folder { at, hidden, report: Report { folder: at.display().to_string(), program: None, files: Vec::new() } })
    }

    /// Says which program the folder is for.
    pub fn is_for(&mut self, program: String) {
        self.report.program = Some(program);
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

    /// Writes a file of lanes of so many bytes, one after another.
    pub fn byte_rows(&mut self, name: &str, length: usize, bytes: Vec<u8>) -> Result<(), Failure> {
        let lanes = bytes.len() / length;
        let array = Array2::from_shape_vec((lanes, length), bytes).map_err(Failure::input)?;
        self.write(name, lanes as u64, |to| array.write_npy(to).map_err(io::Error::other))
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

/// Nothing that exists is replaced.
pub fn refuse_taken(at: &Path) -> Result<(), Failure> {
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
        let program = self.program.as_ref().map_or(String::new(), |program| format!(" for {program}"));
        writeln!(f, "{}: {}{program}", self.folder, count(self.files.len() as u64, "file"))?;
        self.files.iter().try_for_each(|file| writeln!(f, "  {}: {} lanes", file.file, thousands(file.lanes)))
    }
}
