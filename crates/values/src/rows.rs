//! Lanes that are collected one after another.

use circuit::{BitMatrix, Type};

/// Lanes of one type: bytes, lowest first.
pub(crate) struct Rows {
    width: usize,
    /// Zeros behind what is used.
    bytes: Vec<u8>,
    used: usize,
}

/// The first bytes that are made room for; then as many again each time.
const FIRST: usize = 1 << 10;

impl Rows {
    pub fn new(ty: Type) -> Self {
        Rows { width: ty.width as usize, bytes: Vec::new(), used: 0 }
    }

    /// A lane that `put` writes into zeroed bytes; nothing but an error can follow if it gives `None`.
    pub fn push(&mut self, put: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<()> {
        let start = self.used;
        self.used += self.width.div_ceil(8);
        if self.used > self.bytes.len() {
            self.bytes.resize((2 * self.used).max(FIRST), 0);
        }
        put(&mut self.bytes[start..self.used])
    }

    pub fn finish(self) -> BitMatrix {
        BitMatrix::from_byte_rows(self.width, &self.bytes[..self.used])
            .expect("whole lanes, and no bit above the width")
    }
}
