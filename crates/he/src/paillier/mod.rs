//! Paillier's system (*Public-key cryptosystems based on composite degree residuosity classes*, Eurocrypt 1999) with the
//! randomness of Damgård, Jurik and Nielsen (*A generalization of Paillier's public-key system with applications to
//! electronic voting*, Int. J. Inf. Secur. 2010, §4.2).
//!
//! ```text
//! N = p·q   p ≡ q ≡ 3 mod 4, gcd(p − 1, q − 1) = 2, no odd factor of p − 1 or q − 1 below 2¹⁶
//! h = −x² mod N                                       for a random x
//! E(m) = (1 + m·N)·h^(N·α) mod N²                      0 ≤ m < N, α random
//! m = L(c^(p−1) mod p²)·(−q)⁻¹ mod p, L(y) = (y − 1)/p   and the same modulo q
//! ```
//!
//! **α** has T/2 bits where the key's owner encrypts: that hides m computationally, under decisional composite
//! residuosity and that h^α with short α looks random (T is the number of bits of N). Where somebody else encrypts or
//! re-randomises, the owner sees the ciphertext and knows p and q, so α has T + 64 bits: h^(N·α) is then uniform in
//! ⟨h^N⟩ but for a statistical distance of 2⁻⁶⁴.
//!
//! **⟨h⟩ is all of the group of Jacobi symbol 1** but for factors of p − 1 and q − 1 above 2¹⁶, which a random h misses
//! with a chance below 2⁻¹⁵: so the conditions on p and q. A textbook ciphertext (1 + m·N)·r^N has Jacobi symbol −1 for
//! half of all r, and h^α does not change that: such ciphertexts are refused by [`PublicKey::read`], or re-randomised
//! by r^N in [`PublicKey::read_foreign`].
//!
//! Everything is computed eight numbers side by side (`kernels::montgomery`); the owner computes modulo p² and q². The
//! primes, inverses and symbols are those of crypto-primes and crypto-bigint.
//!
//! Parties follow the protocol. A peer's key is checked as far as that can be done without its factors.

mod public;
mod secret;

pub use public::PublicKey;
pub(crate) use public::{check_modulus, check_unit};
pub use secret::SecretKey;
