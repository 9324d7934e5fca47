//! What a peer may not send, and what the client sees in the randomness of what the server sends.

use super::super::Terms;
use super::*;
use std::sync::OnceLock;

/// 3 modulo 4, and without small factors of p − 1.
const PRIMES: [[u64; 2]; 2] =
    [[0x4e57_51f6_a10f_7117, 0xc107_e203_b0d9_7505], [0x93c5_3344_e47c_548b, 0xd2ce_7906_f3fc_344c]];
const BITS: u32 = 8;

fn size() -> KeySize {
    KeySize::even_if_it_can_be_broken(256).expect("a length")
}

fn key() -> Arc<SecretKey> {
    static KEY: OnceLock<Arc<SecretKey>> = OnceLock::new();
    let [p, q] = PRIMES;
    KEY.get_or_init(|| Arc::new(SecretKey::from_primes(size(), &p, &q, &[3, 5]).expect("primes of a key"))).clone()
}

fn dgk_key() -> Arc<dgk::SecretKey> {
    static KEY: OnceLock<Arc<dgk::SecretKey>> = OnceLock::new();
    let made = || dgk::SecretKey::generate(size(), BITS, &mut random()?).map_err(own);
    KEY.get_or_init(|| Arc::new(made().expect("a key"))).clone()
}

fn job(values: usize) -> Job {
    let key = key();
    Job { terms: Terms::new(Party::Alice, (256, key.public().id()), BITS, Some(BITS)), values }
}

fn parties(values: &[u128]) -> (Server, Client) {
    let (key, dgk, job) = (key(), dgk_key(), job(values.len()));
    let encrypted = || key.encrypt(&Plaintexts::new(values), &mut random().expect("random")).expect("small");
    let inputs = Inputs { values: encrypted(), arguments: Some(encrypted()) };
    let server = Server::new(&job, (key.public().clone(), dgk.public().clone()), inputs).expect("begins");
    (server, Client::new(&job, (key, dgk)).expect("begins"))
}

/// The honest messages of one level of two values, before each of which `check` sees both parties and what came last.
fn level(mut check: impl FnMut(usize, &mut Server, &mut Client, &[u8])) {
    let (mut server, mut client) = parties(&[7, 3]);
    let mut last = Vec::new();
    for message in 0..=MESSAGES {
        check(message, &mut server, &mut client, &last);
        last = match message {
            0 => server.differences().expect("ours"),
            1 => client.split(&last, 1).expect("honest"),
            2 => server.numbers(&last).expect("honest"),
            3 => client.zeros(&last).expect("honest"),
            4 => server.factors(&last).expect("honest"),
            5 => client.products(&last, 1).expect("honest"),
            _ => {
                server.next_level(&last).expect("honest");
                Vec::new()
            }
        };
    }
    let found = key().decrypt(&server.values).expect("ours").to_u128s().expect("small")[0];
    assert_eq!(found, 3);
}

/// Reads a message that is not honest.
fn read(message: usize, server: &mut Server, client: &mut Client, bytes: &[u8]) -> Result<()> {
    match message {
        1 => client.split(bytes, 1).map(drop),
        2 => server.numbers(bytes).map(drop),
        3 => client.zeros(bytes).map(drop),
        4 => server.factors(bytes).map(drop),
        5 => client.products(bytes, 1).map(drop),
        _ => server.next_level(bytes),
    }
}

fn of_peer_saying(came: Result<()>, words: &str) {
    match came {
        Err(Error::Peer(why)) if why.contains(words) => {}
        other => panic!("not the peer's, '{words}': {other:?}"),
    }
}

/// Where ciphertexts begin in each message, with their bytes.
fn places(message: usize) -> Vec<(usize, usize)> {
    match message {
        1 | 4 => vec![(0, 64)],
        2 => vec![(0, 64), (64, 32), (64 + 7 * 32, 32)],
        3 => vec![(0, 32), (7 * 32, 32)],
        _ => vec![(0, 64), (64, 64)],
    }
}

#[test]
fn a_ciphertext_that_is_none_is_the_peers_fault_by_name() {
    let p: Vec<u8> = PRIMES[0].iter().flat_map(|word| word.to_le_bytes()).collect();
    level(|message, server, client, honest| {
        for (at, bytes) in places(message).into_iter().filter(|_| message > 0) {
            let mut with = |number: &[u8], words: &str| {
                let mut message_of_peer = honest.to_vec();
                message_of_peer[at..at + bytes].fill(0);
                message_of_peer[at..at + number.len()].copy_from_slice(number);
                of_peer_saying(read(message, server, client, &message_of_peer), words);
            };
            with(&[], "it is zero");
            with(&vec![0xff; bytes], "not less than the modulus");
            if bytes == 64 {
                with(&p, "not coprime to the modulus");
            }
        }
    });
}

