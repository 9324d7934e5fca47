use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const SESSION: [u8; 32] = [7; 32];

fn choices(bits: &[bool]) -> Vec<Choice> {
    bits.iter().map(|&bit| Choice::from(u8::from(bit))).collect()
}

fn bits(count: usize) -> Vec<bool> {
    (0..count).map(|i| (i * i / 3) % 2 == 1 || i % 5 == 0).collect()
}

struct Run {
    sender: Sender,
    receiver: Receiver,
    from_sender: Vec<u8>,
    from_receiver: Vec<u8>,
}

fn start(bits: &[bool]) -> Run {
    let (sender, from_sender) = Sender::start(&SESSION, bits.len()).unwrap();
    let (receiver, from_receiver) = Receiver::start(&SESSION, &choices(bits)).unwrap();
    Run { sender, receiver, from_sender, from_receiver }
}

/// The end of a run whose first messages may have changed on their way; the twin's receiver does not check challenges.
fn end(run: Run, twin: bool) -> Result<(SenderOutput, ReceiverOutput)> {
    let (sent, answer) = run.sender.answer(&run.from_receiver)?;
    let mut receiver = run.receiver;
    receiver.unchecked = twin;
    Ok((sent, receiver.finish(&run.from_sender, &answer)?))
}

fn refusal<T>(result: Result<T>) -> String {
    match result {
        Err(Error::Peer(why)) => why,
        Err(other) => panic!("blames the wrong party: {other}"),
        Ok(_) => panic!("was accepted"),
    }
}

fn agree(sent: &SenderOutput, received: &ReceiverOutput) -> bool {
    received.keys.iter().any(|key| sent.pairs.as_flattened().contains(key))
}

const CHALLENGES: &str = "its challenges of base OT are no honest sender's";
const UNPROVEN: &str = "it does not prove its base OTs";

#[test]
fn the_receiver_has_the_chosen_key_and_only_that() {
    for count in [0, 1, 2, 128] {
        let bits = bits(count);
        let run = start(&bits);
        assert_eq!((run.from_sender.len(), run.from_receiver.len()), (32, 32 * count));
        let (sent, received) = end(run, false).unwrap();
        sent.proof.check(received.proof.as_bytes()).unwrap();
        assert_eq!((sent.pairs.len(), received.keys.len()), (count, count));
        for ((pair, key), bit) in sent.pairs.iter().zip(received.keys.iter()).zip(bits) {
            assert!(pair[usize::from(bit)] == *key);
            assert!(pair[usize::from(!bit)] != *key);
        }
        let all: HashSet<u128> = sent.pairs.as_flattened().iter().map(|key| key.get()).collect();
        assert_eq!(all.len(), 2 * count, "a key came twice");
    }
}

/// The header once more, from the secrets and without the code under test.
mod definition {
    use super::*;

    pub(super) fn t() -> RistrettoPoint {
        let mut wide = [0; 64];
        Hasher::new_derive_key("duologue v1 base OT: half of T").update(&SESSION).finalize_xof().fill(&mut wide);
        RistrettoPoint::from_uniform_bytes(&wide) * Scalar::from(2u64)
    }

    pub(super) fn point(bytes: &[u8]) -> RistrettoPoint {
        CompressedRistretto(bytes.try_into().unwrap()).decompress().unwrap()
    }

    pub(super) fn transcript(run: &Run) -> [u8; 32] {
        let everything = [&SESSION[..], &32u64.to_le_bytes(), &run.from_sender, &run.from_receiver].concat();
        blake3::derive_key("duologue v1 base OT: transcript", &everything)
    }

    /// m and u.
    pub(super) fn kdf(run: &Run, i: usize, x: u8, shared: RistrettoPoint) -> [[u8; 16]; 2] {
        let input = [&transcript(run)[..], &(i as u64).to_le_bytes(), &[x], shared.compress().as_bytes()].concat();
        let output = blake3::derive_key("duologue v1 base OT: key", &input);
        [output[..16].try_into().unwrap(), output[16..].try_into().unwrap()]
    }

