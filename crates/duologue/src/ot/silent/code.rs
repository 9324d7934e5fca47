//! The linear code that spreads the secret of a round over its outputs.
//!
//! Everything that a round knows of its code is here: 2^log secret blocks in, any run of outputs out. The code is
//! *primal*: output i is row i times the secret, so outputs are made a tree at a time and none is stored.

use kernels::{Block, local::LocalCode};

/// The local code of weight 10: what Ferret takes for the learning-parity-with-noise matrix. Rows are drawn with a public seed.
pub(super) struct Code(LocalCode);

/// No round has more outputs: so many rows of the code are a round's own.
const ROWS: u64 = 1 << 24;

impl Code {
    /// The code of a session and direction.
    pub(super) fn new(id: &[u8; 32]) -> Self {
        let seed = blake3::derive_key("duologue v1 silent OT: code", id);
        Code(LocalCode::new(Block::from_bytes(seed[..16].try_into().expect("16 bytes"))))
    }

    /// Adds outputs `from`, `from + 1`, … of a round to `out`; `from` is even. Every round has rows of its own.
    pub(super) fn add(&self, round: u64, from: usize, secret: &[Block], out: &mut [Block]) {
        self.0.add(round * ROWS + from as u64, secret, out);
    }
}
