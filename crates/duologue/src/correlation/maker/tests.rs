use sha2::{Digest, Sha256};

use super::*;
use crate::{
    Party,
    correlation::Triples,
    ot::{
        ReceiverSeeds, SenderSeeds, Setup,
        iknp::{SemiHonestReceiver, SemiHonestSender},
        setup::tests::extensions,
    },
};

struct Side {
    maker: Maker,
    stock: Stock,
}

fn sides() -> [Side; 2] {
    let [alice, bob] = extensions();
    [(Party::Alice, alice), (Party::Bob, bob)].map(|(us, (sender, receiver))| Side {
        maker: Maker::new(Box::new(sender), Box::new(receiver)).unwrap(),
        stock: Stock::new(us),
    })
}

fn side(us: Party, rng: Generator, (sender, receiver): (SenderSeeds, ReceiverSeeds)) -> Side {
    let sender = Box::new(SemiHonestSender::new(sender));
    let receiver = Box::new(SemiHonestReceiver::new(receiver));
    Side { maker: Maker::with(rng, sender, receiver), stock: Stock::new(us) }
}

/// All exchanges of a refill on both sides: the bytes each way of each.
fn refill(sides: &mut [Side; 2], demand: Demand) -> Vec<[usize; 2]> {
    let mut exchanges = Vec::new();
    run(sides, demand, |sent| exchanges.push(sent.map(<[u8]>::len)));
    exchanges
}

/// A refill on both sides; `see` is shown what Alice and Bob send.
fn run([alice, bob]: &mut [Side; 2], demand: Demand, mut see: impl FnMut([&[u8]; 2])) {
    let mut alice = alice.maker.refill(&mut alice.stock, demand);
    let mut bob = bob.maker.refill(&mut bob.stock, demand);
    let (mut from_alice, mut from_bob) = (Vec::new(), Vec::new());
    loop {
        let (mut to_bob, mut to_alice) = (Vec::new(), Vec::new());
        let flows = [alice.step(&from_bob, &mut to_bob).unwrap(), bob.step(&from_alice, &mut to_alice).unwrap()];
        if flows == [Flow::Done; 2] {
            assert!(to_bob.is_empty() && to_alice.is_empty());
            assert_eq!(alice.progress().0, alice.progress().1);
            return;
        }
        assert_eq!(flows[0], Flow::Exchange { expect: to_alice.len() });
        assert_eq!(flows[1], Flow::Exchange { expect: to_bob.len() });
        see([&to_bob, &to_alice]);
        (from_alice, from_bob) = (to_bob, to_alice);
    }
}

fn xor(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

fn assert_triples(alice: &Triples, bob: &Triples, len: usize) {
    assert_eq!((alice.len, bob.len, alice.c.len()), (len, len, len.div_ceil(64)));
    let [a, b, c] =
        [(&alice.a, &bob.a), (&alice.b, &bob.b), (&alice.c, &bob.c)].map(|(mine, theirs)| xor(mine, theirs));
    let products: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a & b).collect();
    assert!(c == products, "c ≠ a·b among {len} triples");
}

fn assert_cots(sender: &mut Side, receiver: &mut Side, count: usize) {
    let delta = sender.maker.delta().unwrap();
    let q = sender.stock.draw_cot_sender(count).unwrap();
    let chosen = receiver.stock.draw_cot_receiver(count).unwrap();
    for (j, (&q, &t)) in q.iter().zip(&chosen.t).enumerate() {
        assert!(t == q ^ (delta & Block::mask(chosen.bit(j))), "COT {j} of {count}");
    }
}

