//! Bins, and what a test from outside cannot see: the relation of tags and values in bins, broken twins, and messages that no honest party
//! sends.

use super::bins::{BINS, FUNCTIONS, Functions, LEAST_LOG, count};
use super::layout::{Layout, Message, tag_bits};
use super::online::{Receiver, Sender, mask};
use super::*;
use crate::psi::oprf;
use crate::psi::tests::assert_lengths_fit;
use duologue::call::{CallValue, Outbox};
use kernels::generator::Generator;
use kernels::{Block, field};
use proptest::prelude::*;
use std::collections::HashSet;

fn blocks(count: usize, random: &mut Generator) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; count];
    random.fill_blocks(&mut blocks);
    blocks
}

fn random(seed: u128) -> Generator {
    Generator::from_seed(Block::new(seed))
}

/// log₂ n!
fn factorial(n: usize) -> f64 {
    let x = n as f64 + 1.0;
    // Stirling's series, from a number on where it is exact.
    let (far, back) = (x + 8.0, (0..8).map(|i| (x + f64::from(i)).ln()).sum::<f64>());
    let series = (far - 0.5) * far.ln() - far + 0.5 * (2.0 * std::f64::consts::PI).ln() + 1.0 / (12.0 * far)
        - 1.0 / (360.0 * far.powi(3));
    (series - back) / 2f64.ln()
}

fn choose(n: usize, k: usize) -> f64 {
    factorial(n) - factorial(k) - factorial(n - k)
}

/// log₂ of the ways in which k strings have each of k − 1 bins at least twice, at most: the least of a convex function.
fn covers(k: usize) -> f64 {
    let at = |u: f64| {
        let z = u.exp();
        let each = if z > 1e-3 { (z.exp_m1() - z).log2() } else { 2.0 * z.log2() - 1.0 };
        (k - 1) as f64 * each - 3.0 * k as f64 * z.log2()
    };
    let (mut low, mut high) = (-12f64, 3f64);
    for _ in 0..60 {
        let [a, b] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
        if at(a) < at(b) { high = b } else { low = a }
    }
    factorial(3 * k) + at(low)
}

/// log₂ of the chance that some strings have no bins, at most: the sum in the file's header.
fn failure(n: usize, m: usize) -> f64 {
    let three = |places: usize| (places as f64).log2() + (places as f64 - 1.0).log2() + (places as f64 - 2.0).log2();
    let term = |k: usize| {
        let of_places = (k as f64 * three(k - 1)).min(covers(k));
        choose(n, k) + choose(m, k - 1) + of_places - k as f64 * three(m)
    };
    (4..=n.min(m + 1)).map(|k| term(k).min(900.0).exp2()).sum::<f64>().log2()
}

#[test]
fn bins_are_enough() {
    for (log, _) in (LEAST_LOG..).zip(BINS) {
        let n = 1usize << log;
        for n in [n, n + 1, 3 * n / 2, 2 * n - 1] {
            // Without what the next multiple adds.
            let bins = (n * BINS[(log - LEAST_LOG) as usize]).div_ceil(1000);
            assert!(failure(n, bins) < -40.0 && count(n) >= bins, "{n} strings: {}", failure(n, bins));
        }
    }
    // From there on the chance falls; the broken twin has fewer bins, and no such bound.
    assert!(failure(1 << 16, count(1 << 16)) < -80.0 && failure(1 << 10, (1 << 10) * 5 / 4) > 0.0);
    assert_eq!([0, 1, 3, 4, 1 << 20].map(count), [64, 64, 64, 64, 1_363_200]);
}

