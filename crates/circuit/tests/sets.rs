//! Sets: bit vectors against words, private set intersection against a hash set, and what they cost.

use std::collections::HashSet;

use crate::common::checks::{Draw, MILLION, Random, check, check_all, joined, log, split};
use circuit::blocks::sort::Record;
use circuit::blocks::{Goal, find, permute, sets};
use circuit::{Bits, Builder, Circuit, UInt};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

fn build(name: &str, size: &[u32], goal: Goal) -> Circuit {
    find(name).unwrap().circuit(size, goal).unwrap()
}

#[test]
fn bit_vectors_exhaustively() {
    for n in 1..=9 {
        let of = |name: &str| build(name, &[n], Goal::Size);
        check_all(&of("set_union"), |input, output| assert_eq!(output[0], input[0] | input[1]));
        check_all(&of("set_intersection"), |input, output| assert_eq!(output[0], input[0] & input[1]));
        check_all(&of("set_inclusion"), |input, output| assert_eq!(output[0], (input[0] & !input[1] == 0).into()));
        check_all(&of("psi_bitwise_count"), |input, output| {
            assert_eq!(output[0], (input[0] & input[1]).count_ones().into());
        });
    }
}

#[test]
fn bit_vectors_at_random() {
    let mut random = Random(1);
    let of = |name: &str| build(name, &[64], Goal::Size);
    // Often close to inclusion.
    let mut make = |_| {
        let (a, more) = (random.bits(64), random.bits(64) & random.bits(64));
        vec![a, if random.below(2) == 0 { a | more } else { more ^ 1 << random.below(64) ^ a }]
    };
    check(&of("set_union"), MILLION, &mut make, |input, output| assert_eq!(output[0], input[0] | input[1]));
    check(&of("set_intersection"), MILLION, &mut make, |input, output| assert_eq!(output[0], input[0] & input[1]));
    check(&of("set_inclusion"), MILLION, &mut make, |input, output| {
        assert_eq!(output[0], (input[0] & !input[1] == 0).into());
    });
    check(&of("psi_bitwise_count"), MILLION, &mut make, |input, output| {
        assert_eq!(output[0], (input[0] & input[1]).count_ones().into());
    });
}

#[test]
fn bit_vectors_cost_what_the_paper_says() {
    for n in (1..=130u32).chain([1000, 4096]) {
        let cost = |name: &str| {
            let circuit = build(name, &[n], Goal::Size);
            (circuit.and_count(), circuit.depth())
        };
        assert_eq!(cost("set_union"), (n.into(), 1));
        assert_eq!(cost("set_intersection"), (n.into(), 1));
        assert_eq!(cost("set_inclusion"), (u64::from(2 * n - 1), log(n as usize) + 1));
        assert_eq!(cost("psi_bitwise_count"), (u64::from(2 * n - n.count_ones()), 1 + n.ilog2()));
    }
}

#[test]
fn sums_over_a_universe() {
    let mut random = Random(2);
    for goal in GOALS {
        check_all(&build("psi_bitwise_sum", &[4, 4], goal), |input, output| sum_is(4, 4, input, output));
        let circuit = build("psi_bitwise_sum", &[8, 16], goal);
        let make = |_| vec![random.bits(64) << 64 | random.bits(64), random.bits(8)];
        check(&circuit, MILLION, make, |input, output| sum_is(8, 16, input, output));
    }
}

fn sum_is(n: usize, width: u32, input: &[u128], output: &[u128]) {
    let values = split(input[0], &vec![width; n]);
    let chosen = values.iter().enumerate().filter(|(i, _)| input[1] >> i & 1 == 1);
    assert_eq!(output[0], chosen.map(|(_, value)| value).sum());
}

/// Two sets of n elements out of a universe of which about half may be shared.
fn two_sets(random: &mut Random, n: usize, width: u32) -> [Vec<u128>; 2] {
    let mut seen = Vec::with_capacity(2 * n);
    let mut fresh = |random: &mut Random| loop {
        let element = random.bits(width);
        if !seen.contains(&element) {
            seen.push(element);
            return element;
        }
    };
    let a: Vec<u128> = (0..n).map(|_| fresh(random)).collect();
    let order = random.permutation(n);
    let share = random.below(n + 1);
    let b = order.iter().enumerate().map(|(i, &j)| if i < share { a[j] } else { fresh(random) }).collect();
    [a, b]
}

fn sorted(mut set: Vec<u128>) -> Vec<u128> {
    set.sort_unstable();
    set
}

fn shared(a: &[u128], b: &[u128]) -> Vec<u128> {
    let b: HashSet<u128> = b.iter().copied().collect();
    sorted(a.iter().copied().filter(|element| b.contains(element)).collect())
}

fn ports(c: &mut Builder, name: &str, n: usize, width: u32) -> Vec<UInt> {
    (0..n).map(|i| c.uint(format!("{name}{i}"), width)).collect()
}

