//! Files that only their owner may read.

use crate::failure::Failure;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// Reads a file of at most `most` bytes that nobody else may read or write.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let doing = || format!("reading {}", path.display());
    let file = File::open(path).map_err(Failure::io(doing()))?;
    refuse_others(&file, path)?;
    let mut bytes = Vec::with_capacity(most.min(1 << 16) as usize);
    file.take(most).read_to_end(&mut bytes).map_err(Failure::io(doing()))?;
    Ok(bytes)
}

#[cfg(unix)]
fn refuse_others(file: &File, path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file.metadata().map_err(Failure::io(format!("reading {}", path.display())))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let path = path.display();
    let why = Failure::input(format!("others may read or write {path} (mode {mode:03o})"));
    Err(why.hint(format!("run `chmod 600 {path}`, or make a new key if somebody may have read it")))
}

#[cfg(not(unix))]
fn refuse_others(_: &File, _: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Writes a new file for its owner's eyes; one that exists is never touched.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => {
            Failure::input(format!("{} exists: a key is never overwritten, move it away first", path.display()))
        }
        _ => Failure::io(format!("writing {}", path.display()))(why),
    });
    let mut file = file?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(Failure::io(format!("writing {}", path.display())))
}
