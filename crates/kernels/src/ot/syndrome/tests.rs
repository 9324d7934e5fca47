use super::*;
use crate::cipher::generator::Generator;

fn random(seed: u128, len: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Generator::from_seed(Block::new(seed)).fill_blocks(&mut blocks);
    blocks
}

/// All steps, with the elements of a segment in pieces of so many.
fn encode(code: &SyndromeCode, elements: &[Block], piece: usize) -> Vec<Block> {
    let len = code.segment();
    let mut vector = random(99, elements.len());
    for (segment, (mut rows, elements)) in code.rows(&mut vector).into_iter().zip(elements.chunks(len)).enumerate() {
        let mut convolution = code.first();
        elements.chunks(piece).for_each(|piece| code.spread(&mut convolution, segment, piece, &mut rows));
    }
    let mut memory = vec![Block::ZERO; len];
    vector.chunks_mut(len).enumerate().for_each(|(segment, elements)| code.second(segment, elements, &mut memory));
    let mut out = vec![Block::ZERO; code.outputs()];
    let (some, others) = out.split_at_mut(2 * GROUP);
    code.outputs_from(0, &vector, some);
    code.outputs_from(2 * GROUP, &vector, others);
    out
}

/// One block of AES by the portable code, which is another's.
fn stream(seed: Block, stream: u128, i: usize) -> Block {
    let mut block = [Block::new(stream << 64 | i as u128)];
    Aes128::with_backend(seed, Backend::Portable).encrypt(&mut block);
    block[0]
}

/// The code as its text says, an element at a time.
fn slow(seed: Block, len: usize, elements: &[Block]) -> Vec<Block> {
    let mut vector = elements.to_vec();
    for level in 0..2 {
        let convolved: Vec<Block> = vector.chunks(len).flat_map(convolve).collect();
        let mut spread = vec![Block::ZERO; vector.len()];
        for (i, x) in convolved.into_iter().enumerate() {
            let (g, j, l) = (i / 64, i % 64 / 16, i % 16);
            let flip = stream(seed, 32 + level, g / 16).to_bytes()[g % 16] % 16;
            spread[(l ^ usize::from(flip)) * len + 4 * g + j] = x;
        }
        vector = (0..16).flat_map(|b| permute(seed, 16 * level + b, &spread[b as usize * len..][..len])).collect();
    }
    let (systematic, parity) = vector.split_at(vector.len() / 2);
    let columns = remainders();
    (0..systematic.len())
        .map(|i| {
            let (q, r, l) = (i / 96, i % 96 / 4, i % 4);
            (0..24).filter(|&c| columns[r][c]).fold(systematic[i], |sum, c| sum ^ parity[96 * q + 4 * c + l])
        })
        .collect()
}

fn convolve(elements: &[Block]) -> Vec<Block> {
    let mut x: Vec<Block> = Vec::new();
    for (i, &element) in elements.iter().enumerate() {
        let before = [6, 8, 11, 12].iter().filter_map(|&back| i.checked_sub(back)).map(|at| x[at]);
        let next = before.fold(element, |sum, x| sum ^ x);
        x.push(next);
    }
    x
}

fn permute(seed: Block, number: u128, elements: &[Block]) -> Vec<Block> {
    let mut places: Vec<usize> = (0..elements.len()).collect();
    for i in (1..elements.len()).rev() {
        let word = (stream(seed, number, i / 4).get() >> (32 * (i % 4))) as u32;
        places.swap(i, ((u128::from(word) * (i as u128 + 1)) >> 32) as usize);
    }
    places.into_iter().map(|place| elements[place]).collect()
}

/// The powers of X in the polynomial by which the residue code is made.
const POWERS: [usize; 15] = [23, 19, 18, 14, 13, 12, 10, 9, 7, 6, 5, 3, 2, 1, 0];

/// B by long division.
fn remainders() -> Vec<[bool; 24]> {
    (0..24)
        .map(|r| {
            let mut x = [false; 47];
            x[46 - r] = true;
            for top in (23..47).rev() {
                if x[top] {
                    POWERS.iter().for_each(|power| x[top - 23 + power] ^= true);
                }
            }
            x[23] = x[..23].iter().filter(|&&x| x).count() % 2 == 0;
            x[..24].try_into().unwrap()
        })
        .collect()
}

#[test]
fn every_backend_is_the_code_as_written() {
    for (seed, len) in [(1, 192), (2, 384), (3, 1344)] {
        let (seed, elements) = (Block::new(seed << 80), random(seed, 16 * len));
        let expect = slow(seed, len, &elements);
        for backend in Backend::available() {
            let code = SyndromeCode::with_backend(seed, len, backend);
            for piece in [64, 192, len] {
                assert!(encode(&code, &elements, piece) == expect, "{backend}, segments of {len}, pieces of {piece}");
            }
        }
    }
}

