//! Bytes on their way out, in memory that is written over and over.

use std::ops::Deref;

/// Bytes that will be sent, in order.
///
/// Unlike a vector it can hand out room without filling it first: clearing half a megabyte before tables are
/// written there takes a twentieth of the time of garbling them.
#[derive(Default)]
pub struct Outbox {
    /// What is to be sent, and after it what was sent before.
    bytes: Vec<u8>,
    len: usize,
}

impl Outbox {
    /// Appends bytes.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// Appends so many bytes, all of which the caller writes: they are zeros, or what was sent before.
    pub(crate) fn room(&mut self, count: usize) -> &mut [u8] {
        let from = self.len;
        self.len += count;
        if self.bytes.len() < self.len {
            self.bytes.resize(self.len, 0);
        }
        &mut self.bytes[from..self.len]
    }

    /// Forgets the bytes and keeps their memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl Deref for Outbox {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
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
    }
}
