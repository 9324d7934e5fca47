//! A shelf: whole runs of one program by Yao that are prepared ahead of time, in a folder, each used once whatever
//! happens.
//!
//! Each party has a folder with its half. Runs are numbered from 0 in the order in which they were made. A *cursor* says
//! that all below it are used up: it moves on disk, at both parties, before either sends a byte that depends on an input,
//! and never back.
//!
//! ```text
//! lock            held by the process that has the shelf open
//! header          what the shelf is and the key of the data: `Origin`
//! cursor          how many runs are used up
//! tables-NUMBER   the evaluator's garbled tables of a run
//! labels-NUMBER   what a party keeps of a run's inputs and outputs; with it, the run is complete
//! NAME.part       was being written or erased when a crash came; counts as nothing
//! ```
//!
//! Before a run is used the parties look for the first that both have and neither has used, and compare its batch. So a
//! party whose process was killed loses a run at most, and one whose folder came back from a backup uses nothing twice. If
//! both folders come back from backups, nobody can tell: the same labels would then serve two inputs, and reveal both.
//!
//! **Security**: see the book's page on pools.

mod header;
mod reel;
mod run;

use crate::agreement;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::agreement::Fields;
use crate::channel::PublicKey;
use crate::disk::cursor::Cursor;
use crate::disk::files;
use crate::disk::lock::{Lock, lock};
use crate::disk::owner::LIMIT;
use crate::disk::seal::{self, SealKey, random};
use crate::{Error, Party, Result};
use header::{Clear, DataKey};
use reel::{Content, Head};
use run::{Found, Keyed};

pub use header::Origin;
pub(crate) use run::{Making, Room, Secrets, Tables, Taken};

const CURSOR: Cursor<1> = Cursor(b"duo-scur");

/// No number of a run.
const NONE: u64 = u64::MAX;

/// One party's half of a shelf, open: no other process has it.
///
/// ```compile_fail,E0599
/// fn twice(shelf: &duologue::shelf::Shelf) -> duologue::shelf::Shelf {
///     shelf.clone() // one cursor
/// }
/// ```
pub struct Shelf {
    folder: PathBuf,
    /// Public if the shelf is not sealed.
    seal: Option<SealKey>,
    /// Nothing until the parties have agreed on what it is.
    made: Option<Made>,
    _lock: Lock,
}

/// A shelf with a header.
struct Made {
    clear: Clear,
    key: DataKey,
    used: u64,
    /// Whether the disk may have an older cursor, since writing failed.
    unsaved: bool,
    /// Complete runs that are not used, by their numbers.
    runs: BTreeMap<u64, Found>,
    /// A run of which everything was read and found whole.
    verified: Cell<Option<u64>>,
}

/// What a shelf is and has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// What both parties agreed on when they made it.
    pub origin: Origin,
    /// When it was made.
    pub created: SystemTime,
    /// Whether its header is sealed with a key from elsewhere.
    pub sealed: bool,
    /// How many runs were ever made, as far as this party knows.
    pub made: u64,
    /// How many of these are used up.
    pub used: u64,
    /// How many are ready.
    pub left: u64,
    /// What its files take on disk.
    pub bytes: u64,
}

impl Shelf {
    /// A new shelf in a folder that does not exist or is empty. What it is for,
    /// [`Session::prepare_to`](crate::Session::prepare_to) says; before that it is none. Without a key it is not sealed.
    ///
    /// # Errors
    /// [`Error::Usage`] if the folder holds something, is open to others, or another process has it.
    pub fn create(folder: &Path, seal: Option<SealKey>) -> Result<Shelf> {
        files::make_folder(folder)?;
        let lock = lock(folder)?;
        files::refuse_content(folder, is_part, "prepared runs need a folder of their own")?;
        Ok(Shelf { folder: folder.to_owned(), seal, made: None, _lock: lock })
    }

