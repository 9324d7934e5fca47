//! Numbers, strings and lists, and the bytes that they are read from.

use super::{Code, MAGIC};
use crate::error::{Error, Result};

/// Bytes of a file and how far they are read.
pub(super) struct DuoReader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

/// Where an encoding goes: into a file that is held whole, or through a hash that holds little of it.
pub(super) struct DuoWriter {
    bytes: Vec<u8>,
    hashed: Option<blake3::Hasher>,
}

impl DuoWriter {
    /// Bytes that are hashed at once.
    const PIECE: usize = 1 << 16;

    /// For a file.
    pub(super) fn keeping() -> DuoWriter {
        DuoWriter { bytes: Vec::new(), hashed: None }
    }

    /// For the digest alone: circuits of millions of gates are not held a second time.
    pub(super) fn hashing() -> DuoWriter {
        DuoWriter { bytes: Vec::with_capacity(DuoWriter::PIECE), hashed: Some(blake3::Hasher::new()) }
    }

    #[inline]
    pub(super) fn push(&mut self, byte: u8) {
        if self.bytes.len() >= DuoWriter::PIECE {
            self.hash();
        }
        self.bytes.push(byte);
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        (text.len() as u64).write(self);
        self.extend(text.as_bytes());
    }

    pub(super) fn list<T: Code>(&mut self, elements: &[T]) {
        (elements.len() as u64).write(self);
        elements.iter().for_each(|element| element.write(self));
    }

    fn hash(&mut self) {
        if let Some(hashed) = &mut self.hashed {
            hashed.update(&self.bytes);
            self.bytes.clear();
        }
    }

    /// 16 bits of the digest of all bytes so far, where they are hashed.
    pub(super) fn mark(&mut self) -> u16 {
        self.hash();
        let digest = self.hashed.as_ref().map_or_else(|| blake3::hash(&self.bytes), blake3::Hasher::finalize);
        u16::from_le_bytes([digest.as_bytes()[0], digest.as_bytes()[1]])
    }

    /// The digest of all bytes, and those that were kept.
    pub(super) fn finish(mut self) -> (blake3::Hash, Vec<u8>) {
        self.hash();
        let digest = self.hashed.map_or_else(|| blake3::hash(&self.bytes), |hashed| hashed.finalize());
        (digest, self.bytes)
    }
}

impl DuoReader<'_> {
    pub(super) fn refuse(&self, why: impl Into<String>) -> Error {
        Error::invalid(format!("program file, byte {}", self.at + MAGIC.len() + 2), why)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.refuse("ends too early"))?;
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&[u8]> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| self.refuse("ends too early"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// A number of elements; each has at least one byte, so that the file's length bounds what is allocated.
    pub(super) fn count(&mut self) -> Result<usize> {
        let count = u64::read(self)?;
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(self.refuse(format!("{count} elements in the {} bytes left", self.bytes.len() - self.at)));
        }
        Ok(count as usize)
    }

    pub(super) fn unknown<T>(&self, what: &str, tag: u8) -> Result<T> {
        Err(self.refuse(format!("unknown {what} {tag}")))
    }
}

impl Code for u64 {
    fn write(&self, out: &mut DuoWriter) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = from.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(from.refuse("a number of more than 64 bits"))
    }
}

impl Code for u32 {
    fn write(&self, out: &mut DuoWriter) {
        u64::from(*self).write(out);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<u32> {
        u64::read(from)?.try_into().map_err(|_| from.refuse("a number of more than 32 bits"))
    }
}

impl Code for u8 {
    fn write(&self, out: &mut DuoWriter) {
        out.push(*self);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<u8> {
        from.byte()
    }
}

impl Code for String {
    fn write(&self, out: &mut DuoWriter) {
        out.text(self);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<String> {
        let count = from.count()?;
        let bytes = from.take(count)?.to_vec();
        String::from_utf8(bytes).map_err(|_| from.refuse("a name that is not UTF-8"))
    }
}

impl<T: Code> Code for Vec<T> {
    fn write(&self, out: &mut DuoWriter) {
        out.list(self);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Vec<T>> {
        let count = from.count()?;
        (0..count).map(|_| T::read(from)).collect()
    }
}

impl Code for bool {
    fn write(&self, out: &mut DuoWriter) {
        out.push(*self as u8);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<bool> {
        match from.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            tag => from.unknown("truth value", tag),
        }
    }
}
