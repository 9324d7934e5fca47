//! Runs that a protocol of another crate makes ahead and keeps in a folder, each used once whatever happens.
//!
//! Each party has a folder with its half. Before a run is used both parties say, over the channel on which it is used:
//!
//! ```text
//! both   40 bytes: the number of the first run that it has and has not used, all ones for none, and the run's batch;
//!        again where they differ
//! both   32 bytes: the batch, once the party's cursor on disk has passed it
//! ```
//!
//! So whatever depends on inputs is sent after both have marked the run. A party that is killed loses that run at most.

use std::path::Path;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use zeroize::Zeroizing;

use super::{Content, Description, Entry, EntryReader, EntryWriter, Folder, Place, SealKey, Size, Terms, holds};
use crate::channel::Channel;
use crate::{Error, Party, Result};

static CONTENT: Content = Content {
    code: 2,
    absent: "there are no runs of a private function",
    makes: "`duologue private prepare --to` makes them",
    alone: "runs of a private function need a folder of their own",
    kinds: &["secrets"],
    bulk: Some("tables"),
};

/// In place of the number of a run: none is left.
const NONE: u64 = u64::MAX;

/// A folder that holds nothing yet, which nobody else can take.
pub struct NewRuns(Arc<Place>);

/// What a folder of runs says of itself, the same at both parties but for `party` and `bulk`.
pub struct Found {
    /// What both parties call it; random.
    pub identity: [u8; 32],
    /// Whose half this is.
    pub party: Party,
    /// Whether runs have tables at this party.
    pub bulk: bool,
    /// Names and values, which are no secrets.
    pub terms: Terms,
}

/// One party's half of runs made ahead, open: no other process has them.
pub struct KeptRuns {
    folder: Folder<1>,
    /// A run of which everything was read and found whole.
    verified: Option<u64>,
}

/// How many runs were made, used, and are left, and the bytes of all files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Runs that were ever made.
    pub made: u64,
    /// Runs that are used up.
    pub used: u64,
    /// Runs that are ready.
    pub left: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// A run that is being made.
pub struct RunWriter(EntryWriter);

/// A run that is used up: nobody gets it again.
pub struct KeptRun {
    /// Its number.
    pub number: u64,
    files: EntryReader,
}

impl NewRuns {
    /// Takes a folder that does not exist or is empty. Without a key it is not sealed.
    ///
    /// # Errors
    /// [`Error::Usage`] if it holds something, is open to others, or another process has it.
    pub fn create(folder: &Path, seal: Option<SealKey>) -> Result<NewRuns> {
        Place::new(folder, &CONTENT, seal).map(NewRuns)
    }

    /// Makes it a folder of runs, bound to the keys of this channel; `secret` is kept for the party.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn found(self, found: Found, channel: &Channel, secret: [u8; 16]) -> Result<KeptRuns> {
        let Found { identity, party, bulk, terms } = found;
        let keys = keys(channel, party);
        let folder = Folder::create(self.0, Description { identity, party, keys, bulk, terms }, secret)?;
        Ok(KeptRuns { folder, verified: None })
    }
}

/// The keys of Alice and Bob.
fn keys(channel: &Channel, party: Party) -> Option<[[u8; 32]; 2]> {
    channel.keys().map(|keys| {
        let [ours, theirs] = keys.map(|key| *key.as_bytes());
        if party == Party::Alice { [ours, theirs] } else { [theirs, ours] }
    })
}

impl KeptRuns {
    /// Opens a folder, with the key if and only if it was made with one. What a crash left unfinished is erased, and so is
    /// what is used up.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, another process has it, or the key is another; [`Error::Malformed`], which names
    /// the file, if something is missing, damaged or from elsewhere.
    pub fn open(folder: &Path, seal: Option<SealKey>) -> Result<KeptRuns> {
        Ok(KeptRuns { folder: Folder::open(folder, &CONTENT, seal, |_| Ok(()))?, verified: None })
    }

