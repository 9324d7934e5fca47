use kernels::generator::Generator;

use super::*;
use crate::{
    correlation::Triples,
    correlation::{MakerExchange, MakerLengths},
    ot::{Directions, Extension, ReceiverSeeds, SenderSeeds, base_setup::tests},
};

/// One party.
struct Half {
    maker: Maker,
    stock: Stock,
}

fn halves() -> [Half; 2] {
    let [alice, bob] = tests::exchange();
    [(Party::Alice, alice), (Party::Bob, bob)].map(|(us, seeds)| half(us, Generator::from_os().unwrap(), seeds))
}

fn half(us: Party, rng: Generator, seeds: (SenderSeeds, ReceiverSeeds)) -> Half {
    Half { maker: Maker::new(Extension::DEFAULT.makers_with(&rng, seeds, &Threads::default())), stock: Stock::new(us) }
}

/// Both parties on base OTs of these directions, as a session makes them.
fn on_base_ots(directions: Directions) -> [Half; 2] {
    by_maker(Extension::DEFAULT, directions)
}

fn by_maker(extension: Extension, directions: Directions) -> [Half; 2] {
    let [alice, bob] = tests::setup(&[4; 32], directions);
    [(Party::Alice, alice), (Party::Bob, bob)].map(|(us, seeds)| {
        let recipe = Recipe { extension, secrets: Generator::from_os().unwrap(), threads: Threads::default() };
        Half { maker: Maker::on(seeds, recipe), stock: Stock::new(us) }
    })
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
        assert_eq!(flows.map(expected), [Some(to_alice.len()), Some(to_bob.len())]);
        see([&to_bob, &to_alice]);
        (from_alice, from_bob) = (to_bob, to_alice);
    }
}

/// What a step asks for, if it does.
fn expected(step: RefillStep) -> Option<usize> {
    match step {
        RefillStep::Exchange { expect, .. } => Some(expect),
        RefillStep::Done => None,
    }
}

/// Bytes sent and read, in turns.
fn in_turns(lengths: Vec<MakerExchange>) -> (Vec<usize>, Vec<usize>) {
    let sent = lengths.iter().map(|exchange| exchange.sent).filter(|&bytes| bytes > 0);
    (sent.collect(), lengths.iter().map(|exchange| exchange.read).filter(|&bytes| bytes > 0).collect())
}

