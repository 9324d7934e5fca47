//! The system of Damgård, Geisler and Krøigaard (*Homomorphic encryption and secure comparison*, Int. J. Applied
//! Cryptography 2008, with the correction of 2009): numbers modulo a small prime u, and a fast test for zero.
//!
//! ```text
//! n = p·q of T bits   u·v_p | p − 1, u·v_q | q − 1 for primes v_p, v_q of 160, 224 or 256 bits
//! g of order u·v_p modulo p and u·v_q modulo q, h of orders v_p and v_q
//! E(m) = g^m·h^r mod n            r of 2.5 times the bits of v
//! m = 0 ⇔ c^(v_p) mod p = 1      m: the place of c^(v_p) among the powers of g^(v_p)
//! ```
//!
//! For comparisons of l bits, u is the least prime above 3l + 2. Security rests on the assumption of the paper, that
//! elements of order v_p·v_q look like any of order u·v_p·v_q; r hides statistically for the owner, too (2⁻⁸⁰ and less).
//! Powers are computed eight side by side; the owner encrypts modulo p and q, with r modulo v_p and v_q, and decrypts
//! modulo p alone. u divides both p − 1 and q − 1, so g^m has m modulo u in either half.

mod public;
mod secret;

pub use public::PublicKey;
pub use secret::SecretKey;

/// Bits of u at most: the table for decryption has u entries.
const U_BITS: u32 = 16;
