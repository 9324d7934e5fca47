//! Files that only their owner may read.

use crate::failure::Failure;
use duologue::private_files::{self, others_may};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use zeroize::Zeroizing;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 16;

/// Reads a file of at most `most` bytes that nobody else may read or write.
pub fn read(path: &Path, most: u64) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let doing = || format!("reading {}", path.display());
    let file = File::open(path).map_err(Failure::io(doing()))?;
    refuse_others(&file, path)?;
    erased(file, most, path)
}

/// Reads at most `most` bytes of what `path` names, and refuses more of them. No copy is left behind where the bytes are
/// moved to larger room.
pub fn erased(mut from: impl Read, most: u64, path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(CHUNK));
    let mut chunk = Zeroizing::new(vec![0; CHUNK]);
    loop {
        let got = match from.read(&mut chunk) {
            Ok(0) => return Ok(bytes),
            Ok(got) => got,
            Err(why) if why.kind() == ErrorKind::Interrupted => continue,
            Err(why) => return Err(Failure::io(format!("reading {}", path.display()))(why)),
        };
        if (bytes.len() + got) as u64 > most {
            return Err(Failure::input(format!("{} has more than {most} bytes: no more are read", path.display())));
        }
        if bytes.capacity() - bytes.len() < got {
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * bytes.capacity()));
            larger.extend_from_slice(&bytes);
            bytes = larger;
        }
        bytes.extend_from_slice(&chunk[..got]);
    }
}

fn refuse_others(file: &File, path: &Path) -> Result<(), Failure> {
    let metadata = file.metadata().map_err(Failure::io(format!("reading {}", path.display())))?;
    let Some(mode) = others_may(&metadata) else { return Ok(()) };
    let path = path.display();
    let why = Failure::input(format!("others may read or write {path} (mode {mode:03o})"));
    Err(why.hint(format!("run `chmod 600 {path}`, or make a new key if somebody may have read it")))
}

/// Writes a new file for its owner's eyes, whole or not at all; one that exists is never touched.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    private_files::write_new(path, bytes).map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => Failure::input(format!(
            "{} exists: a private file is never overwritten, move it away first",
            path.display()
        )),
        _ => Failure::io(format!("writing {}", path.display()))(why),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_read_or_nothing() {
        let content: Vec<u8> = (0..3 * CHUNK + 5).map(|i| i as u8).collect();
        let read = |most| erased(&content[..], most, Path::new("numbers")).map(|bytes| bytes.to_vec());
        let len = content.len() as u64;
        assert!(read(len).is_ok_and(|bytes| bytes == content));
        assert!(read(len - 1).is_err() && read(0).is_err());
        assert!(erased(&[][..], 0, Path::new("none")).is_ok_and(|bytes| bytes.is_empty()));
    }
}
