//! Selection, tables, permutations, compaction: against plain indexing, and their costs.

use crate::common::checks::{Draw, MILLION, Random, check, check_all, joined, log, split};
use circuit::blocks::sets::duplicates;
use circuit::blocks::sort::Record;
use circuit::blocks::{Goal, compact, conditional_swap, find, multiplexer, one_hot, permute, select, table};
use circuit::{Bit, Bits, Builder, Circuit, UInt};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// An index for n words, and a port for each.
fn array(c: &mut Builder, n: usize, width: u32) -> (Vec<Bit>, Vec<UInt>) {
    let index = if n == 1 { Vec::new() } else { c.uint("index", log(n)).0 };
    (index, (0..n).map(|i| c.uint(format!("word{i}"), width)).collect())
}

/// The word that an index of an array of n selects.
fn place(index: u128, n: usize) -> usize {
    let index = index as usize;
    if index < n { index } else { index - n.next_power_of_two() / 2 }
}

fn decoder(bits: u32) -> u64 {
    (1 << bits) - u64::from(bits) - 1
}

#[test]
fn decoders() {
    for k in 1..=12u32 {
        let circuit = find("one_hot").unwrap().circuit(&[k], Goal::Size).unwrap();
        assert_eq!((circuit.and_count(), circuit.depth()), (decoder(k), log(k as usize)), "{k} bits");
        if k <= 6 {
            check_all(&circuit, |index, hot| assert_eq!(hot[0], 1 << index[0], "{k} bits"));
        }
    }
    let mut c = Builder::new("wide");
    let index = c.uint("index", 12);
    let hot = one_hot(&mut c, &index.0);
    let parts: Vec<Bits> = hot.chunks(128).map(|part| Bits(part.to_vec())).collect();
    parts.iter().enumerate().for_each(|(i, part)| c.output(format!("part{i}"), part));
    check_all(&c.finish(), |index, parts| {
        let (part, bit) = (index[0] as usize / 128, index[0] % 128);
        parts.iter().enumerate().for_each(|(i, &hot)| assert_eq!(hot, u128::from(i == part) << bit));
    });
}

#[test]
fn decoders_below_a_bound() {
    for (n, goal) in (2..=100).flat_map(|n| GOALS.map(|goal| (n, goal))) {
        let mut c = Builder::new("below");
        let index = c.uint("index", log(n));
        let hot = select::one_hot_below(&mut c, &index.0, n, goal);
        c.output("hot", &Bits(hot));
        let circuit = c.finish();
        check_all(&circuit, |index, hot| assert_eq!(hot[0], 1 << place(index[0], n), "{index:?} of {n}, {goal}"));
        let k = log(n);
        let (ands, depth) = match goal {
            Goal::Size => (n as u64 - u64::from(k), 1 + log(k as usize - 1)),
            Goal::Depth => (decoder(k), log(k as usize)),
        };
        assert!(circuit.and_count() <= ands && circuit.depth() <= depth.max(1), "{n}, {goal}");
    }
}

#[test]
fn exchanges() {
    let mut random = Random(1);
    let circuit = find("conditional_swap").unwrap().circuit(&[32], Goal::Size).unwrap();
    assert_eq!((circuit.and_count(), circuit.depth()), (32, 1));
    check(
        &circuit,
        MILLION,
        |_| vec![random.bits(1), random.bits(32), random.bits(32)],
        |input, output| {
            let (a, b) = (input[1], input[2]);
            assert_eq!(output, if input[0] == 1 { [b, a] } else { [a, b] });
        },
    );
    let mut c = Builder::new("swap");
    let (swap, a, b) = (c.bits("swap", 1), c.uint("a", 8), c.uint("b", 8));
    let (first, second) = conditional_swap(&mut c, swap.0[0], &a, &b);
    c.output("first", &first);
    c.output("second", &second);
    check_all(&c.finish(), |input, output| {
        assert_eq!(output, [input[1 + input[0] as usize], input[2 - input[0] as usize]]);
    });
}

