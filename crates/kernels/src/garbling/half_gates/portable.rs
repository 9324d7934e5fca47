//! Half-gates in plain code, both roles.

use crate::Block;
use crate::cipher::portable::hash;
use crate::garbling::gates::Operand;
use crate::garbling::half_gates::Ciphertexts;
use crate::garbling::portable::gates;

pub(crate) fn garble(
    key: Block,
    first: u64,
    delta: Block,
    a: Operand,
    b: Operand,
    out: &mut [Block],
    tables: &mut [Ciphertexts],
) {
    gates(key, first, out.len(), |k, bucket, tweak| {
        let a0 = a.labels[k] ^ (Block::mask(a.flip) & delta);
        let b0 = b.labels[k] ^ (Block::mask(b.flip) & delta);
        let (g, e) = (tweak, tweak ^ Block::new(1));
        let [ha0, ha1, hb0, hb1] = hash(bucket, [a0 ^ g, a0 ^ delta ^ g, b0 ^ e, b0 ^ delta ^ e]);
        let (pa, pb) = (Block::mask(a0.lsb()), Block::mask(b0.lsb()));
        let table_g = ha0 ^ ha1 ^ (pb & delta);
        let table_e = hb0 ^ hb1 ^ a0;
        out[k] = ha0 ^ (pa & table_g) ^ hb0 ^ (pb & (table_e ^ a0));
        tables[k] = [table_g, table_e].map(Block::to_bytes);
    });
}

pub(crate) fn evaluate(key: Block, first: u64, a: &[Block], b: &[Block], out: &mut [Block], tables: &[Ciphertexts]) {
    gates(key, first, out.len(), |k, bucket, tweak| {
        let [ha, hb] = hash(bucket, [a[k] ^ tweak, b[k] ^ tweak ^ Block::new(1)]);
        let [table_g, table_e] = tables[k].map(Block::from_bytes);
        let (sa, sb) = (Block::mask(a[k].lsb()), Block::mask(b[k].lsb()));
        out[k] = ha ^ (sa & table_g) ^ hb ^ (sb & (table_e ^ a[k]));
    });
}