/// The same of exchanges in which both parties send and read at once.
fn at_once(exchanges: &[[usize; 2]]) -> (Vec<usize>, Vec<usize>) {
    let of = |party: usize| exchanges.iter().map(|each| each[party]).filter(|&bytes| bytes > 0).collect();
    (of(0), of(1))
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
    const BATCH: usize = 1 << 16;
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

/// A party that goes ahead of the other as far as it may, or as far as a drawn limit: what it sends waits until it is read.
fn run_ahead(halves: &mut [Half; 2], demand: Demand, limits: [usize; 2]) -> [usize; 2] {
    let [alice, bob] = halves.each_mut();
    let mut refills = [alice.maker.refill(&mut alice.stock, demand), bob.maker.refill(&mut bob.stock, demand)];
    // What was sent to each and not read, and how far each went ahead.
    let (mut sent, mut most) = ([VecDeque::new(), VecDeque::new()], [0; 2]);
    let mut inboxes = [Some(Vec::new()), Some(Vec::new())];
    let mut steps = [None; 2];
    while steps != [Some(RefillStep::Done); 2] {
        for us in [0, 1] {
            let Some(inbox) = inboxes[us].take() else { continue };
            let mut outbox = Vec::new();
            let step = refills[us].step(&inbox, &mut outbox).unwrap();
            steps[us] = Some(step);
            sent[1 - us].extend(outbox);
            most[us] = most[us].max(refills[us].window.len());
        }
        for us in [0, 1] {
            let Some(RefillStep::Exchange { expect, reading }) = steps[us] else { continue };
            if inboxes[us].is_none() && reading == Reading::Later && refills[us].window.len() < limits[us] {
                inboxes[us] = Some(Vec::new());
            } else if inboxes[us].is_none() && sent[us].len() >= expect {
                inboxes[us] = Some(sent[us].drain(..expect).collect());
            }
        }
    }
    assert!(sent.iter().all(VecDeque::is_empty));
    most
}

/// However far either party goes ahead, the correlations are right: of triples, of COTs of both directions, and of more in
/// one than in the other.
#[test]
fn parties_may_go_ahead_of_each_other() {
    let demands = [(0, 0, 1_200_000), (300_000, 300_000, 0), (500_000, 70_000, 400_000)];
    for (limits, (cots_by_alice, cots_by_bob, triples)) in
        [[1, 1], [1, 100], [3, 2], [100, 100]].into_iter().flat_map(|limits| demands.map(|demand| (limits, demand)))
    {
        let demand = Demand { cots_by_alice, cots_by_bob, triples };
        let mut halves = on_base_ots(Directions::Both);
        let most = run_ahead(&mut halves, demand, limits);
        assert!(most.iter().zip(limits).all(|(&most, limit)| most <= limit && (most > 1) == (limit > 1)), "{most:?}");
        let [alice, bob] = &mut halves;
        assert_cots(alice, bob, cots_by_alice as usize);
        assert_cots(bob, alice, cots_by_bob as usize);
        let drawn = [alice, bob].map(|half| half.stock.draw_triples(triples as usize).unwrap());
        assert_triples(&drawn[0], &drawn[1], triples as usize);
    }
}

/// What waits in memory is bounded: a quarter of the triples or 2²² at most, and two batches at least.
#[test]
fn a_window_bounds_what_is_under_way() {
    for (triples, batches) in [(70_000, 2), (1 << 19, 2), (1 << 20, 4), (1 << 24, 64), (1 << 30, 64)] {
        let total = Demand::of_triples(triples);
        let (mut window, left) = (Window::new(&total), Remaining::new(Party::Alice, total));
        let sent = (0..100).take_while(|_| window.admits(&left).then(|| window.send(1 << 16, ())).is_some()).count();
        assert_eq!(sent, batches, "{triples}");
        window.receive();
        assert!(window.admits(&left));
    }
}

/// Nobody goes ahead where the peer's next message depends on ours, or before the base OTs are proven.
#[test]
fn who_must_wait_does() {
    let first = |extension, party: Party| {
        let mut half = by_maker(extension, Directions::Both).into_iter().nth(party as usize).unwrap();
        let mut refill = half.maker.refill(&mut half.stock, Demand::of_triples(1 << 22));
        let step = refill.step(&[], &mut Vec::new()).unwrap();
        match step {
            RefillStep::Exchange { reading, .. } => reading,
            RefillStep::Done => panic!("nothing was made"),
        }
    };
    let silent: Extension = "silent16w".parse().unwrap();
    assert_eq!([Party::Alice, Party::Bob].map(|party| first(silent, party)), [Reading::Now; 2]);
    let prover = Directions::Both.first();
    assert_eq!(first(Extension::DEFAULT, prover), Reading::Later, "its own proof is sent");
    assert_eq!(first(Extension::DEFAULT, prover.peer()), Reading::Now, "the peer's proof has not come");
    // Whoever goes on without the proof all the same is refused.
    let mut half = by_maker(Extension::DEFAULT, Directions::Both).into_iter().nth(prover.peer() as usize).unwrap();
    let mut refill = half.maker.refill(&mut half.stock, Demand::of_triples(1 << 22));
    refill.step(&[], &mut Vec::new()).unwrap();
    assert!(matches!(refill.step(&[], &mut Vec::new()), Err(Error::Peer(_))));
}

/// A refill in lengths, without base OTs and their proof.
fn counted(us: Party, demand: Demand) -> (Vec<MakerExchange>, Demand) {
    let mut lengths = MakerLengths::new(us, Extension::DEFAULT);
    lengths.base(&demand);
    let (mut exchanges, made) = lengths.refill(demand);
    let first = Directions::of(&demand).map(Directions::first);
    let ours = |exchange: &MakerExchange| if first == Some(us) { exchange.sent > 0 } else { exchange.read > 0 };
    if let Some(exchange) = exchanges.iter_mut().find(|exchange| ours(exchange)) {
        *(if first == Some(us) { &mut exchange.sent } else { &mut exchange.read }) -= Proof::LEN;
    }
    (exchanges, made)
}

/// Load balancing: in every exchange both send the same; and the lengths are those that the cost protocol counts.
#[test]
fn triples_cost_the_same_each_way_and_what_was_counted() {
    let demands = [Demand::of_triples(12_800), Demand::of_triples(1_000_000), Demand::of_cots(Party::Bob, 128)];
    for demand in demands.into_iter().chain([Demand::of_cots(Party::Alice, 500_000), Demand::NONE]) {
        let found = refill(&mut halves(), demand);
        let (counted, made) = counted(Party::Alice, demand);
        assert_eq!(at_once(&found), in_turns(counted));
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
        while let Ok(RefillStep::Exchange { expect, .. }) = flow {
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
        let Ok(RefillStep::Exchange { expect, .. }) = refill.step(&[], &mut Vec::new()) else { panic!("no exchange") };
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

/// The directions that were called for, and the other one later: makers are there when their base OTs are, and the
/// lengths are counted.
#[test]
fn directions_are_added_when_they_are_called_for() {
    for first in [Party::Alice, Party::Bob] {
        let mut halves = on_base_ots(Directions::One(first));
        let mut lengths = MakerLengths::new(Party::Alice, Extension::DEFAULT);
        let one = Demand::of_cots(first, 300);
        lengths.base(&one);
        let sent = |halves: &mut [Half; 2], demand| at_once(&refill(halves, demand));
        assert_eq!(sent(&mut halves, one), in_turns(lengths.refill(one).0));
        // Without base OTs nothing is made, and nothing is sent.
        let [alice, bob] = on_base_ots(Directions::One(first));
        for Half { mut maker, mut stock } in [alice, bob] {
            let refused = maker.refill(&mut stock, Demand::of_triples(1)).step(&[], &mut Vec::new());
            assert!(matches!(refused, Err(Error::Usage(_))));
        }
        second(&mut halves).unwrap();
        assert_eq!(lengths.base(&Demand::of_triples(1)).len(), 1);
        for demand in [Demand::of_cots(first.peer(), 70), Demand::of_triples(1000)] {
            assert_eq!(sent(&mut halves, demand), in_turns(lengths.refill(demand).0));
        }
        let [alice, bob] = &mut halves;
        let by_alice = if first == Party::Alice { 300 } else { 70 };
        assert_cots(alice, bob, by_alice);
        assert_cots(bob, alice, 370 - by_alice);
        let drawn = [alice, bob].map(|half| half.stock.draw_triples(1000).unwrap());
        assert_triples(&drawn[0], &drawn[1], 1000);
    }
}

/// The base OTs of the second direction on both halves.
fn second(halves: &mut [Half; 2]) -> Result<()> {
    let mut messages = [const { Vec::new() }; 2];
    let expect = [0, 1].map(|i| halves[i].maker.begin_second(&mut messages[i]).unwrap());
    assert_eq!(expect, [messages[1].len(), messages[0].len()]);
    assert_eq!(expect[0] + expect[1], SECOND);
    halves[0].maker.end_second(&messages[1])?;
    halves[1].maker.end_second(&messages[0])
}

/// P12: whatever of the second direction's base OTs fails its check takes Δ along, and there is no second trial.
#[test]
fn a_failed_check_of_the_second_base_ots_destroys_the_maker() {
    let [mut alice, mut bob] = on_base_ots(Directions::One(Party::Alice));
    let mut message = Vec::new();
    assert_eq!(alice.maker.begin_second(&mut Vec::new()).unwrap(), SECOND);
    bob.maker.begin_second(&mut message).unwrap();
    message[100] ^= 1;
    assert!(alice.maker.delta().is_ok());
    assert!(matches!(alice.maker.end_second(&message), Err(Error::Peer(_))));
    assert!(matches!(alice.maker.delta(), Err(Error::Dead(_))));
    assert!(matches!(alice.maker.end_second(&message), Err(Error::Dead(_))));
    assert!(matches!(alice.maker.begin_second(&mut Vec::new()), Err(Error::Dead(_))));
}

/// P13: nothing that came of the base OTs is used before the proof has come that their receiver has its keys: no batch
/// settles, of either direction. The twin that asks for no proof settles all.
#[test]
fn nothing_is_used_before_the_base_ots_are_proven() {
    let begun = |halves: &mut [Half; 2], demand: Demand, harm: &dyn Fn(&mut Vec<u8>)| {
        let [alice, bob] = halves;
        let (mut to_bob, mut to_alice) = (Vec::new(), Vec::new());
        let mut sending = alice.maker.refill(&mut alice.stock, demand);
        sending.step(&[], &mut to_bob).unwrap();
        let mut refill = bob.maker.refill(&mut bob.stock, demand);
        refill.step(&[], &mut to_alice).unwrap();
        harm(&mut to_bob);
        refill.step(&to_bob, &mut Vec::new())
    };
    // What Bob receives, what he sends on keys of the second direction, and both.
    let demands = [Demand::of_cots(Party::Alice, 100), Demand::of_cots(Party::Bob, 100), Demand::of_triples(100)];
    for demand in demands {
        assert_eq!(begun(&mut on_base_ots(Directions::Both), demand, &|_| {}).unwrap(), RefillStep::Done);
        for byte in [0, 7, 31] {
            let mut halves = on_base_ots(Directions::Both);
            let wrong = |message: &mut Vec<u8>| message[byte] ^= 1 << (byte % 8);
            let refused = begun(&mut halves, demand, &wrong);
            assert!(matches!(refused, Err(Error::Peer(why)) if why.contains("base OTs")));
            assert_eq!(halves[1].stock.available(), Demand::NONE);
            assert!(matches!(halves[1].maker.delta(), Err(Error::Dead(_))), "a second trial");
            let mut twin = on_base_ots(Directions::Both);
            twin[1].maker.state.as_mut().unwrap().unproven = true;
            assert_eq!(begun(&mut twin, demand, &wrong).unwrap(), RefillStep::Done, "the twin is not broken");
        }
    }
}

/// Demands one after another by `silent`, whose first batch of a direction is small if its demand is: what is made, and
/// the lengths of both parties. Triples take batches of one size of both directions, whatever came before.
#[test]
fn silent_takes_small_demands_of_each_direction_from_the_other_maker() {
    let silent: Extension = "silent".parse().unwrap();
    let demand = |cots_by_alice, cots_by_bob, triples| Demand { cots_by_alice, cots_by_bob, triples };
    let (few, round, next) = (12_160, 71_424, 145_152);
    let sessions = [
        // Small one way and large the other.
        vec![(demand(999, 60_000, 0), demand(999, round, 0))],
        vec![(demand(60_000, 1, 0), demand(round, 1, 0)), (demand(1, 1, 0), demand(round, round, 0))],
        // Both small, then small again, then large.
        vec![
            (demand(few, 7, 0), demand(few, 7, 0)),
            (demand(7, 0, 0), demand(round, 0, 0)),
            (demand(0, round + 1, 0), demand(0, next, 0)),
        ],
        vec![(demand(few + 1, few, 0), demand(round, few, 0))],
        // Triples alone, with COTs before them in both directions or in one.
        vec![(demand(0, 0, 1000), demand(0, 0, 1000)), (demand(0, 0, 1000), demand(0, 0, round))],
        vec![(demand(5, 5, 1000), demand(5, 5, round))],
        vec![(demand(0, 5, 1000), demand(0, 5, round)), (demand(0, 0, round + 1), demand(0, 0, next))],
        vec![(demand(0, 60_000, 0), demand(0, round, 0)), (demand(0, 0, 7), demand(0, 0, round))],
    ];
    for session in sessions {
        let mut halves = by_maker(silent, Directions::Both);
        let mut lengths = [Party::Alice, Party::Bob].map(|us| MakerLengths::new(us, silent));
        lengths.iter_mut().for_each(|lengths| drop(lengths.base(&demand(1, 1, 1))));
        for (wanted, made) in session {
            let found = refill(&mut halves, wanted);
            let [alice, bob] = lengths.each_mut().map(|lengths| lengths.refill(wanted));
            let (by_alice, by_bob) = at_once(&found);
            assert_eq!(in_turns(alice.0), (by_alice.clone(), by_bob.clone()), "{wanted:?}");
            assert_eq!(in_turns(bob.0), (by_bob, by_alice), "{wanted:?}");
            assert_eq!((alice.1, bob.1), (made, made), "{wanted:?}");
            let [alice, bob] = &mut halves;
            assert_eq!((alice.stock.available(), bob.stock.available()), (made, made), "{wanted:?}");
            assert_cots(alice, bob, made.cots_by_alice as usize);
            assert_cots(bob, alice, made.cots_by_bob as usize);
            let len = made.triples as usize;
            let drawn = [alice, bob].map(|half| half.stock.draw_triples(len).unwrap());
            assert_triples(&drawn[0], &drawn[1], len);
        }
    }
}