    /// Opens a shelf, with the key if and only if it was made with one. What a crash left unfinished is removed.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, another process has it, others may read it, or the key is another;
    /// [`Error::Malformed`], which names the file, if something is missing, damaged or from elsewhere. The bulk of a run
    /// is checked before it is used, and by [`verify`](Self::verify).
    pub fn open(folder: &Path, seal: Option<SealKey>) -> Result<Shelf> {
        let metadata = fs::metadata(folder).map_err(|error| absent(folder, error))?;
        files::refuse_others(folder, &metadata)?;
        let path = folder.join("header");
        fs::metadata(&path).map_err(|error| absent(folder, error))?;
        let lock = lock(folder)?;
        let header = files::read(&path, header::MOST + 1)?;
        let clear = Clear::decode(&header).map_err(|why| files::malformed(&path, why))?;
        let public = SealKey::public();
        let opened = clear.open(&header, SealKey::for_folder(folder, clear.sealed, seal.as_ref(), &public)?);
        let key = opened.ok_or_else(|| seal::not_opened(folder, clear.sealed))?;
        let [used] = CURSOR.load(folder, &clear.origin.owner(), &key.0)?;
        // A process that was killed may have given files their names, but not waited for the disk.
        files::sync_folder(folder)?;
        let made = Made { clear, key, used, unsaved: false, runs: BTreeMap::new(), verified: Cell::new(None) };
        let mut shelf = Shelf { folder: folder.to_owned(), seal, made: Some(made), _lock: lock };
        shelf.find_runs()?;
        Ok(shelf)
    }

    /// Whether there is a shelf in this folder, as far as names tell.
    pub fn is_in(folder: &Path) -> bool {
        let begins = |header: Vec<u8>| header == *b"duo-shlf";
        files::read(&folder.join("header"), 8).is_ok_and(begins)
    }

    /// What it is and has.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is new and nothing yet.
    pub fn status(&self) -> Result<Status> {
        let made = self.made()?;
        let Clear { origin, created, sealed } = made.clear.clone();
        Ok(Status {
            origin,
            created: SystemTime::UNIX_EPOCH + Duration::from_secs(created.min(1 << 40)),
            sealed,
            made: made.end(),
            used: made.used,
            left: made.runs.len() as u64,
            bytes: made.runs.values().map(Found::file_len).sum(),
        })
    }

    /// Reads every run that is left and checks that it is as it was written.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names the first file that is not.
    pub fn verify(&self) -> Result<()> {
        let made = self.made()?;
        made.runs.values().try_for_each(|found| Taken::open(&self.keyed(made), found)?.verify())
    }

    /// The same of the run that comes next, which will not be checked as a whole again.
    ///
    /// # Errors
    /// [`Error::Malformed`]; [`Error::Usage`] if no run is left.
    pub fn verify_next(&self) -> Result<()> {
        match self.first_from(0)? {
            NONE => Err(self.empty()),
            number => self.checked(number).map(drop),
        }
    }
}

/// What a session does with a shelf.
impl Shelf {
    pub(crate) fn is_new(&self) -> bool {
        self.made.is_none()
    }

    /// Whether its secrets need a key from elsewhere.
    pub(crate) fn is_sealed(&self) -> bool {
        self.made.as_ref().map_or(self.seal.is_some(), |made| made.clear.sealed)
    }

    /// What both parties call it.
    pub(crate) fn identity(&self) -> Option<[u8; 32]> {
        self.made.as_ref().map(|made| made.clear.origin.identity)
    }

    /// What it was prepared for must be what is asked for, by the same party over a channel with the same keys.
    pub(crate) fn check(&self, party: Party, keys: Option<[PublicKey; 2]>, fields: &Fields) -> Result<()> {
        let Some(made) = &self.made else { return Ok(()) };
        let (origin, folder) = (&made.clear.origin, self.folder.display());
        if origin.party != party {
            return Err(Error::usage(format!("{folder} has {}'s half of prepared runs, not {party}'s", origin.party)));
        }
        if origin.keys != keys {
            return Err(Error::usage(format!("the runs in {folder} were prepared with another peer or key")));
        }
        match agreement::compare(fields, &origin.encoded_terms()) {
            Err(Error::Incompatible { what, ours, theirs }) => {
                let [ours, theirs] = [ours, theirs].map(|value| value.replace("\\'", "'"));
                Err(Error::usage(format!(
                    "the runs in {folder} were prepared for something else: {what} was {theirs}, and is {ours} now"
                )))
            }
            Err(error) => Err(files::malformed(&self.folder.join("header"), error.to_string())),
            Ok(()) => Ok(()),
        }
    }