#[test]
fn every_string_is_in_a_bin_of_its_own() {
    for (seed, n) in (0..).zip([0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 100, 1000, 5000, 1 << 15]) {
        let mut random = random(seed);
        let strings = blocks(n, &mut random);
        let functions = Functions::new(count(n), &[1; 32], random.block());
        let places = functions.places(&strings);
        let placed = functions.place(&strings).expect("bins").0;
        assert!(placed.is_sorted_by_key(|place| place.bin) && placed.len() == n);
        assert_eq!(placed.iter().map(|place| place.row).collect::<HashSet<_>>().len(), n);
        assert_eq!(placed.iter().map(|place| place.bin).collect::<HashSet<_>>().len(), n);
        assert!(placed.iter().all(|place| places[place.row][place.function] as usize == place.bin));
    }
}

/// Tight: a search finds places until there are none, and then says so.
#[test]
fn strings_without_bins_are_found_out() {
    let mut outcomes = [0, 0];
    for seed in 0..100 {
        let mut random = random(seed);
        let strings = blocks(58, &mut random);
        let functions = Functions::new(64, &[1; 32], random.block());
        let placed = functions.place(&strings);
        outcomes[usize::from(placed.is_some())] += 1;
        assert!(placed.is_none_or(|placed| placed.0.len() == 58));
        assert!(functions.place(&blocks(65, &mut random)).is_none(), "more strings than bins");
    }
    assert!(outcomes[0] > 10 && outcomes[1] > 10, "{outcomes:?}");
}

#[test]
fn equal_strings_have_one_bin() {
    let strings = blocks(40, &mut random(3)).repeat(5);
    let functions = Functions::new(count(200), &[1; 32], Block::new(5));
    let placed = functions.place(&strings).expect("bins").0;
    assert!(placed.len() == 40 && placed.iter().all(|place| place.row < 40), "the first one counts");
    let names = (0..FUNCTIONS).flat_map(|function| functions.names(function, &strings).to_vec());
    let names: HashSet<u128> = names.map(|name| name.get()).collect();
    assert_eq!(names.len(), 120, "with each function another name");
}

#[test]
fn tags_have_forty_bits_more_than_the_bins() {
    for (strings, bits) in [(0, 46), (1, 46), (4, 46), (1000, 51), (1 << 20, 61), (MOST as usize, 64)] {
        assert_eq!(tag_bits(strings), bits, "{strings}");
        assert!(f64::from(tag_bits(strings)) >= 40.0 + (count(strings) as f64).log2());
    }
    let terms = Terms::of_sizes([1 << 20, 5], Party::Alice);
    assert_eq!((terms.receiver, terms.tag), (Party::Bob, 46));
    assert_eq!(Terms::of_sizes([7, 7], Party::Bob).receiver, Party::Bob);
    // The broken twin takes shorter ones.
    let short = Terms { receiver: Party::Alice, tag: 45 };
    let error = CircuitPsi.lanes(&short.parameters(&[]), &[5, 5]).unwrap_err().to_string();
    assert!(error.contains("tags of 46 bits or more for 5 strings, not 45"), "{error}");
}

/// A call of 128-bit strings, with a value of each party.
fn call(receiver: Party, sizes: [u64; 2]) -> Call {
    let terms = Terms { receiver, tag: 64 };
    let held = |party: Party, ty| CallValue { ty, lanes: sizes[party as usize], holder: Holder::Party(party) };
    let strings = [Party::Alice, Party::Bob].map(|party| held(party, bits(128)));
    let values = [held(Party::Bob, bits(40)), held(Party::Alice, bits(9))];
    let parameters = terms.parameters(&[Party::Bob, Party::Alice].map(Carried::Of));
    Call { number: 0, parameters, args: [strings, values].concat(), results: Vec::new() }
}

/// Each party's lengths are the other's, and an empty set costs nothing.
#[test]
fn lengths_fit_together() {
    for receiver in [Party::Alice, Party::Bob] {
        for sizes in [[0, 0], [0, 5], [5, 0], [1, 1], [100, 1 << 20], [1 << 20, 1 << 20]] {
            let call = call(receiver, sizes);
            assert_lengths_fit(&CircuitPsi, &call, sizes.contains(&0));
        }
    }
}

