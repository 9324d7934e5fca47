//! One suite over both contents: what a crash or damage may do to a folder, whatever is in it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::correlation::pool::Pool;
use crate::prepared::PreparedRuns;
use crate::{Error, Party};

mod crash;
mod damage;
mod erasing;
mod sealed;

pub(crate) const IDENTITY: [u8; 32] = [0x5a; 32];
pub(crate) const BATCH: [u8; 32] = [0xba; 32];

/// A content as the suite sees it. Counts and numbers are of each kind.
pub(crate) trait Store: Sized {
    /// In the tasks of children.
    const NAME: &'static str;

    /// A new folder of this party's half; with another identity it is another pair's.
    fn create(folder: &Path, party: Party, identity: [u8; 32], seal: Option<SealKey>) -> Self;

    /// Opens it; the peer has all that we have.
    fn open_with(folder: &Path, seal: Option<SealKey>) -> Result<Self>;

    fn open(folder: &Path) -> Result<Self> {
        Self::open_with(folder, None)
    }

    fn verify(&self) -> Result<()>;
    fn made(&self) -> Vec<u64>;
    fn used(&self) -> Vec<u64>;
    fn bytes(&self) -> u64;
    fn entries(&self) -> usize;
    fn erase_all(&mut self) -> Result<()>;

    /// Makes one more entry of each kind, some of them; in what `turn` it is decides how many.
    fn add(&mut self, turn: u64) {
        self.add_as(turn, BATCH);
    }

    fn add_as(&mut self, turn: u64, batch: [u8; 32]);
    fn portion(turn: u64) -> Vec<u64>;

    /// How many to use next, if any are due in this turn, of which so many rounds have gone by.
    fn due(&self, turn: u64, round: u64) -> Option<Vec<u64>>;

    /// What was used, still to be looked at.
    type Used;

    /// Uses so many up.
    fn take(&mut self, counts: &[u64]) -> Self::Used;

    /// What was taken is what was made with these numbers.
    fn check_taken(&mut self, taken: Self::Used);

    /// Begins what a file of 100 kB has no room for.
    fn add_too_much(&mut self) -> Result<()>;

    /// After many crashes both halves go on together.
    fn go_on(_: &[PathBuf; 2]) {}
}

/// Runs a test on both contents.
macro_rules! for_both {
    ($($(#[$doc:meta])* fn $name:ident<S: Store>() $body:block)*) => {
        $($(#[$doc])*
        #[test]
        fn $name() {
            fn of<S: Store>() $body
            of::<Pool>();
            of::<PreparedRuns>();
        })*
    };
}
use for_both;

/// Alice's folder, closed, with three entries of a kind, the first used up and erased.
struct Stored<S> {
    place: TempDir,
    path: PathBuf,
    used: Vec<u64>,
    made: Vec<u64>,
    store: std::marker::PhantomData<S>,
}

impl<S: Store> Stored<S> {
    fn new() -> Stored<S> {
        let place = TempDir::new().unwrap();
        let path = place.path().join("ours");
        let mut store = S::create(&path, Party::Alice, IDENTITY, None);
        (0..3).for_each(|turn| store.add(turn));
        let taken = store.take(&S::portion(0));
        store.check_taken(taken);
        let (used, made) = (store.used(), store.made());
        Stored { place, path, used, made, store: std::marker::PhantomData }
    }

    /// The names of its files, but for the lock.
    fn names(&self) -> Vec<String> {
        let mut names = super::folder::names(&self.path).unwrap();
        names.retain(|name| name != "lock");
        names.sort();
        names
    }

    /// A file of each kind.
    fn one_of_each(&self) -> Vec<String> {
        let mut names = self.names();
        names.dedup_by_key(|name| name.rsplit_once('-').map_or(name.clone(), |(kind, _)| kind.to_owned()));
        names
    }

    /// The names of its sealed files.
    fn sealed(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| name.contains("-0") && !name.starts_with("key")).collect()
    }

    /// The names of its secret files.
    fn secrets(&self) -> Vec<String> {
        let bulk = |name: &String| name.starts_with("tables");
        self.sealed().into_iter().filter(|name| !bulk(name)).collect()
    }

    /// Whether a file is the first of its kind that is left, the second one made.
    fn is_middle(&self, name: &str) -> bool {
        let kind = |name: &str| name.rsplit_once('-').map(|(kind, _)| kind.to_owned());
        self.secrets().iter().find(|other| kind(other) == kind(name)).is_some_and(|first| first == name)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens it and reads everything.
    fn read(&self) -> Result<S> {
        let store = S::open(&self.path)?;
        store.verify()?;
        Ok(store)
    }

    /// It is as it was: nothing of what came to harm meanwhile was used up.
    fn is_whole(&self) {
        let store = self.read().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((store.used(), store.made()), (self.used.clone(), self.made.clone()));
    }

    /// It is refused, and by the name of this file.
    fn refused(&self, name: &str, words: &str) {
        match self.read().err() {
            Some(Error::Malformed { what, why }) => {
                assert!(what.ends_with(name), "{what} instead of {name}: {why}");
                assert!(why.contains(words), "{name}: {why}");
            }
            other => panic!("{name}, {words}: {other:?}"),
        }
    }
}

pub(crate) fn usage(result: Result<impl Sized>, words: &str) {
    match result {
        Err(Error::Usage(why)) => assert!(why.contains(words), "'{why}' does not say '{words}'"),
        Err(error) => panic!("{error:?}, but it should be about '{words}'"),
        Ok(_) => panic!("no error about '{words}'"),
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[cfg(unix)]
pub(crate) fn restrict(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
pub(crate) fn restrict(_: &Path, _: u32) {}

/// What every file would be under one key: nonces begin anew with each.
pub(crate) fn sealed_under_one_key(text: &mut [u8]) {
    let first = piece::Position { number: 0, last: true };
    piece::Cover::new(true, &[1; 32], b"one head").close(first, text);
}
