//! Sorting networks by the 0/1 principle, sorted records, medians, and what they cost.

use crate::common::checks::{Draw, MILLION, Random, check, check_all, joined, log, split};
use circuit::blocks::median::{median, ranked};
use circuit::blocks::sort::{Direction, Network, Record, merge, sort};
use circuit::blocks::{Goal, find};
use circuit::{Bits, Builder, Circuit, Int, UInt};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// Inputs of zeros and ones, 64 to a word: bit l of word w of a wire belongs to input 64·w + l.
fn all_inputs(n: usize) -> Vec<Vec<u64>> {
    let words = (1usize << n).div_ceil(64);
    let bit = |input: usize, wire: usize| (input >> wire & 1) as u64;
    let word = |wire: usize, word: usize| (0..64).fold(0, |all, lane| all | bit(64 * word + lane, wire) << lane);
    (0..n).map(|wire| (0..words).map(|index| word(wire, index)).collect()).collect()
}

fn applied(network: &Network, mut wires: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    for &(i, j) in &network.comparators {
        for word in 0..wires[i].len() {
            let (a, b) = (wires[i][word], wires[j][word]);
            (wires[i][word], wires[j][word]) = (a & b, a | b);
        }
    }
    network.order.iter().map(|&wire| wires[wire].clone()).collect()
}

fn ascending(wires: &[Vec<u64>]) -> bool {
    wires.windows(2).all(|pair| pair[0].iter().zip(&pair[1]).all(|(low, high)| low & !high == 0))
}

#[test]
fn networks_sort_all_zeros_and_ones() {
    for n in 0..=18 {
        for network in [Network::odd_even(n), Network::bitonic(n)] {
            assert!(ascending(&applied(&network, all_inputs(n))), "{n} wires");
            let mut order = network.order;
            order.sort_unstable();
            assert!(order.into_iter().eq(0..n));
        }
    }
}

#[test]
fn networks_merge_all_zeros_and_ones() {
    for (m, n) in (0..=20usize).flat_map(|m| (0..=33usize).map(move |n| (m, n))) {
        for network in [Network::odd_even_merge(m, n), Network::bitonic_merge(m, n)] {
            for (a, b) in (0..=m).flat_map(|a| (0..=n).map(move |b| (a, b))) {
                let ones = (0..m).map(|i| i + a >= m).chain((0..n).map(|i| i + b >= n));
                let result = applied(&network, ones.map(|one| vec![u64::from(one)]).collect());
                assert!(ascending(&result), "{a} ones of {m} and {b} of {n}");
            }
        }
    }
}

#[test]
fn networks_are_as_large_as_they_say() {
    for p in 1..=10usize {
        let n = 1 << p;
        let (odd_even, bitonic) = (Network::odd_even(n), Network::bitonic(n));
        assert_eq!(odd_even.comparators.len(), (p * p - p + 4) * n / 4 - 1);
        assert_eq!(bitonic.comparators.len(), p * (p + 1) * n / 4);
        assert_eq!((odd_even.layers(), bitonic.layers()), (p * (p + 1) / 2, p * (p + 1) / 2));
        let (odd_even, bitonic) = (Network::odd_even_merge(n, n), Network::bitonic_merge(n, n));
        assert_eq!((odd_even.comparators.len(), odd_even.layers()), (p * n + 1, p + 1));
        assert_eq!((bitonic.comparators.len(), bitonic.layers()), ((p + 1) * n, p + 1));
    }
    for n in 2..=300usize {
        let (p, padded) = (log(n) as usize, n.next_power_of_two());
        for (network, full) in
            [(Network::odd_even(n), Network::odd_even(padded)), (Network::bitonic(n), Network::bitonic(padded))]
        {
            assert!(network.comparators.len() <= full.comparators.len() && network.layers() <= p * (p + 1) / 2, "{n}");
        }
    }
}

fn ports(c: &mut Builder, n: usize, width: u32, payload: u32) -> Vec<Record<UInt>> {
    let keys: Vec<UInt> = (0..n).map(|i| c.uint(format!("key{i}"), width)).collect();
    let mut value = |i: usize| if payload == 0 { Bits(Vec::new()) } else { c.bits(format!("value{i}"), payload) };
    keys.into_iter().enumerate().map(|(i, key)| Record { key, payload: value(i) }).collect()
}

fn finish(mut c: Builder, records: &[Record<UInt>]) -> Circuit {
    records.iter().enumerate().for_each(|(i, record)| c.output(format!("key{i}"), &record.key));
    let payloads = records.iter().enumerate().filter(|(_, record)| !record.payload.0.is_empty());
    payloads.for_each(|(i, record)| c.output(format!("value{i}"), &record.payload));
    c.finish()
}