/// What setup stores for receiver and sender, with this Δ.
fn deal(layout: &Layout, delta: Block, random: &mut Generator) -> [Zeroizing<Vec<u8>>; 2] {
    let [a, b] = [(); 2].map(|()| blocks(layout.shape.len(), random));
    let c: Vec<Block> = a.iter().zip(&b).map(|(&a, &b)| b ^ field::mul(delta, a)).collect();
    let bytes = |blocks: &[Block]| blocks.iter().flat_map(|block| block.to_bytes()).collect::<Vec<_>>();
    [[vec![9; 32], bytes(&a), bytes(&c)].concat(), [vec![9; 32], bytes(&[delta]), bytes(&b)].concat()]
        .map(Zeroizing::new)
}

const DELTA: Block = Block::new(0xfeed_5eed << 77 | 0x1234_5678_9abc_def1);

fn numbers(count: usize, width: u32, random: &mut Generator) -> Vec<u128> {
    blocks(count, random).iter().map(|block| block.get() >> (128 - width)).collect()
}

/// The strings and values of both parties.
struct Case {
    strings: [Vec<Block>; 2],
    values: [Vec<u128>; 2],
}

impl Case {
    /// So many strings, of which `common` are in both.
    fn new(sizes: [usize; 2], common: usize, seed: u128) -> Case {
        let mut random = random(seed);
        let all = blocks(sizes[0] + sizes[1] - common, &mut random);
        let strings = [all[..sizes[0]].to_vec(), all[sizes[0] - common..].to_vec()];
        let values = [numbers(sizes[0], 9, &mut random), numbers(sizes[1], 40, &mut random)];
        Case { strings, values }
    }

    fn args(&self, us: Party) -> Vec<Option<BitMatrix>> {
        let matrix = |width, numbers: &[u128]| BitMatrix::from_numbers(width, numbers).unwrap();
        let strings: Vec<u128> = self.strings[us as usize].iter().map(|string| string.get()).collect();
        let mut args = vec![None; 4];
        args[us as usize] = Some(matrix(128, &strings));
        args[if us == Party::Bob { 2 } else { 3 }] = Some(matrix([9, 40][us as usize], &self.values[us as usize]));
        args
    }

    /// Runs both; `change` may change each message. What receiver and sender have, and all messages.
    fn run(
        &self,
        receiver: Party,
        delta: Block,
        change: impl FnMut(Message, &mut Vec<u8>),
    ) -> [Vec<Option<BitMatrix>>; 2] {
        let layout = Layout::new(&call(receiver, [0, 1].map(|party| self.strings[party].len() as u64))).unwrap();
        let [received, sent] = deal(&layout, delta, &mut random(11));
        let one = Receiver::new(layout.clone(), received, &self.args(receiver)).unwrap();
        let other = Sender::new(layout.clone(), sent, &self.args(receiver.peer())).unwrap();
        run_both(&layout, one, other, change)
    }
}

/// Takes both through all messages.
fn run_both(
    layout: &Layout,
    mut one: Receiver,
    mut other: Sender,
    mut change: impl FnMut(Message, &mut Vec<u8>),
) -> [Vec<Option<BitMatrix>>; 2] {
    let mut inboxes = [Vec::new(), Vec::new()];
    for (message, _) in layout.exchanges() {
        let mut outboxes = [Outbox::default(), Outbox::default()];
        one.advance(&inboxes[0], &mut outboxes[0]);
        other.advance(&inboxes[1], &mut outboxes[1]).unwrap();
        inboxes = [outboxes[1].to_vec(), outboxes[0].to_vec()];
        inboxes.iter_mut().filter(|inbox| !inbox.is_empty()).for_each(|inbox| change(message, inbox));
    }
    [one.end(&inboxes[0]).unwrap(), other.end().unwrap()]
}