#[test]
fn fills_any_demand_the_first_and_the_second_time() {
    let mut sides = sides();
    let demands = [(0, 0, 0), (1, 0, 0), (0, 70, 0), (0, 0, 1), (129, 64, 1000), (5, 9, 65)];
    for (cots_by_alice, cots_by_bob, triples) in demands.into_iter().chain(demands) {
        let demand = Demand { cots_by_alice, cots_by_bob, triples };
        refill(&mut sides, demand);
        let [alice, bob] = &mut sides;
        assert_eq!((alice.stock.available(), bob.stock.available()), (demand, demand));
        assert_cots(alice, bob, cots_by_alice as usize);
        assert_cots(bob, alice, cots_by_bob as usize);
        let len = triples as usize;
        let drawn = [alice, bob].map(|side| side.stock.draw_triples(len).unwrap());
        assert_triples(&drawn[0], &drawn[1], len);
    }
    assert_eq!(sides[0].stock.available(), Demand::NONE);
    assert_eq!(sides[0].stock.drawn(), sides[1].stock.drawn());
    assert_eq!(sides[0].stock.drawn().triples, 2 * 1066);
}

/// More than a batch of everything; draws across the borders of batches and of words.
#[test]
fn batches_follow_one_another() {
    let mut sides = sides();
    let (cots, triples) = (BATCH + 10, 2 * BATCH + 777);
    let demand = Demand { cots_by_alice: cots as u64, cots_by_bob: 3, triples: triples as u64 };
    let exchanges = refill(&mut sides, demand);
    assert_eq!(exchanges.len(), 2 + 3 + 1);
    let [alice, bob] = &mut sides;
    assert_cots(alice, bob, BATCH - 1);
    assert_cots(alice, bob, 11);
    assert_cots(bob, alice, 3);
    for len in [1, BATCH - 100, 163, BATCH + 1, 712] {
        let drawn = [&mut *alice, &mut *bob].map(|side| side.stock.draw_triples(len).unwrap());
        assert_triples(&drawn[0], &drawn[1], len);
    }
    assert_eq!((alice.stock.available(), bob.stock.available()), (Demand::NONE, Demand::NONE));
}

/// Load balancing: both send the same, 127 bits a triple and 16 bytes a batch.
#[test]
fn triples_cost_the_same_each_way() {
    let exchanges = refill(&mut sides(), Demand::of_triples(12_800));
    assert_eq!(exchanges, [[100 * 127 * 16; 2], [16; 2]]);
    let one_way = refill(&mut sides(), Demand::of_cots(Party::Bob, 128));
    assert_eq!(one_way, [[127 * 16, 0]]);
    assert!(refill(&mut sides(), Demand::NONE).is_empty());
}

/// Every share is a fair coin; a and b of the two parties have nothing to do with each other.
#[test]
fn shares_look_random() {
    let len = 100_000;
    let mut sides = sides();
    refill(&mut sides, Demand::of_triples(len));
    let [x, y] = sides.map(|mut side| side.stock.draw_triples(len as usize).unwrap());
    let fair = |bits: &[u64]| {
        let ones: u32 = bits.iter().map(|word| word.count_ones()).sum();
        (49_000..51_000).contains(&ones)
    };
    for (i, bits) in [&x.a, &x.b, &x.c, &y.a, &y.b, &y.c].iter().enumerate() {
        assert!(fair(bits), "share {i}");
    }
    for (i, (p, q)) in [(&x.a, &x.b), (&x.a, &y.a), (&x.a, &y.b), (&x.b, &y.b), (&x.b, &y.a)].iter().enumerate() {
        assert!(fair(&xor(p, q)), "pair {i}");
    }
    // A twin that takes the bits from the COTs without the hash has b = LSB(Δ) = 1 everywhere.
    let [(mut sender, _), (_, mut receiver)] = extensions();
    let (mut message, mut q) = (Vec::new(), Vec::new());
    receiver.send(640, &mut message).unwrap();
    sender.receive(640, &message, &mut q).unwrap();
    assert!(q.iter().all(|&q| q.lsb() != (q ^ sender.delta()).lsb()), "the twin is not broken");
    let hashed = triples::hash_sender(Block::new(1), sender.delta(), &q);
    let ones: u32 = hashed.b.iter().map(|word| word.count_ones()).sum();
    assert!((250..390).contains(&ones), "{ones} of 640");
}

