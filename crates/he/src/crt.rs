//! Numbers modulo two factors of equal length put together (the Chinese remainder theorem), in batches.

use kernels::montgomery::Modulus;
use zeroize::Zeroizing;

use crate::number::{self, Words};

/// For x modulo p and y modulo q at the same places the number modulo p·q, in `len` words, with 1/q modulo p. q is less
/// than 4·p and of as many words.
pub(crate) fn combined([x, y]: [&[u64]; 2], p: &Modulus, q: &[u64], inverse: &[u64], len: usize) -> Words {
    let each = p.len();
    let mut differences = Zeroizing::new(Vec::with_capacity(x.len()));
    for (x, y) in x.chunks_exact(each).zip(y.chunks_exact(each)) {
        let y = (0..3).fold(number::words(y), |y, _| number::subtract_modulo(&y, p.words(), p.words()));
        differences.extend_from_slice(&number::subtract_modulo(x, &y, p.words()));
    }
    let mut out = Zeroizing::new(Vec::with_capacity(x.len() / each * len));
    let quotients = times(p, &differences, inverse);
    for (y, quotient) in y.chunks_exact(each).zip(quotients.chunks_exact(each)) {
        let mut number = number::product(q, quotient);
        number::add(&mut number, y);
        out.extend_from_slice(&number::resized(&number, len));
    }
    out
}

/// Each number times one factor.
pub(crate) fn times(modulus: &Modulus, numbers: &[u64], factor: &[u64]) -> Words {
    let numbers = modulus.residues(numbers);
    let factors = modulus.residues(&Zeroizing::new(factor.repeat(numbers.len())));
    modulus.values(&modulus.multiply(&numbers, &factors))
}
