//! The pools of a job: correlations that an attempt at a shard has made for the next attempt at it, each in a folder of its own.
//!
//! A folder is named by job, shard and attempt, as the files of outputs are, so that what a worker writes late is in nobody's way. It is
//! not sealed: the shares beside it are not either.

use crate::failure::Failure;
use crate::io::console::Console;
use duologue::correlation::pool::Pool;
use duologue::hex;
use duologue::job::control::Attempt;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long a worker that was told of the end may hold a pool.
const GRACE: Duration = Duration::from_secs(5);

/// The pools of a job in its folder.
pub struct Pools {
    folder: PathBuf,
    /// What the names of the job's pools begin with.
    prefix: String,
}

/// Where pools lie in the folder of a job.
pub fn folder_of(job: &Path) -> PathBuf {
    job.join("pools")
}

impl Pools {
    pub fn new(state: &Path, job: &[u8; 32]) -> Pools {
        Pools { folder: folder_of(state), prefix: format!("{}.", hex(&job[..4])) }
    }

    fn name(&self, Attempt { shard, number }: Attempt) -> String {
        format!("{}{shard}.{number}", self.prefix)
    }

    /// The folder of the pool that an attempt makes.
    pub fn path(&self, attempt: Attempt) -> PathBuf {
        self.folder.join(self.name(attempt))
    }

    /// The pool that an attempt has made.
    pub fn open(&self, attempt: Attempt) -> Result<Pool, Failure> {
        Ok(Pool::open(&self.path(attempt), None)?)
    }

    /// Whether the pool that an attempt has made is there and whole, as far as its files tell before they are read.
    pub fn is_there(&self, attempt: Attempt) -> bool {
        self.open(attempt).is_ok()
    }

    /// Erases the pool that an attempt has made, or what is left of it, if there is one.
    pub fn erase(&self, attempt: Attempt) -> Result<(), Failure> {
        erase(&self.path(attempt))
    }

    /// Erases all pools of the job but those that these attempts have made, and waits for workers that were told of the end.
    pub fn erase_others(&self, live: &[Attempt]) -> Result<(), Failure> {
        let live: Vec<String> = live.iter().map(|attempt| self.name(*attempt)).collect();
        let until = Instant::now() + GRACE;
        while let Err(why) = self.erase_all_but(&live) {
            if Instant::now() > until {
                return Err(why);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Erases all pools of the job, when it is over, and removes the folder that they were in.
    pub fn remove(&self) -> Result<(), Failure> {
        self.erase_others(&[])?;
        // Whatever else is there is none of the job's, and stays.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// Erases what can be erased; the first error.
    fn erase_all_but(&self, live: &[String]) -> Result<(), Failure> {
        let reading = || Failure::io(format!("reading the folder {}", self.folder.display()));
        let Some(entries) = fs::read_dir(&self.folder).map(Some).or_else(none).map_err(reading())? else {
            return Ok(());
        };
        let mut erased = Ok(());
        for entry in entries {
            let entry = entry.map_err(reading())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(&self.prefix) && !live.contains(&name) {
                erased = erased.and(erase(&entry.path()));
            }
        }
        erased
    }
}

/// What is left of pools that nothing uses is told, and no reason to end a job: somebody may still hold one.
pub fn note_left(erased: Result<(), Failure>, console: &Console) {
    if let Err(why) = erased {
        console.note(format!("a pool that nothing uses any more is still there: {}", why.message));
    }
}

fn erase(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() { Ok(Pool::erase(folder)?) } else { Ok(()) }
}

/// What is not there has nothing in it.
fn none<T>(why: std::io::Error) -> std::io::Result<Option<T>> {
    if why.kind() == std::io::ErrorKind::NotFound { Ok(None) } else { Err(why) }
}
