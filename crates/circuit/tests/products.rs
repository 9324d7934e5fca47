//! Sums, products and arithmetic modulo constants against integers, and big ones.

use crate::common::lanes::{Lanes, Random, check, every, low, mixed, signed};
use circuit::blocks::{self, Goal};
use circuit::{BitMatrix, Builder, Circuit, Simulator};
use num_bigint::BigUint;

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];
const MILLION: usize = 1 << 20;

fn build(name: &str, size: &[u32], goal: Goal) -> Circuit {
    blocks::find(name).unwrap().circuit(size, goal).unwrap()
}

/// The low bits of a signed number.
fn bits(value: i128, width: u32) -> u128 {
    value as u128 & low(width)
}

/// What a block computes, in numbers: its operands and their width to its output.
type Meaning = fn(u128, u128, u32) -> u128;

const BINARY: [(&str, Meaning); 4] = [
    ("multiply", |a, b, _| a * b),
    ("signed_multiply", |a, b, n| bits(signed(a, n) * signed(b, n), 2 * n)),
    ("multiply_low", |a, b, n| (a * b) & low(n)),
    ("subtract", |a, b, n| a.wrapping_sub(b) & low(n)),
];

/// The same of one operand.
type Unary = (&'static str, fn(u128, u32) -> u128);

const UNARY: [Unary; 5] = [
    ("square", |a, _| a * a),
    ("signed_square", |a, n| bits(signed(a, n) * signed(a, n), 2 * n)),
    ("square_low", |a, n| (a * a) & low(n)),
    ("negate", |a, n| a.wrapping_neg() & low(n)),
    ("absolute", |a, n| signed(a, n).unsigned_abs()),
];

/// Both goals on these lanes.
fn agree<const N: usize>(name: &str, size: &[u32], lanes: &Lanes, meaning: impl Fn(&[u128]) -> [u128; N]) {
    for goal in GOALS {
        check(&build(name, size, goal), lanes, &format!("{name}, {size:?}, {goal}"), &meaning);
    }
}

#[test]
fn two_operands() {
    for (name, meaning) in BINARY {
        for n in 1..=8 {
            agree(name, &[n], &every(&[n, n]), |lane| [meaning(lane[0], lane[1], n)]);
        }
        for n in (9..64).step_by(5).chain([28, 31, 35, 56]) {
            agree(name, &[n], &mixed(&[n, n], 1 << 10, n.into()), |lane| [meaning(lane[0], lane[1], n)]);
        }
        for (n, lanes) in [(32, MILLION), (63, 1 << 14), (64, 1 << 14)] {
            agree(name, &[n], &mixed(&[n, n], lanes, 3), |lane| [meaning(lane[0], lane[1], n)]);
        }
    }
}

#[test]
fn one_operand() {
    for (name, meaning) in UNARY {
        for n in 1..=16 {
            agree(name, &[n], &every(&[n]), |lane| [meaning(lane[0], n)]);
        }
        for (n, lanes) in [(24, 1 << 12), (32, MILLION), (36, 1 << 12), (47, 1 << 12), (63, 1 << 12), (64, 1 << 14)] {
            agree(name, &[n], &mixed(&[n], lanes, 5), |lane| [meaning(lane[0], n)]);
        }
    }
}

#[test]
fn unequal_widths() {
    for (n, m) in (1..=7).flat_map(|n| (1..=7).map(move |m| (n, m))).chain([(3, 40), (33, 28), (17, 64), (60, 31)]) {
        let lanes = if n + m <= 14 { every(&[n, m]) } else { mixed(&[n, m], 1 << 12, 9) };
        for goal in GOALS {
            let mut c = Builder::new("multiply");
            let (a, b) = (c.uint("a", n), c.uint("b", m));
            let out = blocks::multiply(&mut c, &a, &b, goal);
            c.output("out", &out);
            check(&c.finish(), &lanes, &format!("{n} and {m} bits, {goal}"), |lane| [lane[0] * lane[1]]);
            let mut c = Builder::new("signed");
            let (a, b) = (c.int("a", n), c.int("b", m));
            let out = blocks::multiply(&mut c, &a, &b, goal);
            c.output("out", &out);
            check(&c.finish(), &lanes, &format!("{n} and {m} bits, signed, {goal}"), |lane| {
                [bits(signed(lane[0], n) * signed(lane[1], m), n + m)]
            });
        }
    }
}

/// Low digits left out: at most the product, and less by fewer than `drop` units.
#[test]
fn high_products() {
    for (n, m, drop) in
        [(4, 4, 0), (5, 5, 3), (6, 5, 5), (8, 4, 4), (8, 8, 8), (32, 32, 32), (40, 53, 37), (64, 64, 60)]
    {
        let lanes = if n + m <= 16 { every(&[n, m]) } else { mixed(&[n, m], MILLION >> 4, 9) };
        for goal in GOALS {
            let mut c = Builder::new("high");
            let (a, b) = (c.uint("a", n), c.uint("b", m));
            let out = blocks::multiply_high(&mut c, &a, &b, drop, goal);
            c.output("out", &out);
            close(&c.finish(), &lanes, [n, m], drop, false);

            let drop = drop.min(n.min(m) as usize - 1);
            let mut c = Builder::new("signed_high");
            let (a, b) = (c.int("a", n), c.int("b", m));
            let out = blocks::multiply_high(&mut c, &a, &b, drop, goal);
            c.output("out", &out);
            close(&c.finish(), &lanes, [n, m], drop, true);
        }
    }
}

fn close(circuit: &Circuit, lanes: &Lanes, [n, m]: [u32; 2], drop: usize, kind: bool) {
    let results = Simulator::new(circuit).numbers(&[&lanes[0], &lanes[1]]);
    for (lane, &result) in results[0].iter().enumerate() {
        let (a, b) = (lanes[0][lane], lanes[1][lane]);
        // What the result stands for, less than the product by less than drop · 2^drop.
        let missing = match kind {
            false => a * b - (result << drop),
            true => (signed(a, n) * signed(b, m) - (signed(result, n + m - drop as u32) << drop)) as u128,
        };
        assert!(missing < (drop as u128).max(1) << drop, "{a} * {b}, {n} and {m} bits without {drop}: {result}");
    }
}

/// Ports of arrays: `count` words each, in one number.
fn arrays(counts: &[u32], width: u32, lanes: usize) -> Lanes {
    let total: u32 = counts.iter().sum();
    let words = if total * width <= 15 {
        every(&vec![width; total as usize])
    } else {
        mixed(&vec![width; total as usize], lanes, total.into())
    };
    let mut rest = &words[..];
    let port = |&count: &u32| {
        let (own, after) = rest.split_at(count as usize);
        rest = after;
        (0..words[0].len()).map(|lane| join(own.iter().map(|word| word[lane]), width)).collect()
    };
    counts.iter().map(port).collect()
}

/// The words in one number, the first one in the lowest bits.
fn join(words: impl DoubleEndedIterator<Item = u128>, width: u32) -> u128 {
    words.rev().fold(0, |port, word| port.unbounded_shl(width) | word)
}

/// The words of an array port.
fn split(port: u128, width: u32, count: u32) -> Vec<u128> {
    (0..count).map(|i| port >> (i * width) & low(width)).collect()
}

#[test]
fn sums_of_many() {
    for (count, width, lanes) in
        [(1, 5, 0), (3, 5, 0), (5, 3, 0), (15, 1, 0), (4, 32, MILLION), (7, 18, 1 << 14), (30, 4, 1 << 14)]
    {
        let lanes = arrays(&[count], width, lanes);
        agree("sum", &[count, width], &lanes, |lane| [split(lane[0], width, count).iter().sum()]);
        let bits_of_sum = width + count.next_power_of_two().ilog2();
        agree("signed_sum", &[count, width], &lanes, |lane| {
            [bits(split(lane[0], width, count).iter().map(|&word| signed(word, width)).sum(), bits_of_sum)]
        });
    }
}

#[test]
fn dot_products() {
    for (count, width, lanes) in [
        (1, 7, 0),
        (2, 3, 0),
        (3, 2, 0),
        (7, 1, 0),
        (4, 32, MILLION),
        (3, 40, 1 << 14),
        (7, 16, 1 << 14),
        (16, 8, 1 << 14),
    ] {
        let lanes = arrays(&[count, count], width, lanes);
        let pairs = |lane: &[u128]| split(lane[0], width, count).into_iter().zip(split(lane[1], width, count));
        agree("dot_product", &[count, width], &lanes, |lane| [pairs(lane).map(|(a, b)| a * b).sum()]);
        agree("signed_dot_product", &[count, width], &lanes, |lane| {
            let sum = pairs(lane).map(|(a, b)| signed(a, width) * signed(b, width)).sum();
            [bits(sum, 2 * width + count.ilog2())]
        });
    }
}

#[test]
fn matrix_products() {
    for (size, lanes) in [([1, 1, 1, 3], 0), ([2, 1, 3, 3], 0), ([2, 2, 2, 8], MILLION), ([3, 4, 2, 5], 1 << 14)] {
        matrices(size, lanes);
    }
    for size in [[2, 5, 3, 6], [4, 3, 1, 10], [1, 6, 1, 20]] {
        matrices(size, 1 << 14);
    }
}

fn matrices(size: [u32; 4], lanes: usize) {
    let [n, k, m, width] = size;
    let lanes = arrays(&[n * k, k * m], width, lanes);
    for (name, kind) in [("matrix_product", false), ("signed_matrix_product", true)] {
        let each = build(name, &size, Goal::Size).outputs()[0].ty.width / (n * m);
        let number = |word: &u128| if kind { signed(*word, width) } else { *word as i128 };
        agree(name, &size, &lanes, |lane| {
            let a: Vec<i128> = split(lane[0], width, n * k).iter().map(number).collect();
            let b: Vec<i128> = split(lane[1], width, k * m).iter().map(number).collect();
            let entry = |i: u32, j: u32| (0..k).map(|t| a[(i * k + t) as usize] * b[(t * m + j) as usize]).sum();
            [join((0..n * m).map(|at| bits(entry(at / m, at % m), each)), each)]
        });
    }
}

const CONSTANTS: [u32; 9] = [0, 1, 2, 3, 7, 10, 0x5555, 1_000_003, 1 << 31];
const MODULI: [u32; 12] = [1, 2, 3, 7, 8, 10, 97, 255, 257, 1000, 65_537, (1 << 31) - 1];

#[test]
fn constants() {
    for k in CONSTANTS {
        let more = 32 - k.leading_zeros();
        for (n, lanes) in [(1, 0), (9, 0), (32, 1 << 14)] {
            let lanes = if n < 16 { every(&[n]) } else { mixed(&[n], lanes, k.into()) };
            agree("multiply_constant", &[k, n], &lanes, |lane| [lane[0] * u128::from(k)]);
            agree("signed_multiply_constant", &[k, n], &lanes, |lane| {
                [bits(signed(lane[0], n) * i128::from(k), n + more)]
            });
        }
    }
    agree("multiply_constant", &[1_000_003, 32], &mixed(&[32], MILLION, 1), |lane| [lane[0] * 1_000_003]);
}

#[test]
fn moduli() {
    for modulus in MODULI {
        let m = u128::from(modulus);
        for n in [1, 3, 8, 12] {
            agree("remainder_constant", &[modulus, n], &every(&[n]), |lane| [lane[0] % m]);
        }
        agree("remainder_constant", &[modulus, 100], &mixed(&[100], 1 << 12, 1), |lane| [lane[0] % m]);
        for k in CONSTANTS {
            agree("multiply_constant_mod", &[k, modulus, 40], &mixed(&[40], 1 << 10, 1), |lane| {
                [lane[0] * u128::from(k) % m]
            });
            agree("add_constant_mod", &[k, modulus], &below(&[m], 1 << 10), |lane| [(lane[0] + u128::from(k)) % m]);
        }
        agree("add_mod", &[modulus], &below(&[m, m], 1 << 12), |lane| [(lane[0] + lane[1]) % m]);
        agree("multiply_mod", &[modulus], &below(&[m, m], 1 << 12), |lane| [lane[0] * lane[1] % m]);
    }
    let m = 65_537;
    agree("remainder_constant", &[m as u32, 32], &mixed(&[32], MILLION, 1), |lane| [lane[0] % m]);
    agree("multiply_constant_mod", &[9, m as u32, 32], &mixed(&[32], MILLION, 2), |lane| [lane[0] * 9 % m]);
    agree("multiply_mod", &[m as u32], &below(&[m, m], MILLION), |lane| [lane[0] * lane[1] % m]);
    agree("add_mod", &[m as u32], &below(&[m, m], MILLION), |lane| [(lane[0] + lane[1]) % m]);
    agree("add_constant_mod", &[9, m as u32], &below(&[m], MILLION), |lane| [(lane[0] + 9) % m]);
}

/// Numbers below these bounds, the two ends among them.
fn below(bounds: &[u128], lanes: usize) -> Lanes {
    let ports = mixed(&vec![64; bounds.len()], lanes, 11);
    let fold = |(port, bound): (&Vec<u128>, &u128)| port.iter().map(|number| number % bound).collect();
    let mut ports: Lanes = ports.iter().zip(bounds).map(fold).collect();
    ports.iter_mut().zip(bounds).for_each(|(port, bound)| port[..3].copy_from_slice(&[bound - 1, 0, bound - 1]));
    ports
}

/// Wide words against big integers, on some hundred lanes: what the operands make, modulo 2^(bits of the output).
#[test]
fn wide_words() {
    type Wide = fn(&BigUint, &BigUint) -> BigUint;
    let blocks: [(&str, Wide); 5] = [
        ("add", |a, b| a + b),
        ("multiply", |a, b| a * b),
        ("multiply_low", |a, b| a * b),
        ("square", |a, _| a * a),
        ("square_low", |a, _| a * a),
    ];
    for (name, meaning) in blocks {
        for n in [96, 128, 200, 512] {
            for goal in GOALS {
                let circuit = build(name, &[n], goal);
                let rows: usize = circuit.inputs().iter().map(|port| port.ty.width as usize).sum();
                let lanes = wide_lanes(rows, 256);
                let results = Simulator::new(&circuit).run(&BitMatrix::from_lanes(rows, &lanes));
                for (lane, result) in lanes.iter().zip(results.to_lanes()) {
                    let (a, b) = (big(&lane[..n as usize]), big(&lane[rows - n as usize..]));
                    let expected = meaning(&a, &b) % (BigUint::from(1u8) << result.len());
                    assert_eq!(big(&result), expected, "{name} of {a} and {b}, {n} bits, {goal}");
                }
            }
        }
    }
}

/// Random bits, runs of ones and zeros, all ones and all zeros.
fn wide_lanes(bits: usize, count: usize) -> Vec<Vec<bool>> {
    let mut random = Random(1);
    let lane = |kind: usize| -> Vec<bool> {
        let mut last = kind == 0;
        let mut bit = || match kind {
            0 | 1 => last,
            2..8 => {
                last ^= random.word().is_multiple_of(37);
                last
            }
            _ => random.word() & 1 == 1,
        };
        (0..bits).map(|_| bit()).collect()
    };
    (0..count).map(|i| i % 16).map(lane).collect()
}

fn big(bits: &[bool]) -> BigUint {
    let bytes: Vec<u8> =
        bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |b, &bit| b << 1 | u8::from(bit))).collect();
    BigUint::from_bytes_le(&bytes)
}
