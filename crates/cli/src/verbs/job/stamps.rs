//! What inputs come from, so that a change is noticed: shards of two states of a file do not belong together.

use crate::args::Source;
use crate::failure::Failure;
use crate::io::input;
use duologue::circuit::Program;
use duologue::{Party, hex};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// An input as it was when the job began.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Stamp {
    /// The input; none of a table that has several.
    name: Option<String>,
    /// The column, behind the file; of values on the command line a hash.
    what: String,
    file: Option<Seen>,
}

/// A file: its one path, its bytes, and when it was changed, in seconds and nanoseconds since 1970.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Seen {
    path: PathBuf,
    length: u64,
    changed: (u64, u32),
}

/// The stamps of all sources, in the order of their names.
pub fn all(program: &Program, party: Party, sources: &[Source]) -> Result<Vec<Stamp>, Failure> {
    let opened = input::opened(program, party, sources)?;
    let mut stamps = opened.iter().map(Stamp::new).collect::<Result<Vec<_>, _>>()?;
    stamps.sort();
    Ok(stamps)
}

/// Refuses sources that are others than those in `kept`, of the same names and places.
pub fn check(kept: &[Stamp], now: &[Stamp], whose: &str) -> Result<(), Failure> {
    differing(kept, now, PartialEq::eq).map_or(Ok(()), |stamp| {
        let why = format!("{} is not the one with which {whose} was begun", stamp.name());
        Err(Failure::input(why).hint("go on with the same inputs, unchanged; or begin a new job with another --state"))
    })
}

/// Refuses files that were changed since, wherever they lie: on another machine they may have another path.
pub fn check_unchanged(kept: &[Stamp], now: &[Stamp]) -> Result<(), Failure> {
    differing(kept, now, Stamp::is_still).map_or(Ok(()), |stamp| {
        let why = format!("{} has changed since the job was begun", stamp.name());
        Err(Failure::input(why).hint("copies for workers keep the time of the change: cp -p, rsync -t"))
    })
}

/// The first that has no counterpart.
fn differing<'a>(kept: &'a [Stamp], now: &'a [Stamp], alike: impl Fn(&Stamp, &Stamp) -> bool) -> Option<&'a Stamp> {
    let alone = |one: &&Stamp, others: &[Stamp]| others.iter().all(|other| !alike(one, other));
    let changed = now.iter().find(|stamp| alone(stamp, kept));
    changed.or_else(|| kept.iter().find(|stamp| alone(stamp, now)))
}

impl Stamp {
    /// The file, if it is one.
    pub fn path(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|seen| seen.path.clone())
    }

    fn new(source: &Source) -> Result<Stamp, Failure> {
        let (name, value) = (source.name.clone(), &source.value);
        let Some(file) = input::file_of(source) else {
            let mut hasher = blake3::Hasher::new_derive_key("duologue 1 an input of a job");
            let hash = hex(hasher.update(value.as_bytes()).finalize().as_bytes());
            return Ok(Stamp { name, what: hash, file: None });
        };
        let what = value.strip_prefix(&file).unwrap_or(value).into();
        Ok(Stamp { name, what, file: Some(Seen::new(&file).map_err(Failure::io(format!("reading {file}")))?) })
    }

    fn is_still(&self, now: &Stamp) -> bool {
        let file = |stamp: &Stamp| stamp.file.as_ref().map(|seen| (seen.length, seen.changed));
        (&self.name, &self.what, file(self)) == (&now.name, &now.what, file(now))
    }

    fn name(&self) -> String {
        match (&self.name, &self.file) {
            (Some(name), _) => format!("the input '{name}'"),
            (None, file) => format!("the input {}", file.as_ref().map_or("", |seen| seen.path.to_str().unwrap_or(""))),
        }
    }
}

impl Seen {
    fn new(file: &str) -> std::io::Result<Seen> {
        let path = fs::canonicalize(file)?;
        let there = fs::metadata(&path)?;
        let changed = there.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Seen { path, length: there.len(), changed: (changed.as_secs(), changed.subsec_nanos()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(name: &str, value: &str) -> Stamp {
        Stamp::new(&Source { name: Some(name.into()), value: value.into() }).unwrap()
    }

    #[test]
    fn a_change_is_noticed_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let write = |name: &str, text: &str| fs::write(path(name), text).unwrap();
        write("n.csv", "1\n2\n");
        write("copy.csv", "1\n2\n");
        let same = fs::metadata(path("n.csv")).unwrap().modified().unwrap();
        fs::File::options().write(true).open(path("copy.csv")).unwrap().set_modified(same).unwrap();
        let kept = [stamp("a", &path("n.csv")), stamp("list", "1,2")];
        assert!(check(&kept, &kept, "the job").is_ok() && check_unchanged(&kept, &kept).is_ok());
        // Another file with the same content is another source, but not for workers, on whose machine it may lie elsewhere.
        let copied = [stamp("a", &path("copy.csv")), stamp("list", "1,2")];
        let why = check(&kept, &copied, "the job in s").unwrap_err().message;
        assert_eq!(why, "the input 'a' is not the one with which the job in s was begun");
        assert!(check_unchanged(&kept, &copied).is_ok());
        for now in [
            vec![stamp("a", &path("n.csv")), stamp("list", "1,3")],
            vec![stamp("a", &format!("{}:k", path("n.csv"))), stamp("list", "1,2")],
            vec![stamp("a", &path("n.csv"))],
        ] {
            assert!(check(&kept, &now, "the job").is_err() && check_unchanged(&kept, &now).is_err(), "{now:?}");
        }
        write("n.csv", "1\n2\n3\n");
        let now = [stamp("a", &path("n.csv")), stamp("list", "1,2")];
        let why = check_unchanged(&kept, &now).unwrap_err().message;
        assert_eq!(why, "the input 'a' has changed since the job was begun");
        assert!(!serde_json::to_string(&kept).unwrap().contains("1,2"), "values are not kept");
    }
}
