use kernels::generator::Generator;

use super::*;
use crate::{
    correlation::Triples,
    ot::{Extension, ReceiverSeeds, SenderSeeds, base_setup::tests::exchange},
};

/// One party.
struct Half {
    maker: Maker,
    stock: Stock,
}

fn halves() -> [Half; 2] {
    let [alice, bob] = exchange();
    [(Party::Alice, alice), (Party::Bob, bob)].map(|(us, seeds)| half(us, Generator::from_os().unwrap(), seeds))
}

fn half(us: Party, rng: Generator, seeds: (SenderSeeds, ReceiverSeeds)) -> Half {
    Half { maker: Maker::new(Extension::DEFAULT.makers_with(&rng, seeds, 1)), stock: Stock::new(us) }
}

/// All exchanges of a refill on both halves: the bytes each way of each.
fn refill(halves: &mut [Half; 2], demand: Demand) -> Vec<[usize; 2]> {
    let mut exchanges = Vec::new();
    run(halves, demand, |sent| exchanges.push(sent.map(<[u8]>::len)));
    exchanges
}

/// A refill on both halves; `see` is shown what Alice and Bob send.
fn run([alice, bob]: &mut [Half; 2], demand: Demand, mut see: impl FnMut([&[u8]; 2])) {
    let mut alice = alice.maker.refill(&mut alice.stock, demand);
    let mut bob = bob.maker.refill(&mut bob.stock, demand);
    let (mut from_alice, mut from_bob) = (Vec::new(), Vec::new());
    loop {
        let (mut to_bob, mut to_alice) = (Vec::new(), Vec::new());
        let flows = [alice.step(&from_bob, &mut to_bob).unwrap(), bob.step(&from_alice, &mut to_alice).unwrap()];
        if flows == [RefillStep::Done; 2] {
            assert!(to_bob.is_empty() && to_alice.is_empty());
            assert_eq!(alice.progress().0, alice.progress().1);
            return;
        }
        assert_eq!(flows[0], RefillStep::Exchange { expect: to_alice.len() });
        assert_eq!(flows[1], RefillStep::Exchange { expect: to_bob.len() });
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

fn assert_cots(sender: &mut Half, receiver: &mut Half, count: usize) {
    let delta = sender.maker.delta().unwrap();
    let q = sender.stock.draw_cot_sender(count).unwrap();
    let chosen = receiver.stock.draw_cot_receiver(count).unwrap();
    for (j, (&q, &t)) in q.iter().zip(&chosen.t).enumerate() {
        assert!(t == q ^ (delta & Block::mask(chosen.bit(j))), "COT {j} of {count}");
    }
}

#[test]
fn fills_any_demand_the_first_and_the_second_time() {
    let mut halves = halves();
    let demands = [(0, 0, 0), (1, 0, 0), (0, 70, 0), (0, 0, 1), (129, 64, 1000), (5, 9, 65)];
    for (cots_by_alice, cots_by_bob, triples) in demands.into_iter().chain(demands) {
        let demand = Demand { cots_by_alice, cots_by_bob, triples };
        refill(&mut halves, demand);
        let [alice, bob] = &mut halves;
        assert_eq!((alice.stock.available(), bob.stock.available()), (demand, demand));
        assert_cots(alice, bob, cots_by_alice as usize);
        assert_cots(bob, alice, cots_by_bob as usize);
        let len = triples as usize;
        let drawn = [alice, bob].map(|side| side.stock.draw_triples(len).unwrap());
        assert_triples(&drawn[0], &drawn[1], len);
    }
    assert_eq!(halves[0].stock.available(), Demand::NONE);
    assert_eq!(halves[0].stock.drawn(), halves[1].stock.drawn());
    assert_eq!(halves[0].stock.drawn().triples, 2 * 1066);
}

/// More than a batch of everything; draws across the borders of batches and of words.
#[test]
fn batches_follow_one_another() {
    const BATCH: usize = 1 << 19;
    let mut halves = halves();
    let (cots, triples) = (BATCH + 10, 2 * BATCH + 777);
    let demand = Demand { cots_by_alice: cots as u64, cots_by_bob: 3, triples: triples as u64 };
    refill(&mut halves, demand);
    let [alice, bob] = &mut halves;
    assert_cots(alice, bob, BATCH - 1);
    assert_cots(alice, bob, 11);
    assert_cots(bob, alice, 3);
    for len in [1, BATCH - 100, 163, BATCH + 1, 712] {
        let drawn = [&mut *alice, &mut *bob].map(|half| half.stock.draw_triples(len).unwrap());
        assert_triples(&drawn[0], &drawn[1], len);
    }
    assert_eq!((alice.stock.available(), bob.stock.available()), (Demand::NONE, Demand::NONE));
}

/// Load balancing: in every exchange both send the same; and the lengths are those that the cost protocol counts.
#[test]
fn triples_cost_the_same_each_way_and_what_was_counted() {
    for demand in [Demand::of_triples(12_800), Demand::of_cots(Party::Bob, 128), Demand::NONE] {
        let found = refill(&mut halves(), demand);
        let mut lengths = [(); 2].map(|()| Extension::DEFAULT.lengths());
        let (counted, made) = exchanges(Party::Alice, demand, &mut lengths);
        assert_eq!(found.iter().map(|&[sent, read]| (sent, read)).collect::<Vec<_>>(), counted);
        assert_eq!(made, demand);
        assert!(demand.triples == 0 || found.iter().all(|[alice, bob]| alice == bob));
    }
}

/// Every share is a fair coin; a and b of the two parties have nothing to do with each other.
#[test]
fn shares_look_random() {
    let len = 100_000;
    let mut halves = halves();
    refill(&mut halves, Demand::of_triples(len));
    let [x, y] = halves.map(|mut side| side.stock.draw_triples(len as usize).unwrap());
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
}

#[test]
fn two_runs_differ() {
    let messages = [(); 2].map(|()| {
        let [mut alice, _] = halves();
        let mut outbox = Vec::new();
        alice.maker.refill(&mut alice.stock, Demand::of_triples(128)).step(&[], &mut outbox).unwrap();
        outbox
    });
    assert_eq!(messages[0].len(), messages[1].len());
    let blocks = |message: &[u8]| message.as_chunks::<16>().0.to_vec();
    assert!(blocks(&messages[0]).iter().zip(&blocks(&messages[1])).all(|(a, b)| a != b));
}

/// Garbage never panics, and what accepts it has made no more than correlations that do not belong together.
#[test]
fn garbage_does_no_harm() {
    let mut rng = Generator::from_os().unwrap();
    for extra in [0, 1] {
        let [mut alice, _] = halves();
        let mut refill = alice.maker.refill(&mut alice.stock, Demand::of_triples(300));
        let mut flow = refill.step(&[], &mut Vec::new());
        while let Ok(RefillStep::Exchange { expect }) = flow {
            let mut garbage = vec![0; expect + extra];
            rng.fill(&mut garbage);
            flow = refill.step(&garbage, &mut Vec::new());
        }
        assert!(extra == 0 && matches!(flow, Ok(RefillStep::Done)) || matches!(flow, Err(Error::Peer(_))));
    }
}

/// Any failure destroys the maker, what it left in the stock, and says so for ever.
#[test]
fn a_wrong_length_destroys_the_maker() {
    for change in [-1isize, 1, 17] {
        let [mut alice, _] = halves();
        alice.stock.put_cots(Side::Sender, vec![Block::new(4)]);
        let mut refill = alice.maker.refill(&mut alice.stock, Demand::of_triples(128));
        let Ok(RefillStep::Exchange { expect }) = refill.step(&[], &mut Vec::new()) else { panic!("no exchange") };
        let len = expect.checked_add_signed(change).unwrap();
        let Err(Error::Peer(why)) = refill.step(&vec![0; len], &mut Vec::new()) else { panic!("accepted {len} bytes") };
        assert!(why.contains(&format!("{len} bytes, not {expect}")), "{why}");
        assert!(matches!(refill.step(&[], &mut Vec::new()), Err(Error::Dead(_))));
        drop(refill);
        assert_eq!(alice.stock.available(), Demand::NONE);
        let Err(Error::Dead(why)) = alice.maker.delta() else { panic!("Δ survives") };
        assert!(why.contains(&format!("not {expect}")), "the first reason is kept: {why}");
        let mut again = alice.maker.refill(&mut alice.stock, Demand::of_triples(1));
        assert!(matches!(again.step(&[], &mut Vec::new()), Err(Error::Dead(_))));
    }
}

#[test]
fn a_refill_that_is_broken_off_destroys_its_maker() {
    let [mut alice, _] = halves();
    drop(alice.maker.refill(&mut alice.stock, Demand::of_triples(1)));
    assert!(alice.maker.delta().is_ok(), "nothing was sent yet");
    let mut refill = alice.maker.refill(&mut alice.stock, Demand::of_triples(1));
    refill.step(&[], &mut Vec::new()).unwrap();
    drop(refill);
    assert!(matches!(alice.maker.delta(), Err(Error::Dead(_))));
}

#[test]
fn a_refill_that_is_done_stays_done() {
    let [mut alice, _] = halves();
    let mut refill = alice.maker.refill(&mut alice.stock, Demand::NONE);
    assert_eq!(refill.step(&[], &mut Vec::new()).unwrap(), RefillStep::Done);
    assert!(matches!(refill.step(&[], &mut Vec::new()), Err(Error::Usage(_))));
}
