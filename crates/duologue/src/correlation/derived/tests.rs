//! The correlations that both parties derive, against the definitions, over sessions in memory.

use std::collections::HashSet;
use std::thread;

use kernels::Block;
use kernels::aes::Aes128;

use super::*;
use crate::channel::Channel;
use crate::correlation::Demand;
use crate::ot::Extension;
use crate::{Error, Party, Session};

/// Does the same with both ends of a session: what Alice and Bob have of it.
fn both<T: Send>(act: impl Fn(&mut Session) -> T + Sync) -> [T; 2] {
    let (alice, bob) = Channel::pair();
    let run = |channel, party| act(&mut Session::connect(channel, party).unwrap());
    thread::scope(|scope| {
        let bob = scope.spawn(|| run(bob, Party::Bob));
        [run(alice, Party::Alice), bob.join().expect("no panic")]
    })
}

fn ots(by_alice: u64, by_bob: u64) -> [RandomOts; 2] {
    both(|session| session.random_ots(Extension::DEFAULT, by_alice, by_bob).unwrap())
}

fn bit(words: &[u64], index: usize) -> bool {
    words[index / 64] >> (index % 64) & 1 == 1
}

fn assert_fair(ones: usize, of: usize, what: &str) {
    // Six standard deviations.
    assert!(ones.abs_diff(of / 2) <= 3 * of.isqrt(), "{what}: {ones} of {of}");
}

/// Both directions: (sender's, receiver's).
fn directions<S, R>([(s0, r0), (s1, r1)]: [(S, R); 2]) -> [(S, R); 2] {
    [(s0, r1), (s1, r0)]
}

#[test]
fn the_receiver_has_the_message_of_its_choice_and_not_the_other() {
    for (by_alice, by_bob) in [(0, 0), (1, 0), (0, 130), (1000, 70)] {
        let pairs = directions(ots(by_alice, by_bob).map(|RandomOts { sent, received }| (sent, received)));
        for ((sent, received), wanted) in pairs.into_iter().zip([by_alice, by_bob]) {
            assert!(sent.len() as u64 >= wanted && sent.len() == received.len());
            let [m0, m1] = sent.messages();
            for (i, &chosen) in received.messages().iter().enumerate() {
                let [mine, other] = if bit(received.choices(), i) { [m1[i], m0[i]] } else { [m0[i], m1[i]] };
                assert!(chosen == mine && chosen != other, "OT {i} of {wanted}");
            }
        }
    }
}

/// P8: neither batches, directions nor sessions share a message.
#[test]
fn no_message_comes_twice() {
    let mut seen = HashSet::new();
    for _ in 0..2 {
        let batches = both(|session| [(); 2].map(|()| session.random_ots(Extension::DEFAULT, 300, 300).unwrap()));
        for ots in batches.iter().flatten() {
            let messages = ots.sent.messages().concat();
            messages.iter().for_each(|message| assert!(seen.insert(message.get())));
        }
    }
    assert!(seen.len() >= 2 * 2 * 2 * 2 * 300);
}

#[test]
fn bits_are_random_ots_of_one_bit() {
    let count = 20_000;
    let halves = both(|session| session.random_bits(Extension::DEFAULT, count, count + 77).unwrap());
    let taken = halves.map(|mut half| {
        let sent = (std::mem::take(&mut half.sent), half.sent_len);
        (sent, (std::mem::take(&mut half.received), half.received_len))
    });
    for ((([m0, m1], len), ([choices, chosen], received)), wanted) in
        directions(taken).into_iter().zip([count, count + 77])
    {
        assert!(len == received && len as u64 >= wanted);
        for i in 0..len {
            assert_eq!(bit(&chosen, i), bit(if bit(&choices, i) { &m1 } else { &m0 }, i), "bit {i}");
        }
        for (what, bits) in [("m0", &m0), ("m1", &m1), ("choices", &choices)] {
            assert_fair((0..len).filter(|&i| bit(bits, i)).count(), len, what);
        }
        assert_fair((0..len).filter(|&i| bit(&m0, i) != bit(&m1, i)).count(), len, "m0 and m1 have nothing in common");
    }
}

/// A string by its definition, bit by bit.
fn string(seed: Block, bits: usize) -> Vec<bool> {
    let mut bytes = seed.to_bytes().to_vec();
    if bits > 128 {
        bytes.resize(bits.div_ceil(128) * 16, 0);
        Generator::from_seed(seed).fill(&mut bytes);
    }
    (0..bits).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1).collect()
}

#[test]
fn strings_are_the_first_bits_or_the_stream_of_a_message() {
    for bits in [1, 5, 63, 64, 65, 127, 128, 129, 192, 1000] {
        let [alice, bob] = ots(70, 0);
        let messages = alice.sent.messages().map(<[Block]>::to_vec);
        let (sent, received) = (alice.sent.strings(bits), bob.received.strings(bits));
        for i in 0..70 {
            let expected = messages.each_ref().map(|m| string(m[i], bits));
            let read = |row: &[u64]| -> Vec<bool> { (0..64 * row.len()).map(|j| bit(row, j)).collect() };
            let chosen = bit(&received.choices, i) as usize;
            let rows = [(&sent.m[0], 0), (&sent.m[1], 1), (&received.m, chosen)];
            for (strings, which) in rows {
                let mut row = read(strings.row(i));
                assert!(row.split_off(bits).iter().all(|&padding| !padding), "{bits} bits, string {i}");
                assert!(row == expected[which], "{bits} bits, string {i}");
            }
        }
    }
}

