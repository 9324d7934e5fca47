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

fn refusal<T>(result: Result<T>) -> String {
    match result {
        Err(Error::Peer(why)) => why,
        Err(other) => panic!("blames the wrong party: {other}"),
        Ok(_) => panic!("was accepted"),
    }
}

#[test]
fn the_receiver_has_the_chosen_key_and_only_that() {
    for count in [0, 1, 2, 128] {
        let bits = bits(count);
        let run = start(&bits);
        assert_eq!(run.from_sender.len(), 32);
        assert_eq!(run.from_receiver.len(), 64 * count);
        let pairs = run.sender.finish(&run.from_receiver).unwrap();
        let keys = run.receiver.finish(&run.from_sender).unwrap();
        for ((pair, key), bit) in pairs.iter().zip(&keys).zip(bits) {
            assert!(pair[usize::from(bit)] == *key);
            assert!(pair[usize::from(!bit)] != *key);
        }
        let mut all: Vec<u128> = pairs.as_flattened().iter().map(|key| key.get()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * count, "a key came twice");
    }
}

/// The definition of the header, computed from the secrets without the code under test.
#[test]
fn agrees_with_the_definition() {
    let bits = bits(5);
    let run = start(&bits);
    let secret = run.sender.half + run.sender.half;
    let point = |i: usize| {
        let bytes: [u8; 32] = run.from_receiver[32 * i..][..32].try_into().unwrap();
        CompressedRistretto(bytes).decompress().unwrap()
    };
    let mask = |i: usize, x: u8| {
        let mut hasher = Hasher::new_derive_key("duologue v1 base OT: mask of a point");
        hasher.update(&SESSION).update(&(i as u64).to_le_bytes()).update(&[x]);
        hasher.update(point(2 * i + 1 - usize::from(x)).compress().as_bytes());
        let mut wide = [0; 64];
        hasher.finalize_xof().fill(&mut wide);
        RistrettoPoint::from_uniform_bytes(&wide)
    };
    let mut everything = SESSION.to_vec();
    everything.extend(32u64.to_le_bytes());
    everything.extend(&run.from_sender);
    everything.extend(&run.from_receiver);
    let transcript = blake3::derive_key("duologue v1 base OT: transcript", &everything);
    let pairs = run.sender.finish(&run.from_receiver).unwrap();
    for (i, pair) in pairs.iter().enumerate() {
        for x in [0, 1] {
            let shared = secret * (point(2 * i + x) + mask(i, x as u8));
            let mut input = transcript.to_vec();
            input.extend((i as u64).to_le_bytes());
            input.push(x as u8);
            input.extend(shared.compress().as_bytes());
            let key = blake3::derive_key("duologue v1 base OT: key", &input);
            assert_eq!(pair[x].to_bytes(), key[..16]);
        }
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
    for len in [0, 1, 95, 97, 191, 193, 1 << 16] {
        let run = start(&bits(3));
        let why = refusal(run.sender.finish(&vec![0; len]));
        assert!(why.contains(&format!("{len} bytes, not 192")), "{why}");
        let why = refusal(run.receiver.finish(&vec![0; len]));
        assert!(why.contains(&format!("{len} bytes, not 32")), "{why}");
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
        run.from_receiver[4 * 32..][..32].copy_from_slice(&bytes);
        assert_eq!(refusal(run.receiver.finish(&run.from_sender)), format!("point 0 {expected}"));
        assert_eq!(refusal(run.sender.finish(&run.from_receiver)), format!("point 4 {expected}"));
    }
}

/// A receiver that makes a sum the identity would know that key without any secret.
#[test]
fn points_that_cancel_are_refused() {
    for x in [0, 1] {
        let mut run = start(&bits(2));
        let other: [u8; 32] = run.from_receiver[64 + 32 * (1 - x)..][..32].try_into().unwrap();
        let cancelling = -hash_to_point(&SESSION, 1, x as u8, &other);
        run.from_receiver[64 + 32 * x..][..32].copy_from_slice(cancelling.compress().as_bytes());
        let why = refusal(run.sender.finish(&run.from_receiver));
        assert_eq!(why, "its points of base OT 1 cancel");
    }
}

/// One flipped bit anywhere: a named error, or no key of either party agrees.
#[test]
fn a_corrupted_message_is_refused_or_breaks_every_key() {
    let bits = bits(4);
    let agree =
        |pairs: Vec<[Block; 2]>, keys: Vec<Block>| pairs.iter().zip(&keys).any(|(pair, key)| pair.contains(key));
    let mut outcomes = [0; 2];
    for byte in 0..256 {
        let mut run = start(&bits);
        let flipped = 1 << (byte % 8);
        run.from_receiver[byte] ^= flipped;
        let keys = run.receiver.finish(&run.from_sender).unwrap();
        match run.sender.finish(&run.from_receiver) {
            Ok(pairs) => assert!(!agree(pairs, keys)),
            error => outcomes[usize::from(refusal(error).contains("base OT"))] += 1,
        }
        let mut run = start(&bits);
        run.from_sender[byte / 8] ^= flipped;
        let pairs = run.sender.finish(&run.from_receiver).unwrap();
        match run.receiver.finish(&run.from_sender) {
            Ok(keys) => assert!(!agree(pairs, keys)),
            error => outcomes[usize::from(refusal(error).contains("base OT"))] += 1,
        }
    }
    assert_eq!(outcomes[0], 0);
    assert!(outcomes[1] > 100, "most strings encode no point, but {} were refused", outcomes[1]);
}

#[test]
fn instances_that_change_places_break_every_key() {
    let mut run = start(&[false, false]);
    let (first, second) = run.from_receiver.split_at_mut(64);
    first.swap_with_slice(second);
    let pairs = run.sender.finish(&run.from_receiver).unwrap();
    let keys = run.receiver.finish(&run.from_sender).unwrap();
    assert!(keys.iter().all(|key| !pairs.as_flattened().contains(key)));
}

#[test]
fn another_session_breaks_every_key() {
    let (sender, from_sender) = Sender::start(&SESSION, 2).unwrap();
    let (receiver, from_receiver) = Receiver::start(&[8; 32], &choices(&[true, false])).unwrap();
    let pairs = sender.finish(&from_receiver).unwrap();
    let keys = receiver.finish(&from_sender).unwrap();
    assert!(keys.iter().all(|key| !pairs.as_flattened().contains(key)));
}

type Kdf = fn(&[u8; 32], usize, u8, &[u8; POINT]) -> Block;

/// True if changing any one argument changes the key.
fn binds_everything(kdf: Kdf) -> bool {
    let points = [[1; POINT], [2; POINT]];
    let key = kdf(&[1; 32], 0, 0, &points[0]);
    let others = [
        kdf(&[2; 32], 0, 0, &points[0]),
        kdf(&[1; 32], 1, 0, &points[0]),
        kdf(&[1; 32], 0, 1, &points[0]),
        kdf(&[1; 32], 0, 0, &points[1]),
    ];
    !others.contains(&key)
}

/// The test above it can fail: four twins that leave something out.
#[test]
fn the_key_is_bound_to_transcript_instance_slot_and_secret() {
    assert!(binds_everything(key));
    assert!(!binds_everything(|_, index, x, shared| key(&[0; 32], index, x, shared)));
    assert!(!binds_everything(|transcript, _, x, shared| key(transcript, 0, x, shared)));
    assert!(!binds_everything(|transcript, index, _, shared| key(transcript, index, 0, shared)));
    assert!(!binds_everything(|transcript, index, x, _| { key(transcript, index, x, &[0; POINT]) }));
}

#[test]
fn the_mask_is_bound_to_session_instance_slot_and_point() {
    let mask = hash_to_point(&[1; 32], 0, 0, &[1; 32]);
    assert!(mask == hash_to_point(&[1; 32], 0, 0, &[1; 32]));
    assert!(mask != hash_to_point(&[2; 32], 0, 0, &[1; 32]));
    assert!(mask != hash_to_point(&[1; 32], 1, 0, &[1; 32]));
    assert!(mask != hash_to_point(&[1; 32], 0, 1, &[1; 32]));
    assert!(mask != hash_to_point(&[1; 32], 0, 0, &[2; 32]));
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
                let again: Vec<u8> =
                    points.iter().flat_map(|(point, _)| point.compress().to_bytes()).collect();
                prop_assert_eq!(again, message);
            }
            Err(error) => prop_assert!(matches!(error, Error::Peer(_))),
        }
    }
}

#[test]
fn curve_operations_are_counted() {
    let before = curve_calls();
    let run = start(&bits(1));
    run.sender.finish(&run.from_receiver).unwrap();
    // Sender: s·G; two points, two masks, two products. Receiver: a point, a mask, a·G.
    assert_eq!(curve_calls() - before, 7 + 3);
}