    /// m and u of both slots of all instances, as the sender has them.
    pub(super) fn slots(run: &Run) -> Vec<[[[u8; 16]; 2]; 2]> {
        let secret = run.sender.half + run.sender.half;
        let each = run.from_receiver.chunks(32).enumerate();
        each.map(|(i, b)| [kdf(run, i, 0, secret * point(b)), kdf(run, i, 1, secret * (point(b) - t()))]).collect()
    }

    pub(super) fn proof(run: &Run, challenges: &[u8], tags: &[[u8; 16]]) -> [u8; 32] {
        let input = [&transcript(run)[..], challenges, tags.as_flattened()].concat();
        blake3::derive_key("duologue v1 base OT: proof", &input)
    }

    /// c and g.
    pub(super) fn answer(run: &Run, challenges: &[u8], proof: &[u8]) -> Vec<u8> {
        let input = [&transcript(run)[..], proof].concat();
        let commitment = blake3::derive_key("duologue v1 base OT: commitment to the proof", &input);
        [challenges, &commitment].concat()
    }

    pub(super) fn challenges(slots: &[[[[u8; 16]; 2]; 2]]) -> Vec<u8> {
        slots.iter().flat_map(|[[_, u], [_, v]]| std::array::from_fn::<u8, 16, _>(|i| u[i] ^ v[i])).collect()
    }
}

#[test]
fn agrees_with_the_definition() {
    let bits = bits(5);
    let run = start(&bits);
    let slots = definition::slots(&run);
    for (i, b) in run.from_receiver.chunks(32).enumerate() {
        let secret = run.receiver.halves[i] + run.receiver.halves[i];
        let mask = if bits[i] { definition::t() } else { RistrettoPoint::identity() };
        assert!(definition::point(b) == RistrettoPoint::mul_base(&secret) + mask);
        let shared = secret * definition::point(&run.from_sender);
        assert_eq!(definition::kdf(&run, i, bits[i].into(), shared), slots[i][usize::from(bits[i])]);
    }
    let challenges = definition::challenges(&slots);
    let first: Vec<_> = slots.iter().map(|slot| slot[0][1]).collect();
    let proof = definition::proof(&run, &challenges, &first);
    let expected = definition::answer(&run, &challenges, &proof);
    let (sent, answer) = run.sender.answer(&run.from_receiver).unwrap();
    let received = run.receiver.finish(&run.from_sender, &answer).unwrap();
    assert!(answer == expected);
    assert!(*sent.proof.as_bytes() == proof && *received.proof.as_bytes() == proof);
    for (i, pair) in sent.pairs.iter().enumerate() {
        assert_eq!(pair.map(Block::to_bytes), slots[i].map(|slot| slot[0]));
        assert_eq!(received.keys[i].to_bytes(), slots[i][usize::from(bits[i])][0]);
    }
}

#[test]
fn two_runs_have_nothing_in_common() {
    let (one, other) = (start(&bits(3)), start(&bits(3)));
    for (a, b) in [(one.from_sender, other.from_sender), (one.from_receiver, other.from_receiver)] {
        assert!(a.chunks(32).all(|point| b.chunks(32).all(|other| point != other)));
    }
}

#[test]
fn a_message_of_the_wrong_length_is_named_with_both_lengths() {
    let bytes = |len| if len == 1 { "1 byte".to_owned() } else { format!("{len} bytes") };
    let named = |why: String, len: usize, expect: usize| {
        assert!(why.contains(&format!("{}, not {expect}", bytes(len))), "{why}");
    };
    for len in [0, 1, 31, 33, 79, 81, 95, 97, 1 << 16] {
        let run = start(&bits(3));
        named(refusal(run.sender.answer(&vec![0; len])), len, 96);
        named(refusal(run.receiver.finish(&vec![0; len], &[0; 80])), len, 32);
        let run = start(&bits(3));
        named(refusal(run.receiver.finish(&run.from_sender, &vec![0; len])), len, 80);
        let (sent, _) = run.sender.answer(&run.from_receiver).unwrap();
        named(refusal(sent.proof.check(&vec![0; len])), len, 32);
    }
}