    /// Becomes what the parties agreed on.
    pub(crate) fn found(
        &mut self,
        identity: [u8; 32],
        party: Party,
        keys: Option<[PublicKey; 2]>,
        fields: &Fields,
    ) -> Result<()> {
        let terms = fields.iter().map(|(name, value)| (name.to_string(), value.escape_default().to_string()));
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let origin = Origin { identity, party, keys, terms: terms.collect() };
        let clear = Clear { origin, created: since.as_secs(), sealed: self.seal.is_some() };
        let key = DataKey(random()?);
        CURSOR.save(&self.folder, &clear.origin.owner(), &[0], &key.0)?;
        // The header comes last: with it, the folder is a shelf.
        let public = SealKey::public();
        let header = clear.seal(&key, self.seal.as_ref().unwrap_or(&public))?;
        files::replace(&self.folder.join("header"), &[&header])?;
        files::sync_folder(self.folder.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new(".")))?;
        let runs = BTreeMap::new();
        self.made = Some(Made { clear, key, used: 0, unsaved: false, runs, verified: Cell::new(None) });
        Ok(())
    }

    /// A term of what it was prepared for.
    ///
    /// # Errors
    /// If it is new, or has no such term.
    pub(crate) fn term(&self, name: &'static str) -> Result<&str> {
        let term = self.made()?.clear.origin.term(name);
        term.ok_or_else(|| files::malformed(&self.folder.join("header"), format!("it does not say {name}")))
    }

    /// How many runs are used, after the last one that is complete, and how many are ready.
    pub(crate) fn counts(&self) -> Result<[u64; 3]> {
        let made = self.made()?;
        Ok([made.used, made.end(), made.runs.len() as u64])
    }

    /// All runs below this one count as used, on disk, and are erased.
    pub(crate) fn advance(&mut self, to: u64) -> Result<()> {
        if to > LIMIT {
            return Err(Error::peer(format!("it claims that {to} runs are used")));
        }
        let folder = self.folder.clone();
        let made = self.made_mut()?;
        if to > made.used || made.unsaved {
            // It counts as moved even if that fails: who knows what the disk has.
            (made.used, made.unsaved) = (to.max(made.used), true);
            CURSOR.save(&folder, &made.clear.origin.owner(), &[made.used], &made.key.0)?;
            made.unsaved = false;
        }
        Ok(())
    }

    /// Erases what the cursor on disk has passed.
    pub(crate) fn erase_used(&mut self) -> Result<()> {
        let made = self.made()?;
        let used = if made.unsaved { 0 } else { made.used };
        self.erase(|number| number < used)
    }

    /// Erases runs from this one on: the peer does not have them.
    pub(crate) fn trim(&mut self, end: u64) -> Result<()> {
        self.erase(|number| number >= end)
    }

    fn erase(&mut self, gone: impl Fn(u64) -> bool) -> Result<()> {
        let numbers: Vec<u64> = self.made()?.runs.keys().copied().filter(|&number| gone(number)).collect();
        for number in numbers {
            let folder = self.folder.clone();
            if let Some(found) = self.made_mut()?.runs.remove(&number) {
                erase(&folder, &found)?;
            }
        }
        Ok(())
    }

    /// The first run from this number on that is ready, or one that no run has.
    pub(crate) fn first_from(&self, number: u64) -> Result<u64> {
        let made = self.made()?;
        let first = made.runs.range(number.max(made.used)..).next();
        Ok(first.map_or(NONE, |(&number, _)| number))
    }

    /// No run is ready at both parties.
    pub(crate) fn empty(&self) -> Error {
        let folder = self.folder.display();
        Error::usage(format!("no prepared run is left in {folder}: `duologue prepare` makes more"))
    }

    /// What both parties call the making of a run.
    pub(crate) fn batch(&self, number: u64) -> Result<[u8; 32]> {
        self.run(number).map(|found| found.labels.batch)
    }

    /// A run, after all of it was found as it was written.
    pub(crate) fn checked(&self, number: u64) -> Result<Taken> {
        let made = self.made()?;
        let taken = Taken::open(&self.keyed(made), self.run(number)?)?;
        if made.verified.get() != Some(number) {
            taken.verify()?;
            made.verified.set(Some(number));
        }
        Ok(taken)
    }

    /// Begins a run, of which so much is kept. No run on the shelf has its number.
    pub(crate) fn begin(
        &self,
        (number, batch): (u64, [u8; 32]),
        evaluates: bool,
        secrets: &Secrets,
        room: Room,
    ) -> Result<Making> {
        let made = self.made()?;
        if number < made.end() {
            return Err(Error::usage(format!("there was a run {number} before")));
        }
        Making::begin(&self.keyed(made), (number, batch), evaluates, secrets, room)
    }

    /// Completes a run.
    pub(crate) fn complete(&mut self, making: Making) -> Result<()> {
        let found = making.end(&self.folder)?;
        self.made_mut()?.runs.insert(found.labels.number, found);
        Ok(())
    }

    fn made(&self) -> Result<&Made> {
        self.made.as_ref().ok_or_else(|| self.empty())
    }

    fn made_mut(&mut self) -> Result<&mut Made> {
        let empty = self.empty();
        self.made.as_mut().ok_or(empty)
    }

    fn run(&self, number: u64) -> Result<&Found> {
        self.made()?.runs.get(&number).ok_or_else(|| self.empty())
    }

    fn keyed<'a>(&'a self, made: &'a Made) -> Keyed<'a> {
        Keyed { folder: &self.folder, owner: made.clear.origin.owner(), key: &made.key.0 }
    }

    /// Reads the heads of every run; erases what was being written, used or erased when a crash came.
    fn find_runs(&mut self) -> Result<()> {
        let mut heads: [BTreeMap<u64, Head>; 2] = Default::default();
        let owner = self.made()?.clear.origin.owner();
        let entries = fs::read_dir(&self.folder).map_err(files::doing("reading", &self.folder))?;
        for entry in entries {
            let name = entry.map_err(files::doing("reading", &self.folder))?.file_name();
            let Some(name) = name.to_str() else { continue };
            let path = self.folder.join(name);
            if let Some((content, number)) = Content::of(name) {
                heads[content as usize].insert(number, Head::inspect(&path, &owner)?);
            } else if is_part(name) {
                erase_part(&path)?;
            }
        }
        let [labels, mut tables] = heads;
        for (number, labels) in labels {
            let found = Found { tables: tables.remove(&number), labels };
            self.check_run(&found)?;
            self.made_mut()?.runs.insert(number, found);
        }
        // Of these the making was cut short.
        tables.values().try_for_each(|head| remove(&head.path(&self.folder)))?;
        self.erase_used()
    }

    /// The files of a run belong together, and the evaluator has tables.
    fn check_run(&self, found: &Found) -> Result<()> {
        let (path, made) = (found.labels.path(&self.folder), self.made()?);
        let evaluates = made.clear.origin.term(agreement::GARBLER) != Some(&made.clear.origin.party.to_string());
        // What is used may have lost its tables already.
        match (&found.tables, evaluates) {
            _ if found.labels.number < made.used => Ok(()),
            (None, false) => Ok(()),
            (Some(tables), true) if tables.batch == found.labels.batch => Ok(()),
            (Some(_), true) => Err(files::malformed(&path, "it was made in another session than its tables")),
            (Some(_), false) => Err(files::malformed(&path, "the garbler has no tables, but here are some")),
            (None, true) => Err(files::malformed(&path, "its tables are missing")),
        }
    }
}

