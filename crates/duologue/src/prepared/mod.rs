//! Prepared runs: whole runs of one program by Yao that are made ahead of time, in a folder, each used once whatever
//! happens.
//!
//! Each party has a folder with its half, as [`crate::storage`] describes it. Runs are numbered from 0 in the
//! order in which they were made. A *cursor* says that all below it are used up: it moves on disk, at both parties,
//! before either sends a byte that depends on an input, and never back.
//!
//! ```text
//! labels-NUMBER   what a party keeps of a run's inputs and outputs, and Δ or S: secret
//! tables-NUMBER   the evaluator's garbled tables of a run
//! ```
//!
//! Before a run is used the parties look for the first that both have and neither has used, and compare its batch. So a
//! party whose process was killed loses a run at most, and one whose folder came back from a backup uses nothing twice. If
//! both folders come back from backups, nobody can tell: the same labels would then serve two inputs, and reveal both.
//!
//! **Security**: see the book's page on prepared runs.

mod run;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::channel::PublicKey;
use crate::executor::StoredSize;
use crate::storage::files::malformed;
use crate::storage::{self, Content, Entry, Folder, LIMIT, Place, SealKey, Size, Terms};
use crate::{Error, Party, Result};

pub(crate) use run::{RunReader, RunWriter, Secrets};

static CONTENT: Content = Content {
    code: 1,
    absent: "there are no prepared runs",
    makes: "`duologue prepare --to` makes them",
    alone: "prepared runs need a folder of their own",
    kinds: &["labels"],
    bulk: Some("tables"),
};

/// No number of a run.
const NONE: u64 = u64::MAX;

/// One party's half of prepared runs, open: no other process has them.
///
/// ```compile_fail,E0599
/// fn twice(runs: &duologue::prepared::PreparedRuns) -> duologue::prepared::PreparedRuns {
///     runs.clone() // one cursor
/// }
/// ```
pub struct PreparedRuns {
    place: Arc<Place>,
    /// Nothing until the parties have agreed on what they are for.
    made: Option<Made>,
    /// A run of which everything was read and found whole.
    verified: Cell<Option<u64>>,
}

struct Made {
    folder: Folder<1>,
    origin: RunsOrigin,
}

/// The description on which both parties agreed when they began to prepare runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunsOrigin {
    /// Random and the same for both parties.
    pub identity: [u8; 32],
    /// Whose half this is.
    pub party: Party,
    /// The pinned keys of Alice and Bob; none if the runs were prepared over a channel without keys.
    pub keys: Option<[PublicKey; 2]>,
    /// The program, its sizes, who garbles and so on: names and values.
    pub terms: Vec<(String, String)>,
}

impl RunsOrigin {
    /// The value of a term.
    pub fn term(&self, name: &str) -> Option<&str> {
        self.terms.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn of(folder: &Folder<1>) -> Result<RunsOrigin> {
        let header = folder.header();
        let keys = header.keys.map(|[alice, bob]| Ok([PublicKey::from_bytes(alice)?, PublicKey::from_bytes(bob)?]));
        let keys = keys.transpose().map_err(|error: Error| malformed(&folder.header_path(), error.to_string()))?;
        Ok(RunsOrigin { identity: header.owner.identity, party: header.owner.party, keys, terms: header.terms.clone() })
    }
}

/// The state of a folder of prepared runs.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The description on which both parties agreed.
    pub origin: RunsOrigin,
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
    /// Bytes of its files on disk.
    pub bytes: u64,
}

impl PreparedRuns {
    /// A folder for runs, which does not exist or is empty; one that [has runs](Self::is_in) is [opened](Self::open). What
    /// they are for, [`Session::prepare_to`](crate::Session::prepare_to) says; before that there is nothing in it. Without a
    /// key it is not sealed.
    ///
    /// # Errors
    /// [`Error::Usage`] if the folder holds something, is open to others, or another process has it.
    pub fn create(folder: &Path, seal: Option<SealKey>) -> Result<PreparedRuns> {
        let place = Place::new(folder, &CONTENT, seal)?;
        Ok(PreparedRuns { place, made: None, verified: Cell::new(None) })
    }