#[test]
fn one_of_many_gives_the_chosen_message_and_no_other() {
    for (n, width) in [(2, 1), (3, 2), (4, 2), (5, 3), (16, 4), (17, 5), (256, 8)] {
        let [alice, bob] = ots(0, 100);
        let (sent, received) = (bob.sent.one_of(n).unwrap(), alice.received.one_of(n).unwrap());
        assert_eq!(sent.messages(), 1 << width);
        assert!(sent.len() >= 100 / width && sent.len() == received.len());
        let mut seen = HashSet::new();
        for i in 0..100 / width {
            let choice = received.choice(i);
            assert!(received.message(i) == sent.message(i, choice), "1 of {n}, OT {i}");
            (0..sent.messages()).for_each(|x| assert!(seen.insert(sent.message(i, x).get()), "1 of {n}, OT {i}"));
        }
    }
}

/// m_x by its definition, from the messages of the random OTs.
#[test]
fn one_bit_of_many_is_as_defined() {
    for (n, width) in [(2, 1), (3, 2), (4, 2), (16, 4), (33, 6), (64, 6)] {
        let [alice, bob] = ots(0, 100 * width as u64);
        let messages = bob.sent.messages().map(<[Block]>::to_vec);
        let (sent, received) = (bob.sent.bit_of(n).unwrap(), alice.received.bit_of(n).unwrap());
        assert!(sent.tables.len() >= 100 && sent.tables.len() == received.bits.len());
        let mut ones = 0;
        for (ot, &table) in sent.tables.iter().enumerate() {
            for x in 0..1 << width {
                let key = |i: usize| messages[x >> i & 1][width * ot + i].get() >> x & 1;
                assert_eq!(
                    u128::from(table >> x & 1),
                    (0..width).fold(0, |sum, i| sum ^ key(i)),
                    "1 of {n}, {ot}, {x}"
                );
            }
            assert!(width == 6 || table >> (1 << width) == 0, "no bits beyond N");
            assert_eq!(table >> received.choices[ot] & 1, u64::from(received.bits[ot]), "1 of {n}, OT {ot}");
            ones += (table & 1) as usize;
        }
        assert_fair(ones, sent.tables.len(), "bits");
    }
    for n in [0, 1, 65, u32::MAX] {
        let [alice, bob] = ots(20, 0);
        assert!(matches!(alice.sent.bit_of(n), Err(Error::Usage(_))), "{n}");
        assert!(matches!(bob.received.bit_of(n), Err(Error::Usage(_))), "{n}");
    }
}

#[test]
fn one_of_65536_is_lazy() {
    let [alice, bob] = ots(33, 0);
    let (sent, received) = (alice.sent.one_of(1 << 16).unwrap(), bob.received.one_of(1 << 16).unwrap());
    for i in 0..2 {
        let choice = received.choice(i);
        assert!(received.message(i) == sent.message(i, choice));
        (1..100).for_each(|x| assert!(received.message(i) != sent.message(i, choice ^ x)));
    }
    for n in [0, 1, (1 << 16) + 1, u32::MAX] {
        let [alice, bob] = ots(20, 0);
        assert!(matches!(alice.sent.one_of(n), Err(Error::Usage(_))), "{n}");
        assert!(matches!(bob.received.one_of(n), Err(Error::Usage(_))), "{n}");
    }
}

#[test]
fn choices_among_many_are_uniform() {
    let count = 16_000;
    let [_, bob] = ots(4 * count, 0);
    let received = bob.received.one_of(16).unwrap();
    let mut seen = [0; 16];
    (0..count as usize).for_each(|i| seen[received.choice(i) as usize] += 1);
    assert!(seen.iter().all(|times| (800..1200).contains(times)), "{seen:?}");
}

/// m_x by its definition: H_j(k) = E_K(σ(k)) ⊕ σ(k), K = S ⊕ (j ‖ "ot-hash."), j = w·(2^w·OT + x) + i.
#[test]
fn messages_among_many_are_as_defined() {
    let (id, width) = ([9; 32], 3);
    let keys = [10u128, 20].map(|from| (0..6).map(|i| Block::new(from + i)).collect::<Vec<_>>());
    let sent = SentChoices::new(id, keys.clone(), 8).unwrap();
    let salt = blake3::derive_key("duologue v1 1-of-N OT: salt", &[&id[..], &[width as u8]].concat());
    let salt = u128::from_le_bytes(salt[..16].try_into().unwrap());
    for (ot, x) in (0..2).flat_map(|ot| (0..8).map(move |x| (ot, x))) {
        let term = |i: usize| {
            let key = keys[x as usize >> i & 1][width * ot + i].sigma();
            let j = (width * (8 * ot + x as usize) + i) as u128;
            let domain = u128::from(u64::from_le_bytes(*b"ot-hash.")) << 64;
            let mut sum = [key];
            Aes128::new(Block::new(salt ^ domain ^ j)).encrypt(&mut sum);
            sum[0] ^ key
        };
        assert!(sent.message(ot, x) == (0..width).map(term).fold(Block::ZERO, |sum, term| sum ^ term), "{ot}, {x}");
    }
}

