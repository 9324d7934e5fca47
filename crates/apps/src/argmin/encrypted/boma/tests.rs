//! Both roles stepped by hand, with dealt OTs: results, ties, what leaks, what does not, and bad bytes.
//!
//! Keys are short, so that they are made quickly: all of them can be broken.

use super::minimum::Holder;
use super::pads::{stored_by_receiver, stored_by_sender};
use super::*;
use crate::argmin::encrypted::Terms;
use he::KeySize;
use kernels::Block;
use num_bigint::BigUint;
use std::sync::OnceLock;

fn dice(seed: u128) -> Generator {
    Generator::from_seed(Block::new(seed))
}

/// p and q of keys of 256 and 512 bits: halves of p − 1 and q − 1 are primes.
const PRIMES: [[&str; 2]; 2] = [
    ["e12400509f3081a71acce02a1416763b", "cec1cf92fa47f078c07d229cc62b876b"],
    [
        "c1bb77736557d74e0f7402388c98bc06d12bc24e0901bb1d653019ad548f482b",
        "eaa18a7b57d806ebcd2cf047750ade56b9b9bc0c22ca41d74b751d6af08f1417",
    ],
];

fn primes(bits: u32) -> [BigUint; 2] {
    PRIMES[usize::from(bits > 256)].map(|prime| BigUint::parse_bytes(prime.as_bytes(), 16).unwrap())
}

fn key(bits: u32) -> Arc<SecretKey> {
    static KEYS: [OnceLock<Arc<SecretKey>>; 2] = [const { OnceLock::new() }; 2];
    let make = || {
        let [p, q] = primes(bits).map(|prime| prime.to_u64_digits());
        let size = KeySize::even_if_it_can_be_broken(bits).unwrap();
        Arc::new(SecretKey::from_primes(size, &p, &q, &[u64::from(bits) + 12345]).unwrap())
    };
    KEYS[usize::from(bits > 256)].get_or_init(make).clone()
}

fn job(key: &SecretKey, values: usize, bits: u32, argument: Option<u32>) -> Job {
    let public = key.public();
    let terms = Terms::new(Party::Alice, (public.size().bits(), public.id()), bits, argument);
    Job { terms: Terms { leaky: true, ..terms }, values }
}

/// Words of numbers, for keys of few bits.
fn numbers(values: &[u128]) -> Plaintexts {
    Plaintexts::new(values)
}

/// What setup stores at both parties.
fn dealt(ots: usize, dice: &mut Generator) -> [Zeroizing<Vec<u8>>; 2] {
    let choice = dice.block().get() as u64 & ((1 << ots) - 1);
    let messages: [Vec<[u8; 16]>; 2] = [(); 2].map(|()| (0..ots).map(|_| dice.block().to_bytes()).collect());
    let chosen: Vec<[u8; 16]> = (0..ots).map(|ot| messages[(choice >> ot & 1) as usize][ot]).collect();
    let salt = dice.block().to_bytes().repeat(2);
    let sender = [&salt[..], messages.concat().as_flattened()].concat();
    let receiver = [&salt[..], &choice.to_le_bytes(), chosen.as_flattened()].concat();
    assert_eq!([sender.len(), receiver.len()], [stored_by_sender(ots), stored_by_receiver(ots)]);
    [sender, receiver].map(Zeroizing::new)
}

/// How the server makes randomness.
type Kind = fn(&PublicKey, usize, &mut Generator) -> Fresh;

fn uniform(key: &PublicKey, count: usize, rng: &mut Generator) -> Fresh {
    Fresh::new(key, count, rng).unwrap()
}

/// Both parties before the first message.
fn parties(
    key: &Arc<SecretKey>,
    (bits, argument): (u32, Option<u32>),
    (values, arguments): (&[u128], &[u128]),
    (fresh, seed): (Kind, u128),
) -> (Server, Client) {
    let (job, mut dice) = (job(key, values.len(), bits, argument), dice(seed));
    Boma.check(&job).unwrap();
    let shape = Shape::of(&job).unwrap();
    let mut encrypted = |values: &[u128]| key.encrypt(&numbers(values), &mut dice).unwrap();
    let inputs = Inputs { values: encrypted(values), arguments: argument.map(|_| encrypted(arguments)) };
    let [sender, receiver] = dealt(shape.ots(), &mut dice);
    let rngs = [dice.derive(1_u64, 0), dice.derive(2_u64, 0)];
    let [of_server, of_client] = rngs;
    let fresh = fresh(key.public(), shape.sent().unwrap(), &mut dice);
    let server = Server::new(shape.clone(), key.public().clone(), sender, inputs, (fresh, of_server)).unwrap();
    (server, Client::new(shape, key.clone(), receiver, of_client))
}

