//! Files that only their owner may read, for whoever keeps keys: the library and the command.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The mode of a file or folder that others than its owner may read or write; none where they may not, or where there are
/// no modes.
#[cfg(unix)]
pub fn others_may(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
pub fn others_may(_: &Metadata) -> Option<u32> {
    None
}

/// Writes a whole file for its owner's eyes under a temporary name, then gives it its name unless that is taken.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if it is; whatever the system says.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary_beside(path)?;
    let written = write_private(&temporary, bytes).and_then(|()| name_once(&temporary, path));
    let removed = fs::remove_file(&temporary);
    written?;
    // After a rename there is nothing left to remove.
    removed.or_else(|e| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) })
}

fn temporary_beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let random = getrandom::u64().map_err(io::Error::other)?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{random:016x}"));
    Ok(path.with_file_name(hidden))
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A hard link fails if the name is taken, a rename would replace it; where a file system has no
/// hard links, looking first is the best there is.
fn name_once(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, path) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(e),
        Err(_) if path.symlink_metadata().is_ok() => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(temporary, path),
        Ok(()) => Ok(()),
    }
}
