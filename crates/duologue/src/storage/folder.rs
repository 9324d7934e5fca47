//! A folder of things that are used once: its header, its cursor and its entries.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Content;
use super::cursor::Cursor;
use super::entry::{Entry, EntryReader, EntryWriter, Keyed, Size};
use super::fields::Owner;
use super::files::{self, Doomed};
use super::header::{CONTENTS, Header, MOST, Secrets, Terms, Unreadable};
use super::key::{self, FileKey, KeyId};
use super::lock::{Lock, lock};
use super::seal::{self, SealKey, random};
use super::sealed::Head;
use crate::clock::Clock;
use crate::{Error, Party, Result};

/// A folder that this process alone uses, whether there is anything in it yet or not.
pub(crate) struct Place {
    pub path: PathBuf,
    content: &'static Content,
    /// Public if the folder is not sealed.
    seal: Option<SealKey>,
    _lock: Lock,
}

impl Place {
    /// A folder that does not exist or is empty, but for what is left of making one that was cut short.
    pub(crate) fn new(path: &Path, content: &'static Content, seal: Option<SealKey>) -> Result<Arc<Place>> {
        files::make_folder(path)?;
        let lock = lock(path)?;
        let names = names(path)?;
        let is_part = |name: &str| content.parse_part(name).is_some();
        if let Some(name) = names.iter().find(|name| !["lock", "cursor"].contains(&&***name) && !is_part(name)) {
            let why = format!("{} is not empty, it has '{name}': {}", path.display(), content.alone);
            return Err(Error::usage(why));
        }
        names.iter().filter(|name| is_part(name)).try_for_each(|name| files::erase(&path.join(name)))?;
        Ok(Arc::new(Place { path: path.to_owned(), content, seal, _lock: lock }))
    }

    /// Whether what is made here is sealed with a key from elsewhere.
    pub(crate) fn is_sealed(&self) -> bool {
        self.seal.is_some()
    }
}

/// The description that a new folder gives of itself.
pub(crate) struct Description {
    pub identity: [u8; 32],
    pub party: Party,
    /// The public keys of Alice and Bob to which it is bound.
    pub keys: Option<[[u8; 32]; 2]>,
    /// Whether entries have bulk.
    pub bulk: bool,
    pub terms: Terms,
}

/// An open folder whose content has `N` kinds of things.
pub(crate) struct Folder<const N: usize> {
    place: Arc<Place>,
    header: Header,
    secrets: Secrets,
    used: [u64; N],
    /// Whether the disk may have an older cursor, since writing failed.
    unsaved: bool,
    /// Of each kind, by the first of their numbers.
    entries: [BTreeMap<u64, Entry>; N],
}

impl<const N: usize> Folder<N> {
    /// Founds a folder; `secret` is what the header keeps for the content.
    pub(crate) fn create(place: Arc<Place>, origin: Description, secret: [u8; 16]) -> Result<Folder<N>> {
        let Description { identity, party, keys, bulk, terms } = origin;
        let owner = Owner { identity, party, content: place.content.code };
        let (created, sealed) = (Clock::System.since_epoch().as_secs(), place.is_sealed());
        let header = Header { owner, keys, created, sealed, destroyed: false, bulk, terms };
        let secrets = Secrets { key: random()?, secret };
        let entries = std::array::from_fn(|_| BTreeMap::new());
        let folder = Folder { place, header, secrets, used: [0; N], unsaved: false, entries };
        folder.save_cursor()?;
        // The header comes last: with it, the folder is one.
        folder.save_header()?;
        let parent = folder.path().parent().filter(|parent| *parent != Path::new(""));
        files::sync_folder(parent.unwrap_or(Path::new(".")))?;
        Ok(folder)
    }