/// The broken twin leaves x out of F: then one message follows from three others.
#[test]
fn without_x_a_message_is_a_sum_of_others() {
    let mut random = Generator::from_os().unwrap();
    let keys = [(); 2].map(|()| (0..4).map(|_| random.block()).collect::<Vec<_>>());
    let salt = random.block();
    let twin = |x: usize| {
        let keys: Vec<Block> = (0..4).map(|i| keys[x >> i & 1][i]).collect();
        let mut hashes = [Block::ZERO; 4];
        kernels::ot_hash::OtHash::new(salt).chosen(0, &keys, &mut hashes);
        hashes.into_iter().fold(Block::ZERO, |sum, hash| sum ^ hash)
    };
    let sent = SentChoices::new([1; 32], keys.clone(), 16).unwrap();
    let dependent =
        |message: &dyn Fn(usize) -> Block, x| message(x) ^ message(x ^ 1) == message(x ^ 2) ^ message(x ^ 3);
    assert!((0..16).all(|x| dependent(&twin, x)), "the twin is caught");
    assert!((0..16).all(|x| !dependent(&|x| sent.message(0, x as u32), x)));
}

/// P8: another batch, direction, session or N has another salt; the broken twin takes one id twice.
#[test]
fn the_same_keys_under_another_id_give_other_messages() {
    let keys = || [1u128, 100].map(|from| (0..4).map(|i| Block::new(from + i)).collect::<Vec<_>>());
    let messages = |id| {
        let sent = SentChoices::new(id, keys(), 16).unwrap();
        (0..16).map(|x| sent.message(0, x).get()).collect::<HashSet<_>>()
    };
    assert!(messages([1; 32]) == messages([1; 32]), "the twin is caught");
    assert!(messages([1; 32]).is_disjoint(&messages([2; 32])));
    let ids = both(|session| {
        let batches = [(); 2].map(|()| session.random_ots(Extension::DEFAULT, 1, 1).unwrap());
        batches.each_ref().map(|ots| [ots.sent.id, ots.received.id])
    });
    assert_eq!(ids[0].concat().iter().collect::<HashSet<_>>().len(), 4);
    assert_eq!(ids[0].map(|[sent, received]| [received, sent]), ids[1], "both parties have the same");
}

#[test]
fn triples_of_bits_and_vectors_multiply() {
    for (bits, count) in [(1, 300), (64, 65), (100, 64), (128, 1), (300, 70)] {
        let [x, y] = ots(count, count).map(|ots| ots.bit_vector_triples(bits));
        assert!(x.len as u64 >= count && x.len == y.len);
        let mut ones = 0;
        for i in 0..x.len {
            let a = bit(&x.a, i) ^ bit(&y.a, i);
            ones += a as usize;
            for j in 0..bits {
                let [b, c] = [[&x.b, &y.b], [&x.c, &y.c]].map(|[p, q]| bit(p.row(i), j) ^ bit(q.row(i), j));
                assert_eq!(c, a && b, "{bits} bits, triple {i}, bit {j}");
            }
        }
        if count >= 300 {
            assert_fair(ones, x.len, "factors");
        }
        for i in 0..x.len.min(20) {
            assert!(bits < 64 || [&x.b, &x.c].map(|s| s.row(i)) != [&y.b, &y.c].map(|s| s.row(i)), "shares differ");
        }
    }
}

/// Random OTs come between programs' correlations, and nothing of theirs reaches the stock.
#[test]
fn random_ots_leave_the_stock_as_it_is() {
    let opened = both(|session| {
        let demand = Demand { cots_by_alice: 10, cots_by_bob: 3, triples: 200 };
        session.correlate(Extension::DEFAULT, demand, |_| Ok(())).unwrap();
        session.random_ots(Extension::DEFAULT, 1000, 100).unwrap();
        session.random_bits(Extension::DEFAULT, 0, 100).unwrap();
        session.correlate(Extension::DEFAULT, Demand::of_triples(50), |_| Ok(())).unwrap();
        session.open_correlations().unwrap()
    });
    assert_eq!(opened, [Demand { cots_by_alice: 10, cots_by_bob: 3, triples: 250 }; 2]);
}

#[test]
fn who_calls_for_other_numbers_hears_so() {
    let errors = both(|session| {
        let count = if session.party() == Party::Alice { 5 } else { 6 };
        let error = session.random_ots(Extension::DEFAULT, count, 0).err().expect("they differ");
        assert!(session.random_ots(Extension::DEFAULT, 7, 0).is_ok(), "the session goes on");
        error
    });
    for error in errors {
        assert!(matches!(error, Error::Incompatible { what: "how many", .. }), "{error}");
    }
}
