//! Additively homomorphic encryption, in batches: Paillier's system and that of Damgård, Geisler and Krøigaard.
//!
//! | module | what it gives |
//! |---|---|
//! | [`Additive`] | what both systems can do |
//! | [`paillier`] | numbers modulo N of thousands of bits; encryption with short exponents (Damgård, Jurik, Nielsen) |
//! | [`packing`] | several numbers in one plaintext, in slots of any widths |
//! | [`dgk`] | numbers modulo a small prime, and a test whether one is zero |
//! | [`linear`] | what private function evaluation asks of a scheme: labels that are added while they are encrypted |
//! | [`elgamal`], [`bfv`], [`djn`] | such schemes: of points, of strings under XOR, and of integers under Paillier's system |
//! | [`Shuffle`] | one secret order for several batches |
//! | [`KeySize`] | lengths of keys; those that can be broken by their name alone |
//! | [`SealKey`] | what key files are sealed with |
//!
//! ```text
//! kernels::montgomery ← number, prime ← group ← paillier ← packing
//!                                          ↖ dgk         linear ← elgamal, bfv, djn
//! ```
//!
//! No networking: keys and ciphertexts are bytes that a caller sends. Both systems are secure against a party that
//! follows the protocol; whether a peer's key has its form is checked as far as it can be without its secret
//! (`paillier/public.rs`), and a well-formed wrong key goes unseen.
//!
//! Constant time in keys, plaintexts and randomness, but where a key is made, and where a private key of DGK is read from
//! its file: the primes are looked at in variable time there. Ciphertexts and public keys are public. Keys and plaintexts
//! are erased when dropped, and have no `Debug`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod additive;
pub mod bfv;
mod coding;
mod crt;
pub mod dgk;
pub mod djn;
pub mod elgamal;
mod error;
mod group;
mod jacobi;
pub mod linear;
mod number;
pub mod packing;
pub mod paillier;
mod plaintexts;
mod prime;
mod seal;
mod shuffle;
mod size;

pub use additive::Additive;
pub use error::{CiphertextFault, Error, KeyFault, Result};
pub use group::{Ciphertexts, Head};
pub use plaintexts::Plaintexts;
pub use seal::SealKey;
pub use shuffle::Shuffle;
pub use size::KeySize;
