use super::*;

const SESSION: [u8; 32] = [9; 32];

const EVERY: [Directions; 3] = [Directions::One(Party::Alice), Directions::One(Party::Bob), Directions::Both];

/// Alice's and Bob's seeds of both directions, from honest parties; for the tests of other modules too.
pub(crate) fn exchange() -> [(SenderSeeds, ReceiverSeeds); 2] {
    exchange_in(&SESSION)
}

/// Both parties' seeds of both directions in a session of this id.
pub(crate) fn exchange_in(session: &[u8; 32]) -> [(SenderSeeds, ReceiverSeeds); 2] {
    setup(session, Directions::Both).map(|seeds| (seeds.sender.unwrap(), seeds.receiver.unwrap()))
}

/// What Alice and Bob get of a setup, if they are honest.
pub(crate) fn setup(session: &[u8; 32], directions: Directions) -> [Seeds; 2] {
    let [(alice, to_bob), (bob, to_alice)] = begin(session, directions);
    let ((alice, to_bob), (bob, to_alice)) = (alice.answer(&to_alice).unwrap(), bob.answer(&to_bob).unwrap());
    [alice.finish(&to_alice).unwrap(), bob.finish(&to_bob).unwrap()]
}

fn begin(session: &[u8; 32], directions: Directions) -> [(BaseOtSetup, Vec<u8>); 2] {
    let both = [Party::Alice, Party::Bob].map(|party| BaseOtSetup::start(party, session, directions).unwrap());
    assert_eq!(both.each_ref().map(|(setup, _)| setup.expect()), [both[1].1.len(), both[0].1.len()]);
    both
}

/// In how many places the sender has the key that its Δ chose, of those that the receiver has.
pub(crate) fn matching(sender: &SenderSeeds, receiver: &ReceiverSeeds) -> usize {
    let each = sender.keys.iter().zip(&receiver.pairs).enumerate();
    each.filter(|(i, (key, pair))| pair[(sender.delta.get() >> i) as usize & 1] == **key).count()
}

fn proves(one: &Seeds, other: &Seeds) -> bool {
    match (&one.proof, &other.proof) {
        (ProofDuty::Send(proof), ProofDuty::Check(expected)) | (ProofDuty::Check(expected), ProofDuty::Send(proof)) => {
            expected.check(proof.as_bytes()).is_ok()
        }
        _ => false,
    }
}

fn refusal<T>(result: Result<T>) -> String {
    let Err(Error::Peer(why)) = result else { panic!("accepted, or somebody else is to blame") };
    why
}

#[test]
fn seeds_the_directions_that_are_called_for() {
    for directions in EVERY {
        let [alice, bob] = setup(&SESSION, directions);
        assert!(proves(&alice, &bob));
        let both = directions == Directions::Both;
        for (us, ours, theirs) in [(Party::Alice, &alice, &bob), (Party::Bob, &bob, &alice)] {
            let wanted = both || directions == Directions::One(us);
            assert_eq!((ours.sender.is_some(), theirs.receiver.is_some()), (wanted, wanted));
            assert_eq!(ours.second.is_none(), both);
            if let (Some(sender), Some(receiver)) = (&ours.sender, &theirs.receiver) {
                assert_eq!((matching(sender, receiver), sender.id == receiver.id), (COUNT, true));
                assert!(sender.delta.lsb());
                let all: std::collections::HashSet<u128> =
                    receiver.pairs.as_flattened().iter().map(|key| key.get()).collect();
                assert_eq!(all.len(), 2 * COUNT, "a key came twice");
            }
        }
        if let (Some(sender), Some(receiver)) = (&alice.sender, &alice.receiver) {
            assert_eq!(matching(sender, receiver), 0);
            assert!(sender.delta != bob.sender.as_ref().unwrap().delta);
        }
    }
    let [alice, _] = setup(&SESSION, Directions::Both);
    let [_, bob] = setup(&SESSION, Directions::Both);
    assert!(!proves(&alice, &bob), "the test can fail");
}

/// The second direction later, by whichever party has the first.
#[test]
fn the_second_direction_can_come_later() {
    for first in [Party::Alice, Party::Bob] {
        let mut seeds = setup(&SESSION, Directions::One(first));
        let [x, y] = [first, first.peer()].map(|party| seeds[party as usize].second.take().unwrap());
        let (Second::Awaited(x), Second::Offered(y)) = (x, y) else { panic!("the roles are the other way round") };
        let mut message = Vec::new();
        let sender = y.offer(&mut message).unwrap();
        assert_eq!(message.len(), OFFER);
        let receiver = x.accept(&message).unwrap();
        assert_eq!(matching(&sender, &receiver), COUNT);
    }
}

/// Of a demand the directions that it takes, each once in a session.
#[test]
fn nothing_is_made_that_is_not_called_for() {
    let (alice, bob) = (Demand::of_cots(Party::Alice, 1), Demand::of_cots(Party::Bob, 1));
    let (triples, all) = (Demand::of_triples(1), Missing::All);
    let missing = |demands: &[Demand]| -> Vec<Option<Missing>> {
        let mut based = Based::default();
        demands.iter().map(|demand| based.missing(demand)).collect()
    };
    let (one, both) = (Directions::One, all(Directions::Both));
    assert_eq!(missing(&[Demand::NONE, triples, alice, bob]), [None, Some(both), None, None]);
    assert_eq!(missing(&[alice + bob, triples]), [Some(both), None]);
    for (first, demand, other) in [(Party::Alice, alice, bob), (Party::Bob, bob, alice)] {
        let second = Some(Missing::Second { first });
        assert_eq!(missing(&[demand, demand, other, triples]), [Some(all(one(first))), None, second, None]);
        assert_eq!(missing(&[demand, triples, other]), [Some(all(one(first))), second, None]);
    }
}