/// Runs both, and gives the messages and the results.
fn run(server: Server, client: Client) -> (Vec<Vec<u8>>, [u128; 2]) {
    let (mut server, mut client) = (server, client);
    let (key, lengths) = (client.key.clone(), server.minimum.shape.messages().unwrap());
    let mut messages = vec![Vec::new()];
    for (number, length) in lengths.into_iter().enumerate() {
        let before = messages.last().unwrap();
        let empty = Vec::new();
        let (servers, clients) = if number % 2 == 0 { (before, &empty) } else { (&empty, before) };
        let sent = [server.send(servers).unwrap(), client.send(clients).unwrap()].concat();
        assert_eq!(sent.len(), length, "message {number}");
        messages.push(sent);
    }
    let found = server.found(messages.last().unwrap()).unwrap();
    let opened = |found: &Ciphertexts| key.decrypt(found).unwrap().to_u128s().unwrap()[0];
    (messages, [opened(&found.least), opened(&found.second)])
}

fn random_values(count: usize, bits: u32, dice: &mut Generator) -> Vec<u128> {
    (0..count).map(|_| dice.block().get() & (u128::MAX >> (128 - bits))).collect()
}

/// The result is the least value and, if one is, the argument or the index of a least one.
fn check(bits: u32, values: &[u128], seed: u128) {
    let (key, mut dice) = (key(512), dice(seed));
    let least = *values.iter().min().unwrap();
    let are_least = |index: usize| values[index] == least;
    let arguments = random_values(values.len(), bits, &mut dice);
    let (server, client) = parties(&key, (bits, Some(bits)), (values, &arguments), (uniform, seed));
    let (_, [value, argument]) = run(server, client);
    assert_eq!(value, least, "{values:?}");
    assert!((0..values.len()).any(|index| are_least(index) && arguments[index] == argument));
    let (server, client) = parties(&key, (bits, None), (values, &[]), (uniform, seed + 1));
    let (_, [value, index]) = run(server, client);
    assert!(value == least && are_least(index as usize), "{values:?}");
}

#[test]
fn the_least_value_is_found_with_argument_or_index() {
    let mut dice = dice(101);
    for bits in [1, 8, 31, 32, 64, 128] {
        for count in [1, 2, 3, 5, 7, 11, 17] {
            check(bits, &random_values(count, bits, &mut dice), u128::from(bits) * 1000 + count as u128);
        }
    }
    check(32, &random_values(100, 32, &mut dice), 102);
}

#[test]
fn extremes_and_equal_values() {
    for bits in [1, 8, 32, 128] {
        let (low, high) = (0, u128::MAX >> (128 - bits));
        for values in [vec![low; 5], vec![high; 6], vec![low, high], vec![high, low, high], vec![high, high, high, low]]
        {
            check(bits, &values, 110 + u128::from(bits));
        }
    }
}

/// Six standard deviations of what equal chances give.
#[test]
fn of_equal_values_a_random_one() {
    let key = key(256);
    let trials = |values: &[u128], arguments: &[u128], count: u32| {
        let mut seen = vec![0_u32; arguments.len()];
        for seed in 0..count {
            let (server, client) = parties(&key, (4, Some(4)), (values, arguments), (uniform, 1000 + u128::from(seed)));
            let (_, [_, argument]) = run(server, client);
            seen[arguments.iter().position(|&is| is == argument).unwrap()] += 1;
        }
        seen
    };
    let two = trials(&[7, 7], &[1, 2], 200);
    assert!(two.iter().all(|&count| count.abs_diff(100) < 43), "{two:?}");
    let three = trials(&[5, 9, 5, 5, 11], &[1, 2, 3, 4, 5], 300);
    assert!(three[1] == 0 && three[4] == 0, "{three:?}");
    assert!([0, 2, 3].iter().all(|&at| three[at].abs_diff(100) < 49), "{three:?}");
}