fn words(matrix: &Option<BitMatrix>) -> Vec<u128> {
    matrix.as_ref().expect("a result of this party's").to_numbers().unwrap()
}

/// In bins with a string that both have, tags are equal and values are the sender's and the receiver's; in all others they are not.
#[test]
fn tags_and_values_are_those_of_the_strings_in_bins() {
    for (receiver, sizes, common) in
        [(Party::Alice, [300, 200], 120), (Party::Bob, [50, 700], 50), (Party::Bob, [9, 9], 0)]
    {
        let case = Case::new(sizes, common, 7);
        let [one, other] = case.run(receiver, DELTA, |_, _| {});
        let (us, peer) = (receiver as usize, 1 - receiver as usize);
        assert!(one[peer].is_none() && other[us].is_none());
        // Bob's value is the first of the two.
        let (own, theirs) = (3 - us, 3 - peer);
        assert!(other[own].is_none());
        let equal: Vec<bool> = words(&one[us]).iter().zip(words(&other[peer])).map(|(a, b)| *a == b).collect();
        assert_eq!(equal.iter().filter(|&&equal| equal).count(), common);
        let shared = words(&one[theirs]).into_iter().zip(words(&other[theirs])).map(|(a, b)| a ^ b);
        let pairs = |bins: Vec<u128>, others: Vec<u128>| {
            let chosen = bins.into_iter().zip(others).zip(&equal).filter(|(_, equal)| **equal).map(|(pair, _)| pair);
            chosen.collect::<HashSet<_>>()
        };
        let found = pairs(words(&one[own]), shared.collect());
        let row = |party: usize, string| case.strings[party].iter().position(|own| own == string).unwrap();
        let both = case.strings[us].iter().filter(|string| case.strings[peer].contains(string));
        let expected =
            both.map(|string| (case.values[us][row(us, string)], case.values[peer][row(peer, string)])).collect();
        assert_eq!(found, expected);
    }
}

/// A value that is added is the sum of a number of the receiver's and one of the sender's in bins of what both have, and neither shows it. The
/// broken twin adds no mask: then the receiver's numbers are the values.
#[test]
fn added_values_are_sums() {
    let case = Case::new([200, 300], 150, 13);
    let terms = Terms { receiver: Party::Alice, tag: 64 };
    let mut call = call(Party::Alice, [200, 300]);
    (call.parameters, call.args) = (terms.parameters(&[Carried::Added(8)]), call.args[..3].to_vec());
    let layout = Layout::new(&call).unwrap();
    let args = |us| case.args(us)[..3].to_vec();
    for masked in [true, false] {
        let [received, sent] = deal(&layout, DELTA, &mut random(11));
        let one = Receiver::new(layout.clone(), received, &args(Party::Alice)).unwrap();
        let mut other = Sender::new(layout.clone(), sent, &args(Party::Bob)).unwrap();
        if !masked {
            other.unmask();
        }
        let [one, other] = run_both(&layout, one, other, |_, _| {});
        assert!(one[3].is_none() && other[2].is_none() && one.len() == 4 && other.len() == 4);
        let (tags, numbers) = (words(&one[0]).into_iter().zip(words(&other[1])), words(&one[2]));
        let sums = numbers.iter().zip(words(&other[3])).map(|(a, b)| (*a as u64).wrapping_add(b as u64));
        let found = tags.zip(sums).filter(|((a, b), _)| a == b).map(|(_, sum)| sum).collect::<HashSet<u64>>();
        let signed = |value: u128| ((value as u64) << 24) as i64 >> 24;
        let row = |string| case.strings[1].iter().position(|other| other == string);
        let expected = case.strings[0].iter().filter_map(row).map(|row| signed(case.values[1][row]) as u64);
        assert_eq!(found, expected.collect());
        let shown = numbers.iter().filter(|&&number| found.contains(&(number as u64))).count();
        assert_eq!(shown, if masked { 0 } else { 150 });
    }
}

