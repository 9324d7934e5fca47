#![forbid(unsafe_code)]
#![warn(missing_docs)]
//! Private function evaluation: Alice holds a function and Bob the data; Bob alone learns the result, and of the function
//! its [`Sizes`]. Alice learns nothing.
//!
//! The protocol is that of Katz and Malka (*Constant-round private function evaluation with linear complexity*, ASIACRYPT
//! 2011), which Holz, Kiss, Rathee, Schneider made practical (*Linear-complexity private function evaluation is practical*,
//! ESORICS 2020), with Diffie-Hellman labels in place of encryptions. P is the base point; K_j of every wire and R are hashes
//! into the group, of an id that is drawn with the wiring.
//!
//! ```text
//! Alice, f as majority gates                           Bob, x
//!                            ◀── A, labels of x ──     a fresh, A = a·P, r = a·R; s_j⁰ = a·K_j, label of v: s_j⁰ + v·r
//! a gate of the form v = Σ c_j·v_j + c₀, 0 to 3:
//! Q = Σ c_j·K_j − c₀·R + k·P    ── Q ──▶               labels of v: a·Q + v·r
//! Σ c_j·s_j + k·A is one of them   ◀── table ──        the label of [v ≥ 2] under that of v
//! each output is a Q of 0 or 1  ── its label ──▶       compares
//! ```
//!
//! **Cost** a gate: 32 bytes from Alice, 99 from Bob; of another run of the same wiring, 99. Two rounds. Alice multiplies two
//! fixed points, Bob two others.
//!
//! **Memory**: Bob keeps 32 bytes a gate while another run may follow ([`Bob::limit`]). Alice keeps a point of 160 bytes for each
//! gate; two in her first run, and in a run that is made ahead, with 99 bytes for the table.
//!
//! **Threads**: a chunk of 512 gates is divided among those of a party ([`Bob::compute_on`]). What travels does not depend on
//! them.
//!
//! **Security**: semi-honest parties, 128 bits, by decisional Diffie-Hellman in ristretto255 with the hashes as random
//! oracles. The function is hidden from Bob as far as AES-128, of which the blinding numbers come, is a pseudo-random function.
//! The argument is in `docs/private.md`; it is ours, and nobody has reviewed it. **An Alice who departs from the protocol
//! learns all of x, unseen**, and a Bob who does learns wiring. Every run is a query of the function.
//!
//! What is seen besides: how long Alice takes shows how many layers the gates have, and in a first run the time of each
//! chunk of 512 queries how many additions lie there and, roughly, where the function's own gates end. The numbers of gates
//! and of additions are padded to what is declared, additions as [`additions`](duologue::circuit::private::Node::additions)
//! counts them, which leaves out those of complements: a bit takes as long as its complement.

mod dh;
mod guarded;
pub mod linear;
mod offer;
mod party;
mod proposal;
#[cfg(test)]
mod random;
mod threads;

use duologue::{Error, Result};
use kernels::generator::Generator;

#[doc(hidden)]
pub use dh::{POINT, TABLE};
pub use dh::{Padding, Wired, gates_per_second};
#[doc(hidden)]
pub use offer::CHUNK;
pub(crate) use offer::chunk;
pub use offer::{MOST_BITS, MOST_GATES, MOST_RUNS, Offer, Sizes};
#[doc(hidden)]
pub use party::AHEAD;
pub use party::{Alice, Bob, Garbled, Kept, KeptAlice, KeptBob, Ready};
pub use proposal::{Agreed, Announced, Counts, Method, Methods, Proposal, Purpose};
pub use threads::Threads;

/// A generator that the operating system seeds.
fn os_generator() -> Result<Generator> {
    Generator::from_os().map_err(|why| Error::Io {
        what: "randomness of the operating system".into(),
        source: std::io::Error::other(why.to_string()),
    })
}

#[doc(hidden)]
pub mod decoders {
    //! Every decoder of peer bytes, for fuzzing.

    use crate::dh::{AnnouncedRun, Garbling};
    use crate::linear::{self, Key, Netlist, PeerKey};
    use crate::{Method, Offer, Threads};

    /// Whether these are a first message.
    pub fn hello(bytes: &[u8]) -> bool {
        Method::ALL.into_iter().any(|method| crate::offer::Hello::from_bytes(bytes, method).is_ok())
    }

    /// Whether these are what a party proposes before there is a method.
    pub fn proposal(bytes: &[u8]) -> bool {
        crate::proposal::Proposal::from_bytes(bytes).is_ok()
    }

    /// Bob's: queries, then the labels of outputs.
    pub fn garbling(offer: &Offer, queries: &[u8], labels: &[u8]) -> bool {
        let Ok(mut rng) = crate::os_generator() else { return false };
        let mut garbling = Garbling::new(offer, 0, &mut rng, &Threads::default());
        garbling.chunk(queries).is_ok() && garbling.finish(labels).is_ok()
    }

    /// Alice's: the announcement, labels of inputs and tables.
    pub fn evaluation(
        wired: &crate::Wired,
        offer: &Offer,
        announcement: &[u8; 32],
        labels: &[u8],
        tables: &[u8],
    ) -> bool {
        let announced = AnnouncedRun::new(wired, offer, 0, announcement, &Threads::default());
        let evaluation = announced.and_then(|run| run.begin(labels));
        evaluation.and_then(|mut run| run.chunk(tables).and_then(|()| run.finish())).is_ok()
    }

    /// A run of Katz and Malka's protocol of which the peer's messages are any bytes.
    pub struct Linear<S: linear::Linear> {
        netlist: Netlist,
        offer: Offer,
        key: Key<S>,
    }

    impl<S: linear::Linear> Linear<S> {
        /// A run of this function, of gates of one step.
        pub fn new(netlist: Netlist) -> Option<Self> {
            let offer = Offer { sizes: *netlist.sizes(), runs: 1, id: [3; 32] };
            Some(Linear { netlist, offer, key: Key::generate(&mut crate::os_generator().ok()?).ok()? })
        }

        /// Bob's: answers, then the labels of outputs.
        pub fn garbling(&mut self, answers: &[u8], labels: &[u8]) -> bool {
            let Ok(rng) = crate::os_generator() else { return false };
            let mut run = linear::Garbling::new(&self.offer, 0, &self.key, &rng);
            run.ciphertexts(&mut self.key).is_ok()
                && run.chunk(&self.key, answers).is_ok()
                && run.finish(labels).is_ok()
        }

        /// Alice's: a key, or Bob's if it is none, ciphertexts of the inputs and of gates, labels of inputs and tables.
        pub fn evaluation(&self, key: &[u8], [inputs, gates]: [&[u8]; 2], labels: &[u8], tables: &[u8]) -> bool {
            let key = PeerKey::<S>::read(key.to_vec()).or_else(|_| PeerKey::read(self.key.public().to_vec()));
            let (Ok(mut key), Ok(rng)) = (key, crate::os_generator()) else { return false };
            let Ok(mut run) = linear::Evaluation::new(&self.netlist, &self.offer, 0, &key, &rng) else { return false };
            let wires = linear::Steps::of::<S>(self.offer.sizes).wires(0);
            let mut messages = [inputs, gates].into_iter().zip(wires);
            messages.all(|(message, count)| run.ciphertexts(&mut key, message, count).is_ok())
                && run.answers(&key).is_ok()
                && run.inputs(labels).is_ok()
                && run.chunk(tables).is_ok()
                && run.finish().is_ok()
        }
    }
}