#[test]
fn the_identity_and_other_encodings_are_refused() {
    let mut p = [0xff; 32]; // 2^255 − 19: a second encoding of zero
    (p[0], p[31]) = (0xed, 0x7f);
    let mut negative = [0; 32];
    negative[0] = 1;
    let cases = [
        ([0; 32], "of its base OT is the identity"),
        ([0xff; 32], "of its base OT is not canonical"),
        (p, "of its base OT is not canonical"),
        (negative, "of its base OT is not canonical"),
    ];
    for (bytes, expected) in cases {
        let mut run = start(&bits(5));
        run.from_sender.copy_from_slice(&bytes);
        run.from_receiver[4 * 32..].copy_from_slice(&bytes);
        assert_eq!(refusal(run.receiver.finish(&run.from_sender, &[0; 112])), format!("point 0 {expected}"));
        assert_eq!(refusal(run.sender.answer(&run.from_receiver)), format!("point 4 {expected}"));
    }
}

/// A receiver that sends T itself would make the second key one of the identity, which everybody knows.
#[test]
fn a_point_that_gives_a_key_away_is_refused() {
    let mut run = start(&bits(3));
    run.from_receiver[32..64].copy_from_slice(definition::t().compress().as_bytes());
    assert_eq!(refusal(run.sender.answer(&run.from_receiver)), "point 1 of its base OT gives a key away");
}

/// One flipped bit anywhere in any of the four messages: a named error. With a receiver that does not check what the
/// sender answers, no key of the parties agrees.
#[test]
fn a_corrupted_message_is_refused() {
    let bits = bits(4);
    let mut undecodable = 0;
    for byte in 0..128 {
        let flip = |message: &mut [u8], byte: usize| message[byte] ^= 1 << (byte % 8);
        for twin in [false, true] {
            let mut run = start(&bits);
            flip(&mut run.from_receiver, byte);
            match end(run, twin) {
                Ok((sent, received)) => assert!(twin && !agree(&sent, &received)),
                error => match refusal(error) {
                    why if why == CHALLENGES => assert!(!twin),
                    why => undecodable += usize::from(why.starts_with("point")),
                },
            }
            let mut run = start(&bits);
            let (sent, answer) = run.sender.answer(&run.from_receiver).unwrap();
            flip(&mut run.from_sender, byte % 32);
            run.receiver.unchecked = twin;
            match run.receiver.finish(&run.from_sender, &answer) {
                Ok(received) => assert!(twin && !agree(&sent, &received)),
                error => match refusal(error) {
                    why if why == CHALLENGES => assert!(!twin),
                    why => assert!(why.starts_with("point 0")),
                },
            }
        }
        let run = start(&bits);
        let (sent, mut answer) = run.sender.answer(&run.from_receiver).unwrap();
        flip(&mut answer, byte % 96);
        assert_eq!(refusal(run.receiver.finish(&run.from_sender, &answer)), CHALLENGES);
        let mut proof = *sent.proof.as_bytes();
        flip(&mut proof, byte % 32);
        assert_eq!(refusal(sent.proof.check(&proof)), UNPROVEN);
    }
    assert!(undecodable > 100, "most strings encode no point, but {undecodable} of 256 were refused");
}

#[test]
fn instances_that_change_places_are_refused() {
    for twin in [false, true] {
        let mut run = start(&[false, false]);
        let (first, second) = run.from_receiver.split_at_mut(32);
        first.swap_with_slice(second);
        match end(run, twin) {
            Ok((sent, received)) => assert!(twin && !agree(&sent, &received)),
            error => assert!(refusal(error) == CHALLENGES && !twin),
        }
    }
    let run = start(&[true, true]);
    let (_, mut answer) = run.sender.answer(&run.from_receiver).unwrap();
    let (first, second) = answer[..32].split_at_mut(16);
    first.swap_with_slice(second);
    assert_eq!(refusal(run.receiver.finish(&run.from_sender, &answer)), CHALLENGES);
}

#[test]
fn another_session_is_refused() {
    for twin in [false, true] {
        let (sender, from_sender) = Sender::start(&SESSION, 2).unwrap();
        let (receiver, from_receiver) = Receiver::start(&[8; 32], &choices(&[true, false])).unwrap();
        match end(Run { sender, receiver, from_sender, from_receiver }, twin) {
            Ok((sent, received)) => assert!(twin && !agree(&sent, &received)),
            error => assert!(refusal(error) == CHALLENGES && !twin),
        }
    }
}