/// Several values of the sender's, some added and some XORed, in any order with the receiver's: each is its own, with every width of numbers
/// that are added. The broken twin's fields are one number, whose carries go from one into the next: a sum that wraps would spoil its neighbour.
#[test]
fn values_of_all_kinds_travel_together() {
    let case = Case::new([300, 200], 150, 14);
    let terms = Terms { receiver: Party::Alice, tag: 50 };
    for (bytes, flags) in [(1, 9), (5, 33), (6, 30), (7, 20), (7, 22)] {
        let width = (8 * u32::from(bytes)).min(40);
        let held = |party: Party, ty| CallValue { ty, lanes: [300, 200][party as usize], holder: Holder::Party(party) };
        let carried = [Carried::Added(bytes), Carried::Of(Party::Alice), Carried::Of(Party::Bob)];
        let strings = [Party::Alice, Party::Bob].map(|party| held(party, bits(128)));
        let kinds = [(Party::Bob, bits(width)), (Party::Alice, bits(9)), (Party::Bob, bits(flags))];
        let args = [&strings[..], &kinds.map(|(party, ty)| held(party, ty))].concat();
        let call = Call { number: 0, parameters: terms.parameters(&carried), args, results: Vec::new() };
        let layout = Layout::new(&call).unwrap();
        let low = |numbers: &[u128], width: u32| numbers.iter().map(|n| n & ((1 << width) - 1)).collect::<Vec<u128>>();
        let own = [low(&case.values[1], width), case.values[0].clone(), low(&numbers(200, 60, &mut random(3)), flags)];
        let matrix = |i: usize| BitMatrix::from_numbers(kinds[i].1.width as usize, &own[i]).unwrap();
        let args = |us: Party| {
            let mut args = case.args(us)[..2].to_vec();
            args.extend((0..3).map(|i| (kinds[i].0 == us).then(|| matrix(i))));
            args
        };
        let [received, sent] = deal(&layout, DELTA, &mut random(11));
        let one = Receiver::new(layout.clone(), received, &args(Party::Alice)).unwrap();
        let other = Sender::new(layout.clone(), sent, &args(Party::Bob)).unwrap();
        let [one, other] = run_both(&layout, one, other, |_, _| {});
        let mask = (1u128 << (8 * bytes)) - 1;
        let sums = words(&one[2]).into_iter().zip(words(&other[3])).map(|(a, b)| (a + b) & mask);
        let xors = words(&one[5]).into_iter().zip(words(&other[5])).map(|(a, b)| a ^ b);
        let all = sums.zip(words(&one[4])).zip(xors).map(|((sum, own), xor)| (sum, own, xor));
        let tags = words(&one[0]).into_iter().zip(words(&other[1]));
        let found: HashSet<_> = all.zip(tags).filter(|(_, (a, b))| a == b).map(|(all, _)| all).collect();
        let row = |string: &Block| case.strings[1].iter().position(|other| other == string);
        let rows = case.strings[0].iter().enumerate().filter_map(|(i, string)| Some((i, row(string)?)));
        let signed = |value: u128| ((value << (128 - width)) as i128 >> (128 - width)) as u128 & mask;
        let expected = rows.map(|(i, j)| (signed(own[0][j]), own[1][i], own[2][j]));
        assert_eq!(found, expected.collect(), "{bytes} bytes, {flags} bits");
    }
}

/// Targets and masks are drawn anew: none comes twice, in a run or in two. The broken twin takes one for all bins, or the same again.
#[test]
fn targets_come_once() {
    let case = Case::new([200, 200], 200, 8);
    let targets = [0, 1].map(|_| words(&case.run(Party::Alice, DELTA, |_, _| {})[1][1]));
    assert_eq!(targets.concat().into_iter().collect::<HashSet<_>>().len(), 2 * count(200));
}