fn multiplexed(n: usize, width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("multiplexer");
    let (index, words) = array(&mut c, n, width);
    let out = multiplexer(&mut c, &index, &words, goal);
    let read = table::read(&mut c, &index, &words, goal);
    assert_eq!(out, read);
    c.output("out", &out);
    c.finish()
}

fn written(n: usize, width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("write");
    let (index, words) = array(&mut c, n, width);
    let value = c.uint("value", width);
    let words = table::write(&mut c, &index, &words, &value, goal);
    words.iter().enumerate().for_each(|(i, word)| c.output(format!("word{i}"), word));
    c.finish()
}

fn read_is(n: usize, input: &[u128], output: &[u128]) {
    let (index, words) = input.split_at(input.len() - n);
    assert_eq!(output[0], words[place(index.first().copied().unwrap_or(0), n)], "{index:?} of {n}");
}

fn write_is(n: usize, input: &[u128], output: &[u128]) {
    let (index, rest) = input.split_at(input.len() - n - 1);
    let (mut words, value) = (rest[..n].to_vec(), rest[n]);
    words[place(index.first().copied().unwrap_or(0), n)] = value;
    assert_eq!(output, words, "{index:?} of {n}");
}

#[test]
fn arrays() {
    for goal in GOALS {
        for n in 1..=16 {
            check_all(&multiplexed(n, 1, goal), |input, output| read_is(n, input, output));
            check_all(&written(n, 1, goal), |input, output| write_is(n, input, output));
        }
        let mut random = Random(2);
        for n in [13, 16] {
            let mut make = |words: usize| {
                let words: Vec<u128> = (0..words).map(|_| random.bits(32)).collect();
                [vec![random.bits(4)], words].concat()
            };
            check(&multiplexed(n, 32, goal), MILLION / 2, |_| make(n), |input, output| read_is(n, input, output));
            check(&written(n, 32, goal), MILLION / 2, |_| make(n + 1), |input, output| write_is(n, input, output));
        }
    }
}

#[test]
fn arrays_cost_what_they_say() {
    for (n, width) in (1..=70usize).flat_map(|n| [1, 8].map(|width| (n, width))) {
        let (k, all) = (log(n), (n as u64 - 1) * u64::from(width));
        let cost = |circuit: Circuit| (circuit.and_count(), circuit.depth());
        assert_eq!(cost(multiplexed(n, width, Goal::Size)), (all, k), "{n} words");
        let (ands, depth) = cost(multiplexed(n, width, Goal::Depth));
        assert!(ands <= all + decoder(k) && depth <= 1 + log(k as usize), "{n} words");
        let (ands, depth) = cost(written(n, width, Goal::Size));
        assert!(ands <= all + u64::from(width) + n as u64 && depth <= 2 + log(k as usize), "{n} words");
        let (ands, depth) = cost(written(n, width, Goal::Depth));
        assert!(ands <= all + u64::from(width) + decoder(k) && depth <= 1 + log(k as usize), "{n} words");
    }
}

fn looked_up(k: u32, table: &[u128], width: usize, goal: Goal) -> Circuit {
    let mut c = Builder::new("lookup");
    let index = c.uint("index", k);
    let entry = table::lookup(&mut c, &index.0, table, width, goal);
    c.output("entry", &UInt(entry));
    c.finish()
}

/// The least of m·(2^b − 1) + 2^a − a − 1 over a + b = k.
fn split_by_bits(k: u32, outputs: u64) -> u64 {
    (0..=k).map(|b| outputs * ((1 << b) - 1) + decoder(k - b)).min().unwrap()
}

/// The same with both parts decoded, where that is no deeper than the decoder of all bits.
fn split_by_halves(k: u32, outputs: u64) -> u64 {
    let shallow = |bits: u32| log(bits as usize) < log(k as usize);
    let splits = (1..k).filter(|&b| shallow(b) && shallow(k - b));
    splits.map(|b| outputs * ((1 << b) - 1) + decoder(k - b) + decoder(b)).fold(decoder(k), u64::min)
}

