//! The linear code of a round, which makes its outputs of the noise.
//!
//! *Primal*: output i is leaf i and row i times a secret, so outputs are made a tree at a time and none is stored.
//! *Dual*: the outputs are half as many sums of leaves, the syndrome of the noise, and all leaves come first.

use kernels::{Block, local::LocalCode, syndrome::SEGMENTS, syndrome::SyndromeCode};

use super::sets::{Form, Round};

/// The code of a session and direction.
pub(super) struct Code {
    id: [u8; 32],
    /// The local code of weight 10, Ferret's matrix for learning parity with noise. Its rows are drawn with a public
    /// seed, and every round has rows of its own.
    local: LocalCode,
    /// What the receiver said before the first round, from which dual codes are drawn too.
    said: blake3::Hasher,
    /// The last dual code, and of which rounds and depth it is.
    syndrome: Option<((u64, usize), SyndromeCode)>,
}

/// The number of rows of the local code that belong to each round; no round has more outputs.
const ROWS: u64 = 1 << 24;

/// Dual rounds under one code: one who attacks many at once gains no more bits than its logarithm.
pub(super) const ROUNDS: u64 = 64;

impl Code {
    pub(super) fn new(id: &[u8; 32]) -> Self {
        let seed = blake3::derive_key("duologue v1 silent OT: code", id);
        let said = blake3::Hasher::new_derive_key("duologue v1 silent OT: receiver before the first round");
        Code { id: *id, local: LocalCode::new(half(seed)), said, syndrome: None }
    }

    /// Takes a message of the receiver's of the time before the first round. Both parties have a part in the id, but whoever
    /// chose its own part last could try many; these come after both parts, and are random to a sender.
    pub(super) fn hear(&mut self, message: &[u8]) {
        self.said.update(message);
    }

    /// Draws what this round needs and is not there.
    pub(super) fn draw(&mut self, round: &Round, number: u64) {
        let of @ (rounds, depth) = (number / ROUNDS, round.depth);
        if round.form == Form::Syndrome && self.syndrome.as_ref().is_none_or(|(drawn, _)| *drawn != of) {
            let seed = blake3::Hasher::new_derive_key("duologue v1 silent OT: dual code")
                .update(&self.id)
                .update(&rounds.to_le_bytes())
                .update(&[depth as u8])
                .update(self.said.finalize().as_bytes())
                .finalize();
            let len = round.trees * round.leaves() / SEGMENTS;
            self.syndrome = Some((of, SyndromeCode::new(half(*seed.as_bytes()), len)));
        }
    }

    /// The dual code, if the round has one.
    pub(super) fn syndrome(&self, round: &Round) -> Option<&SyndromeCode> {
        let (_, code) = self.syndrome.as_ref()?;
        (round.form == Form::Syndrome).then_some(code)
    }

    /// Adds outputs `from`, `from + 1`, … of the local code of a round to `out`; `from` is even.
    pub(super) fn add(&self, round: u64, from: usize, secret: &[Block], out: &mut [Block]) {
        self.local.add(round * ROWS + from as u64, secret, out);
    }
}

fn half(seed: [u8; 32]) -> Block {
    let (halves, _) = seed.as_chunks();
    Block::from_bytes(halves[0])
}