/// The same COTs under the same salt give the same bits, under another salt others: what the salt of
/// a batch is for.
#[test]
fn a_batch_is_bound_to_its_salt_and_its_place() {
    let q: Vec<Block> = (0..1280).map(|i| Block::new((i << 64) | (77 * i))).collect();
    let delta = Block::new(0xabcdef1);
    let bits = |salt: u128, q: &[Block]| triples::hash_sender(Block::new(salt), delta, q).v;
    assert_eq!(bits(1, &q), bits(1, &q));
    assert_ne!(bits(1, &q), bits(2, &q));
    let repeated = vec![Block::new(5); 1280];
    let hashed = bits(1, &repeated);
    assert!(hashed.iter().all(|&word| word != 0 && word != !0), "the index does not enter");
    assert!(hashed[..8] != hashed[8..16], "the index starts again with each chunk");
}

#[test]
fn two_runs_differ() {
    let messages = [(); 2].map(|()| {
        let [mut alice, _] = sides();
        let mut outbox = Vec::new();
        alice.maker.refill(&mut alice.stock, Demand::of_triples(128)).step(&[], &mut outbox).unwrap();
        outbox
    });
    assert_eq!(messages[0].len(), messages[1].len());
    let blocks = |message: &[u8]| message.as_chunks::<16>().0.to_vec();
    assert!(blocks(&messages[0]).iter().zip(&blocks(&messages[1])).all(|(a, b)| a != b));
}

/// SHA-256 of what each party sends, from fixed seeds: a refactoring must not move it.
#[test]
fn the_wire_stays_as_it_is() {
    let mut rngs = [1, 2].map(|seed| Generator::from_seed(Block::new(seed)));
    let [a, b] = &mut rngs;
    let (alice, from_alice) = Setup::start_with(a, Party::Alice, &[3; 32]);
    let (bob, from_bob) = Setup::start_with(b, Party::Bob, &[3; 32]);
    let mut digests = [&from_alice, &from_bob].map(|message| Sha256::new().chain_update(message));
    let [a, b] = rngs;
    let mut sides = [
        side(Party::Alice, a, alice.finish(&from_bob).unwrap()),
        side(Party::Bob, b, bob.finish(&from_alice).unwrap()),
    ];
    let demand = Demand { cots_by_alice: 200, cots_by_bob: 1, triples: 1000 };
    run(&mut sides, demand, |sent| {
        digests.iter_mut().zip(sent).for_each(|(digest, message)| digest.update(message));
    });
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let found = digests.map(|digest| hex(&digest.finalize()));
    assert_eq!(
        found,
        [
            "ff25fa3bb2626d370c2264fe8bf35fb8d226af95b41c80400d0c30f581adfa1a",
            "0113f54b4ff56c652916531809ac20fdf55e496546255e6a843e3c9e5f899480",
        ]
    );
}

/// Garbage of the right length is accepted, as semi-honest security has no check, and gives only
/// correlations that do not belong together; of another length it is refused.
#[test]
fn garbage_does_no_more_than_break_correlations() {
    let mut rng = Generator::from_os().unwrap();
    for extra in [0, 1] {
        let [mut alice, _] = sides();
        let mut refill = alice.maker.refill(&mut alice.stock, Demand::of_triples(300));
        let mut flow = refill.step(&[], &mut Vec::new());
        while let Ok(Flow::Exchange { expect }) = flow {
            let mut garbage = vec![0; expect + extra];
            rng.fill(&mut garbage);
            flow = refill.step(&garbage, &mut Vec::new());
        }
        match extra {
            0 => assert_eq!(flow.unwrap(), Flow::Done),
            _ => assert!(matches!(flow, Err(Error::Peer(_)))),
        }
    }
}

