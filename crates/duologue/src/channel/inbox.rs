//! Payload that came while we were sending, kept until it is asked for.

use std::collections::VecDeque;

/// Bytes of a chunk: a long queue grows by whole chunks and is never copied to grow.
const CHUNK: usize = 256 << 10;

#[derive(Default)]
pub(super) struct Inbox {
    chunks: VecDeque<Vec<u8>>,
    /// Bytes of the first chunk that are taken already.
    taken: usize,
    len: usize,
}

impl Inbox {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn push(&mut self, mut bytes: &[u8]) {
        self.len += bytes.len();
        while !bytes.is_empty() {
            let room = self.chunks.back().map_or(0, |chunk| CHUNK - chunk.len());
            if room == 0 {
                self.chunks.push_back(Vec::with_capacity(bytes.len().clamp(4096, CHUNK)));
                continue;
            }
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            if let Some(chunk) = self.chunks.back_mut() {
                chunk.extend_from_slice(now);
            }
            bytes = later;
        }
    }

    /// Moves up to `out.len()` bytes out, and says how many.
    pub fn take(&mut self, out: &mut [u8]) -> usize {
        let mut filled = 0;
        while let Some(chunk) = self.chunks.front() {
            let rest = &chunk[self.taken..];
            let n = rest.len().min(out.len() - filled);
            out[filled..filled + n].copy_from_slice(&rest[..n]);
            filled += n;
            self.taken += n;
            if self.taken < chunk.len() {
                break;
            }
            self.chunks.pop_front();
            self.taken = 0;
        }
        self.len -= filled;
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn first_in_first_out(steps in prop::collection::vec((any::<bool>(), 0usize..700_000), 1..30)) {
            let (mut inbox, mut written, mut read) = (Inbox::default(), 0u64, 0u64);
            let byte = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
            for (push, n) in steps {
                if push {
                    let bytes: Vec<u8> = (written..written + n as u64).map(byte).collect();
                    inbox.push(&bytes);
                    written += n as u64;
                } else {
                    let mut out = vec![0; n];
                    let got = inbox.take(&mut out);
                    prop_assert_eq!(got, n.min((written - read) as usize));
                    prop_assert!(out[..got].iter().zip(read..).all(|(b, i)| *b == byte(i)));
                    read += got as u64;
                }
                prop_assert_eq!(inbox.len() as u64, written - read);
            }
        }
    }
}