/// |r₁·(a − b) − r₂| as the client sees it, for pairs of these differences, in double precision.
fn seen_by_the_client(bits: u32, differences: &[i64], seed: u128) -> Vec<f64> {
    let (key, mut dice) = (key(512), dice(seed));
    let base = 1_u128 << (bits - 1);
    let values: Vec<u128> = differences.iter().flat_map(|&d| [base.wrapping_add_signed(d.into()), base]).collect();
    let shape = Shape::of(&job(&key, values.len(), bits, None)).unwrap();
    let encrypted = key.encrypt(&numbers(&values), &mut dice).unwrap();
    let fresh = uniform(key.public(), shape.sent().unwrap(), &mut dice);
    let mut holder = Holder::new(shape.clone(), key.public().clone(), fresh, encrypted);
    let asked = holder.ask(&mut dice).unwrap();
    let slots = shape.asked(differences.len()).unwrap().unpack(&key.decrypt(&asked).unwrap()).unwrap();
    let middle = 2_f64.powi(shape.sign() as i32);
    let number = |words: &[u64]| words.iter().rev().fold(0.0, |number, &word| number * 2_f64.powi(64) + word as f64);
    (0..differences.len()).map(|pair| (number(slots.get(3 * pair)) + 1.0 - middle).abs()).collect()
}

/// The figures of the review of the paper: it takes what is sent for statistically hiding.
#[test]
fn one_blinded_difference_tells_the_size_of_the_difference() {
    let mut dice = dice(120);
    let mut random = |limit: u64| (dice.block().get() as u64) % limit;
    // Bit lengths from 1 to 31, all alike likely.
    let lengths: Vec<u32> = (0..3000).map(|_| 1 + random(31) as u32).collect();
    let mut signed = |length: u32| {
        let size = (1_i64 << (length - 1)) + random(1 << (length - 1)) as i64;
        if random(2) == 0 { size } else { -size }
    };
    let differences: Vec<i64> = lengths.iter().map(|&length| signed(length)).collect();
    let seen = seen_by_the_client(32, &differences, 121);
    let hits = |more: i32| {
        let guess = |seen: f64| seen.log2().floor() as i32 + more - 72;
        lengths.iter().zip(&seen).filter(|&(&length, &seen)| guess(seen) == length as i32).count()
    };
    let best = hits(1).max(hits(2)) as f64 / 3000.0;
    assert!((0.46..0.60).contains(&best), "the exact bit length in {best:.2} of all cases");
    let of_size = |size: i64, seed| {
        let differences: Vec<i64> = (0..1500).map(|i| if i % 2 == 0 { size } else { -size }).collect();
        seen_by_the_client(32, &differences, seed)
    };
    let (one, sixteen) = (of_size(1, 122), of_size(16, 123));
    let below = |seen: &[f64], limit: f64| seen.iter().filter(|&&seen| seen < limit).count() as f64 / 1500.0;
    let advantages = (0..160).map(|step| 2_f64.powf(70.0 + f64::from(step) / 20.0));
    let best = advantages.map(|limit| below(&one, limit) - below(&sixteen, limit)).fold(0.0, f64::max);
    assert!(best >= 0.98, "1 from 16 with advantage {best:.3}");
}

/// The N-th roots of ciphertexts modulo N, as the owner of the key of 256 bits can take them.
fn nonces(bytes: &[u8]) -> Vec<BigUint> {
    let [p, q] = primes(256);
    let (n, order) = (&p * &q, (&p - 1_u8) * (&q - 1_u8));
    let root = n.modinv(&order).unwrap();
    bytes.chunks_exact(64).map(|c| BigUint::from_bytes_le(c).modpow(&root, &n)).collect()
}

