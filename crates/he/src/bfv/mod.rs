//! Labels under XOR by the system of Brakerski, Fan and Vercauteren, with answers that hide which of them they hold.
//!
//! Bob encrypts labels of 128 bits under his secret key. Alice chooses sixteen ciphertexts, puts them side by side, adds a
//! fresh encryption of sixteen blindings and returns that: Bob decrypts the sums and learns nothing else. (Holz, Kiss,
//! Rathee, Schneider, *Linear-complexity private function evaluation is practical*, ESORICS 2020, §4.4.)
//!
//! ```text
//! ring       ℤ_q[x]/(x²⁰⁴⁸ + 1), q = 12289 · 1099510054913 = 2^53.59; plaintexts modulo 2, 128 coefficients a label
//! key        s of −1, 0, 1                                public: p₁ from a seed, p₀ = −p₁·s + e
//! label j    c₁ = mask j from a seed                      c₀ = −c₁·s + e_j + ⌊q/2⌋·label
//! answer     c₀ = Σ c₀ⱼ·x^(128k) + p₀·u + e + ⌊q/2⌋·blindings + flooding,   c₁ = Σ c₁ⱼ·x^(128k) + p₁·u + e′
//!            both divided by 1099510054913 and rounded
//! decryption c₀ + c₁·s modulo 12289: nearer to 6144 than to 0, or not
//! ```
//!
//! **Bytes**: 13,824 a label, 7,168 an answer of sixteen.
//!
//! **Security**: 128 bits by ring learning with errors, for n = 2048, log q = 54 and ternary secrets (homomorphic encryption
//! security standard, 2018, table 1). Bob knows each e_j, so noise would show him which labels an answer has: *flooding* of
//! σ = 2^48.29 hides that up to a statistical distance of 2⁻⁴⁰ an answer and 2⁻³¹ for the answers of 10⁶ gates (`noise.rs`),
//! and the fresh encryption hides it in c₁. Both parties follow the protocol.
//!
//! A sum never decrypts wrongly: `docs/he.md` adds up all that can be in its noise.

mod coding;
mod masks;
mod noise;
mod ntt;
mod public;
mod ring;
mod scheme;
mod secret;
mod store;
#[cfg(test)]
mod tests;

pub use masks::{Masks, SEED};
pub use public::{Blinding, PublicKey};
pub use scheme::Bfv;
pub use secret::SecretKey;
pub use store::Store;

/// Bits of a label.
const LABEL_BITS: usize = 128;

/// Labels of an answer.
pub const LABELS: usize = ring::DEGREE / LABEL_BITS;

/// Bytes of a ciphertext.
pub const CIPHERTEXT: usize = coding::POLY;

/// Bytes of an answer.
pub const ANSWER: usize = 2 * coding::SMALL_POLY;

/// Bytes of a public key.
pub const PUBLIC_KEY: usize = SEED + coding::POLY;