/// The messages of one run are worth nothing in another, even if both had one id.
#[test]
fn a_replay_is_refused() {
    let (old, new) = (start(&bits(3)), start(&bits(3)));
    let (_, old_answer) = old.sender.answer(&old.from_receiver).unwrap();
    let old_received = old.receiver.finish(&old.from_sender, &old_answer).unwrap();
    let (sent, _) = new.sender.answer(&old.from_receiver).unwrap();
    assert_eq!(refusal(sent.proof.check(old_received.proof.as_bytes())), UNPROVEN);
    assert_eq!(refusal(new.receiver.finish(&old.from_sender, &old_answer)), CHALLENGES);
}

/// The answer of a sender that has guessed some choices, and challenges those instances wrongly.
fn guessing(run: &Run, guesses: &[(usize, bool)]) -> Vec<u8> {
    let slots = definition::slots(run);
    let mut challenges = definition::challenges(&slots);
    let mut tags: Vec<_> = slots.iter().map(|slot| slot[0][1]).collect();
    for &(i, guess) in guesses {
        challenges[16 * i] ^= 1;
        tags[i][0] ^= u8::from(guess);
    }
    definition::answer(run, &challenges, &definition::proof(run, &challenges, &tags))
}

/// Selective failure: a sender that guesses choices is refused unless all of its guess is right, and learns nothing
/// else.
#[test]
fn a_guess_at_choices_must_be_right() {
    for guess in [(false, false), (false, true), (true, false), (true, true)] {
        let run = start(&[false, true, true, false]);
        let answer = guessing(&run, &[(1, guess.0), (3, guess.1)]);
        match run.receiver.finish(&run.from_sender, &answer) {
            Ok(_) => assert_eq!(guess, (true, false)),
            error => assert!(refusal(error) == CHALLENGES && guess != (true, false)),
        }
    }
}

/// The twin that does not check the challenges: its proof tells its choices, and nobody is refused.
#[test]
fn a_receiver_that_does_not_check_gives_its_choices_away() {
    for choice in [false, true] {
        let mut run = start(&[false, choice]);
        run.receiver.unchecked = true;
        let slots = definition::slots(&run);
        let challenges: Vec<u8> = definition::challenges(&slots).iter().map(|c| c ^ 1).collect();
        let opened = [false, true].map(|guess| {
            let tag = |i: usize, guess: bool| slots[i][0][1].map(|byte| byte ^ u8::from(guess));
            definition::proof(&run, &challenges, &[tag(0, false), tag(1, guess)])
        });
        let answer = definition::answer(&run, &challenges, &[0; 32]);
        let received = run.receiver.finish(&run.from_sender, &answer).unwrap();
        assert_eq!(opened.map(|proof| proof == *received.proof.as_bytes()), [!choice, choice]);
    }
}

/// A receiver that knows no logarithm of one of its points has no key of that instance, and cannot prove: neither with
/// what it has, nor if it believes any challenge. A sender that did not ask would have gone on.
#[test]
fn a_receiver_without_a_key_cannot_prove() {
    let bits = bits(4);
    for index in 0..4 {
        for twin in [false, true] {
            let mut run = start(&bits);
            let unknown = RistrettoPoint::from_uniform_bytes(&[index as u8 + 3; 64]).compress();
            run.from_receiver[32 * index..][..32].copy_from_slice(unknown.as_bytes());
            run.receiver.message = run.from_receiver.clone();
            match end(run, twin) {
                Ok((sent, received)) => {
                    assert!(twin && refusal(sent.proof.check(received.proof.as_bytes())) == UNPROVEN);
                    assert!(!sent.pairs[index].contains(&received.keys[index]));
                    let others = (0..4).filter(|&i| i != index);
                    assert!(others.clone().all(|i| sent.pairs[i][usize::from(bits[i])] == received.keys[i]));
                }
                error => assert!(refusal(error) == CHALLENGES && !twin),
            }
        }
    }
}

