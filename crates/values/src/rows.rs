//! Lanes that are collected one after another.

use circuit::{BitMatrix, Type};

/// Lanes of one type: bytes, lowest first.
pub(crate) struct Rows {
    width: usize,
    bytes: Vec<u8>,
}

impl Rows {
    pub fn new(ty: Type) -> Self {
        Rows { width: ty.width as usize, bytes: Vec::new() }
    }

    /// A lane that `put` writes into zeroed bytes; nothing but an error can follow if it gives `None`.
    pub fn push(&mut self, put: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<()> {
        let start = self.bytes.len();
        self.bytes.resize(start + self.width.div_ceil(8), 0);
        put(&mut self.bytes[start..])
    }

    pub fn finish(self) -> BitMatrix {
        BitMatrix::from_byte_rows(self.width, &self.bytes).expect("whole lanes, and no bit above the width")
    }
}