#[test]
fn a_foreign_symbol_is_refused_by_the_server() {
    level(|message, server, client, honest| {
        if [2, 4, 6].contains(&message) {
            let with = |number: u8| [&[number][..], &[0; 63], &honest[64..]].concat();
            // Half of all numbers have the symbol −1.
            let other = (2..40).map(with).find(|bytes| server.key.read_numbers(&bytes[..64]).is_err());
            of_peer_saying(read(message, server, client, &other.expect("a number")), "Jacobi symbol is -1");
        }
    });
}

#[test]
fn a_plaintext_out_of_its_slots_and_two_zeros_are_the_peers_fault() {
    let key = key();
    let mut random = random().expect("random");
    // N − 1.
    let minus_one = key.public().negatives(&Plaintexts::new(&[1])).expect("small");
    let large = key.encrypt(&minus_one, &mut random).and_then(|c| key.public().write_numbers(&c)).expect("ours");
    let dgk = dgk_key();
    let zeros = dgk.encrypt(&Plaintexts::new(&[0, 1, 2, 3, 0, 4, 5, 6]), &mut random).expect("small");
    let zeros = dgk.public().write_numbers(&zeros).expect("ours");
    level(|message, server, client, honest| match message {
        1 => of_peer_saying(read(1, server, client, &large), "larger than its slots"),
        3 => of_peer_saying(read(3, server, client, &zeros), "more than one"),
        5 => {
            for at in [0, 64] {
                let mut bytes = honest.to_vec();
                bytes[at..at + 64].copy_from_slice(&large);
                of_peer_saying(read(5, server, client, &bytes), "larger than its slots");
            }
        }
        _ => {}
    });
}

#[test]
fn a_key_of_dgk_that_is_none_is_the_peers_fault() {
    let public = dgk_key().public().to_bytes();
    let reads = |bytes: &[u8]| {
        let setup = Setup { job: job(2), keys: Keys::none().even_if_they_can_be_broken(), key: None };
        Box::new(setup).finish(bytes)
    };
    assert_eq!(reads(&public).expect("a key")[..], public[..]);
    let changed = |at: usize, byte: u8| {
        let mut bytes = public.clone();
        bytes[at] = byte;
        bytes
    };
    for (bytes, words) in [
        (public[1..].to_vec(), "form"),
        (changed(0, 0), "form"),
        (changed(9, 2), "length"),
        // 26 is no prime, and 23 is below 3·8 + 2.
        (changed(12, 26), "prime u"),
        (changed(12, 23), "prime u"),
        (changed(16, public[16] ^ 1), "even"),
        ([&public[..48], &[0; 32], &public[80..]].concat(), "base is 0"),
        ([&public[..80], &[0; 32]].concat(), "base is 0"),
    ] {
        of_peer_saying(reads(&bytes).map(drop), words);
    }
}

/// c without its plaintext: what is left is randomness.
fn residue(ciphertext: &Ciphertexts) -> Vec<u8> {
    let (key, public) = (key(), key().public().clone());
    let plain = key.decrypt(ciphertext).expect("ours");
    let residue = public.add_constants(ciphertext, &public.negatives(&plain).expect("below N")).expect("ours");
    public.write_numbers(&residue).expect("ours")
}

#[test]
fn the_client_does_not_know_its_ciphertexts_again_but_in_a_twin_that_is_not_rerandomised() {
    let (mut server, _) = parties(&[7, 3]);
    let public = key().public().clone();
    let [left, right] = pairs(&server.values).expect("two");
    // What the client can compute of its own ciphertexts, to find which ones were compared.
    let known = residue(&public.add(&right, &public.negate(&left).expect("ours")).expect("ours"));
    let comparisons = Comparisons::new(BITS, 40, 1, &mut server.random);
    let masked = comparisons.masked(&public, &left, &right).expect("ours");
    assert_eq!(residue(&masked), known, "the twin");
    let sent = server.packed(&masked, server.shape.widths()[0]).expect("ours");
    assert_ne!(residue(&public.read_numbers(&sent).expect("valid")), known);
    // The result goes to nobody, but who is shown it later does not know it again either.
    let before = residue(&server.values.pick(&[0]).expect("one"));
    let (mut server, _) = parties(&[7]);
    server.values = left;
    server.second = right;
    let found = Box::new(server).finish(&[]).expect("one value");
    assert_ne!(residue(&found.least), before);
}
