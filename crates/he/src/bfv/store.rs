//! Ciphertexts that wait until they are asked for: in memory while they are few, then in a file without a name, which is gone
//! with the process however that ends.

use std::io::{Read, Result, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;

use super::CIPHERTEXT;

/// Bytes that are kept in memory.
const IN_MEMORY: usize = 64 << 20;

/// The ciphertexts of a run, in their order.
pub struct Store {
    file: SpooledTempFile,
    /// The number of the first.
    pub(super) first: u64,
    /// How many there are.
    pub(super) count: usize,
}

impl Store {
    /// Room for those from this number on.
    pub(super) fn new(first: u64) -> Self {
        Self::with(first, IN_MEMORY)
    }

    fn with(first: u64, in_memory: usize) -> Self {
        Store { file: SpooledTempFile::new(in_memory), first, count: 0 }
    }

    /// Puts ciphertexts behind the others.
    pub(super) fn append(&mut self, ciphertexts: &[u8]) -> Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(ciphertexts)?;
        self.count += ciphertexts.len() / CIPHERTEXT;
        Ok(())
    }

    /// The ciphertext at this place, which is below [`count`](Self::count).
    pub(super) fn get(&mut self, place: usize) -> Result<[u8; CIPHERTEXT]> {
        let mut ciphertext = [0; CIPHERTEXT];
        self.file.seek(SeekFrom::Start((place * CIPHERTEXT) as u64))?;
        self.file.read_exact(&mut ciphertext)?;
        Ok(ciphertext)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_is_got_from_memory_and_from_a_file() {
        for in_memory in [IN_MEMORY, 2 * CIPHERTEXT] {
            let mut store = Store::with(5, in_memory);
            store.append(&[1; CIPHERTEXT]).expect("room");
            assert_eq!(store.get(0).expect("there"), [1; CIPHERTEXT]);
            let two: Vec<u8> = [[2; CIPHERTEXT], [3; CIPHERTEXT]].concat();
            store.append(&two).expect("room");
            assert_eq!(store.file.is_rolled(), in_memory < IN_MEMORY);
            for place in [2, 0, 1, 2] {
                assert_eq!(store.get(place).expect("there"), [place as u8 + 1; CIPHERTEXT]);
            }
            assert_eq!(store.count, 3);
            assert!(store.get(3).is_err());
        }
    }
}