/// With arguments of 128 bits each has a ciphertext of its own: the owner of the key looks for randomness that it knows.
#[test]
fn without_fresh_randomness_the_order_is_seen_and_with_it_nothing_is() {
    let (key, mut dice) = (key(256), dice(130));
    let (values, arguments) = (random_values(17, 8, &mut dice), random_values(17, 128, &mut dice));
    let seen = |kind: Kind| {
        let (server, client) = parties(&key, (8, Some(128)), (&values, &arguments), (kind, 131));
        // What the owner of the key encrypted, from the same dice.
        let mut dice = self::dice(131);
        let _ = key.encrypt(&numbers(&values), &mut dice).unwrap();
        let own = key.encrypt(&numbers(&arguments), &mut dice).unwrap();
        let own = nonces(&key.public().write_numbers(&own).unwrap());
        let (messages, [_, argument]) = run(server, client);
        let offered = nonces(&messages[messages.len() - 2]);
        assert_eq!(offered.len(), 17);
        let order: Vec<_> = offered.iter().map(|nonce| own.iter().position(|own| own == nonce)).collect();
        (order, argument)
    };
    let (order, argument) = seen(Fresh::without_randomness);
    let mut all: Vec<usize> = order.iter().flatten().copied().collect();
    assert_ne!(all, (0..17).collect::<Vec<_>>());
    all.sort_unstable();
    assert_eq!(all, (0..17).collect::<Vec<_>>(), "the twin: the whole order");
    let (order, same) = seen(uniform);
    assert!(order.iter().all(Option::is_none) && same == argument);
}

/// What a message of ciphertexts can be that no honest party sends, and what the error says.
fn bad_messages(key: &SecretKey, good: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    let each = key.public().size().bits() as usize / 4;
    let with = |number: &BigUint| {
        let (mut bytes, mut first) = (good.to_vec(), number.to_bytes_le());
        first.resize(each, 0);
        bytes[..each].copy_from_slice(&first);
        bytes
    };
    let [p, q] = primes(key.public().size().bits());
    let n = &p * &q;
    vec![
        (with(&BigUint::ZERO), "it is zero"),
        (with(&(&n * &n)), "not less than the modulus"),
        (with(&((BigUint::from(1_u8) << (8 * each)) - 1_u8)), "not less than the modulus"),
        (with(&(&p * 12_345_678_u32)), "not coprime"),
        (good[..good.len() - 1].to_vec(), "no whole number"),
    ]
}

fn blamed<T>(result: Result<T>, why: &str) {
    match result {
        Err(Error::Peer(said)) => assert!(said.contains(why), "{said}, not {why}"),
        Err(other) => panic!("{other}, not the peer: {why}"),
        Ok(_) => panic!("no error: {why}"),
    }
}

/// Both parties after some messages, and the last one.
fn after(count: usize) -> (Server, Client, Vec<u8>) {
    let (mut server, mut client) = parties(&key(512), (8, Some(8)), (&[3, 1, 2], &[7, 8, 9]), (uniform, 140));
    let mut last = Vec::new();
    for number in 0..count {
        let (servers, clients) = if number % 2 == 0 { (last, Vec::new()) } else { (Vec::new(), last) };
        last = [server.send(&servers).unwrap(), client.send(&clients).unwrap()].concat();
    }
    (server, client, last)
}

#[test]
fn what_no_honest_party_sends_is_a_named_error_that_blames_the_peer() {
    let key = key(512);
    // The server's messages 0, 2 and 4 at the client.
    for count in [1, 3, 5] {
        for (bad, why) in bad_messages(&key, &after(count).2) {
            let (mut server, mut client, _) = after(count);
            let _ = server.send(&[]);
            blamed(client.send(&bad), why);
        }
    }
    // The client's answers at the server; behind the last ones of the minimum phase lies a place.
    for count in [2, 4, 6] {
        let place = if count == 4 { 1 } else { 0 };
        let (_, _, good) = after(count);
        let (ciphertexts, said) = good.split_at(good.len() - place);
        for (bad, why) in bad_messages(&key, ciphertexts) {
            let (mut server, ..) = after(count);
            let bad = [&bad[..], said].concat();
            if count == 6 { blamed(server.found(&bad), why) } else { blamed(server.send(&bad), why) }
        }
    }
    let (mut server, _, mut good) = after(4);
    *good.last_mut().unwrap() = 4;
    blamed(server.send(&good), "its choice among 4 places is 4");
}

/// A textbook nonce that is a square modulo one prime and none modulo the other has the symbol −1.
#[test]
fn symbols_that_randomness_would_not_hide_are_refused() {
    let [p, q] = primes(512);
    let n = &p * &q;
    let is_square = |x: &BigUint, prime: &BigUint| x.modpow(&((prime - 1_u8) / 2_u8), prime) == BigUint::from(1_u8);
    let odd = (2_u32..).map(BigUint::from).find(|x| is_square(x, &p) != is_square(x, &q)).unwrap();
    let nonce = odd.modpow(&n, &(&n * &n));
    // The last answer of the argument, with a textbook nonce of symbol −1.
    let (server, _, good) = after(6);
    let bad = BigUint::from_bytes_le(&good) * nonce % (&n * &n);
    let mut bytes = bad.to_bytes_le();
    bytes.resize(good.len(), 0);
    blamed(server.found(&bytes), "Jacobi symbol");
}

