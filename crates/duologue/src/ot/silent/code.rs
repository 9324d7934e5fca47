//! The linear code of a round, which makes its outputs of the noise.
//!
//! *Primal*: output i is leaf i and row i times a secret, so outputs are made a tree at a time and none is stored.
//! *Dual*: the outputs are half as many sums of leaves, the syndrome of the noise, and all leaves come first.
//!
//! Both are drawn from the session's id and from what the receiver said before the first round. Whoever changes what a code
//! is drawn from, or how, raises the [version](crate::session::VERSION): terms and lengths stay equal, and no check covers
//! the code, so that an old and a new build would compute wrong results without an error.

use kernels::{Block, local::LocalCode, syndrome::SEGMENTS, syndrome::SyndromeCode};

use super::sets::{Form, Round};

/// The code of a session and direction.
pub(super) struct Code {
    id: [u8; 32],
    /// What the receiver said before the first round.
    said: blake3::Hasher,
    /// The local code of weight 10, Ferret's matrix for learning parity with noise; there is one from the first primal round
    /// on. Its rows are drawn with a public seed, and every round has rows of its own.
    local: Option<LocalCode>,
    /// The last dual code, and of which rounds and depth it is.
    syndrome: Option<((u64, usize), SyndromeCode)>,
}

/// The number of rows of the local code that belong to each round; no round has more outputs.
const ROWS: u64 = 1 << 24;

/// Dual rounds under one code: one who attacks many at once gains no more bits than its logarithm.
pub(super) const ROUNDS: u64 = 64;

impl Code {
    pub(super) fn new(id: &[u8; 32]) -> Self {
        let said = blake3::Hasher::new_derive_key("duologue v1 silent OT: receiver before the first round");
        Code { id: *id, said, local: None, syndrome: None }
    }

    /// Takes a message of the receiver's of the time before the first round. Both parties have a part in the id, but
    /// whoever chose its own part last could try many; these come after both parts, and are random to a sender.
    pub(super) fn hear(&mut self, message: &[u8]) {
        self.said.update(message);
    }

    /// Draws what this round needs and is not there.
    pub(super) fn draw(&mut self, round: &Round, number: u64) {
        let of @ (rounds, depth) = (number / ROUNDS, round.depth);
        if round.form != Form::Syndrome {
            if self.local.is_none() {
                self.local = Some(LocalCode::new(self.seed("duologue v1 silent OT: code", &[])));
            }
        } else if self.syndrome.as_ref().is_none_or(|(drawn, _)| *drawn != of) {
            let of_round = [&rounds.to_le_bytes()[..], &[depth as u8]].concat();
            let seed = self.seed("duologue v1 silent OT: dual code", &of_round);
            let len = round.trees * round.leaves() / SEGMENTS;
            self.syndrome = Some((of, SyndromeCode::new(seed, len)));
        }
    }

    /// The seed of a code, from the session's id, what is said of the round, and what the receiver has said.
    fn seed(&self, context: &'static str, round: &[u8]) -> Block {
        let said = self.said.finalize();
        let seed =
            blake3::Hasher::new_derive_key(context).update(&self.id).update(round).update(said.as_bytes()).finalize();
        half(*seed.as_bytes())
    }

    /// The dual code, if the round has one.
    pub(super) fn syndrome(&self, round: &Round) -> Option<&SyndromeCode> {
        let (_, code) = self.syndrome.as_ref()?;
        (round.form == Form::Syndrome).then_some(code)
    }

    /// Adds outputs `from`, `from + 1`, … of the local code of a round, which was drawn, to `out`; `from` is even.
    pub(super) fn add(&self, round: u64, from: usize, secret: &[Block], out: &mut [Block]) {
        let local = self.local.as_ref().expect("a primal round draws it");
        local.add(round * ROWS + from as u64, secret, out);
    }
}

fn half(seed: [u8; 32]) -> Block {
    let (halves, _) = seed.as_chunks();
    Block::from_bytes(halves[0])
}
