//! Outputs of finished attempts, in files: the bytes of each lane, one lane after another, the lowest byte first.
//!
//! A file is named by job, shard, attempt and output, so that what a worker writes late, after it was told to stop, is in nobody's way.

use crate::failure::Failure;
use crate::io::output;
use duologue::circuit::BitMatrix;
use duologue::circuit::program::Recipient;
use duologue::job::control::Attempt;
use duologue::job::{Plan, Source};
use duologue::{Outputs, Party, hex};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The program that put an output out.
#[derive(Clone, Copy)]
pub enum From {
    Shard(Attempt),
    /// The last program, at this attempt.
    Last(u32),
}

/// The outputs of a job in its folder.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub folder: &'a Path,
    pub plan: &'a Plan,
    /// The number of the job.
    pub job: [u8; 32],
}

impl Parts<'_> {
    /// What the names of the job's files begin with.
    fn prefix(&self) -> String {
        hex(&self.job[..4])
    }

    /// The file of an output of the whole program, or of a share for the last one; none if there is no such output.
    fn path(&self, from: From, name: &str) -> Option<PathBuf> {
        let place = self.plan.outputs().iter().position(|output| output.name == name);
        let shares = || self.plan.last()?.shares.iter().position(|share| share.name == name);
        let name = place.map(|place| format!("o{place}")).or_else(|| shares().map(|place| format!("s{place}")))?;
        let file = match from {
            From::Shard(Attempt { shard, number }) => format!("{}.{shard}.{number}.{name}", self.prefix()),
            From::Last(number) => format!("{}.last.{number}.{name}", self.prefix()),
        };
        Some(folder_of(self.folder).join(file))
    }

    /// Opens the file of an output that has so many lanes.
    pub fn open(&self, from: From, name: &str, width: u32, lanes: u64) -> Result<Part, Failure> {
        let none = || Failure::malformed(self.folder.display(), format!("its plan has no output '{name}'"));
        Part::open(self.path(from, name).ok_or_else(none)?, width, lanes)
    }

    /// Writes whatever a program has put out for this party. It is on the disk, names and all, when this returns.
    pub fn write(&self, from: From, outputs: &Outputs) -> Result<(), Failure> {
        for (name, lanes) in outputs.iter() {
            if let Some(path) = self.path(from, name) {
                output::write_file(&path, &lanes.to_byte_rows())?;
            }
        }
        output::sync_folder(&folder_of(self.folder))
    }

    /// Whether all files that a finished attempt leaves at this party are there, each as long as it must be.
    pub fn are_there(&self, party: Party, from: From) -> bool {
        let is_there =
            |(name, width, lanes): (&str, u32, u64)| lanes == 0 || self.open(from, name, width, lanes).is_ok();
        self.outputs(party, from).into_iter().all(is_there)
    }

    /// What a program puts out for this party: the name, the width and the lanes of each.
    fn outputs(&self, party: Party, from: From) -> Vec<(&str, u32, u64)> {
        let rows = |name: &str, all| match from {
            From::Shard(Attempt { shard, .. }) => {
                let rows = self.plan.output_rows(name, shard);
                rows.end - rows.start
            }
            From::Last(_) => all,
        };
        let wanted = if matches!(from, From::Last(_)) { Source::Last } else { Source::Shards };
        let ours = self.plan.outputs().iter().filter(|output| output.who != Recipient::Party(party.peer()));
        let ours = ours.filter(|output| output.from == wanted);
        let mut all: Vec<_> =
            ours.map(|output| (&*output.name, output.ty.width, rows(&output.name, output.lanes))).collect();
        if let (From::Shard(Attempt { shard, .. }), Some(last)) = (from, self.plan.last()) {
            all.extend(last.shares.iter().map(|share| {
                let (rows, port) = (share.rows(shard), last.binding.input(&share.name));
                (&*share.name, port.map_or(0, |port| port.ty.width), rows.end - rows.start)
            }));
        }
        all
    }

    /// Removes all files of the job, when they are where the user wants them, and the folder that they were in.
    pub fn remove(&self) -> Result<(), Failure> {
        let (folder, prefix) = (folder_of(self.folder), self.prefix() + ".");
        let removing = || Failure::io(format!("removing the parts in {}", folder.display()));
        for file in fs::read_dir(&folder).map_err(removing())? {
            let file = file.map_err(removing())?;
            // A worker that is killed leaves the file that it was writing under a temporary name.
            if [&*prefix, ".tmp"].iter().any(|begin| file.file_name().to_string_lossy().starts_with(begin)) {
                fs::remove_file(file.path()).map_err(removing())?;
            }
        }
        // Whatever else is there is none of the job's, and stays.
        let _ = fs::remove_dir(&folder);
        Ok(())
    }
}

/// Where parts lie in the folder of a job.
pub fn folder_of(job: &Path) -> PathBuf {
    job.join("parts")
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
