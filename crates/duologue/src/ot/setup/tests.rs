use super::*;

const SESSION: [u8; 32] = [9; 32];

/// Alice's and Bob's seeds of both directions, from one honest exchange; for the tests of other modules too.
pub(crate) fn exchange() -> [(SenderSeeds, ReceiverSeeds); 2] {
    let (alice, from_alice) = Setup::start(Party::Alice, &SESSION).unwrap();
    let (bob, from_bob) = Setup::start(Party::Bob, &SESSION).unwrap();
    [alice.finish(&from_bob).unwrap(), bob.finish(&from_alice).unwrap()]
}

fn matching(sender: &SenderSeeds, receiver: &ReceiverSeeds) -> usize {
    let each = sender.keys.iter().zip(&receiver.pairs).enumerate();
    each.filter(|(i, (key, pair))| pair[(sender.delta.get() >> i) as usize & 1] == **key).count()
}

#[test]
fn seeds_both_directions() {
    let [(alice_sends, alice_receives), (bob_sends, bob_receives)] = exchange();
    assert_eq!(matching(&alice_sends, &bob_receives), COUNT);
    assert_eq!(matching(&bob_sends, &alice_receives), COUNT);
    assert_eq!(matching(&alice_sends, &alice_receives), 0);
    assert!(alice_sends.delta.lsb() && bob_sends.delta.lsb());
    assert!(alice_sends.delta != bob_sends.delta);
}

/// Every bit of Δ but the lowest is drawn: none is stuck in 40 runs.
#[test]
fn delta_has_127_random_bits() {
    let mut rng = os_generator().unwrap();
    let (mut ever, mut always) = (0, u128::MAX);
    for _ in 0..40 {
        let delta = Setup::start_with(&mut rng, Party::Bob, &SESSION).0.delta.get();
        ever |= delta;
        always &= delta;
    }
    assert_eq!((ever, always), (u128::MAX, 1));
}

/// The security constant, and what it costs on the wire.
#[test]
fn a_setup_is_128_base_ots_each_way() {
    assert_eq!((COUNT, Setup::MESSAGE), (128, 8_224));
    let (_, message) = Setup::start(Party::Alice, &SESSION).unwrap();
    assert_eq!(message.len(), Setup::MESSAGE);
}

#[test]
fn two_runs_differ() {
    let [one, other] = [(); 2].map(|()| Setup::start(Party::Alice, &SESSION).unwrap());
    assert!(one.0.delta != other.0.delta);
    assert!(one.1.chunks(32).zip(other.1.chunks(32)).all(|(a, b)| a != b));
}

/// A peer that sends our own message back shares no key with us, because each direction has its own
/// session id; without, it would share all of them.
#[test]
fn a_reflected_message_gives_no_common_keys() {
    let (setup, message) = Setup::start(Party::Alice, &SESSION).unwrap();
    let (sends, receives) = setup.finish(&message).unwrap();
    assert_eq!(matching(&sends, &receives), 0);

    let choices = [Choice::from(1); 4];
    let (twin_pairs, from_sender) = base::Sender::start(&SESSION, 4).unwrap();
    let (twin_chosen, from_receiver) = base::Receiver::start(&SESSION, &choices).unwrap();
    let pairs = twin_pairs.finish(&from_receiver).unwrap();
    let keys = twin_chosen.finish(&from_sender).unwrap();
    assert!(pairs.iter().zip(&keys).all(|(pair, key)| pair[1] == *key), "the twin is not broken");
}

#[test]
fn wrong_lengths_are_the_peers_fault() {
    for len in [0, 1, Setup::MESSAGE - 1, Setup::MESSAGE + 1] {
        let (setup, _) = Setup::start(Party::Bob, &SESSION).unwrap();
        let Err(Error::Peer(why)) = setup.finish(&vec![0; len]) else { panic!("accepted {len}") };
        assert!(why.contains(&format!("{len} bytes, not {}", Setup::MESSAGE)), "{why}");
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