/// Choices move the points by T, and uniform points stay uniform; what is said at the end is known to the sender.
#[test]
fn messages_do_not_show_choices() {
    let count = 512;
    let [zeros, ones] = [false, true].map(|bit| {
        let mut rng = Generator::from_seed(Block::new(3));
        Receiver::start_with(&mut rng, &SESSION, &choices(&vec![bit; count])).1
    });
    for (zero, one) in zeros.chunks(32).zip(ones.chunks(32)) {
        assert!(definition::point(one) == definition::point(zero) + definition::t());
    }
    for points in [zeros, ones] {
        for bit in 8..248 {
            let set = points.chunks(32).filter(|point| point[bit / 8] >> (bit % 8) & 1 == 1).count();
            assert!((186..326).contains(&set), "bit {bit} is 1 in {set} of {count} points");
        }
    }
}

type Kdf = fn(&[u8; 32], usize, u8, &[u8; POINT]) -> (Block, Block);

/// True if changing any one argument changes both halves of the output, which are never the same.
fn binds_everything(kdf: Kdf) -> bool {
    let points = [[1; POINT], [2; POINT]];
    let outputs = [
        kdf(&[1; 32], 0, 0, &points[0]),
        kdf(&[2; 32], 0, 0, &points[0]),
        kdf(&[1; 32], 1, 0, &points[0]),
        kdf(&[1; 32], 0, 1, &points[0]),
        kdf(&[1; 32], 0, 0, &points[1]),
    ];
    let all: HashSet<u128> = outputs.iter().flat_map(|(key, tag)| [key.get(), tag.get()]).collect();
    all.len() == 2 * outputs.len()
}

/// The test above it can fail: twins that leave something out, and one whose key is what the challenges tell of.
#[test]
fn the_key_is_bound_to_transcript_instance_slot_and_secret() {
    assert!(binds_everything(key_and_tag));
    assert!(!binds_everything(|_, index, x, shared| key_and_tag(&[0; 32], index, x, shared)));
    assert!(!binds_everything(|transcript, _, x, shared| key_and_tag(transcript, 0, x, shared)));
    assert!(!binds_everything(|transcript, index, _, shared| key_and_tag(transcript, index, 0, shared)));
    assert!(!binds_everything(|transcript, index, x, _| key_and_tag(transcript, index, x, &[0; POINT])));
    assert!(!binds_everything(|transcript, index, x, shared| {
        let (key, _) = key_and_tag(transcript, index, x, shared);
        (key, key)
    }));
}

#[test]
fn t_is_bound_to_the_session() {
    let [one, same, other] = [1, 1, 2].map(|session| half_of_t(&[session; 32]));
    assert!(one == same && one != other && !one.is_identity());
}

/// Every bit of the transcript counts: both messages, the session, the direction.
#[test]
fn the_transcript_is_bound_to_all_that_was_sent() {
    let of = |session: u8, a: &[u8], b: &[u8]| transcript(&[session; 32], a, b);
    let transcript = of(1, &[1, 2], &[3, 4, 5, 6]);
    assert_ne!(transcript, of(2, &[1, 2], &[3, 4, 5, 6]));
    assert_ne!(transcript, of(1, &[1, 3], &[3, 4, 5, 6]));
    assert_ne!(transcript, of(1, &[1, 2], &[3, 4, 5, 7]));
    assert_ne!(transcript, of(1, &[1, 2, 3], &[4, 5, 6]));
}

proptest! {
    /// Any bytes: refused, or each string the only one of its point.
    #[test]
    fn only_canonical_points_are_decoded(
        mut message in prop::collection::vec(any::<u8>(), 0..200),
        points in prop::collection::vec(any::<u64>(), 0..5),
        count in 0usize..6,
        honest: bool,
    ) {
        if honest {
            message = points
                .iter()
                .flat_map(|&s| RistrettoPoint::mul_base(&Scalar::from(s)).compress().to_bytes())
                .collect();
        }
        match Points::decode(&message, count) {
            Ok(Points(points)) => {
                prop_assert_eq!(points.len(), count);
                let again: Vec<u8> = points.iter().flat_map(|point| point.compress().to_bytes()).collect();
                prop_assert_eq!(again, message);
            }
            Err(error) => prop_assert!(matches!(error, Error::Peer(_))),
        }
    }
}

#[test]
fn curve_operations_are_counted() {
    let before = curve_calls();
    let run = start(&bits(3));
    end(run, false).unwrap();
    // Sender: s·G, T, s·T; of each instance a point and a product. Receiver: T, z; of each instance two products.
    assert_eq!(curve_calls() - before, (3 + 3 * 2) + (2 + 3 * 2));
}
