//! The attack with subsets, carried out: at small size entirely, at full size the search for a subset.

use crate::rows::{gauss_within, random_subset, stern_within, tries};
use crate::{CHECKS, ONES, SETS, Set, is_on_the_page};

pub struct Random(pub u64);

impl Random {
    /// SplitMix64.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    fn row(&mut self, k: usize) -> [u32; 10] {
        std::array::from_fn(|_| self.below(k) as u32)
    }
}

/// Any fixed subset is a random one, as the rows are random: the first unknowns.
#[test]
fn three_quarters_of_the_secret_hold_enough_rows() {
    let (set, mut random) = (&SETS[0], Random(1));
    let (n, k) = (set.n() as usize, set.k() as usize);
    let mut by_last = vec![0usize; k];
    for _ in 0..n {
        by_last[*random.row(k).iter().max().unwrap() as usize] += 1;
    }
    let mut rows = 0;
    let enough = (0..k).find(|&v| {
        rows += by_last[v];
        rows >= v + 1 + CHECKS as usize
    });
    let share = enough.unwrap() as f64 / random_subset(set);
    assert!((share - 1.0).abs() < 0.002, "{share}");
}

const TOY: Set = Set { t: 64.0, k: 1.0, depth: 5, noisy: 1.0 };
const TOY_K: usize = 96;
const TOY_CHECKS: usize = 12;

struct Toy {
    rows: Vec<(u128, bool)>,
    secret: u128,
}

fn toy(random: &mut Random) -> Toy {
    let secret = (u128::from(random.next()) << 64 | u128::from(random.next())) & ((1 << TOY_K) - 1);
    let mut rows = Vec::new();
    for _ in 0..TOY.t as usize {
        let noisy = random.below(1 << TOY.depth);
        for i in 0..1 << TOY.depth {
            let mask = random.row(TOY_K).iter().fold(0u128, |mask, &x| mask ^ 1 << x);
            rows.push((mask, ((mask & secret).count_ones() & 1 == 1) ^ (i == noisy)));
        }
    }
    Toy { rows, secret }
}

/// The rows within a random subset that is just large enough.
fn rows_of_a_subset(toy: &Toy, random: &mut Random) -> Vec<(u128, bool)> {
    let mut order: Vec<usize> = (0..TOY_K).collect();
    for i in 0..TOY_K {
        order.swap(i, i + random.below(TOY_K - i));
    }
    let mut subset = 0u128;
    for (size, x) in order.into_iter().enumerate() {
        subset |= 1 << x;
        let inside: Vec<_> = toy.rows.iter().copied().filter(|(mask, _)| mask & !subset == 0).collect();
        if inside.len() > size + TOY_CHECKS {
            return inside;
        }
    }
    unreachable!("all rows are within all of the secret")
}

/// The unknowns that the rows fix, and their values; nothing where the rows contradict each other. A row has an
/// even number of ones, so a secret and its complement give the same sums: the first unknown counts as zero.
fn solve(rows: &[(u128, bool)]) -> Option<(u128, u128)> {
    let first = rows[0].0 & rows[0].0.wrapping_neg();
    let mut reduced: Vec<(u128, bool)> = Vec::new();
    for &(mut mask, mut bit) in std::iter::once(&(first, false)).chain(rows) {
        for &(pivot, value) in &reduced {
            if mask & (1 << pivot.trailing_zeros()) != 0 {
                (mask, bit) = (mask ^ pivot, bit ^ value);
            }
        }
        if mask == 0 {
            if bit {
                return None;
            }
            continue;
        }
        for (other, value) in &mut reduced {
            if *other & (1 << mask.trailing_zeros()) != 0 {
                // The lowest one of `other` stays: `mask` is free of all pivots.
                (*other, *value) = (*other ^ mask, *value ^ bit);
            }
        }
        reduced.push((mask, bit));
    }
    let single = reduced.iter().filter(|(mask, _)| mask.is_power_of_two());
    Some(single.fold((0, 0), |(known, values), &(mask, bit)| (known | mask, if bit { values | mask } else { values })))
}