    /// Opens a folder, with the key if and only if it was made with one. What a crash left unfinished is erased, once
    /// `check` has found that nothing is missing.
    pub(crate) fn open(
        path: &Path,
        content: &'static Content,
        seal: Option<SealKey>,
        check: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<Folder<N>> {
        let metadata = fs::metadata(path).map_err(|error| absent(path, content, error))?;
        // Whoever has a folder of something else should not be told to shut others out of it.
        fs::metadata(path.join("header")).map_err(|error| absent(path, content, error))?;
        files::refuse_others(path, &metadata)?;
        let lock = lock(path)?;
        let (header, secrets) = unseal(path, content, seal.as_ref())?;
        let used = Cursor::load(path, &header.owner, &secrets.key)?;
        // A process that was killed may have given files their names, but not waited for the disk.
        files::sync_folder(path)?;
        let place = Arc::new(Place { path: path.to_owned(), content, seal, _lock: lock });
        let entries = std::array::from_fn(|_| BTreeMap::new());
        let mut folder = Folder { place, header, secrets, used, unsaved: false, entries };
        let left = folder.find()?;
        check(&folder)?;
        left.erase(&folder.place)?;
        folder.erase_used()?;
        Ok(folder)
    }

    pub(crate) fn place(&self) -> Arc<Place> {
        self.place.clone()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.place.path
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    pub(crate) fn header_path(&self) -> PathBuf {
        self.path().join("header")
    }

    /// The 16 bytes that the header keeps for the content.
    pub(crate) fn secret(&self) -> &[u8; 16] {
        &self.secrets.secret
    }

    /// The key of the data.
    #[cfg(test)]
    pub(crate) fn key(&self) -> &[u8; 32] {
        &self.secrets.key
    }

    pub(crate) fn created(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.header.created.min(1 << 40))
    }

    /// How many of each kind are used up.
    pub(crate) fn used(&self) -> [u64; N] {
        self.used
    }

    /// How many of each kind were ever made: up to the end of the last entry, or to the cursor if it is beyond.
    pub(crate) fn made(&self) -> [u64; N] {
        std::array::from_fn(|kind| self.entries(kind).last().map_or(0, |last| last.secret.end()).max(self.used[kind]))
    }

    /// The entries of a kind in order. The first may be used in part.
    pub(crate) fn entries(&self, kind: usize) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries[kind].values()
    }

    pub(crate) fn entry(&self, kind: usize, first: u64) -> Option<&Entry> {
        self.entries[kind].get(&first)
    }

    /// The path of an entry's secret file, for errors.
    pub(crate) fn path_of(&self, entry: &Entry) -> PathBuf {
        entry.path(self.path(), self.place.content)
    }

    /// Bytes of all files on disk.
    pub(crate) fn bytes(&self) -> u64 {
        let entries: u64 = self.entries.iter().flat_map(BTreeMap::values).map(Entry::file_len).sum();
        entries + (self.header.len() + Cursor::<N>::LEN) as u64
    }

    /// Reads every entry and checks that it is as it was written.
    pub(crate) fn verify(&self) -> Result<()> {
        self.entries.iter().flat_map(BTreeMap::values).try_for_each(|entry| self.read(entry)?.verify())
    }

    pub(crate) fn read(&self, entry: &Entry) -> Result<EntryReader> {
        EntryReader::open(&self.keyed(), entry)
    }

    /// Begins an entry.
    pub(crate) fn write(&self, size: &Size) -> Result<EntryWriter> {
        EntryWriter::create(&self.keyed(), size)
    }

    /// Completes entries, in the order of their numbers; however many there are, the folder is waited for at most twice. An entry
    /// that begins with the number of an older one takes its place, and that is erased: a crash leaves one of the two.
    pub(crate) fn add(&mut self, mut writers: Vec<EntryWriter>) -> Result<()> {
        if writers.is_empty() {
            return Ok(());
        }
        writers.iter_mut().try_for_each(EntryWriter::finish)?;
        // A key was never renamed: waiting for a new file brings its name to the disk, too. Where it does not, a power cut
        // leaves an entry that is refused for its missing key, not one that is used twice.
        if writers.iter().any(EntryWriter::has_bulk) {
            files::sync_folder(self.path())?;
        }
        let mut replaced = Vec::new();
        for writer in &mut writers {
            let (kind, first) = writer.place();
            if let Some(old) = self.entries[kind].get(&first) {
                replaced.push((Doomed::open(&self.path_of(old))?, old.secret.key));
            }
            writer.name()?;
        }
        files::sync_folder(self.path())?;
        for writer in &writers {
            let (kind, first) = writer.place();
            self.entries[kind].insert(first, writer.entry());
        }
        replaced.into_iter().try_for_each(|(mut file, key)| {
            FileKey::erase(self.path(), &key)?;
            file.overwrite()
        })
    }

    /// Moves the cursor on disk, never back. It counts as moved even if that fails: who knows what the disk has.
    pub(crate) fn advance(&mut self, to: [u64; N]) -> Result<()> {
        let to = std::array::from_fn(|kind| self.used[kind].max(to[kind]));
        if to != self.used || self.unsaved {
            (self.used, self.unsaved) = (to, true);
            self.save_cursor()?;
            self.unsaved = false;
        }
        Ok(())
    }

    /// Erases what the cursor on disk has passed.
    pub(crate) fn erase_used(&mut self) -> Result<()> {
        if self.unsaved {
            return Ok(());
        }
        (0..N).try_for_each(|kind| {
            let used = self.used[kind];
            self.erase(kind, |entry| entry.secret.end() <= used)
        })
    }

