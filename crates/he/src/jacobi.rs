//! Jacobi symbols of public numbers, quickly.
//!
//! Division steps on the lowest 64 bits, 62 at a time, of which the whole numbers see only the product as a matrix: Bernstein
//! and Yang, *Fast constant-time gcd computation and modular inversion* (TCHES 2019), in the form without negative numbers that
//! tells the symbol (Wuille, in the notes of libsecp256k1 on modular inversion). With f odd and g, g is halved where it is even, by
//! (2 | f), and else has a multiple of f added that makes it even, after the two have changed places if that makes them smaller,
//! by quadratic reciprocity.

/// Steps of one matrix: the lowest 64 bits of f and g tell of so many steps, and of f modulo 8 at each.
const STEPS: u32 = 62;

/// Non-negative entries, of which those of a row are at most 2^62 together: neither number grows.
struct Matrix([[u64; 2]; 2]);

/// Whether the symbol (x | n) is 1, or else −1, for odd n and x of as many words. None if they have a common factor, or the steps
/// do not come to an end, for which there is no proof.
pub(crate) fn is_one_vartime(x: &[u64], n: &[u64]) -> Option<bool> {
    let (mut f, mut g) = (n.to_vec(), x.to_vec());
    let (mut eta, mut sign) = (-1, 0);
    for _ in 0..16 + 16 * n.len() {
        if is_one(&f) {
            return Some(sign & 1 == 0);
        }
        let matrix = steps(&mut eta, f[0], g[0], &mut sign);
        matrix.apply(&mut f, &mut g);
        while f.len() > 1 && f.last() == Some(&0) && g.last() == Some(&0) {
            f.pop();
            g.pop();
        }
    }
    None
}

fn is_one(x: &[u64]) -> bool {
    x[0] == 1 && x[1..].iter().all(|&word| word == 0)
}

/// 62 steps. Bit 0 of `sign` says whether the symbol has changed; `eta` is how much longer g is than f, about.
fn steps(eta: &mut i32, mut f: u64, mut g: u64, sign: &mut u64) -> Matrix {
    let (mut top, mut bottom, mut left) = ([1, 0], [0, 1], STEPS);
    loop {
        let zeros = (g | (u64::MAX << left)).trailing_zeros();
        g >>= zeros;
        top = top.map(|entry| entry << zeros);
        *eta -= zeros as i32;
        left -= zeros;
        // (2 | f) = −1 for f of 3 or 5 modulo 8.
        *sign ^= u64::from(zeros) & ((f >> 1) ^ (f >> 2));
        if left == 0 {
            return Matrix([top, bottom]);
        }
        if *eta < 0 {
            *eta = -*eta;
            // Reciprocity: another sign if both are 3 modulo 4.
            *sign ^= (f & g) >> 1;
            (f, g) = (g, f);
            (top, bottom) = (bottom, top);
        }
        // −g/f modulo 64, or less where the two are to change places before, or no step is left.
        let bits = (*eta as u32 + 1).min(left).min(6);
        let inverse = f.wrapping_mul(f.wrapping_mul(f).wrapping_sub(2));
        let times = inverse.wrapping_mul(g) & ((1 << bits) - 1);
        g = g.wrapping_add(f.wrapping_mul(times));
        bottom = [0, 1].map(|i| bottom[i] + top[i] * times);
    }
}

impl Matrix {
    /// Both rows times (f, g), divided by 2^62, which leaves no rest.
    fn apply(&self, f: &mut [u64], g: &mut [u64]) {
        let mut sums = [0_u128; 2];
        let mut before = [0; 2];
        for at in 0..f.len() {
            for (row, sum) in sums.iter_mut().enumerate() {
                let [a, b] = self.0[row].map(u128::from);
                // Both products together are below 2^126.
                *sum += a * u128::from(f[at]) + b * u128::from(g[at]);
            }
            let now = sums.map(|sum| sum as u64);
            sums = sums.map(|sum| sum >> 64);
            if at > 0 {
                f[at - 1] = (before[0] >> STEPS) | (now[0] << (64 - STEPS));
                g[at - 1] = (before[1] >> STEPS) | (now[1] << (64 - STEPS));
            }
            before = now;
        }
        let last = f.len() - 1;
        f[last] = (before[0] >> STEPS) | ((sums[0] as u64) << (64 - STEPS));
        g[last] = (before[1] >> STEPS) | ((sums[1] as u64) << (64 - STEPS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;
    use kernels::Block;
    use kernels::generator::Generator;

    /// By Euclid's algorithm on small numbers.
    fn by_hand(mut x: u64, mut n: u64) -> i8 {
        let mut symbol = 1;
        x %= n;
        while x != 0 {
            while x.is_multiple_of(2) {
                x /= 2;
                symbol = if matches!(n % 8, 3 | 5) { -symbol } else { symbol };
            }
            (x, n) = (n, x);
            symbol = if x % 4 == 3 && n % 4 == 3 { -symbol } else { symbol };
            x %= n;
        }
        if n == 1 { symbol } else { 0 }
    }

    #[test]
    fn all_small_numbers() {
        for n in (1..300).step_by(2) {
            for x in 0..n.max(2) {
                let expected = Some(by_hand(x, n)).filter(|&symbol| symbol != 0).map(|symbol| symbol == 1);
                assert_eq!(is_one_vartime(&[x], &[n]), expected, "({x} | {n})");
                assert_eq!(is_one_vartime(&[x, 0, 0], &[n, 0, 0]), expected, "({x} | {n})");
            }
        }
    }

    #[test]
    fn large_numbers_as_another_library_finds_them() {
        let mut dice = Generator::from_seed(Block::new(11));
        for words in [2, 3, 8, 16, 32, 48] {
            let mut none = 0;
            for round in 0..200 {
                let mut n = number::random(64 * words, &mut dice);
                n[0] |= 1;
                let x = number::random_below(&n, &mut dice);
                let found = is_one_vartime(&x, &n);
                let coprime = number::is_coprime(&x, &n);
                let expected = number::has_jacobi_one_by_euclid_vartime(&x, &n);
                assert!(found.is_none() || found == Some(expected), "{words} words, round {round}");
                none += u32::from(coprime && found.is_none());
                assert_eq!(number::has_jacobi_one_vartime(&x, &n), expected, "{words} words, round {round}");
            }
            assert_eq!(none, 0, "{words} words");
        }
    }
}