/// Every bit of Δ but the lowest is drawn: none is stuck in 40 runs.
#[test]
fn delta_has_127_random_bits() {
    let (mut ever, mut always) = (0, u128::MAX);
    for _ in 0..40 {
        let delta = BaseOtSetup::start(Party::Alice, &SESSION, EVERY[1]).unwrap().0.setting.delta.get();
        ever |= delta;
        always &= delta;
    }
    assert_eq!((ever, always), (u128::MAX, 1));
}

/// The security constant, and what it costs on the wire.
#[test]
fn a_setup_is_128_base_ots_one_way() {
    assert_eq!((COUNT, OFFER), (128, 4_128));
    assert_eq!(BaseOtSetup::messages(EVERY[0]), [[4_096, 32], [0, 2_080]]);
    assert_eq!(BaseOtSetup::messages(EVERY[2]), [[4_096, 32], [0, 6_208]]);
    assert_eq!(Missing::All(EVERY[1]).exchanges(Party::Alice), [(32, 4_096), (2_080, 0)]);
    assert_eq!(Missing::Second { first: Party::Bob }.exchanges(Party::Bob), [(0, 4_128)]);
}

#[test]
fn two_runs_differ() {
    for party in [Party::Alice, Party::Bob] {
        let [one, other] = [(); 2].map(|()| BaseOtSetup::start(party, &SESSION, Directions::Both).unwrap());
        assert!(one.0.setting.delta != other.0.setting.delta);
        assert!(one.1.chunks(32).zip(other.1.chunks(32)).all(|(a, b)| a != b));
    }
}

/// Work that was done before the peer came changes nothing of what is sent.
#[test]
fn multiples_that_were_made_before_are_the_same() {
    let messages = [false, true].map(|before| {
        let (mut rng, mut own) = (Generator::from_seed(Block::new(1)), Generator::from_seed(Block::new(2)));
        let ready = before.then(|| Ephemeral::new(&mut own, COUNT));
        let calls = base::curve_calls();
        let ephemeral = || ready.unwrap_or_else(|| Ephemeral::new(&mut own, COUNT));
        let setting = (Party::Alice, &SESSION);
        let message = BaseOtSetup::start_under(Block::new(5), ephemeral, &mut rng, setting, Directions::Both).1;
        (message, base::curve_calls() - calls)
    });
    assert_eq!(messages[0].0, messages[1].0);
    // What is left is T.
    assert_eq!(messages.map(|(_, calls)| calls), [COUNT as u64 + 1, 1]);
}

/// A peer that sends our own messages back has the lengths of the other role.
#[test]
fn a_reflected_message_is_refused() {
    for party in [Party::Alice, Party::Bob] {
        let (setup, message) = BaseOtSetup::start(party, &SESSION, Directions::Both).unwrap();
        assert!(refusal(setup.answer(&message)).contains("base OT setup message has"));
    }
}

/// A setup in which the parties have exchanged their roles has other ids, so no keys in common.
#[test]
fn a_direction_has_its_own_id() {
    let [alice, _] = setup(&SESSION, Directions::One(Party::Alice));
    let [_, bob] = setup(&SESSION, Directions::One(Party::Bob));
    assert!(alice.sender.unwrap().id != bob.sender.unwrap().id);
}

#[test]
fn wrong_lengths_are_the_peers_fault() {
    let named = |why: String, len: usize, expect: usize| {
        assert!(why.contains(&format!(", not {expect}")) && why.contains(&format!(" {len} byte")), "{why}");
    };
    for directions in EVERY {
        let answer = BaseOtSetup::messages(directions)[1][1];
        for len in [1, 31, 33, 2_079, 2_081, 4_095, 4_097, 6_207, 6_209] {
            for party in [Party::Alice, Party::Bob] {
                let (setup, _) = BaseOtSetup::start(party, &SESSION, directions).unwrap();
                let expect = setup.expect();
                named(refusal(setup.answer(&vec![0; len])), len, expect);
            }
            let [alice, bob] = begin(&SESSION, directions);
            let (x, y) = if directions.first() == Party::Alice { (alice, bob) } else { (bob, alice) };
            let (setup, _) = x.0.answer(&y.1).unwrap();
            named(refusal(setup.finish(&vec![0; len])), len, answer);
        }
    }
}

/// One byte changed in any message, but for d, which a peer is free to choose: a party ends, and has no seeds. Of points
/// nobody sees more than that they decode; then the challenges fail.
#[test]
fn a_changed_byte_ends_the_setup() {
    let sizes = BaseOtSetup::messages(Directions::Both);
    for (exchange, at) in [(0, 0), (0, 31), (1, 0), (1, 2_047), (1, 2_079), (1, 2_096), (1, 4_200), (1, 6_207)] {
        let [(alice, mut to_bob), (bob, to_alice)] = begin(&SESSION, Directions::Both);
        to_bob[at % sizes[0][0]] ^= if exchange == 0 { 2 } else { 0 };
        let Ok((_, mut answer)) = bob.answer(&to_bob) else { continue };
        let (alice, _) = alice.answer(&to_alice).unwrap();
        answer[at] ^= if exchange == 1 { 4 } else { 0 };
        assert!(matches!(alice.finish(&answer), Err(Error::Peer(_))), "byte {at} of exchange {exchange}");
    }
}

/// Also in release builds: this is no debug assertion.
#[test]
fn a_useless_delta_is_refused() {
    for delta in [Block::ZERO, Block::new(2), Block::new(u128::MAX - 1)] {
        let Err(Error::Usage(why)) = SenderSeeds::new([0; 32], delta, vec![Block::ZERO; COUNT]) else {
            panic!("accepted")
        };
        assert!(why.contains('Δ'), "{why}");
    }
}
