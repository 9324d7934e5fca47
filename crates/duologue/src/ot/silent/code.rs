//! The linear code that spreads the secret of a round over its outputs.
//!
//! The rest of a round sees of its code only this interface: 2^log secret blocks in, any run of outputs out. The code
//! is *primal*: output i is row i times the secret, so outputs are made a tree at a time and none is stored.

use kernels::{Block, local::LocalCode};

/// The local code of weight 10, Ferret's matrix for learning parity with noise. Its rows are drawn with a public seed.
pub(super) struct Code(LocalCode);

/// The number of rows of the code that belong to each round; no round has more outputs.
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
