//! Boolean triples from random OTs of one bit in both directions.
//!
//! Asharov, Lindell, Schneider, Zohner (CCS 2013, §5.1): a triple is two random OTs of one bit with
//! exchanged roles. With (m₀, m₁) of the sender and (b, m_b) of the receiver,
//!
//! ```text
//! Sender    b := m₀ ⊕ m₁,  v := m₀            Receiver    a := its choice,  u := m_a
//! ```
//!
//! gives u ⊕ v = a·b. Each party does both and has c = a·b ⊕ u ⊕ v: the products of its own factors
//! and its shares of the two mixed ones. All four factors are random, so nothing is sent.
//!
//! The makers of COTs hash them to these bits as they make them ([`CotOutput::Bits`](crate::ot::CotOutput::Bits)).
//! **Security**: semi-honest parties.

use super::{Triples, bits::BitQueue};
use crate::ot::{CotBatch, Side};

/// The bits of each direction that wait for those of the other.
#[derive(Default)]
pub(super) struct Halves {
    a: BitQueue,
    u: BitQueue,
    b: BitQueue,
    v: BitQueue,
}

impl Halves {
    /// Adds the bits of a settled batch.
    pub(super) fn put(&mut self, side: Side, batch: &CotBatch) {
        let (factors, messages) = match side {
            Side::Sender => (&mut self.b, &mut self.v),
            Side::Receiver => (&mut self.a, &mut self.u),
        };
        factors.push(&batch.factors, batch.len());
        messages.push(&batch.messages, batch.len());
    }

    /// Makes triples, c = a·b ⊕ u ⊕ v, of the bits that both directions have.
    pub(super) fn combine(&mut self) -> Option<Triples> {
        let len = self.a.len().min(self.b.len());
        if len == 0 {
            return None;
        }
        let [a, b, u, v] = [&mut self.a, &mut self.b, &mut self.u, &mut self.v].map(|bits| bits.draw(len));
        let c = a.iter().zip(&b).zip(&u).zip(&v).map(|(((a, b), u), v)| a & b ^ u ^ v).collect();
        Some(Triples { a, b, c, len })
    }
}

impl Drop for Halves {
    fn drop(&mut self) {
        [&mut self.a, &mut self.u, &mut self.b, &mut self.v].into_iter().for_each(BitQueue::destroy);
    }
}