/// Steps both to the point where the salts are in flight, and returns Bob's.
fn to_salts<'a>([alice, bob]: &'a mut [Side; 2]) -> (Refill<'a>, Vec<u8>, Vec<u8>) {
    let demand = Demand::of_triples(128);
    let mut alice = alice.maker.refill(&mut alice.stock, demand);
    let mut bob = bob.maker.refill(&mut bob.stock, demand);
    let (mut to_bob, mut to_alice) = (Vec::new(), Vec::new());
    alice.step(&[], &mut to_bob).unwrap();
    bob.step(&[], &mut to_alice).unwrap();
    let (mut alices, mut bobs) = (Vec::new(), Vec::new());
    alice.step(&to_alice, &mut alices).unwrap();
    bob.step(&to_bob, &mut bobs).unwrap();
    // Bob finishes too, so that only Alice's side is under test.
    bob.step(&alices, &mut Vec::new()).unwrap();
    (alice, alices, bobs)
}

#[test]
fn a_salt_that_comes_back_is_refused() {
    let mut sides = sides();
    let (mut alice, alices, _) = to_salts(&mut sides);
    let Err(Error::Peer(why)) = alice.step(&alices, &mut Vec::new()) else { panic!("accepted") };
    assert_eq!(why, "it sent a salt that was used before");

    let mut sides = self::sides();
    let (mut alice, _, bobs) = to_salts(&mut sides);
    assert_eq!(alice.step(&bobs, &mut Vec::new()).unwrap(), Flow::Done);
    drop(alice);
    let (mut alice, _, _) = to_salts(&mut sides);
    assert!(matches!(alice.step(&bobs, &mut Vec::new()), Err(Error::Peer(_))));
}

#[test]
fn salts_are_fresh() {
    let mut sides = sides();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..20 {
        let (mut alice, alices, bobs) = to_salts(&mut sides);
        alice.step(&bobs, &mut Vec::new()).unwrap();
        assert!(seen.insert(alices) && seen.insert(bobs));
    }
}

/// Any failure destroys the maker, what it left in the stock, and says so for ever.
#[test]
fn a_wrong_length_destroys_the_maker() {
    for len in [0, 15, 17, 2032 + 16] {
        let mut sides = sides();
        let [alice, _] = &mut sides;
        let bits = vec![1];
        alice.stock.put_cots(&[], &Choices { bits, t: vec![Block::new(1)] });
        let (mut refill, ..) = to_salts(&mut sides);
        let Err(Error::Peer(why)) = refill.step(&vec![0; len], &mut Vec::new()) else { panic!("accepted {len} bytes") };
        assert!(why.contains(&format!("{len} bytes, not 16")), "{why}");
        assert!(matches!(refill.step(&[], &mut Vec::new()), Err(Error::Dead(_))));
        drop(refill);
        let [alice, _] = &mut sides;
        assert_eq!(alice.stock.available(), Demand::NONE);
        let Err(Error::Dead(why)) = alice.maker.delta() else { panic!("Δ survives") };
        assert!(why.contains("not 16"), "the first reason is kept: {why}");
        let mut again = alice.maker.refill(&mut alice.stock, Demand::of_triples(1));
        assert!(matches!(again.step(&[], &mut Vec::new()), Err(Error::Dead(_))));
    }
}

#[test]
fn a_refill_that_is_broken_off_destroys_its_maker() {
    let [mut alice, _] = sides();
    drop(alice.maker.refill(&mut alice.stock, Demand::of_triples(1)));
    assert!(alice.maker.delta().is_ok(), "nothing was sent yet");
    let mut refill = alice.maker.refill(&mut alice.stock, Demand::of_triples(1));
    refill.step(&[], &mut Vec::new()).unwrap();
    drop(refill);
    assert!(matches!(alice.maker.delta(), Err(Error::Dead(_))));
}

#[test]
fn a_refill_that_is_done_stays_done() {
    let [mut alice, _] = sides();
    let mut refill = alice.maker.refill(&mut alice.stock, Demand::NONE);
    assert_eq!(refill.step(&[], &mut Vec::new()).unwrap(), Flow::Done);
    assert!(matches!(refill.step(&[], &mut Vec::new()), Err(Error::Usage(_))));
}
