//! Products of one number after the other, in words of 64 bits.

/// a·b / 2^(64·words) modulo n, below n, where `inverse` is −1/n modulo 2⁶⁴. `product` has room for twice the words.
pub(crate) fn multiply(a: &mut [u64], b: &[u64], n: &[u64], inverse: u64, product: &mut [u64]) {
    let len = n.len();
    product.fill(0);
    // Two rows at a time: their carries do not wait for each other.
    let (pairs, last) = b.as_chunks::<2>();
    for (i, pair) in (0..).step_by(2).zip(pairs) {
        let carries = add_products(&mut product[i..i + len], a, *pair);
        product[i + len..i + len + 2].copy_from_slice(&carries);
    }
    if let [word] = last {
        product[2 * len - 1] = add_products(&mut product[len - 1..2 * len - 1], a, [*word, 0])[0];
    }
    reduce(product, n, inverse, a);
}

/// Modulo n and divided by 2^(64·words). The product is below n·2^(64·words).
fn reduce(product: &mut [u64], n: &[u64], inverse: u64, out: &mut [u64]) {
    let len = n.len();
    let mut over = 0;
    for i in (0..len).step_by(2) {
        let first = product[i].wrapping_mul(inverse);
        let second = if i + 1 < len { second_factor(&product[i..], n, first, inverse) } else { 0 };
        let carries = add_products(&mut product[i..i + len], n, [first, second]);
        for (word, carry) in product[i + len..].iter_mut().zip(carries) {
            let sum = u128::from(*word) + u128::from(carry) + u128::from(over);
            (*word, over) = (sum as u64, (sum >> 64) as u64);
        }
    }
    out.copy_from_slice(&product[len..]);
    subtract_if_not_less(out, over, n);
}

/// The factor of n that makes the second word zero, once `first` times n has been added.
fn second_factor(product: &[u64], n: &[u64], first: u64, inverse: u64) -> u64 {
    let carry = (u128::from(product[0]) + u128::from(n[0]) * u128::from(first)) >> 64;
    let word = product[1].wrapping_add(n[1].wrapping_mul(first)).wrapping_add(carry as u64);
    word.wrapping_mul(inverse)
}

/// Adds x times a number of two words; what is to be added above the last place.
#[inline(always)]
fn add_products(sum: &mut [u64], x: &[u64], [first, second]: [u64; 2]) -> [u64; 2] {
    let (mut carries, mut before) = ([0; 2], 0);
    for (sum, &x) in sum.iter_mut().zip(x) {
        let row = u128::from(*sum) + u128::from(x) * u128::from(first) + u128::from(carries[0]);
        let both = u128::from(row as u64) + u128::from(before) * u128::from(second) + u128::from(carries[1]);
        *sum = both as u64;
        (carries, before) = ([(row >> 64) as u64, (both >> 64) as u64], x);
    }
    let last = u128::from(before) * u128::from(second) + u128::from(carries[0]) + u128::from(carries[1]);
    [last as u64, (last >> 64) as u64]
}

/// Subtracts n from x + over·2^(64·words) unless that is less than n, in constant time; one if it was subtracted.
pub(crate) fn subtract_if_not_less(x: &mut [u64], over: u64, n: &[u64]) -> u64 {
    let borrow = x.iter().zip(n).fold(0, |borrow, (&x, &n)| subtract(x, n, borrow).1);
    // All ones if n is subtracted: without a borrow, or with one that `over` pays for.
    let mask = std::hint::black_box((over | (borrow ^ 1)).wrapping_neg());
    let mut borrow = 0;
    for (x, &n) in x.iter_mut().zip(n) {
        (*x, borrow) = subtract(*x, n & mask, borrow);
    }
    mask & 1
}

fn subtract(x: u64, y: u64, borrow: u64) -> (u64, u64) {
    let (difference, first) = x.overflowing_sub(y);
    let (difference, second) = difference.overflowing_sub(borrow);
    (difference, u64::from(first | second))
}

/// The entry of a table of which `entry(i)` are the words, copied to `out`; all entries are read.
pub(crate) fn select<'a>(entries: impl Iterator<Item = &'a [u64]>, index: u64, out: &mut [u64]) {
    out.fill(0);
    for (number, entry) in (0_u64..).zip(entries) {
        let different = number ^ index;
        let mask = std::hint::black_box(((different | different.wrapping_neg()) >> 63).wrapping_sub(1));
        out.iter_mut().zip(entry).for_each(|(out, &word)| *out |= word & mask);
    }
}