    /// Opens a folder of runs, with the key if and only if it was made with one. What a crash left unfinished is erased.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, it has another version of the format, another process has it, others may read
    /// it, or the key is another; [`Error::Malformed`], which names the file, if something is missing, damaged or from
    /// elsewhere. The bulk of a run is checked before it is used, and by [`verify`](Self::verify).
    pub fn open(folder: &Path, seal: Option<SealKey>) -> Result<PreparedRuns> {
        let folder = Folder::open(folder, &CONTENT, seal, |_| Ok(()))?;
        let origin = RunsOrigin::of(&folder)?;
        Ok(PreparedRuns { place: folder.place(), made: Some(Made { folder, origin }), verified: Cell::new(None) })
    }

    /// Whether there are prepared runs in this folder, as far as names tell.
    pub fn is_in(folder: &Path) -> bool {
        storage::holds(folder, &CONTENT)
    }

    /// The state of the folder.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is new and nothing yet.
    pub fn status(&self) -> Result<Status> {
        let Made { folder, origin } = self.made()?;
        let [used, made, left] = self.counts()?;
        let (origin, sealed) = (origin.clone(), folder.header().sealed);
        Ok(Status { origin, created: folder.created(), sealed, made, used, left, bytes: folder.bytes() })
    }

    /// Reads every run that is left and checks that it is as it was written.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names the first file that is not.
    pub fn verify(&self) -> Result<()> {
        self.made()?.folder.verify()
    }

    /// Reads the run that comes next and checks that it is as it was written; it is not checked as a whole again.
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

/// The interface for a session.
impl PreparedRuns {
    pub(crate) fn is_new(&self) -> bool {
        self.made.is_none()
    }

    /// Whether its secrets need a key from elsewhere.
    pub(crate) fn is_sealed(&self) -> bool {
        self.place.is_sealed()
    }

    /// The name that both parties give the folder.
    pub(crate) fn identity(&self) -> Option<[u8; 32]> {
        self.made.as_ref().map(|made| made.origin.identity)
    }

    /// Refuses runs that were prepared for something else, by the other party, or over a channel with other keys.
    pub(crate) fn check(&self, party: Party, keys: Option<[PublicKey; 2]>, terms: &Terms) -> Result<()> {
        let Some(Made { origin, folder: made }) = &self.made else { return Ok(()) };
        let folder = self.place.path.display();
        if origin.party != party {
            return Err(Error::usage(format!("{folder} has {}'s half of prepared runs, not {party}'s", origin.party)));
        }
        if origin.keys != keys {
            return Err(Error::usage(format!("the runs in {folder} were prepared with another peer or key")));
        }
        let names = |terms: &Terms| terms.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        if names(&origin.terms) != names(terms) {
            let why = "its terms have other names than ours; if another version of duologue made it, prepare anew";
            return Err(malformed(&made.header_path(), why));
        }
        match origin.terms.iter().zip(terms).find(|(was, is)| was != is) {
            None => Ok(()),
            Some(((what, was), (_, is))) => {
                let [was, is] = [was, is].map(|value| value.replace("\\'", "'"));
                let which = format!("{what} was {was}, and is {is} now");
                Err(Error::usage(format!(
                    "the runs in {folder} were prepared for something else, or by a duologue of another version: {which}. \
                     Run what they were prepared for, or prepare anew"
                )))
            }
        }
    }

    /// Becomes what the parties agreed on. Runs have tables here if this party evaluates.
    pub(crate) fn found(
        &mut self,
        identity: [u8; 32],
        party: Party,
        keys: Option<[PublicKey; 2]>,
        terms: Terms,
        evaluates: bool,
    ) -> Result<()> {
        let as_bytes = keys.map(|keys| keys.map(|key| *key.as_bytes()));
        let origin = storage::Description { identity, party, keys: as_bytes, bulk: evaluates, terms };
        let folder = Folder::create(self.place.clone(), origin, [0; 16])?;
        let origin = RunsOrigin::of(&folder)?;
        self.made = Some(Made { folder, origin });
        Ok(())
    }