/// Keys in order, and every key with a payload that it came with.
fn sorted_is(n: usize, direction: Direction, input: &[u128], output: &[u128]) {
    let records = |ports: &[u128]| {
        let record = |i: usize| (ports[i] << 32 | ports.get(n + i).copied().unwrap_or(0)) as u64;
        let mut records: Vec<u64> = (0..n).map(record).collect();
        records.sort_unstable();
        records
    };
    assert_eq!(records(input), records(output));
    let fits = |pair: &[u128]| match direction {
        Direction::Ascending => pair[0] <= pair[1],
        Direction::Descending => pair[0] >= pair[1],
    };
    assert!(output[..n].windows(2).all(fits), "{output:?}");
}

#[test]
fn records_are_sorted() {
    let mut random = Random(1);
    for goal in GOALS {
        for direction in [Direction::Ascending, Direction::Descending] {
            for (n, width, payload) in [(1, 3, 2), (2, 3, 2), (3, 3, 3), (4, 2, 3), (5, 2, 2), (7, 3, 0)] {
                let mut c = Builder::new("sort");
                let records = ports(&mut c, n, width, payload);
                let records = sort(&mut c, &records, direction, goal);
                check_all(&finish(c, &records), |input, output| sorted_is(n, direction, input, output));
            }
        }
        for network in [Network::odd_even(16), Network::bitonic(16)] {
            let mut c = Builder::new("sort");
            let records = ports(&mut c, 16, 32, 8);
            let records = network.apply(&mut c, &records, Direction::Ascending, goal);
            let make = |_| {
                // Every second lane has few different keys.
                let width = if random.below(2) == 0 { 32 } else { 3 };
                [[(); 16].map(|()| random.bits(width)), [(); 16].map(|()| random.bits(8))].concat()
            };
            let verify = |input: &[u128], output: &[u128]| sorted_is(16, Direction::Ascending, input, output);
            check(&finish(c, &records), MILLION, make, verify);
        }
    }
}

#[test]
fn signed_keys_sort_as_signed() {
    let mut c = Builder::new("sort");
    let records: Vec<Record<Int>> = (0..5).map(|i| Record::from(c.int(format!("key{i}"), 4))).collect();
    let sorted = sort(&mut c, &records, Direction::Ascending, Goal::Size);
    sorted.iter().enumerate().for_each(|(i, record)| c.output(format!("key{i}"), &record.key));
    let signed = |key: &u128| if *key < 8 { *key as i32 } else { *key as i32 - 16 };
    check_all(&c.finish(), |input, output| {
        let mut expected: Vec<i32> = input.iter().map(signed).collect();
        expected.sort_unstable();
        assert_eq!(output.iter().map(signed).collect::<Vec<_>>(), expected);
    });
}

#[test]
fn lists_are_merged() {
    let mut random = Random(2);
    for goal in GOALS {
        for (m, n) in [(16, 16), (5, 12), (1, 7)] {
            for direction in [Direction::Ascending, Direction::Descending] {
                let mut c = Builder::new("merge");
                let records = ports(&mut c, m + n, 32, 8);
                let merged = merge(&mut c, &records[..m], &records[m..], direction, goal);
                let make = |_| {
                    let mut keys: Vec<u128> = (0..m + n).map(|_| random.bits(32)).collect();
                    keys[..m].sort_unstable();
                    keys[m..].sort_unstable();
                    if direction == Direction::Descending {
                        keys[..m].reverse();
                        keys[m..].reverse();
                    }
                    keys.extend((0..m + n).map(|_| random.bits(8)));
                    keys
                };
                let verify = |input: &[u128], output: &[u128]| sorted_is(m + n, direction, input, output);
                check(&finish(c, &merged), if m == n { MILLION / 2 } else { MILLION / 16 }, make, verify);
            }
        }
    }
}

/// The word of every rank, or the median alone.
fn ranks(n: usize, width: u32, ranks: impl IntoIterator<Item = usize>, goal: Goal) -> Circuit {
    let mut c = Builder::new("ranks");
    let words: Vec<UInt> = (0..n).map(|i| c.uint(format!("word{i}"), width)).collect();
    for rank in ranks {
        let found = ranked(&mut c, &words, rank, goal);
        c.output(format!("rank{rank}"), &found);
    }
    c.finish()
}