/// What is compressed is a function of every element, and the sum of two vectors' outputs that of their sum.
#[test]
fn the_code_is_linear_and_takes_every_element() {
    let (code, zeros) = (SyndromeCode::new(Block::new(5), 192), vec![Block::ZERO; 16 * 192]);
    let [a, b] = [1, 2].map(|seed| random(seed, 16 * 192));
    let sum = |a: &[Block], b: &[Block]| a.iter().zip(b).map(|(&a, &b)| a ^ b).collect::<Vec<_>>();
    let [of_a, of_b, of_sum] = [&a, &b, &sum(&a, &b)].map(|x| encode(&code, x, 192));
    assert!(of_sum == sum(&of_a, &of_b));
    for i in (0..zeros.len()).step_by(97) {
        let mut one = zeros.clone();
        one[i] = Block::new(1);
        assert!(encode(&code, &one, 192).contains(&Block::new(1)), "element {i}");
    }
}

/// Weight 12 at least, and every weight a multiple of four, as the extended quadratic residue code of length 48.
#[test]
fn the_block_code_has_distance_12() {
    let rows: Vec<u64> = (0..24).map(|r| 1 << (24 + r) | u64::from(PARITIES[r])).collect();
    for (r, columns) in remainders().into_iter().enumerate() {
        assert!((0..24).all(|c| columns[c] == (PARITIES[r] >> c & 1 == 1)));
    }
    let mut counts = [0; 49];
    let mut word = 0u64;
    for i in 1..1u32 << 24 {
        word ^= rows[i.trailing_zeros() as usize];
        counts[word.count_ones() as usize] += 1;
    }
    let of = |weight: usize| counts[weight];
    assert_eq!([12, 16, 20, 24].map(of), [17_296, 535_095, 3_995_376, 7_681_680]);
    assert_eq!(counts.iter().sum::<u32>(), (1 << 24) - 1);
    assert!((0..49).all(|weight| of(weight) == 0 || weight % 4 == 0 && weight >= 12));
}

/// The convolution's polynomial is primitive: its response to a one has the longest period there is, 4095.
#[test]
fn a_one_rings_with_period_4095() {
    let mut one = vec![Block::ZERO; 2 * 4095 + 12];
    one[0] = Block::new(1);
    let ring: Vec<u128> = convolve(&one).into_iter().map(Block::get).collect();
    let period = (1..).find(|&period| ring[..12] == ring[period..period + 12]).unwrap();
    assert_eq!(period, 4095);
    assert_eq!(ring[..4095].iter().sum::<u128>(), 2048);
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    for len in [0, 64, 191, 1 << 26] {
        assert!(std::panic::catch_unwind(|| SyndromeCode::new(Block::ZERO, len)).is_err(), "{len}");
    }
    let code = SyndromeCode::new(Block::ZERO, 192);
    for (from, len) in [(0, 95), (1, 96), (192 * 8, 96)] {
        let make = || code.outputs_from(from, &vec![Block::ZERO; 16 * 192], &mut vec![Block::ZERO; len]);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(make)).is_err(), "{from}, {len}");
    }
}

/// The coefficients of all outputs, a bit for each element.
fn rows(code: &SyndromeCode) -> Vec<Vec<u128>> {
    let n = SEGMENTS * code.segment();
    let mut rows = vec![Vec::new(); code.outputs()];
    for from in (0..n).step_by(128) {
        let mut elements = vec![Block::ZERO; n];
        (from..from + 128).for_each(|i| elements[i] = Block::new(1 << (i % 128)));
        encode(code, &elements, code.segment()).iter().zip(&mut rows).for_each(|(out, row)| row.push(out.get()));
    }
    rows
}

/// Single outputs, and sums of two and three, hang on about half of all elements.
#[test]
fn few_outputs_hang_on_half_of_the_elements() {
    let rows = rows(&SyndromeCode::new(Block::new(11), 192));
    let n = 128.0 * rows[0].len() as f64;
    let share = |word: &[u128]| word.iter().map(|bits| bits.count_ones()).sum::<u32>() as f64 / n;
    let (mut least, mut most) = (1f64, 0f64);
    let mut seen = |word: &[u128]| (least, most) = (least.min(share(word)), most.max(share(word)));
    let sum = |a: &[u128], b: &[u128]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<_>>();
    for (i, row) in rows.iter().enumerate() {
        seen(row);
        for (j, other) in rows[..i].iter().enumerate().filter(|(j, _)| i / 96 == j / 96 || (i + j) % 7 == 0) {
            let pair = sum(row, other);
            seen(&pair);
            seen(&sum(&pair, &rows[(i * j) % 96]));
        }
    }
    assert!(least > 0.42 && most < 0.55, "{least} to {most}");
}

/// The same of all outputs at the size of the smallest set, by 2,048 elements of 147,456.
#[test]
fn all_outputs_hang_on_half_of_the_elements() {
    let code = SyndromeCode::new(Block::new(12), 9216);
    let mut ones = vec![0; code.outputs()];
    for from in 0..16 {
        let mut elements = vec![Block::ZERO; SEGMENTS * 9216];
        (0..128).for_each(|i| elements[9216 * (i % 16) + 1151 * (i / 16) + 71 * from] = Block::new(1 << i));
        encode(&code, &elements, 9216).iter().zip(&mut ones).for_each(|(out, ones)| *ones += out.get().count_ones());
    }
    let [least, most] = [ones.iter().min(), ones.iter().max()].map(|ones| f64::from(*ones.unwrap()) / 2048.0);
    assert!(least > 0.44 && most < 0.56, "{least} to {most}");
}