impl Made {
    /// The number of the next run that is made.
    fn end(&self) -> u64 {
        self.runs.last_key_value().map_or(self.used, |(last, _)| self.used.max(last + 1))
    }
}

/// Labels are overwritten; tables without labels are random strings. The labels lose their name first: without it the
/// run is none.
fn erase(folder: &Path, found: &Found) -> Result<()> {
    files::erase_whole(&found.labels.path(folder))?;
    found.tables.as_ref().map_or(Ok(()), |tables| remove(&tables.path(folder)))
}

fn erase_part(path: &Path) -> Result<()> {
    let tables = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tables"));
    if tables { remove(path) } else { files::erase(path) }
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(files::doing("erasing", path))
}

fn is_part(name: &str) -> bool {
    let of = name.strip_suffix(files::PART);
    of.is_some_and(|name| ["header", "cursor"].contains(&name) || Content::of(name).is_some())
}

fn absent(folder: &Path, error: std::io::Error) -> Error {
    files::absent(folder, error, "there are no prepared runs", "`duologue prepare` makes them")
}

/// What a file of a shelf says without any key, as [`Shelf::open`] reads it: for tests of the decoders.
///
/// # Errors
/// [`Error::Malformed`].
pub fn inspect(name: &str, bytes: &[u8]) -> Result<()> {
    let read = match name {
        "header" => Clear::decode(bytes).map(drop),
        "cursor" => CURSOR.decode(bytes, &[0; 32]).map(drop),
        _ => Head::decode(bytes).map(drop),
    };
    read.map_err(|why| files::malformed(Path::new(name), why))
}

#[cfg(test)]
mod tests;