    /// Erases the entries of a kind that are `gone`. The last goes first, so that a crash leaves no gap.
    pub(crate) fn erase(&mut self, kind: usize, gone: impl Fn(&Entry) -> bool) -> Result<()> {
        let (gone, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.entries[kind]).into_iter().partition(|(_, entry)| gone(entry));
        self.entries[kind] = left.into_iter().collect();
        let gone: Vec<Entry> = gone.into_iter().rev().map(|(_, entry)| entry).collect();
        Entry::erase(&gone, &self.place.path, self.place.content)
    }

    /// Forgets the secret for good, and says so in the header. Whatever fails, the bytes with the secret go: where no new
    /// header can be put in the place of the old one, the folder is none any more. `make_room` is for a disk that is full.
    pub(crate) fn destroy_secret(
        &mut self,
        why: (String, String),
        make_room: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let old = Doomed::open(&self.header_path());
        self.header.destroyed = true;
        self.header.terms.push(why);
        self.secrets.secret = [0; 16];
        let saved = self.save_header().or_else(|_| {
            let made = make_room(self);
            self.save_header().and(made)
        });
        let overwritten = old.and_then(|mut old| old.overwrite());
        saved.and(overwritten)
    }

    /// Erases all of it and removes the folder, unless something else lies there.
    pub(crate) fn remove(mut self) -> Result<()> {
        erase_header(self.path())?;
        (0..N).try_for_each(|kind| self.erase(kind, |_| true))?;
        files::erase(&self.path().join("cursor"))?;
        let path = self.path().to_path_buf();
        drop(self);
        remove_emptied(&path)
    }

    fn keyed(&self) -> Keyed<'_> {
        let Place { path, content, .. } = &*self.place;
        Keyed { folder: path, content, owner: self.header.owner, key: &self.secrets.key }
    }

    fn save_cursor(&self) -> Result<()> {
        Cursor::save(self.path(), &self.header.owner, &self.used, &self.secrets.key)
    }

    fn save_header(&self) -> Result<()> {
        let public = SealKey::public();
        let header = self.header.seal(&self.secrets, self.place.seal.as_ref().unwrap_or(&public))?;
        files::replace(&self.header_path(), &[&header])
    }

    /// Reads the head of every file. What belongs to no entry is what a crash left.
    fn find(&mut self) -> Result<Leftovers> {
        let (path, content) = (&self.place.path, self.place.content);
        let mut heads: BTreeMap<(u8, u64), Head> = BTreeMap::new();
        let (mut keys, mut parts, mut nameless) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        for name in names(path)? {
            if content.parse(&name).is_some() {
                let head = Head::inspect(&path.join(&name), &self.header.owner, content)?;
                heads.insert((head.kind, head.first), head);
            } else if let Some(secret) = content.parse_part(&name) {
                parts.push((path.join(&name), secret));
                nameless.extend(name.strip_suffix(files::PART).and_then(|name| content.parse(name)));
            }
            keys.extend(key::parse(&name));
        }
        let mut bulks = heads.split_off(&(N as u8, 0));
        for ((kind, first), secret) in heads {
            let entry = Entry { secret, bulk: bulks.remove(&(N as u8, first)).filter(|_| kind == 0) };
            self.entries[usize::from(kind)].insert(first, entry);
        }
        parts.extend(bulks.values().map(|head| (path.join(head.name(content)), false)));
        let entries = self.split_unfinished(&nameless);
        self.entries.iter().flat_map(BTreeMap::values).try_for_each(|entry| self.check(entry, &keys))?;
        for entry in self.entries.iter().flat_map(BTreeMap::values).chain(&entries) {
            keys.remove(&entry.secret.key);
        }
        Ok(Leftovers { entries, keys: keys.into_iter().collect(), parts })
    }

    /// Takes out the entries that were never added, or were being erased. Several get or lose their names before the folder
    /// is waited for, and after a power cut it may have later names and not earlier ones: then an entry that is missing
    /// among them has the name of an unfinished file.
    fn split_unfinished(&mut self, nameless: &BTreeSet<(u8, u64)>) -> Vec<Entry> {
        let mut unfinished = Vec::new();
        for (kind, entries) in self.entries.iter_mut().enumerate() {
            let mut next = self.used[kind];
            for (&first, entry) in entries.iter() {
                if first > next && nameless.contains(&(kind as u8, next)) {
                    unfinished.extend(entries.split_off(&first).into_values());
                    break;
                }
                next = next.max(entry.secret.end());
            }
        }
        unfinished
    }

    /// The files of an entry belong together, and none is missing. What is used may have lost some already.
    fn check(&self, entry: &Entry, keys: &BTreeSet<KeyId>) -> Result<()> {
        let (secret, content) = (&entry.secret, self.place.content);
        if secret.end() <= self.used[usize::from(secret.kind)] {
            return Ok(());
        }
        let name = content.bulk.unwrap_or_default();
        let why = match &entry.bulk {
            None if self.header.bulk => format!("its {name} are missing"),
            Some(_) if !self.header.bulk => format!("it has {name}, which this party has none of"),
            Some(bulk) if bulk.batch != secret.batch || bulk.key != secret.key => {
                format!("it was made in another session than its {name}")
            }
            _ if !keys.contains(&secret.key) => format!("its key is missing: {}", key::name(&secret.key)),
            _ => return Ok(()),
        };
        Err(files::malformed(&self.path_of(entry), why))
    }
}