    /// Whether there are such runs in a folder, as far as names tell.
    pub fn is_in(folder: &Path) -> bool {
        holds(folder, &CONTENT)
    }

    /// What both parties call it.
    pub fn identity(&self) -> [u8; 32] {
        self.folder.header().owner.identity
    }

    /// Whose half it is.
    pub fn party(&self) -> Party {
        self.folder.header().owner.party
    }

    /// Whether its header is sealed with a key from elsewhere.
    pub fn is_sealed(&self) -> bool {
        self.folder.header().sealed
    }

    /// The value of a term.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it has none of this name.
    pub fn term(&self, name: &str) -> Result<&str> {
        let why = || self.malformed(format!("it does not say {name}"));
        self.folder.header().term(name).ok_or_else(why)
    }

    /// An error about what the folder says of itself.
    pub fn malformed(&self, why: impl Into<String>) -> Error {
        super::files::malformed(&self.folder.header_path(), why.into())
    }

    /// What was kept for the party when the folder was made.
    pub fn secret(&self) -> &[u8; 16] {
        self.folder.secret()
    }

    /// How many runs there are.
    pub fn counts(&self) -> Counts {
        let ([made], [used]) = (self.folder.made(), self.folder.used());
        Counts { made, used, left: self.folder.entries(0).count() as u64, bytes: self.folder.bytes() }
    }