#[test]
fn plaintexts_that_no_honest_server_makes_are_refused() {
    let key = key(512);
    let public = key.public();
    let mut dice = dice(150);
    let mut sent = |words: &[u64; 8]| {
        let one = public.encrypt(&Plaintexts::from_words(words, 8), &mut dice).unwrap();
        public.write_numbers(&one).unwrap()
    };
    // One pair of 8 bits takes 57 + 49 + 50 bits, three arguments 50 each.
    let above = sent(&[0, 0, 1 << 28, 0, 0, 0, 0, 0]);
    blamed(after(1).1.send(&above), "larger than its slots");
    let left = sent(&[u64::MAX, u64::MAX >> 22, 0, 0, 0, 0, 0, 0]);
    blamed(after(1).1.send(&left), "a blinded value of pair 0");
    let offered = sent(&[0; 8]);
    blamed(after(5).1.send(&offered), "a blinded argument");
}

#[test]
fn without_consent_it_says_what_it_tells() {
    let job = job(&key(512), 3, 8, None);
    let job = Job { terms: Terms { leaky: false, ..job.terms }, ..job };
    match Boma.check(&job) {
        Err(Error::Usage(why)) => assert!(why.contains("almost to the bit") && why.contains("--leaky"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_too_long_for_the_key_are_refused() {
    let job = job(&key(256), 3, 128, None);
    assert!(matches!(Boma.check(&job), Err(Error::Usage(_))));
}

/// Whole pairs are what the stream of slots holds, too, and values begin where their pairs do.
#[test]
fn values_begin_where_their_next_pairs_do() {
    for (key_bits, bits, each) in [
        (1024, 32, Some(4)),
        (2048, 32, Some(8)),
        (3072, 32, Some(12)),
        (1024, 64, None),
        (3072, 64, Some(8)),
        (2048, 128, Some(3)),
        (3072, 128, None),
    ] {
        let terms = Terms::new(Party::Alice, (key_bits, [0; 32]), bits, Some(bits));
        let shape = Shape::of(&Job { terms, values: 999 }).unwrap();
        assert_eq!(shape.whole_pairs(), each, "{key_bits} {bits}");
        let pair = shape.slots().iter().sum::<u32>();
        let of_level = |level| [0, 1, 2, 3, 8, 9, 498, 499].map(|value| shape.bit_of(level, value));
        assert_eq!(of_level(0), [0; 8]);
        let Some(each) = each else {
            assert_eq!(of_level(1), [0; 8]);
            continue;
        };
        for plaintexts in [1, 2, 9] {
            assert_eq!(shape.asked(plaintexts * each).unwrap().len(), plaintexts);
            assert_eq!(shape.asked(plaintexts * each + 1).unwrap().len(), plaintexts + 1);
        }
        let at = |pairs: usize| (pairs % each) as u32 * pair;
        assert_eq!(of_level(1), [0, 1, 2, 3, 8, 9, 498, 499].map(|value| at(value / 2)));
        // 999 values: 500, 250, 125, 63 and 32, the last of 125 left over.
        assert_eq!([shape.bit_of(3, 124), shape.bit_of(4, 62), shape.bit_of(5, 31)], [at(15); 3]);
        assert_eq!(shape.bit_of(10, 0), 0);
    }
}

/// Bits of the design's own count for a thousand values, without the pads that no longer travel and the place of 10 bits.
#[test]
fn messages_are_as_long_as_the_design_counts() {
    for (key_bits, bits, mebibytes) in [(1024, 32, 0.568), (2048, 64, 1.102), (3072, 128, 1.666)] {
        let terms = Terms::new(Party::Alice, (key_bits, [0; 32]), bits, Some(bits));
        let shape = Shape::of(&Job { terms, values: 1000 }).unwrap();
        let messages = shape.messages().unwrap();
        assert_eq!(messages.len(), 22);
        let counted = messages.iter().sum::<usize>() as f64 / f64::from(1 << 20);
        assert!((counted - mebibytes).abs() < 0.002, "{counted}");
    }
}
