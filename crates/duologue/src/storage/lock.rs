//! One process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::files;
use crate::{Error, Result};

/// Holds a folder's lock until it is dropped or the process ends, however it ends.
pub(crate) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would leave the lock to a child that is just being started and still has all our files. If this
        // fails, the lock is free a moment later.
        let _ = self.0.unlock();
    }
}

/// Takes the lock of a folder, or says who has it.
pub(crate) fn lock(folder: &Path) -> Result<Lock> {
    let path = folder.join("lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).map_err(files::doing("opening", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => {
            Err(Error::usage(format!("another process uses {}: wait until it ends", folder.display())))
        }
        Err(TryLockError::Error(error)) => Err(files::doing("locking", &path)(error)),
    }
}
