//! The bytes of a message, in memory that serves one message after another.

use bytemuck::{Pod, Zeroable};
use std::ops::Deref;

/// Bytes that will be sent, in order.
///
/// Unlike a vector it can hand out room without filling it first: clearing half a megabyte before tables are
/// written there takes a twentieth of the time of garbling them. And it begins at a cache line: where tables lie
/// in two cache lines each, evaluating them takes a twentieth longer.
#[derive(Default)]
pub struct Outbox {
    /// The bytes to be sent, followed by bytes that were sent before.
    lines: Vec<CacheLine>,
    len: usize,
}

/// Bytes that were received.
pub type Inbox = Outbox;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

impl Outbox {
    /// Appends bytes.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// Appends `count` bytes, all of which the caller must write: they are zeros, or bytes of an earlier message.
    pub(crate) fn room(&mut self, count: usize) -> &mut [u8] {
        let from = self.len;
        self.len += count;
        if self.capacity() < self.len {
            self.lines.resize(self.len.div_ceil(64), CacheLine::zeroed());
        }
        &mut bytemuck::cast_slice_mut(&mut self.lines)[from..self.len]
    }

    /// Makes room for `count` more bytes.
    pub(crate) fn reserve(&mut self, count: usize) {
        let lines = (self.len + count).div_ceil(64);
        self.lines.reserve_exact(lines.saturating_sub(self.lines.len()));
    }

    /// Replaces the contents by `count` bytes, all of which the caller must write.
    pub(crate) fn only(&mut self, count: usize) -> &mut [u8] {
        self.clear();
        self.room(count)
    }

    /// Bytes for which there is memory.
    pub(crate) fn capacity(&self) -> usize {
        self.lines.len() * 64
    }

    /// Whether the bytes take up half of the memory that they lie in, or more.
    pub(crate) fn fills_memory(&self) -> bool {
        self.len >= self.capacity() / 2
    }

    /// Removes all bytes and keeps their memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl Deref for Outbox {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_before_is_not_sent_again() {
        let mut outbox = Outbox::default();
        outbox.extend_from_slice(&[1, 2, 3]);
        outbox.clear();
        assert!(outbox.is_empty());
        outbox.room(2).copy_from_slice(&[4, 5]);
        outbox.extend_from_slice(&[6]);
        outbox.room(2).fill(7);
        assert_eq!(*outbox, [4, 5, 6, 7, 7]);
        outbox.only(3).copy_from_slice(&[8; 3]);
        assert_eq!(*outbox, [8; 3]);
        assert!(outbox.as_ptr().addr().is_multiple_of(64), "from a cache line on");
    }

    #[test]
    fn few_bytes_do_not_fill_the_memory_of_many() {
        let mut outbox = Outbox::default();
        for (bytes, fills) in [(640, true), (320, true), (319, false), (641, true)] {
            outbox.clear();
            outbox.room(bytes);
            assert_eq!(outbox.fills_memory(), fills, "{bytes} bytes");
        }
    }
}