#[test]
fn tables_without_structure() {
    let mut random = Random(3);
    for (k, width) in (1..=10u32).flat_map(|k| [1, 2, 5, 8, 20, 64].map(|width| (k, width))) {
        for goal in GOALS {
            let table: Vec<u128> = (0..1 << k).map(|_| random.bits(width)).collect();
            let circuit = looked_up(k, &table, width as usize, goal);
            check_all(&circuit, |index, entry| assert_eq!(entry[0], table[index[0] as usize], "{k} {width} {goal}"));
            let (ands, depth) = match goal {
                Goal::Size => (split_by_bits(k, width.into()), k.saturating_sub(1)),
                Goal::Depth => (split_by_halves(k, width.into()), log(k as usize)),
            };
            assert!(circuit.and_count() <= ands && circuit.depth() <= depth, "{k} {width} {goal}");
        }
    }
}

#[test]
fn tables_with_structure() {
    for goal in GOALS {
        let affine: Vec<u128> = (0..256u128).map(|i| (i ^ i << 1 ^ 5) | u128::from(i.count_ones() % 2) << 20).collect();
        assert_eq!(looked_up(8, &affine, 24, goal).and_count(), 0);
        let product: Vec<u128> = (0..256u128).map(|i| (i & 1) * (i >> 7) * 0xfff).collect();
        let ands = looked_up(8, &product, 12, goal).and_count();
        assert!(goal == Goal::Depth || ands == 1, "{ands} ANDs for one product");
        for n in 2..=40 {
            let table: Vec<u128> = (0..n as u128).map(|i| i * i).collect();
            let circuit = looked_up(log(n), &table, 12, goal);
            check_all(&circuit, |index, entry| assert_eq!(entry[0], table[place(index[0], n)], "{n} {goal}"));
        }
    }
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, n - 1);
        order
    };
    shorter.iter().flat_map(|order| (0..n).map(move |at| insert(order, at))).collect()
}

#[test]
fn switches_of_all_permutations() {
    for n in 0..=7 {
        let names: Vec<usize> = (0..n).collect();
        for order in permutations(n) {
            let switches = permute::switches(&order).unwrap();
            assert_eq!(permute::permute_plain(&names, &switches), order);
        }
    }
}

#[test]
fn switches_of_large_permutations() {
    let mut random = Random(4);
    for n in (8..=130).chain([255, 256, 257, 1000, 4096, 10_007]) {
        let order = random.permutation(n);
        let switches = permute::switches(&order).unwrap();
        assert_eq!(permute::permute_plain(&(0..n).collect::<Vec<_>>(), &switches), order, "{n} words");
    }
}

#[test]
fn switches_are_as_many_as_they_say() {
    let mut sum = 0;
    for n in 1..=1000usize {
        sum += log(n) as usize;
        assert_eq!(permute::switch_count(n), sum, "{n} words");
        if n.is_power_of_two() {
            assert_eq!(sum, n * log(n) as usize + 1 - n);
        }
    }
    let refused = |order: &[usize]| permute::switches(order).unwrap_err().to_string();
    assert!(refused(&[0, 1, 1]).contains("no permutation of 3: 1 at place 2"));
    assert!(refused(&[3, 1, 2]).contains("no permutation of 3: 3 at place 0"));
}

fn permuted(n: usize, width: u32) -> Circuit {
    let mut c = Builder::new("permute");
    let words: Vec<UInt> = (0..n).map(|i| c.uint(format!("word{i}"), width)).collect();
    let switches = c.bits("switches", permute::switch_count(n) as u32);
    let words = permute::permute(&mut c, &words, &switches.0);
    words.iter().enumerate().for_each(|(i, word)| c.output(format!("word{i}"), word));
    c.finish()
}

