//! Outputs of finished attempts, in files: the bytes of each lane, one lane after another, the lowest byte first.
//!
//! A file is named by shard, attempt and output, so that what a worker writes late, after it was told to stop, is in nobody's way.

use crate::failure::Failure;
use crate::io::output;
use duologue::Outputs;
use duologue::circuit::BitMatrix;
use duologue::job::Plan;
use duologue::job::control::Attempt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The program that put an output out.
#[derive(Clone, Copy)]
pub enum From {
    Shard(Attempt),
    Last,
}

/// The file of an output of the whole program, or of a share for the last one.
pub fn path(folder: &Path, plan: &Plan, from: From, name: &str) -> Option<PathBuf> {
    let output = plan.outputs().iter().position(|output| output.name == name).map(|place| format!("o{place}"));
    let shares = || plan.last()?.shares.iter().position(|share| share.name == name).map(|place| format!("s{place}"));
    let name = output.or_else(shares)?;
    let file = match from {
        From::Shard(Attempt { shard, number }) => format!("{shard}.{number}.{name}"),
        From::Last => format!("last.{name}"),
    };
    Some(folder.join("parts").join(file))
}

/// Writes whatever a program has put out for this party.
pub fn write(folder: &Path, plan: &Plan, from: From, outputs: &Outputs) -> Result<(), Failure> {
    for (name, lanes) in outputs.iter() {
        if let Some(path) = path(folder, plan, from, name) {
            output::write_file(&path, &lanes.to_byte_rows())?;
        }
    }
    Ok(())
}

/// A file of lanes that is read in order.
pub struct Part {
    file: File,
    path: PathBuf,
    width: usize,
    left: u64,
}

impl Part {
    /// Opens the file of so many lanes.
    pub fn open(path: PathBuf, width: u32, lanes: u64) -> Result<Part, Failure> {
        let reading = || Failure::io(format!("reading {}", path.display()));
        let file = File::open(&path).map_err(reading())?;
        let length = file.metadata().map_err(reading())?.len();
        let expected = lanes * u64::from(width.div_ceil(8));
        if length != expected {
            return Err(Failure::malformed(path.display(), format!("it has {length} bytes, and not {expected}")));
        }
        Ok(Part { file, path, width: width as usize, left: lanes })
    }

    /// The next lanes, at most so many; none at the end.
    pub fn next(&mut self, most: u64) -> Result<Option<BitMatrix>, Failure> {
        let lanes = self.left.min(most);
        if lanes == 0 {
            return Ok(None);
        }
        let mut bytes = vec![0; lanes as usize * self.width.div_ceil(8)];
        self.file.read_exact(&mut bytes).map_err(Failure::io(format!("reading {}", self.path.display())))?;
        self.left -= lanes;
        let lanes = BitMatrix::from_byte_rows(self.width, &bytes);
        lanes.map(Some).map_err(|why| Failure::malformed(self.path.display(), why))
    }

    /// The bytes.
    pub fn bytes(self) -> File {
        self.file
    }
}

/// All lanes of several files, one file after another.
pub fn read(parts: Vec<Part>, width: u32) -> Result<BitMatrix, Failure> {
    let mut bytes = Vec::new();
    for Part { mut file, path, .. } in parts {
        file.read_to_end(&mut bytes).map_err(Failure::io(format!("reading {}", path.display())))?;
    }
    BitMatrix::from_byte_rows(width as usize, &bytes).map_err(|why| Failure::malformed("the outputs of shards", why))
}

/// Removes all of them, when they are where the user wants them.
pub fn remove(folder: &Path) -> Result<(), Failure> {
    let parts = folder.join("parts");
    fs::remove_dir_all(&parts).map_err(Failure::io(format!("removing {}", parts.display())))
}
