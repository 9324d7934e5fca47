use std::collections::HashSet;

use kernels::generator::Generator;

use super::*;
use crate::ot::base_setup::tests::matching;

const FIRST: [u8; 32] = [1; 32];
const SECOND: [u8; 32] = [2; 32];
const X: Block = Block::new(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
const Y: Block = Block::new(0x2545_f491_4f6c_dd1d_0123_4567_89ab_cdef);

/// The seeds of the first direction under X's Δ.
fn first(seed: u128) -> (SenderSeeds, ReceiverSeeds) {
    let mut rng = Generator::from_seed(Block::new(seed));
    let pairs: Vec<[Block; 2]> = (0..COUNT).map(|_| [rng.block(), rng.block()]).collect();
    let keys = pairs.iter().enumerate().map(|(i, pair)| pair[(X.get() >> i & 1) as usize]).collect();
    (SenderSeeds::new(FIRST, X, keys).unwrap(), ReceiverSeeds { id: FIRST, pairs })
}

fn parties(seed: u128) -> (SecondReceiver, SecondSender) {
    let (sender, receiver) = first(seed);
    (SecondReceiver::new(&sender, SECOND), SecondSender::new(&receiver, SECOND, Y))
}

fn bits(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(bytes.try_into().unwrap())
}

#[test]
fn y_has_the_keys_that_its_delta_chooses_and_only_those() {
    let (x, y) = parties(5);
    let mut message = b"before".to_vec();
    let sender = y.offer(&mut message).unwrap();
    let receiver = x.accept(&message[6..]).unwrap();
    assert_eq!(matching(&sender, &receiver), COUNT);
    assert!(sender.delta == Y && sender.id == SECOND && receiver.id == SECOND);
    let others = receiver.pairs.iter().zip(&sender.keys).enumerate();
    assert!(others.into_iter().all(|(i, (pair, key))| pair[1 - (Y.get() >> i & 1) as usize] != *key));
    let all: HashSet<u128> = receiver.pairs.as_flattened().iter().map(|key| key.get()).collect();
    assert_eq!(all.len(), 2 * COUNT);
}

/// The header once more, from what each side has of the batch.
#[test]
fn keys_are_those_of_the_definition() {
    let (x, y) = parties(6);
    let mut message = Vec::new();
    let sender = y.offer(&mut message).unwrap();
    let receiver = x.accept(&message).unwrap();
    // The batch again, by the extension itself.
    let (_, seeds) = first(6);
    let own = |(i, pair): (usize, &[Block; 2])| {
        pair.map(|key| {
            let input = [&FIRST[..], &(i as u64).to_le_bytes(), &key.to_bytes()].concat();
            let key = blake3::derive_key("duologue v2 second base OT: key of the batch", &input);
            Block::from_bytes(key[..16].try_into().unwrap())
        })
    };
    let pairs = seeds.pairs.iter().enumerate().map(own).collect();
    let id = blake3::derive_key("duologue v2 second base OT: batch", &FIRST);
    let mut batch = Receiver::new(ReceiverSeeds { id, pairs }, 1, &Threads::default());
    batch.begin(CotBatch::new(Side::Receiver, CotOutput::Blocks, COUNT)).unwrap();
    let mut again = Vec::new();
    batch.send(&mut again).unwrap();
    assert!(again == message[16..]);
    let t = batch.receive(&[]).unwrap().unwrap();
    let b = t.blocks.iter().enumerate().fold(0, |b, (i, t)| b | u128::from(t.lsb()) << i);
    assert_eq!(bits(&message[..16]), b ^ Y.get());

    let transcript = [&SECOND[..], &message].concat();
    let transcript = blake3::derive_key("duologue v2 second base OT: transcript", &transcript);
    let kdf = |i: usize, y: u8, block: Block| {
        let input = [&transcript[..], &(i as u64).to_le_bytes(), &[y], &block.to_bytes()].concat();
        let key = blake3::derive_key("duologue v2 second base OT: key", &input);
        Block::from_bytes(key[..16].try_into().unwrap())
    };
    for (i, &t) in t.blocks.iter().enumerate() {
        let [b, wanted] = [b, Y.get()].map(|bits| (bits >> i & 1) as usize);
        assert!(sender.keys[i] == kdf(i, b as u8, t), "OT {i}");
        assert!(receiver.pairs[i][wanted] == sender.keys[i]);
        assert!(receiver.pairs[i][1 - wanted] == kdf(i, 1 - b as u8, t ^ X), "OT {i}");
    }
}

/// The bits of Δ that X can read of d: without random choices, or if those were used for anything else, all.
#[test]
fn d_tells_nothing_of_delta() {
    let (mut ever, mut always) = (0, u128::MAX);
    for seed in 0..40 {
        let mut message = Vec::new();
        parties(seed).1.offer(&mut message).unwrap();
        let d = bits(&message[..D]);
        ever |= d;
        always &= d;
    }
    assert_eq!((ever, always), (u128::MAX, 0), "a bit of d is stuck: it is one of Δ");

    // The extension goes on with the same base OTs: its choices, of which X sees some in any protocol, and d.
    let leaked = |twin: bool| {
        let ((_, seeds), (_, again)) = (first(3), first(3));
        let mut message = Vec::new();
        SecondSender::new(&seeds, SECOND, Y).offer(&mut message).unwrap();
        // The twin: the extension hands out the OTs of the batch.
        let mut later = if twin {
            SecondSender::new(&again, SECOND, Y).batch
        } else {
            Receiver::new(again, K, &Threads::default())
        };
        later.begin(CotBatch::new(Side::Receiver, CotOutput::Blocks, COUNT)).unwrap();
        later.send(&mut Vec::new()).unwrap();
        let later = later.receive(&[]).unwrap().unwrap();
        let choices = later.blocks.iter().enumerate().fold(0, |b, (i, t)| b | u128::from(t.lsb()) << i);
        choices ^ bits(&message[..D]) == Y.get()
    };
    assert!(!leaked(false));
    assert!(leaked(true), "the twin is not broken");
}

/// Y puts an error into each COT, each in another plane, to learn of each key whether it is right. What it then knows of
/// X's Δ, from what X sends: the indices at which its keys are X's.
fn probed(checked: bool) -> Result<u128> {
    let (mut x, mut y) = parties(4);
    y.batch.cheat = (1..COUNT).map(|plane| (plane, Block::new(1 << plane))).collect();
    x.batch.unchecked = !checked;
    let mut message = Vec::new();
    let sender = y.offer(&mut message)?;
    let receiver = x.accept(&message)?;
    let right = |i: usize| receiver.pairs[i][(Y.get() >> i & 1) as usize] == sender.keys[i];
    Ok((0..COUNT).filter(|&i| !right(i)).fold(0, |wrong, i| wrong | 1 << i))
}

/// P13: the twin that uses keys before it has checked the batch gives away all of Δ, without being caught.
#[test]
fn keys_that_are_used_before_the_check_reveal_delta() {
    assert!(matches!(probed(true), Err(Error::Peer(why)) if why.contains("consistency check")));
    assert_eq!(probed(false).unwrap(), X.get() & !1, "the twin is not broken");
}

/// P12: after a failed check X has no Δ and no seeds; whatever byte was changed. A change of d alone gives other keys.
#[test]
fn a_changed_byte_is_detected_before_there_are_keys() {
    let mut honest = Vec::new();
    parties(8).1.offer(&mut honest).unwrap();
    for at in (D..OFFER).step_by(101).chain(OFFER - 48..OFFER) {
        let mut message = honest.clone();
        message[at] ^= 1 << (at % 8);
        let (mut x, _) = parties(8);
        x.batch.begin(CotBatch::new(Side::Sender, CotOutput::Blocks, COUNT)).unwrap();
        x.batch.send(&mut Vec::new()).unwrap();
        assert!(matches!(x.batch.receive(&message[D..]), Err(Error::Peer(_))), "byte {at}");
        assert!(x.batch.delta() == Block::ZERO);
        assert!(matches!(parties(8).0.accept(&message), Err(Error::Peer(_))), "byte {at}");
    }
    for at in 0..D {
        let ((x, y), mut message) = (parties(8), Vec::new());
        let sender = y.offer(&mut message).unwrap();
        message[at] ^= 1 << (at % 8);
        assert!(matching(&sender, &x.accept(&message).unwrap()) == 0, "byte {at}: the transcript is in every key");
    }
}

#[test]
fn wrong_lengths_are_the_peers_fault() {
    for len in [0, 1, OFFER - 1, OFFER + 1, 2 * OFFER] {
        let Err(Error::Peer(why)) = parties(1).0.accept(&vec![0; len]) else { panic!("accepted {len} bytes") };
        assert!(why.contains(&format!("not {OFFER}")), "{why}");
    }
}

/// P15: session, direction, index, choice and transcript are all in a key. The twin without the index makes one key of
/// two OTs with the same block.
#[test]
fn a_key_depends_on_everything() {
    let (block, message) = (Block::new(77), b"message");
    let of = |id: &[u8; 32], message: &[u8], index, y, block| key(&transcript(id, message), index, y, block).get();
    let mut keys = HashSet::from([of(&SECOND, message, 3, 0, block)]);
    assert!(keys.insert(of(&FIRST, message, 3, 0, block)));
    assert!(keys.insert(of(&SECOND, b"massage", 3, 0, block)));
    assert!(keys.insert(of(&SECOND, message, 4, 0, block)));
    assert!(keys.insert(of(&SECOND, message, 3 + (1 << 32), 0, block)));
    assert!(keys.insert(of(&SECOND, message, 3, 1, block)));
    assert!(keys.insert(of(&SECOND, message, 3, 0, block ^ Block::new(1 << 127))));
    let twin = |_: usize| of(&SECOND, message, 0, 0, block);
    assert_eq!(twin(3), twin(4), "the twin is not broken");
}
