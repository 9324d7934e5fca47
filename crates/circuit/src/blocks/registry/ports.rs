//! Circuits of the shapes that many blocks share. An array is one port of its words, the first one in the lowest bits.

use super::Block;
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::{Bits, UInt, Word};

/// A new port of this kind of word.
pub(super) fn input<W: Word>(c: &mut Builder, name: &str, width: u32) -> W {
    let ty = W::from_bits(vec![Bit::FALSE; width as usize]).ty();
    W::from_bits(c.input(name, ty))
}

/// The words of a new port.
pub(super) fn words<W: Word>(c: &mut Builder, name: &str, count: u32, width: u32) -> Vec<W> {
    let port = c.bits(name, count * width);
    port.0.chunks(width as usize).map(|word| W::from_bits(word.to_vec())).collect()
}

/// The circuit of one operand `a`, result `out`.
pub(super) fn unary<W: Word, V: Word>(block: &Block, width: u32, gate: impl FnOnce(&mut Builder, &W) -> V) -> Circuit {
    let mut c = Builder::new(block.name);
    let a = input(&mut c, "a", width);
    let out = gate(&mut c, &a);
    c.output("out", &out);
    c.finish()
}

/// The circuit of two operands `a` and `b`, result `out`.
pub(super) fn pair<W: Word, V: Word>(
    block: &Block,
    width: u32,
    gate: impl FnOnce(&mut Builder, &W, &W) -> V,
) -> Circuit {
    let mut c = Builder::new(block.name);
    let (a, b) = (input(&mut c, "a", width), input(&mut c, "b", width));
    let out = gate(&mut c, &a, &b);
    c.output("out", &out);
    c.finish()
}

/// The circuit of two unsigned operands.
pub(super) fn binary<W: Word>(
    block: &Block,
    width: u32,
    gate: impl FnOnce(&mut Builder, &UInt, &UInt) -> W,
) -> Circuit {
    pair(block, width, gate)
}

/// The circuit of a relation between two unsigned operands.
pub(super) fn relation(block: &Block, width: u32, gate: impl FnOnce(&mut Builder, &UInt, &UInt) -> Bit) -> Circuit {
    pair(block, width, |c, a, b| Bits::from(gate(c, a, b)))
}
