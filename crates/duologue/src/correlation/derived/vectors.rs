//! Multiplication triples of a bit and a vector: XOR shares of a, b⃗ and a·b⃗, from one random OT of ℓ bits each way.
//!
//! The triples of single bits ([`triples`](super::super)) with strings in place of bits: as sender of one OT a party
//! has b⃗ := m₀ ⊕ m₁ and v⃗ := m₀, as receiver of the other a := its choice and u⃗ := m_a, so that u⃗ ⊕ v⃗ is one
//! party's a times the other's b⃗, and
//!
//! ```text
//! c⃗ = a·b⃗ ⊕ u⃗ ⊕ v⃗
//! ```
//!
//! A shared bit x times a shared vector y⃗ opens x ⊕ a and y⃗ ⊕ b⃗: 1 + ℓ bits each way, where ℓ single triples open
//! 2ℓ.
//! **Security**: semi-honest parties.

use zeroize::ZeroizeOnDrop;

use super::{ReceivedStrings, SentStrings, Strings};
use crate::correlation::bits::truncate;

/// One party's shares of triples: (a₀ ⊕ a₁)·(b⃗₀ ⊕ b⃗₁) = c⃗₀ ⊕ c⃗₁. Each masks one product.
#[derive(ZeroizeOnDrop)]
pub struct BitVectorTriples {
    /// Shares of the bits, packed, least significant bit first.
    pub a: Vec<u64>,
    /// Shares of the vectors.
    pub b: Strings,
    /// Shares of the products.
    pub c: Strings,
    /// The number of triples.
    #[zeroize(skip)]
    pub len: usize,
}

impl BitVectorTriples {
    pub(super) fn new(sent: &SentStrings, mut received: ReceivedStrings) -> Self {
        let [m0, m1] = &sent.m;
        let len = m0.rows().count().min(received.m.rows().count());
        let [mut b, mut c] = [(); 2].map(|()| Strings::zeros(len, m0.bits()));
        let mut a = std::mem::take(&mut received.choices);
        truncate(&mut a, len);
        let messages = m0.rows().zip(m1.rows()).zip(received.m.rows());
        for (i, ((b, c), ((m0, m1), u))) in b.rows_mut().zip(c.rows_mut()).zip(messages).enumerate() {
            let a = (a[i / 64] >> (i % 64) & 1).wrapping_neg();
            for j in 0..b.len() {
                b[j] = m0[j] ^ m1[j];
                c[j] = a & b[j] ^ u[j] ^ m0[j];
            }
        }
        BitVectorTriples { a, b, c, len }
    }
}