/// Unknowns that are alone in a row, by majority, until all are known.
fn extend(toy: &Toy, mut known: u128, mut values: u128) -> u128 {
    for _ in 0..TOY_K {
        for x in 0..TOY_K {
            let alone = toy.rows.iter().filter(|(mask, _)| mask & !known == 1 << x);
            let vote: i32 =
                alone.map(|(mask, bit)| if ((mask & values).count_ones() & 1 == 1) ^ bit { 1 } else { -1 }).sum();
            if vote.abs() > 2 {
                (known, values) = (known | 1 << x, if vote > 0 { values | 1 << x } else { values });
            }
        }
    }
    values
}

/// In small instances, subsets are as often free of noise as the formula says, and one such gives the whole secret.
#[test]
fn the_subset_attack_takes_the_tries_of_the_formula() {
    let mut random = Random(7);
    let (mut found, mut expected) = (0.0, 0.0);
    for _ in 0..100 {
        let toy = toy(&mut random);
        for _ in 0..50 {
            let inside = rows_of_a_subset(&toy, &mut random);
            expected += (-tries(&TOY, inside.len() as f64)).exp2();
            let Some((known, values)) = solve(&inside) else { continue };
            if found % 16.0 == 0.0 {
                let wrong = extend(&toy, known, values) ^ toy.secret;
                assert!(wrong == 0 || wrong == (1 << TOY_K) - 1);
            }
            found += 1.0;
        }
    }
    println!("5000 subsets: {found} solved, {expected:.0} by the formula");
    assert!((found / expected - 1.0).abs() < 0.2, "{found} {expected}");
}

// --- better subsets --------------------------------------------------------------------------------------------

/// Removes a tenth of the unknowns at random, then always the one in the fewest rows, while rows outnumber unknowns.
fn greedy_subset(set: &Set, random: &mut Random) -> f64 {
    let (n, k) = (set.n() as usize, set.k() as usize);
    let rows: Vec<[u32; 10]> = (0..n).map(|_| random.row(k)).collect();
    let mut rows_of = vec![Vec::new(); k];
    rows.iter().enumerate().for_each(|(i, row)| row.iter().for_each(|&x| rows_of[x as usize].push(i as u32)));
    let mut degree: Vec<usize> = rows_of.iter().map(Vec::len).collect();
    let mut by_degree = vec![Vec::new(); degree.iter().max().unwrap() + 1];
    degree.iter().enumerate().for_each(|(x, &d)| by_degree[d].push(x));
    let (mut dead, mut gone, mut left, mut held, mut low) = (vec![false; n], vec![false; k], k, n, 0);
    while held > left + CHECKS as usize {
        let x = if left > k - k / 10 {
            random.below(k)
        } else {
            low = (low..).find(|&d| !by_degree[d].is_empty()).unwrap();
            let x = by_degree[low].pop().unwrap();
            if degree[x] == low { x } else { continue }
        };
        if std::mem::replace(&mut gone[x], true) {
            continue;
        }
        left -= 1;
        for &i in &rows_of[x] {
            if std::mem::replace(&mut dead[i as usize], true) {
                continue;
            }
            held -= 1;
            for &y in rows[i as usize].iter().filter(|&&y| !gone[y as usize]) {
                let d = &mut degree[y as usize];
                *d -= 1;
                by_degree[*d].push(y as usize);
                low = low.min(*d);
            }
        }
    }
    left as f64
}

/// Takes 1 GB: `cargo test --release --test lpn_estimate -- --ignored --nocapture`.
#[test]
#[ignore = "large"]
fn a_greedy_subset_is_smaller_still() {
    let row = |(seed, set): (usize, &Set)| {
        let v = greedy_subset(set, &mut Random(seed as u64));
        let cells =
            [100.0 * v / set.k(), gauss_within(set, v, ONES), stern_within(set, v, ONES)].map(|x| format!("{x:.1}"));
        format!("| {}, 2^{}, {} | {} |", set.t, set.k.log2(), set.depth, cells.join(" | "))
    };
    let rows: Vec<String> = SETS[..3].iter().enumerate().map(row).collect();
    println!("{}", rows.join("\n"));
    rows.iter().for_each(|row| is_on_the_page(row));
}
