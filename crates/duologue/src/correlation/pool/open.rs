//! How a pool is made, opened and removed.

use std::path::Path;

use kernels::Block;

use super::kind::CorrelationKind;
use super::origin::{Origin, why_destroyed};
use super::{CONTENT, DiskPool, Pool, batch};
use crate::storage::files::malformed;
use crate::storage::{self, Folder, Place, SealKey};
use crate::{Error, Result};

impl Pool {
    /// Makes an empty pool in a folder that does not exist or is empty. Without a key it is not sealed: whoever can
    /// read the folder can read all of it.
    ///
    /// # Errors
    /// [`Error::Usage`] if the folder holds something or is open to others, or Δ is not the one of the origin.
    pub(crate) fn create(folder: &Path, origin: &Origin, delta: Block, seal: Option<SealKey>) -> Result<Pool> {
        if !origin.has_delta(delta) {
            return Err(Error::usage("this Δ is not the one that the pool's origin names"));
        }
        let place = Place::new(folder, &CONTENT, seal)?;
        let folder = Folder::create(place, origin.of_folder(), delta.to_bytes())?;
        Ok(Pool { folder, origin: origin.clone(), agreed: None })
    }

    /// Opens a pool, with the key if and only if it was made with one. What a crash left unfinished is erased.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, it has another version of the format, another process has it, others may read
    /// it, or the key is another; [`Error::Malformed`], which names the file, if something is missing, damaged or from
    /// elsewhere. The bulk of the data is checked when it is used, and by [`verify`](Self::verify).
    pub fn open(folder: &Path, seal: Option<SealKey>) -> Result<Pool> {
        let folder = Folder::open(folder, &CONTENT, seal, check_gaps)?;
        let header = folder.header();
        let origin = Origin::read(header).map_err(|why| malformed(&folder.header_path(), why))?;
        if why_destroyed(header).is_none() && !origin.has_delta(Block::from_bytes(*folder.secret())) {
            return Err(malformed(&folder.header_path(), "its Δ is not the one it names"));
        }
        let mut pool = Pool { folder, origin, agreed: None };
        pool.erase_used()?;
        Ok(pool)
    }

    /// Erases the pool and removes its folder, unless something else lies there.
    pub fn remove(self) -> Result<()> {
        self.folder.remove()
    }

    /// Erases whatever is left of a pool in a folder, of one that was cut short or damaged as well, and removes the folder, unless
    /// something else lies there.
    ///
    /// # Errors
    /// [`Error::Usage`] if a process has it open.
    #[doc(hidden)]
    pub fn erase(folder: &Path) -> Result<()> {
        storage::erase(folder, &CONTENT)
    }
}

/// The batches that are not used up follow one another from the cursor on. Of COTs whose Δ is destroyed some may be
/// erased already.
fn check_gaps(folder: &DiskPool) -> Result<()> {
    let dead = |kind| kind != CorrelationKind::Triples && folder.header().destroyed;
    for (kind, used) in CorrelationKind::ALL.into_iter().zip(folder.used()).filter(|(kind, _)| !dead(*kind)) {
        let mut next = used;
        for entry in folder.entries(kind as usize).filter(|entry| entry.secret.end() > used) {
            let (path, first) = (folder.path_of(entry), entry.secret.first);
            batch::check(entry).map_err(|why| malformed(&path, why))?;
            if first > next {
                let why = format!("the {} from number {next} to {first} are missing", kind.words());
                return Err(malformed(&path, why));
            }
            if first < next && next != used {
                return Err(malformed(&path, "another file has the same correlations"));
            }
            next = entry.secret.end();
        }
    }
    Ok(())
}