    /// Refuses a channel to another peer than the runs were made with.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn check(&self, channel: &Channel) -> Result<()> {
        if self.folder.header().keys == keys(channel, self.party()) {
            return Ok(());
        }
        let folder = self.folder.path().display();
        Err(Error::usage(format!("the runs in {folder} were prepared with another peer or key")))
    }

    /// Reads every run that is left.
    ///
    /// # Errors
    /// [`Error::Malformed`] that names the first file that is not as it was written.
    pub fn verify(&self) -> Result<()> {
        self.folder.verify()
    }

    /// The secrets of the run that comes next, after all of it was found as it was written.
    ///
    /// # Errors
    /// [`Error::Malformed`]; [`Error::Usage`] if no run is left.
    pub fn next(&mut self, secrets: usize) -> Result<(u64, Zeroizing<Vec<u8>>)> {
        let number = self.first_from(0);
        let mut files = self.checked(number)?;
        Ok((number, read(&mut files, secrets)?))
    }

    /// Begins the run of this number, with its secrets; so many bytes of tables follow, if runs have any here.
    ///
    /// # Errors
    /// [`Error::Usage`] if there was a run of this number, or what the disk says.
    pub fn begin(&self, number: u64, batch: [u8; 32], secrets: &[u8], tables: u64) -> Result<RunWriter> {
        if number < self.folder.made()[0] {
            return Err(Error::usage(format!("there was a run {number} before")));
        }
        let (secret, bulk) = (secrets.len() as u64, self.folder.header().bulk.then_some(tables));
        let mut entry = self.folder.write(&Size { kind: 0, first: number, count: 1, batch, secret, bulk })?;
        entry.secret(secrets)?;
        Ok(RunWriter(entry))
    }

    /// Completes a run: it is on disk, whole.
    ///
    /// # Errors
    /// What the disk says.
    pub fn complete(&mut self, run: RunWriter) -> Result<()> {
        self.folder.add(vec![run.0])
    }

    /// Takes the next run that both parties have and neither has used, and marks it as used at both.
    ///
    /// # Errors
    /// [`Error::Usage`] if no run is left; [`Error::Incompatible`] if the halves do not belong together, and
    /// [`Error::Malformed`] if ours is not what was written: nothing is used up then.
    pub fn take(&mut self, channel: &mut Channel) -> Result<KeptRun> {
        let number = self.common(channel)?;
        let (files, batch) = (self.checked(number)?, self.batch(number)?);
        self.folder.advance([number + 1])?;
        tracing::debug!(number, "a run that was made ahead is used up");
        channel.send(&batch)?;
        channel.flush()?;
        if channel.recv(32)? != batch {
            return Err(Error::peer("it did not say that it has marked the run as used"));
        }
        Ok(KeptRun { number, files })
    }

    /// Erases what is used up.
    ///
    /// # Errors
    /// What the disk says; it is erased when the folder is next opened.
    pub fn erase_used(&mut self) -> Result<()> {
        self.folder.erase_used()
    }

    /// The first run that both have and neither has used. Ours is named only if it is whole: once both have named it, the
    /// peer marks it.
    fn common(&mut self, channel: &mut Channel) -> Result<u64> {
        let (mut ours, mut least) = (self.first_from(0), 0);
        loop {
            let batch = if ours == NONE { [0; 32] } else { self.checked(ours).and_then(|_| self.batch(ours))? };
            channel.send(&[&ours.to_le_bytes()[..], &batch].concat())?;
            channel.flush()?;
            let theirs = channel.recv(40)?;
            let (number, theirs_batch) = theirs
                .split_first_chunk()
                .map_or((NONE, &[][..]), |(number, rest)| (u64::from_le_bytes(*number), rest));
            match number.max(ours) {
                NONE => return Err(self.empty()),
                _ if number == ours && theirs_batch == batch => return Ok(ours),
                _ if number == ours => {
                    let what = "the prepared run, which was made in one session";
                    let [ours, theirs] = [&batch[..], theirs_batch].map(|batch| HEXLOWER.encode(&batch[..8]));
                    return Err(Error::Incompatible { what, ours, theirs, place: None });
                }
                _ if number < least => return Err(Error::peer("it goes back to a run that one of us does not have")),
                larger => (ours, least) = (self.first_from(larger), larger),
            }
        }
    }

    fn first_from(&self, number: u64) -> u64 {
        let from = number.max(self.folder.used()[0]);
        self.folder.entries(0).map(|run| run.secret.first).find(|&first| first >= from).unwrap_or(NONE)
    }

    fn entry(&self, number: u64) -> Result<&Entry> {
        self.folder.entry(0, number).ok_or_else(|| self.empty())
    }

    fn batch(&self, number: u64) -> Result<[u8; 32]> {
        self.entry(number).map(|run| run.secret.batch)
    }

    /// A run, after all of it was found as it was written.
    fn checked(&mut self, number: u64) -> Result<EntryReader> {
        let mut run = self.folder.read(self.entry(number)?)?;
        if self.verified != Some(number) {
            run.verify()?;
            self.verified = Some(number);
        }
        Ok(run)
    }

    fn empty(&self) -> Error {
        let folder = self.folder.path().display();
        Error::usage(format!(
            "no run is left in {folder} and at the peer: `duologue private prepare --to` makes others"
        ))
    }
}

fn read(files: &mut EntryReader, secrets: usize) -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; secrets]);
    files.secret.read(0, &mut bytes)?;
    Ok(bytes)
}

impl RunWriter {
    /// Appends tables.
    ///
    /// # Errors
    /// What the disk says, or [`Error::Usage`] if they are more than were announced.
    pub fn tables(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.bulk(bytes)
    }
}

impl KeptRun {
    /// Its secrets, so many bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] if they are not as they were written, [`Error::Usage`] if they are fewer.
    pub fn secrets(&mut self, bytes: usize) -> Result<Zeroizing<Vec<u8>>> {
        read(&mut self.files, bytes)
    }

    /// Tables from here on.
    ///
    /// # Errors
    /// As [`secrets`](Self::secrets).
    pub fn tables(&mut self, from: u64, into: &mut [u8]) -> Result<()> {
        let none = || Error::usage("a run without tables");
        self.files.bulk.as_mut().ok_or_else(none)?.read(from, into)
    }
}