#[test]
fn words_of_every_rank() {
    for goal in GOALS {
        for (n, width) in [(1, 4), (2, 5), (3, 5), (4, 4), (5, 4), (7, 2), (8, 2), (9, 2), (17, 1)] {
            check_all(&ranks(n, width, 0..n, goal), |input, output| {
                let mut expected = input.to_vec();
                expected.sort_unstable();
                assert_eq!(output, expected);
            });
        }
        let mut random = Random(3);
        for (n, lanes) in [(9, MILLION), (25, MILLION / 8)] {
            let circuit = ranks(n, 32, [(n - 1) / 2], goal);
            let make = |_| {
                let width = [32, 32, 4, 2][random.below(4)];
                (0..n).map(|_| random.bits(width)).collect()
            };
            check(&circuit, lanes, make, |input, output| {
                let mut expected = input.to_vec();
                expected.sort_unstable();
                assert_eq!(output[0], expected[(n - 1) / 2]);
            });
        }
    }
}

#[test]
fn signed_medians() {
    for goal in GOALS {
        let mut c = Builder::new("median");
        let words: Vec<Int> = (0..4).map(|i| c.int(format!("word{i}"), 4)).collect();
        let middle = median(&mut c, &words, goal);
        c.output("median", &middle);
        let signed = |word: &u128| if *word < 8 { *word as i32 } else { *word as i32 - 16 };
        check_all(&c.finish(), |input, output| {
            let mut expected: Vec<i32> = input.iter().map(signed).collect();
            expected.sort_unstable();
            assert_eq!(signed(&output[0]), expected[1]);
        });
    }
}

#[test]
fn medians_cost_what_they_say() {
    for (n, width) in (1..=64usize).flat_map(|n| [1u32, 8, 32].map(|width| (n, width))) {
        let circuit = ranks(n, width, [(n - 1) / 2], Goal::Size);
        let most = n as u64 * u64::from(3 * width - 2) + u64::from(width * log(n));
        assert!(circuit.and_count() <= most, "{n} words of {width}: {} ANDs", circuit.and_count());
        assert!(circuit.depth() <= width * (log(n) + 2), "{n} words of {width}: depth {}", circuit.depth());
    }
    for (n, width) in [(3, 8), (9, 32), (25, 32), (64, 16)] {
        let circuit = ranks(n, width, [(n - 1) / 2], Goal::Depth);
        assert!(circuit.depth() <= log(width as usize) + 2 * log(n) + 4, "{n} words: depth {}", circuit.depth());
    }
}

#[test]
fn the_registry_agrees() {
    let mut random = Random(4);
    let mut run = |name: &str, size: &[u32], verify: &mut dyn FnMut(&[u128], &[u128])| {
        for goal in GOALS {
            let circuit = find(name).unwrap().circuit(size, goal).unwrap();
            let widths: Vec<u32> = circuit.inputs().iter().map(|port| port.ty.width).collect();
            let wide = |random: &mut Random, width: u32| (random.bits(64) << 64 | random.bits(64)) >> (128 - width);
            check(&circuit, 5000, |_| widths.iter().map(|&width| wide(&mut random, width)).collect(), &mut *verify);
        }
    };
    let cut = |ports: &[u128], width: u32| split(ports[0], &[width; 9]);
    for name in ["sort_odd_even", "sort_bitonic"] {
        run(name, &[9, 14, 0], &mut |input, output| {
            sorted_is(9, Direction::Ascending, &cut(input, 14), &cut(output, 14));
        });
        run(name, &[9, 3, 14], &mut |input, output| {
            let both = |ports: &[u128]| [cut(ports, 3), cut(&ports[1..], 14)].concat();
            sorted_is(9, Direction::Ascending, &both(input), &both(output));
        });
    }
    run("median", &[9, 14], &mut |input, output| {
        let mut words = cut(input, 14);
        words.sort_unstable();
        assert_eq!(output[0], words[4]);
    });
    for goal in GOALS {
        let circuit = find("merge").unwrap().circuit(&[9, 7, 0], goal).unwrap();
        let sorted = |random: &mut Random| {
            let mut words: Vec<u128> = (0..9).map(|_| random.bits(7)).collect();
            words.sort_unstable();
            joined(words, 7)
        };
        check(
            &circuit,
            5000,
            |_| vec![sorted(&mut random), sorted(&mut random)],
            |input, output| {
                let both = [cut(input, 7), cut(&input[1..], 7)].concat();
                sorted_is(18, Direction::Ascending, &both, &split(output[0], &[7; 18]));
            },
        );
    }
}