#[test]
fn permutation_networks() {
    for n in 2..=6 {
        check_all(&permuted(n, 1), |input, output| permuted_is(n, input, output));
    }
    let mut random = Random(5);
    for n in [13, 16] {
        let count = permute::switch_count(n);
        let circuit = permuted(n, 32);
        assert_eq!((circuit.and_count(), circuit.depth()), (32 * count as u64, 2 * log(n) - 1));
        let make = |_| {
            let words: Vec<u128> = (0..n).map(|_| random.bits(32)).collect();
            [words, vec![random.bits(count as u32)]].concat()
        };
        check(&circuit, MILLION / 2, make, |input, output| permuted_is(n, input, output));
    }
    for n in 2..=70usize {
        let circuit = permuted(n, 3);
        assert_eq!(circuit.and_count(), 3 * permute::switch_count(n) as u64);
        assert!(circuit.depth() < 2 * log(n), "{n} words");
    }
}

fn permuted_is(n: usize, input: &[u128], output: &[u128]) {
    let switches: Vec<bool> = (0..permute::switch_count(n)).map(|i| input[n] >> i & 1 == 1).collect();
    assert_eq!(output, permute::permute_plain(&input[..n], &switches));
}

fn compacted(n: usize, width: u32) -> Circuit {
    let mut c = Builder::new("compact");
    let words: Vec<UInt> = (0..n).map(|i| c.uint(format!("word{i}"), width)).collect();
    let valid = c.bits("valid", n as u32);
    let words = compact::compact(&mut c, &words, &valid.0);
    words.iter().enumerate().for_each(|(i, word)| c.output(format!("word{i}"), word));
    c.finish()
}

fn compacted_is(n: usize, input: &[u128], output: &[u128]) {
    let valid = |i: &usize| input[n] >> i & 1 == 1;
    let front: Vec<u128> = (0..n).filter(valid).map(|i| input[i]).collect();
    assert_eq!(output[..front.len()], front, "{:b} of {n}", input[n]);
    let mut rest: Vec<u128> = (0..n).filter(|i| !valid(i)).map(|i| input[i]).collect();
    let mut others = output[front.len()..].to_vec();
    rest.sort_unstable();
    others.sort_unstable();
    assert_eq!(others, rest, "{:b} of {n}", input[n]);
}

#[test]
fn compaction() {
    for n in 1..=16 {
        let words: Vec<u128> = (0..n as u128).collect();
        let make = |lane: usize| [words.clone(), vec![lane as u128]].concat();
        check(&compacted(n, 5), 1 << n, make, |input, output| compacted_is(n, input, output));
    }
    let mut random = Random(6);
    for n in [16, 21, 32] {
        let make = |_| {
            let words: Vec<u128> = (0..n).map(|_| random.bits(32)).collect();
            let valid = if random.below(4) == 0 { random.bits(n) & random.bits(n) } else { random.bits(n) };
            [words, vec![valid]].concat()
        };
        let n = n as usize;
        check(&compacted(n, 32), MILLION / 3 + 1, make, |input, output| compacted_is(n, input, output));
    }
}

#[test]
fn compaction_costs_what_it_says() {
    for (n, width) in (2..=130usize).chain([1000, 1024]).flat_map(|n| [1, 16].map(|width| (n, width))) {
        let circuit = compacted(n, width);
        let most = n as u64 * u64::from(log(n)) * u64::from(width + 1) / 2 + n as u64;
        assert!(circuit.and_count() <= most, "{n} words: {} ANDs, not {most}", circuit.and_count());
        assert!(circuit.depth() <= log(n) + 2, "{n} words: depth {}", circuit.depth());
    }
}

#[test]
fn duplicates_in_sorted_lists() {
    let same = |words: &[u128]| joined(words.windows(2).map(|pair| u128::from(pair[0] == pair[1])), 1);
    for (n, width) in [(2, 8), (3, 7), (5, 4), (10, 2)] {
        let circuit = find("duplicates").unwrap().circuit(&[n, width], Goal::Size).unwrap();
        check_all(&circuit, |input, output| assert_eq!(output[0], same(&split(input[0], &vec![width; n as usize]))));
        assert!(circuit.and_count() <= u64::from((n - 1) * (width - 1)) && circuit.depth() <= log(width as usize));
    }
}