    /// A term of what the runs were prepared for.
    ///
    /// # Errors
    /// If there is nothing yet, or no such term.
    pub(crate) fn term(&self, name: &'static str) -> Result<&str> {
        let Made { folder, origin } = self.made()?;
        origin.term(name).ok_or_else(|| malformed(&folder.header_path(), format!("it does not say {name}")))
    }

    /// How many runs are used, the number after the last one that is complete, and how many are ready.
    pub(crate) fn counts(&self) -> Result<[u64; 3]> {
        let folder = &self.made()?.folder;
        Ok([folder.used()[0], folder.made()[0], folder.entries(0).count() as u64])
    }

    /// All runs below this one count as used, on disk.
    pub(crate) fn advance(&mut self, to: u64) -> Result<()> {
        if to > LIMIT {
            return Err(Error::peer(format!("it claims that {to} runs are used")));
        }
        self.folder_mut()?.advance([to])
    }

    /// Erases what the cursor on disk has passed.
    pub(crate) fn erase_used(&mut self) -> Result<()> {
        self.folder_mut()?.erase_used()
    }

    /// Erases runs from this one on: the peer does not have them.
    pub(crate) fn trim(&mut self, end: u64) -> Result<()> {
        self.folder_mut()?.erase(0, |run| run.secret.first >= end)
    }

    /// The first run from this number on that is ready, or one that no run has.
    pub(crate) fn first_from(&self, number: u64) -> Result<u64> {
        let folder = &self.made()?.folder;
        let from = number.max(folder.used()[0]);
        Ok(folder.entries(0).map(|run| run.secret.first).find(|&first| first >= from).unwrap_or(NONE))
    }

    /// No run is ready at both parties.
    pub(crate) fn empty(&self) -> Error {
        let folder = self.place.path.display();
        Error::usage(format!("no prepared run is left in {folder}: `duologue prepare --to` makes more"))
    }

    /// The name that both parties give the making of a run.
    pub(crate) fn batch(&self, number: u64) -> Result<[u8; 32]> {
        self.run(number).map(|run| run.secret.batch)
    }

    /// A run, after all of it was found as it was written.
    pub(crate) fn checked(&self, number: u64) -> Result<RunReader> {
        let mut run = self.made()?.folder.read(self.run(number)?)?;
        if self.verified.get() != Some(number) {
            run.verify()?;
            self.verified.set(Some(number));
        }
        Ok(RunReader::new(run))
    }

    /// Begins a run, of which so much is kept. No run that is ready has its number.
    pub(crate) fn begin(
        &self,
        (number, batch): (u64, [u8; 32]),
        secrets: &Secrets,
        size: StoredSize,
    ) -> Result<RunWriter> {
        let folder = &self.made()?.folder;
        if number < folder.made()[0] {
            return Err(Error::usage(format!("there was a run {number} before")));
        }
        let (secret, bulk) = (RunWriter::label_bytes(size), folder.header().bulk.then_some(size.tables));
        RunWriter::begin(folder.write(&Size { kind: 0, first: number, count: 1, batch, secret, bulk })?, secrets)
    }

    /// Completes a run.
    pub(crate) fn complete(&mut self, run: RunWriter) -> Result<()> {
        self.folder_mut()?.add(vec![run.into_entry()])
    }

    fn made(&self) -> Result<&Made> {
        self.made.as_ref().ok_or_else(|| self.empty())
    }

    fn folder_mut(&mut self) -> Result<&mut Folder<1>> {
        let empty = self.empty();
        Ok(&mut self.made.as_mut().ok_or(empty)?.folder)
    }

    fn run(&self, number: u64) -> Result<&Entry> {
        self.made()?.folder.entry(0, number).ok_or_else(|| self.empty())
    }
}

#[cfg(test)]
pub(crate) mod tests;
