//! The way back to ciphertexts for every pair of shares, and what the client finds in randomness.

use super::*;
use kernels::Block;
use std::sync::OnceLock;

fn key() -> &'static SecretKey {
    static KEY: OnceLock<SecretKey> = OnceLock::new();
    let size = KeySize::even_if_it_can_be_broken(256).unwrap();
    KEY.get_or_init(|| SecretKey::generate(size, &mut dice(1)).unwrap())
}

fn dice(seed: u128) -> Generator {
    Generator::from_seed(Block::new(seed))
}

fn number(value: u64, bits: usize) -> Number {
    Number { words: Zeroizing::new(vec![value, 0, 0]), bits }
}

fn decrypted(ciphertexts: &Ciphertexts) -> Vec<u128> {
    key().decrypt(ciphertexts).unwrap().to_u128s().map_or(vec![u128::MAX], |numbers| numbers.to_vec())
}

/// Every share of every value of few bits: all that wrap, in either part, in both and in none.
#[test]
fn all_shares_of_all_small_values_come_back() {
    for (bits, second) in [(1, 1), (2, 1), (1, 2), (2, 2)] {
        let (low, all) = (bits + 1, bits + second + 2);
        let split = |share: u64| [number(share & ((1 << low) - 1), low), number(share >> low, all - low)];
        let (mut wraps, mut random) = ([0; 4], dice(2));
        for (value, argument, server) in (0..1u64 << (bits + second + all))
            .map(|i| (i & ((1 << bits) - 1), i >> bits & ((1 << second) - 1), i >> (bits + second)))
        {
            let client = (value + (argument << low)).wrapping_sub(server) & ((1 << all) - 1);
            let parts = parts(key(), &split(client), &mut random).unwrap();
            let found = joined(key().public(), &split(server), &parts, &mut random).unwrap();
            let what = format!("{value} and {argument} by {server} and {client}, {bits} and {second} bits");
            assert_eq!(decrypted(&found.least), [value.into()], "{what}");
            assert_eq!(decrypted(&found.second), [argument.into()], "{what}");
            let low_wraps = ((server & ((1 << low) - 1)) + (client & ((1 << low) - 1))) >> low;
            wraps[(low_wraps + 2 * ((server + client) >> all)) as usize] += 1;
        }
        assert!(wraps.iter().all(|&count| count > 0), "{wraps:?}");
    }
}

/// The twin takes the carry to be that of the client alone: then the result is wrong where only the server's share is large.
#[test]
fn the_highest_bits_of_both_shares_count() {
    let (server, client, mut random) = (6, 3, dice(3));
    assert_eq!((server + client) & 7, 1, "y = 1 of 2 bits");
    let parts = parts(key(), &[number(client, 3), number(0, 2)], &mut random).unwrap();
    // Of a bit more, of which the highest is none of the sum's.
    let twin = [number(server, 4), number(0, 2)];
    for (share, right) in [([number(server, 3), number(0, 2)], true), (twin, false)] {
        let found = joined(key().public(), &share, &parts, &mut random).unwrap();
        assert_eq!(decrypted(&found.least) == [1], right);
    }
}

/// The client knows the ciphertexts that it made. What is left when they are taken away again is a ciphertext of the blinding
/// numbers: under fresh randomness, or, of the twin that only adds them, under none at all.
#[test]
fn the_client_recognises_nothing_that_is_sent_to_it() {
    let (public, mut random) = (key().public(), dice(4));
    let sent = key().encrypt(&Plaintexts::new(&[3, 4, 5, 6, 7]), &mut random).unwrap();
    let columns = Columns::new(&[10, 40], 5, public.size()).unwrap();
    let packed = columns.pack_ciphertexts(public, &[sent.clone(), sent], 0..columns.len()).unwrap();
    let blinding = columns.pack(&Plaintexts::new(&[1 << 48, 2, 1 << 30, 0, 77]), 0..columns.len()).unwrap();
    let without_randomness = |blinded: &Ciphertexts| {
        let left = public.add(blinded, &public.negate(&packed).unwrap()).unwrap();
        let plain = key().decrypt(&left).unwrap();
        let nothing = public.add_constants(&left, &public.negatives(&plain).unwrap()).unwrap();
        let bytes = public.write_numbers(&nothing).unwrap();
        bytes
            .chunks(bytes.len() / columns.len())
            .all(|number| number[0] == 1 && number[1..].iter().all(|&byte| byte == 0))
    };
    let twin = public.add_constants(&packed, &blinding).unwrap();
    assert!(without_randomness(&twin), "the twin is recognised");
    for _ in 0..20 {
        assert!(!without_randomness(&hidden(public, &packed, &blinding, &mut random).unwrap()));
    }
}

/// So is the result, which has the server's highest bits in its randomness else.
#[test]
fn the_result_is_randomised_anew() {
    let mut random = dice(5);
    let share = [number(6, 3), number(1, 2)];
    let parts = parts(key(), &share, &mut random).unwrap();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..10 {
        let found = joined(key().public(), &share, &parts, &mut random).unwrap();
        for ciphertext in [found.least, found.second] {
            assert!(seen.insert(key().public().write_numbers(&ciphertext).unwrap()));
        }
    }
}
