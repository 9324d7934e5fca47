//! How a pool is made, opened and removed.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use kernels::Block;

use super::header::{self, Clear, Origin, Secrets};
use super::kind::Kind;
use super::lot::Lot;
use super::{CURSOR, Pool};
use crate::disk::files;
use crate::disk::lock::lock;
use crate::disk::seal::{self, SealKey, random};
use crate::{Error, Result};

impl Pool {
    /// Makes an empty pool in a folder that does not exist or is empty. Without a key it is not sealed: whoever can
    /// read the folder can read all of it.
    ///
    /// # Errors
    /// [`Error::Usage`] if the folder holds something or is open to others, or Δ is not the one of the origin.
    pub fn create(folder: &Path, origin: &Origin, delta: Block, seal: Option<SealKey>) -> Result<Pool> {
        if !origin.has_delta(delta) {
            return Err(Error::usage("this Δ is not the one that the pool's origin names"));
        }
        files::make_folder(folder)?;
        let lock = lock(folder)?;
        files::refuse_content(folder, is_part, "a pool needs a folder of its own")?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let clear = Clear { origin: origin.clone(), created: since.as_secs(), sealed: seal.is_some(), destroyed: None };
        let secrets = Secrets { delta, key: random()? };
        let pool = Pool {
            folder: folder.to_owned(),
            clear,
            secrets,
            seal,
            used: [0; 3],
            unsaved: false,
            lots: Default::default(),
            agreed: None,
            _lock: lock,
        };
        pool.save_cursor()?;
        // The header comes last: with it, the folder is a pool.
        pool.save_header()?;
        files::sync_folder(folder.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new(".")))?;
        Ok(pool)
    }

    /// Opens a pool, with the key if and only if it was made with one. What a crash left unfinished is removed.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, another process has it, others may read it, or the key is another;
    /// [`Error::Malformed`], which names the file, if something is missing, damaged or from elsewhere. The bulk of the
    /// data is checked when it is used, and by [`verify`](Self::verify).
    pub fn open(folder: &Path, seal: Option<SealKey>) -> Result<Pool> {
        let metadata = fs::metadata(folder).map_err(|error| absent(folder, error))?;
        files::refuse_others(folder, &metadata)?;
        let path = folder.join("header");
        fs::metadata(&path).map_err(|error| absent(folder, error))?;
        let lock = lock(folder)?;
        let header = files::read(&path, header::LEN + 1)?;
        let clear = Clear::decode(&header).map_err(|why| files::malformed(&path, why))?;
        let secrets = unseal(folder, &clear, &header, seal.as_ref())?;
        let used = CURSOR.load(folder, &clear.origin.owner(), &secrets.key)?;
        let lots = Default::default();
        // A process that was killed may have given files their names, but not waited for the disk.
        files::sync_folder(folder)?;
        let folder = folder.to_owned();
        let mut pool = Pool { folder, clear, secrets, seal, used, unsaved: false, lots, agreed: None, _lock: lock };
        pool.find_lots()?;
        pool.erase_used()?;
        pool.check_gaps()?;
        Ok(pool)
    }

    /// Erases the pool and removes its folder, unless something else lies there.
    pub fn remove(mut self) -> Result<()> {
        // Without the header, and the key in it, the folder is no pool.
        files::erase(&self.folder.join("header"))?;
        for lot in std::mem::take(&mut self.lots).iter().flatten() {
            files::erase_whole(&lot.path(&self.folder))?;
        }
        ["cursor", "lock"].iter().try_for_each(|name| files::erase(&self.folder.join(name)))?;
        fs::remove_dir(&self.folder).map_err(files::doing("removing", &self.folder))
    }

    /// Reads the head of every lot; erases what was being written or erased when a crash came.
    fn find_lots(&mut self) -> Result<()> {
        let owner = self.clear.origin.owner();
        let entries = fs::read_dir(&self.folder).map_err(files::doing("reading", &self.folder))?;
        for entry in entries {
            let name = entry.map_err(files::doing("reading", &self.folder))?.file_name();
            let Some(name) = name.to_str().filter(|name| Kind::of(name).is_some() || is_part(name)) else {
                continue;
            };
            let path = self.folder.join(name);
            if is_part(name) {
                files::erase(&path)?;
            } else {
                let lot = Lot::inspect(&path, &owner)?;
                self.lots[lot.kind as usize].push(lot);
            }
        }
        self.lots.iter_mut().for_each(|lots| lots.sort_by_key(|lot| lot.first));
        Ok(())
    }

    /// The lots that are not used up follow one another from the cursor on.
    fn check_gaps(&self) -> Result<()> {
        for (kind, lots) in Kind::ALL.iter().zip(&self.lots) {
            let mut next = self.used[*kind as usize];
            for lot in lots {
                if lot.first > next {
                    let why = format!("the {} from number {next} to {} are missing", kind.words(), lot.first);
                    return Err(files::malformed(&lot.path(&self.folder), why));
                }
                if lot.first < next && next != self.used[*kind as usize] {
                    return Err(files::malformed(&lot.path(&self.folder), "another file has the same correlations"));
                }
                next = lot.end();
            }
        }
        Ok(())
    }
}

fn absent(folder: &Path, error: std::io::Error) -> Error {
    files::absent(folder, error, "there is no pool", "`duologue pool fill` makes one")
}

fn unseal(folder: &Path, clear: &Clear, header: &[u8], key: Option<&SealKey>) -> Result<Secrets> {
    let path = folder.join("header");
    let public = SealKey::public();
    let key = SealKey::for_folder(folder, clear.sealed, key, &public)?;
    let header = header.try_into().map_err(|_| files::malformed(&path, "its length is wrong"))?;
    let Some(secrets) = clear.open(header, key) else {
        return Err(seal::not_opened(folder, clear.sealed));
    };
    match &clear.destroyed {
        None if !clear.origin.has_delta(secrets.delta) => Err(files::malformed(&path, "its Δ is not the one it names")),
        _ => Ok(secrets),
    }
}

fn is_part(name: &str) -> bool {
    let of = name.strip_suffix(files::PART);
    of.is_some_and(|name| ["header", "cursor"].contains(&name) || Kind::of(name).is_some())
}