/// The receiver guesses strings of the sender's that are not its own, and looks for the target of their bins by all that it has. The broken
/// twin has no Δ, so that F is no mask: then every guess that is right is found.
#[test]
fn guesses_are_not_found_in_the_hints() {
    let case = Case::new([60, 60], 0, 9);
    for (delta, expected) in [(DELTA, 0), (Block::ZERO, 60)] {
        let mut messages: Vec<(Message, Vec<u8>)> = Vec::new();
        let [_, sender] = case.run(Party::Alice, delta, |message, bytes| messages.push((message, bytes.clone())));
        let of = |wanted| messages.iter().find(|(message, _)| *message == wanted).map(|(_, bytes)| &bytes[..]).unwrap();
        let seed = |bytes: &[u8]| Block::from_bytes(*bytes.first_chunk().unwrap());
        let layout = Layout::new(&call(Party::Alice, [60, 60])).unwrap();
        let [received, _] = deal(&layout, delta, &mut random(11));
        let c = &received[32..].as_chunks::<16>().0[layout.shape.len()..];
        let functions = Functions::new(layout.bins, &[9; 32], seed(of(Message::Bins)));
        let mut hints = vec![[0; 16]; layout.hints.sparse];
        let entries = of(Message::Sparse).chunks(layout.entry);
        hints.iter_mut().zip(entries).for_each(|(to, entry)| to[..entry.len()].copy_from_slice(entry));
        hints.extend_from_slice(&of(Message::Dense).as_chunks::<16>().0[1..]);
        let (targets, places) = (words(&sender[1]), functions.places(&case.strings[1]));
        let names = functions.names(0, &case.strings[1]);
        let mut values = vec![Block::ZERO; 60];
        oprf::rows(layout.shape, &[9; 32], seed(of(Message::Table))).decode(c, &names, &mut values);
        let mut sums: Vec<Block> = values.iter().zip(names.iter()).map(|(&v, &name)| mask(&[9; 32], v, name)).collect();
        online::hint_rows(&layout, &[9; 32], seed(of(Message::Dense))).decode(&hints, &names, &mut sums);
        let tags = sums.iter().map(|sum| sum.get() & u128::from(u64::MAX));
        let hits = tags.zip(places.iter()).filter(|(tag, places)| targets[places[0] as usize] == *tag).count();
        assert_eq!(hits, expected, "Δ is {}", if expected == 0 { "random" } else { "zero" });
    }
}

/// What travels looks random: of the same sets no two runs send the same.
#[test]
fn messages_are_masked_anew() {
    let case = Case::new([100, 100], 100, 10);
    let runs = [0, 1].map(|_| {
        let mut all = Vec::new();
        case.run(Party::Alice, DELTA, |_, bytes| all.extend_from_slice(bytes));
        all
    });
    let same = runs[0].chunks(16).zip(runs[1].chunks(16)).filter(|(one, other)| one == other).count();
    assert_eq!((runs[0].len(), same), (runs[1].len(), 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Any messages are read: then nothing is in both, but for what is by chance.
    #[test]
    fn any_messages_are_read(seed: u64, broken in 0usize..4) {
        let case = Case::new([40, 30], 30, 12);
        let message = [Message::Bins, Message::Table, Message::Dense, Message::Sparse][broken];
        let [one, other] = case.run(Party::Alice, DELTA, |which, bytes| {
            if which == message {
                random(seed.into()).fill(bytes);
            }
        });
        let equal = words(&one[0]).iter().zip(words(&other[1])).filter(|(a, b)| **a == *b).count();
        prop_assert!(equal < 30);
    }

    /// Whatever is encoded as parameters is read as it was, and anything else is refused.
    #[test]
    fn parameters_are_read(bytes in prop::collection::vec(0u8..70, 0..5)) {
        if let Ok((terms, carried)) = Terms::read(&bytes) {
            prop_assert_eq!(terms.parameters(&carried), bytes);
        }
    }
}