/// Files that a crash left in a folder and that belong to no entry.
struct Leftovers {
    /// Whole ones that do not follow the others.
    entries: Vec<Entry>,
    keys: Vec<KeyId>,
    /// Files that were being written or erased, and whether they have secrets.
    parts: Vec<(PathBuf, bool)>,
}

impl Leftovers {
    /// Keys first. Unfinished files, by which the entries are known, go when those have lost their names.
    fn erase(&self, place: &Place) -> Result<()> {
        Entry::erase(&self.entries, &place.path, place.content)?;
        self.keys.iter().try_for_each(|id| FileKey::erase(&place.path, id))?;
        self.parts.iter().try_for_each(|(path, secret)| if *secret { files::erase(path) } else { files::remove(path) })
    }
}

/// Erases whatever is left of a folder of this content, whether it can be opened or not, and removes it, unless something else lies
/// there. What is not one of its files stays.
pub(crate) fn erase(path: &Path, content: &Content) -> Result<()> {
    let lock = lock(path)?;
    if path.join("header").exists() {
        erase_header(path)?;
    }
    let names = names(path)?;
    let is_key = |name: &&String| key::parse(name).is_some();
    let is_ours = |name: &&String| {
        name.as_str() == "cursor" || content.parse(name).is_some() || content.parse_part(name).is_some()
    };
    let keys = names.iter().filter(is_key);
    keys.chain(names.iter().filter(is_ours)).try_for_each(|name| files::erase(&path.join(name)))?;
    drop(lock);
    remove_emptied(path)
}

/// Without the header, and the key in it, the rest is noise, and the folder is none.
fn erase_header(folder: &Path) -> Result<()> {
    let header = Doomed::open(&folder.join("header"))?.rename()?;
    files::sync_folder(folder)?;
    header.erase()
}

/// Removes a folder of which nothing is left but the lock, which is not held any more: an open file keeps its folder on a network's file
/// system.
fn remove_emptied(path: &Path) -> Result<()> {
    files::erase(&path.join("lock"))?;
    fs::remove_dir(path).map_err(files::doing("removing", path))
}

/// The names in a folder that are text; ours are.
pub(super) fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(files::doing("reading", folder))?;
    let name = |entry: std::io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<std::io::Result<_>>().map_err(files::doing("reading", folder))
}

/// Whether there is a folder of this content, of any version, as far as its header's first bytes tell.
pub(crate) fn holds(folder: &Path, content: &Content) -> bool {
    files::read(&folder.join("header"), 13).is_ok_and(|header| Header::content_of(&header) == Some(content.code))
}

fn absent(folder: &Path, content: &Content, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::usage(format!("{} in {}: {}", content.absent, folder.display(), content.makes))
        }
        _ => files::doing("reading", folder)(error),
    }
}

/// The header, and what it keeps for its owner.
fn unseal(folder: &Path, content: &Content, given: Option<&SealKey>) -> Result<(Header, Secrets)> {
    let path = folder.join("header");
    let bytes = files::read(&path, MOST + 1)?;
    let header = Header::decode(&bytes).map_err(|why| match why {
        Unreadable::Damaged(why) => files::malformed(&path, why),
        Unreadable::Version(version, code) => foreign_version(folder, version, code),
    })?;
    if header.owner.content != content.code {
        let [is, is_not] = [header.owner.content, content.code].map(what_has);
        return Err(Error::usage(format!("{} has {is}, not {is_not}", folder.display())));
    }
    SealKey::check_given(folder, header.sealed, given.is_some())?;
    let public = SealKey::public();
    let secrets = Header::open(&bytes, given.unwrap_or(&public));
    secrets.map(|secrets| (header.clone(), secrets)).ok_or_else(|| seal::not_opened(folder, header.sealed))
}

fn what_has(code: u8) -> &'static str {
    CONTENTS.get(usize::from(code)).copied().unwrap_or("something else")
}

fn foreign_version(folder: &Path, version: u16, code: Option<u8>) -> Error {
    let (folder, what) = (folder.display(), code.map_or("files", what_has));
    Error::usage(format!(
        "{folder} has {what} in version {version} of the format, and this duologue reads version 2 only: use it up with \
         the duologue that made it, or remove the folder at both parties and prepare anew"
    ))
}