/// Slots of a list of n records with payloads of 16 bits.
fn paired(n: usize, width: u32) -> Circuit {
    let mut c = Builder::new("pairs");
    let mut record =
        |i: usize| Record { key: c.uint(format!("key{i}"), width), payload: c.bits(format!("value{i}"), 16) };
    let records: Vec<Record<UInt>> = (0..n).map(&mut record).collect();
    for (i, (found, slot)) in duplicates::pairs(&mut c, &records).into_iter().enumerate() {
        c.output(format!("found{i}"), &Bits::from(found));
        c.output(format!("key{i}"), &slot.key);
        c.output(format!("value{i}"), &slot.payload);
    }
    c.finish()
}

#[test]
fn pairs_in_sorted_lists() {
    let mut random = Random(7);
    for n in [2, 3, 15, 16] {
        let circuit = paired(n, 32);
        let most = (n as u64 - 1) * 31 + n as u64 / 2 * (32 + 2 * 16);
        assert!(circuit.and_count() <= most && circuit.depth() == 6, "{n} records");
        let make = |_| {
            let mut key = random.bits(20);
            let mut twice = true;
            let record = |_| {
                twice = !twice && random.below(2) == 0;
                key += if twice { 0 } else { 1 + random.bits(16) };
                [key, random.bits(16)]
            };
            (0..n).flat_map(record).collect()
        };
        check(&circuit, MILLION / 4, make, |input, output| {
            let records: Vec<&[u128]> = input.chunks(2).collect();
            let pairs = records.windows(2).filter(|pair| pair[0][0] == pair[1][0]);
            let expected: Vec<[u128; 3]> = pairs.map(|pair| [1, pair[0][0], pair[0][1] ^ pair[1][1]]).collect();
            let slots: Vec<&[u128]> = output.chunks(3).filter(|slot| slot != &[0, 0, 0]).collect();
            assert_eq!(slots, expected, "{input:?}");
        });
    }
}

#[test]
fn the_registry_agrees() {
    let mut random = Random(8);
    let mut run = |name: &str, size: &[u32], verify: &mut dyn FnMut(&[u128], &[u128])| {
        for &goal in find(name).unwrap().goals {
            let circuit = find(name).unwrap().circuit(size, goal).unwrap();
            let widths: Vec<u32> = circuit.inputs().iter().map(|port| port.ty.width).collect();
            let wide = |random: &mut Random, width: u32| (random.bits(64) << 64 | random.bits(64)) >> (128 - width);
            check(&circuit, 5000, |_| widths.iter().map(|&width| wide(&mut random, width)).collect(), &mut *verify);
        }
    };
    let words = |all: u128, n: usize, width: u32| split(all, &vec![width; n]);
    run("multiplexer", &[13, 9], &mut |input, output| {
        assert_eq!(output[0], words(input[1], 13, 9)[place(input[0], 13)])
    });
    run("multiplexer", &[1, 9], &mut |input, output| assert_eq!(output[0], input[0]));
    run("array_write", &[13, 9], &mut |input, output| {
        let mut expected = words(input[1], 13, 9);
        expected[place(input[0], 13)] = input[2];
        assert_eq!(output[0], joined(expected, 9));
    });
    run("permute", &[8, 16], &mut |input, output| {
        let switches: Vec<bool> = (0..17).map(|i| input[1] >> i & 1 == 1).collect();
        assert_eq!(output[0], joined(permute::permute_plain(&words(input[0], 8, 16), &switches), 16));
    });
    run("compact", &[16, 8], &mut |input, output| {
        compacted_is(16, &[words(input[0], 16, 8), vec![input[1]]].concat(), &words(output[0], 16, 8));
    });
}