#[test]
fn pairwise_comparison() {
    let mut random = Random(3);
    for n in [1, 3, 8] {
        let mut c = Builder::new("members");
        let (a, b) = (ports(&mut c, "a", n, 32), ports(&mut c, "b", n, 32));
        let found = sets::members(&mut c, &a, &b);
        c.output("found", &Bits(found));
        let circuit = c.finish();
        assert_eq!((circuit.and_count(), circuit.depth()), (n as u64 * n as u64 * 31, 5));
        let lanes = if n == 8 { MILLION } else { MILLION / 8 };
        check(
            &circuit,
            lanes,
            |_| two_sets(&mut random, n, 32).concat(),
            |input, output| {
                let found = |a: &u128| u128::from(input[n..].contains(a));
                assert_eq!(output[0], joined(input[..n].iter().map(found), 1));
            },
        );
    }
}

/// Sort, compare, shuffle with ports for each element; both values of a match are summed up to tell the owner of a.
fn sort_compare_shuffle(m: usize, n: usize, width: u32, owners: usize, goal: Goal) -> Circuit {
    let mut c = Builder::new("scs");
    let (a, b) = (ports(&mut c, "a", m, width), ports(&mut c, "b", n, width));
    let [a, b] = [a, b].map(|list| list.into_iter().map(Record::from).collect::<Vec<_>>());
    let slots = sets::matches(&mut c, &a, &b, goal);
    let count = permute::switch_count(slots.len()) as u32;
    let switches: Vec<Bits> = (0..owners).map(|i| c.bits(format!("switches{i}"), count)).collect();
    let switches: Vec<_> = switches.iter().map(|switches| switches.0.as_slice()).collect();
    for (i, (found, slot)) in sets::shuffle(&mut c, &slots, &switches).iter().enumerate() {
        c.output(format!("found{i}"), &Bits::from(*found));
        c.output(format!("element{i}"), &slot.key);
    }
    c.finish()
}

#[test]
fn sort_compare_and_shuffle() {
    let mut random = Random(4);
    for goal in GOALS {
        for (m, n, owners, lanes) in [(16, 16, 1, MILLION), (8, 8, 2, MILLION / 4), (5, 12, 1, MILLION / 8)] {
            let circuit = sort_compare_shuffle(m, n, 32, owners, goal);
            let count = permute::switch_count((m + n) / 2) as u32;
            let make = |_| {
                let [a, b] = two_sets(&mut random, m.max(n), 32);
                let switches = (0..owners).map(|_| random.bits(count)).collect();
                [sorted(a[..m].to_vec()), sorted(b[..n].to_vec()), switches].concat()
            };
            check(&circuit, lanes, make, |input, output| {
                let slots = output.chunks(2).filter(|slot| slot != &[0, 0]);
                let found: Vec<u128> = slots.map(|slot| slot[0] * slot[1]).collect();
                assert_eq!(sorted(found), shared(&input[..m], &input[m..m + n]));
            });
        }
    }
}

#[test]
fn the_shuffle_follows_its_switches() {
    let (n, width) = (16, 8);
    let mut random = Random(5);
    let circuit = sort_compare_shuffle(n, n, width, 1, Goal::Size);
    let plain = sort_compare_shuffle(n, n, width, 0, Goal::Size);
    for _ in 0..200 {
        let lists = two_sets(&mut random, n, width).map(sorted).concat();
        let switches = permute::switches(&random.permutation(n)).unwrap();
        let mut slots = Vec::new();
        check(&plain, 1, |_| lists.clone(), |_, output| slots = output.chunks(2).map(<[u128]>::to_vec).collect());
        let expected = permute::permute_plain(&slots, &switches).concat();
        let bits = joined(switches.into_iter().map(u128::from), 1);
        check(&circuit, 1, |_| [lists.clone(), vec![bits]].concat(), |_, output| assert_eq!(output, expected));
    }
}

/// All pairs of sets of n elements out of 2^width.
fn subsets(n: u32, width: u32) -> Vec<Vec<u128>> {
    let all = (0u64..1 << (1 << width)).filter(|set| set.count_ones() == n);
    all.map(|set| (0..1 << width).filter(|element| set >> element & 1 == 1).collect()).collect()
}

#[test]
fn sorted_lists_exhaustively() {
    for (n, width) in [(1, 3), (2, 3), (3, 3), (4, 3), (3, 4)] {
        let sets = subsets(n, width);
        let pair = |lane: usize| [&sets[lane / sets.len()], &sets[lane % sets.len()]];
        for goal in GOALS {
            let lists = |lane: usize| pair(lane).map(|set| joined(set.iter().copied(), width)).to_vec();
            let parts = |input: &[u128]| [0, 1].map(|i| split(input[i], &vec![width; n as usize]));
            check(&build("psi_sort_count", &[n, width], goal), sets.len().pow(2), lists, |input, output| {
                let [a, b] = parts(input);
                assert_eq!(output[0], shared(&a, &b).len() as u128);
            });
            check(&build("psi_sort_compact", &[n, width], goal), sets.len().pow(2), lists, |input, output| {
                let [a, b] = parts(input);
                let expected = shared(&a, &b);
                assert_eq!(output, [expected.len() as u128, joined(expected, width)]);
            });
        }
    }
}

