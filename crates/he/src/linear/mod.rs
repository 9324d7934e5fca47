//! Labels that are added while they are encrypted: what Katz and Malka's private function evaluation asks of a scheme
//! (*Constant-round private function evaluation with linear complexity*, ASIACRYPT 2011, §3; as Holz, Kiss, Rathee, Schneider
//! instantiate it, ESORICS 2020, §4).
//!
//! ```text
//! garbler, has the key                          evaluator
//! key, E(s_j) of every wire       ──▶           reads and keeps them
//!                                               E(b), b fresh for every operand of a gate
//! decrypts s_π(w) + b_w of each w  ◀── answer ── E(s_π(w)) + E(b_w)
//! ```
//!
//! The garbler, who knows all s_j and the key, must not see π in an answer: b hides s_π(w), perfectly or up to a statistical
//! distance, and whatever else a ciphertext holds is hidden by the fresh randomness of E(b). A scheme says what labels are
//! ([`Labels`]: points, strings under XOR, integers modulo 2¹²⁸), and how many of them lie in an answer. All is in batches.

mod integers;
mod strings;

use kernels::generator::Generator;
use zeroize::Zeroizing;

use crate::error::Result;

pub use integers::Integers;
pub use strings::Strings;

/// A batch of labels: elements of a group, written as a sum. Erased when dropped.
pub trait Labels: Clone + Send + Sized {
    /// Bytes of a label where it travels and is hashed. Two labels are equal if these are.
    const BYTES: usize;

    /// Uniform ones.
    fn random(count: usize, rng: &mut Generator) -> Self;

    /// The difference between the labels of 1 and of 0: a batch of one.
    fn offset(rng: &mut Generator) -> Self {
        Self::random(1, rng)
    }

    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sums of labels at the same places.
    ///
    /// # Panics
    /// If there are not as many of both.
    fn add(&self, other: &Self) -> Self;

    /// The labels at these places, one after the other; a place may come again.
    ///
    /// # Panics
    /// If there is no such place.
    fn pick(&self, places: impl ExactSizeIterator<Item = usize>) -> Self;

    /// Puts other labels behind these.
    fn append(&mut self, other: &Self);

    /// [`BYTES`](Self::BYTES) for each.
    fn encode(&self) -> Zeroizing<Vec<u8>>;

    /// Reads as many labels as these bytes hold, and says whether each is one that [`random`](Self::random) may give; in place
    /// of one that is not, there is some label.
    fn decode(bytes: &[u8]) -> (Self, bool);
}

/// A scheme for labels that are added under encryption. A key serves many runs; labels, blindings and whatever is drawn for an
/// encryption serve one.
pub trait Scheme: Sized + 'static {
    /// What it is called.
    const NAME: &'static str;
    /// Gates whose messages travel together: of two operands each.
    const CHUNK: usize;
    /// Bytes of a public key.
    const KEY: usize;

    /// What it encrypts.
    type Labels: Labels;
    /// The garbler's key. It may count what it encrypts.
    type Secret: Send;
    /// The evaluator's, which counts the same.
    type Public: Send;
    /// The ciphertexts of one run as the evaluator keeps them.
    type Store: Send;
    /// What hides labels in answers.
    type Blindings: Send;
    /// The same, encrypted: made before the function matters.
    type Blinded: Send;

    /// A new key. The generator is seeded by the operating system.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    fn generate(rng: &mut Generator) -> Result<Self::Secret>;

    /// The public key as [`KEY`](Self::KEY) bytes.
    fn key(secret: &Self::Secret) -> Vec<u8>;

    /// Reads a peer's key.
    ///
    /// # Errors
    /// If it is none, as far as can be seen.
    fn read_key(bytes: &[u8]) -> Result<Self::Public>;

    /// Bytes of so many encrypted labels.
    fn ciphertexts(count: usize) -> usize;

    /// Encrypts the labels of wires, in their order.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    fn encrypt(secret: &mut Self::Secret, labels: &Self::Labels, rng: &mut Generator) -> Result<Vec<u8>>;

    /// Room for the ciphertexts of a run.
    ///
    /// # Errors
    /// If the operating system has none.
    fn store(public: &Self::Public) -> Result<Self::Store>;

    /// Reads the next `count` ciphertexts of a run and keeps them.
    ///
    /// # Errors
    /// If they have another length, or one is none.
    fn append(public: &mut Self::Public, store: &mut Self::Store, bytes: &[u8], count: usize) -> Result<()>;

    /// Blindings for so many labels: the same of a generator in the same state.
    fn blindings(count: usize, rng: &mut Generator) -> Self::Blindings;

    /// What they add to a label.
    fn labels(blindings: &Self::Blindings) -> Self::Labels;

    /// Encrypts blindings under the peer's key, with randomness that hides from the key's owner what they are added to.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    fn blind(public: &Self::Public, blindings: &Self::Blindings, rng: &mut Generator) -> Result<Self::Blinded>;

    /// Bytes of the answers that hold so many labels.
    fn answers(count: usize) -> usize;

    /// The answers: the labels of the wires at these places, each with its blinding.
    ///
    /// # Errors
    /// If there are not as many blindings as places, or not so many wires.
    fn answer(
        public: &Self::Public,
        store: &mut Self::Store,
        places: &[usize],
        blinded: Self::Blinded,
    ) -> Result<Vec<u8>>;

    /// The `count` labels in answers of a peer.
    ///
    /// # Errors
    /// If they have another length, or are no ciphertexts of this key that honest answers may be.
    fn decrypt(secret: &Self::Secret, answers: &[u8], count: usize) -> Result<Self::Labels>;
}

/// Puts values behind others; memory that is left is erased.
fn append<T: Copy + zeroize::Zeroize>(list: &mut Zeroizing<Vec<T>>, other: &[T]) {
    if list.len() + other.len() > list.capacity() {
        let mut longer = Vec::with_capacity((list.len() + other.len()).max(2 * list.len()));
        longer.extend_from_slice(list);
        *list = Zeroizing::new(longer);
    }
    list.extend_from_slice(other);
}
