use super::*;

const SESSION: [u8; 32] = [9; 32];

type Seeds = (SenderSeeds, ReceiverSeeds);

/// Alice's and Bob's seeds of both directions, from honest parties; for the tests of other modules too.
pub(crate) fn exchange() -> [Seeds; 2] {
    exchange_in(&SESSION)
}

/// Both parties' seeds in a session of this id.
pub(crate) fn exchange_in(session: &[u8; 32]) -> [Seeds; 2] {
    let [(alice, from_alice), (bob, from_bob)] =
        [Party::Alice, Party::Bob].map(|party| BaseOtSetup::start(party, session).unwrap());
    let (alice, answer_of_alice) = alice.answer(&from_bob).unwrap();
    let (bob, answer_of_bob) = bob.answer(&from_alice).unwrap();
    [alice.finish(&answer_of_bob).unwrap(), bob.finish(&answer_of_alice).unwrap()]
}

fn matching(sender: &SenderSeeds, receiver: &ReceiverSeeds) -> usize {
    let each = sender.base_ots.keys.iter().zip(&receiver.base_ots.pairs).enumerate();
    each.filter(|(i, (key, pair))| pair[(sender.delta.get() >> i) as usize & 1] == **key).count()
}

fn proves(sender: &SenderSeeds, receiver: &ReceiverSeeds) -> bool {
    receiver.base_ots.proof.check(sender.base_ots.proof.as_bytes()).is_ok()
}

fn refusal<T>(result: Result<T>) -> String {
    let Err(Error::Peer(why)) = result else { panic!("accepted, or somebody else is to blame") };
    why
}

#[test]
fn seeds_both_directions() {
    let [(alice_sends, alice_receives), (bob_sends, bob_receives)] = exchange();
    assert_eq!(matching(&alice_sends, &bob_receives), COUNT);
    assert_eq!(matching(&bob_sends, &alice_receives), COUNT);
    assert_eq!(matching(&alice_sends, &alice_receives), 0);
    assert!(proves(&alice_sends, &bob_receives) && proves(&bob_sends, &alice_receives));
    assert!(!proves(&alice_sends, &alice_receives));
    assert!(alice_sends.delta.lsb() && bob_sends.delta.lsb());
    assert!(alice_sends.delta != bob_sends.delta);
}

/// Every bit of Δ but the lowest is drawn: none is stuck in 40 runs.
#[test]
fn delta_has_127_random_bits() {
    let mut rng = os_generator().unwrap();
    let (mut ever, mut always) = (0, u128::MAX);
    for _ in 0..40 {
        let delta = BaseOtSetup::start_with(&mut rng, Party::Bob, &SESSION).0.ours.delta.get();
        ever |= delta;
        always &= delta;
    }
    assert_eq!((ever, always), (u128::MAX, 1));
}

/// The security constant, and what it costs on the wire.
#[test]
fn a_setup_is_128_base_ots_each_way() {
    assert_eq!((COUNT, BaseOtSetup::MESSAGES), (128, [4_128, 2_080]));
    let (alice, from_alice) = BaseOtSetup::start(Party::Alice, &SESSION).unwrap();
    let (_, from_bob) = BaseOtSetup::start(Party::Bob, &SESSION).unwrap();
    let (_, answer) = alice.answer(&from_bob).unwrap();
    assert_eq!([from_alice.len(), answer.len()], BaseOtSetup::MESSAGES);
}

#[test]
fn two_runs_differ() {
    let [one, other] = [(); 2].map(|()| BaseOtSetup::start(Party::Alice, &SESSION).unwrap());
    assert!(one.0.ours.delta != other.0.ours.delta);
    assert!(one.1.chunks(32).zip(other.1.chunks(32)).all(|(a, b)| a != b));
}

/// A peer that sends our own messages back is refused, because each direction has its own session id; without, it would
/// share all keys with us.
#[test]
fn a_reflected_message_gives_no_common_keys() {
    let (setup, message) = BaseOtSetup::start(Party::Alice, &SESSION).unwrap();
    let (setup, answer) = setup.answer(&message).unwrap();
    assert!(refusal(setup.finish(&answer)).contains("challenges of base OT"));

    let choices = [Choice::from(1); 4];
    let (twin_pairs, from_sender) = base::Sender::start(&SESSION, 4).unwrap();
    let (twin_chosen, from_receiver) = base::Receiver::start(&SESSION, &choices).unwrap();
    let (sent, answer) = twin_pairs.answer(&from_receiver).unwrap();
    let received = twin_chosen.finish(&from_sender, &answer).unwrap();
    assert!(sent.pairs.iter().zip(&received.keys).all(|(pair, key)| pair[1] == *key), "the twin is not broken");
}

#[test]
fn wrong_lengths_are_the_peers_fault() {
    let named = |why: String, len: usize, which: usize| {
        assert!(
            why.contains(&format!(", not {}", BaseOtSetup::MESSAGES[which])) && why.contains(&format!(" {len} byte")),
            "{why}"
        );
    };
    for len in [0, 1, 2_079, 2_081, 4_127, 4_129] {
        let (setup, _) = BaseOtSetup::start(Party::Bob, &SESSION).unwrap();
        named(refusal(setup.answer(&vec![0; len])), len, 0);
        let (setup, _) = BaseOtSetup::start(Party::Bob, &SESSION).unwrap();
        let (_, from_alice) = BaseOtSetup::start(Party::Alice, &SESSION).unwrap();
        named(refusal(setup.answer(&from_alice).unwrap().0.finish(&vec![0; len])), len, 1);
    }
}

/// Also in release builds: this is no debug assertion.
#[test]
fn a_useless_delta_is_refused() {
    for delta in [Block::ZERO, Block::new(2), Block::new(u128::MAX - 1)] {
        let received = base::ReceiverOutput { keys: vec![Block::ZERO; COUNT], proof: base::Proof([0; 32]) };
        let Err(Error::Usage(why)) = SenderSeeds::new([0; 32], delta, received) else { panic!("accepted") };
        assert!(why.contains('Δ'), "{why}");
    }
}