#[test]
fn sorted_lists_at_random() {
    let mut random = Random(6);
    for goal in GOALS {
        let mut lists = |_: usize| two_sets(&mut random, 8, 16).map(|set| joined(sorted(set), 16)).to_vec();
        let parts = |input: &[u128]| [0, 1].map(|i| split(input[i], &[16; 8]));
        check(&build("psi_sort_count", &[8, 16], goal), MILLION, &mut lists, |input, output| {
            let [a, b] = parts(input);
            assert_eq!(output[0], shared(&a, &b).len() as u128);
        });
        check(&build("psi_sort_compact", &[8, 16], goal), MILLION, &mut lists, |input, output| {
            let [a, b] = parts(input);
            let expected = shared(&a, &b);
            assert_eq!(output, [expected.len() as u128, joined(expected, 16)]);
        });
        for (name, owners) in [("psi_sort_shuffle", 1), ("psi_sort_shuffle_both", 2)] {
            let mut random = Random(7);
            let make = |lane| [lists(lane), (0..owners).map(|_| random.bits(17)).collect()].concat();
            check(&build(name, &[8, 16], goal), MILLION / 8, make, |input, output| {
                let [a, b] = parts(input);
                let slots = split(output[1], &[16; 8]);
                let found = (0..8).filter(|i| output[0] >> i & 1 == 1).map(|i| slots[i]);
                assert_eq!(sorted(found.collect()), shared(&a, &b));
            });
        }
    }
}

#[test]
fn counts_and_sums_over_matches() {
    let mut random = Random(8);
    for goal in GOALS {
        for name in ["psi_pairwise_sum", "psi_sort_sum"] {
            let circuit = build(name, &[8, 12, 16], goal);
            let wide: Vec<u32> = circuit.inputs().iter().map(|port| port.ty.width).collect();
            assert_eq!(wide.iter().sum::<u32>(), 8 * (12 + 12 + 16));
            let values_at = circuit.inputs().iter().position(|port| port.name == "values").unwrap();
            let make = |_| {
                let mut lists = two_sets(&mut random, 8, 12).map(|set| joined(sorted(set), 12)).to_vec();
                lists.insert(values_at, joined((0..8).map(|_| random.bits(16)), 16));
                lists
            };
            check(&circuit, MILLION, make, |input, output| {
                let mut ports = input.to_vec();
                let values = split(ports.remove(values_at), &[16; 8]);
                let [a, b] = [0, 1].map(|i| split(ports[i], &[12; 8]));
                let expected = a.iter().zip(values).filter(|(element, _)| b.contains(element));
                assert_eq!(output[0], expected.map(|(_, value)| value).sum());
            });
        }
    }
    let circuit = build("psi_pairwise_count", &[8, 12], Goal::Size);
    check(
        &circuit,
        MILLION,
        |_| two_sets(&mut random, 8, 12).map(|set| joined(set, 12)).to_vec(),
        |input, output| {
            let [a, b] = [0, 1].map(|i| split(input[i], &[12; 8]));
            assert_eq!(output[0], shared(&a, &b).len() as u128);
        },
    );
}

#[test]
fn intersections_cost_what_they_say() {
    for (n, width) in [1u32, 2, 5, 16, 100].into_iter().flat_map(|n| [8u32, 32].map(|width| (n, width))) {
        let (n, w, k) = (u64::from(n), u64::from(width), u64::from(log(n as usize)));
        let ands = |name: &str| build(name, &[n as u32, width], Goal::Size).and_count();
        if n <= 16 {
            assert_eq!(ands("psi_pairwise"), n * n * (w - 1));
            assert_eq!(ands("psi_pairwise_count"), n * n * (w - 1) + n - u64::from(n.count_ones()));
        }
        let merge = (n * k + 1) * 2 * w;
        let compare = (2 * n - 1) * (w - 1);
        let switches = permute::switch_count(n as usize) as u64;
        assert!(ands("psi_sort_count") <= merge + compare + n, "{n} of {width}");
        assert!(ands("psi_sort_shuffle") <= merge + compare + n * w + switches * (w + 1), "{n} of {width}");
        assert!(ands("psi_sort_shuffle_both") <= merge + compare + n * w + 2 * switches * (w + 1), "{n} of {width}");
        assert!(ands("psi_sort_compact") <= merge + compare + n * w + n * k * (w + 1) / 2 + 2 * n, "{n} of {width}");
    }
}
