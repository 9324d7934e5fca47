//! Selection.

use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Word;

/// `then` if `select`, else `otherwise`. n ANDs, depth 1.
///
/// # Panics
/// If the widths differ.
pub fn mux<W: Word>(c: &mut Builder, select: Bit, then: &W, otherwise: &W) -> W {
    assert_eq!(then.width(), otherwise.width(), "operands of one width");
    let pairs = then.bits().iter().zip(otherwise.bits());
    W::from_bits(pairs.map(|(&then, &otherwise)| c.mux(select, then, otherwise)).collect())
}
