use std::collections::HashSet;

use super::*;
use crate::ot::setup::tests::extensions;

const COUNTS: [usize; 11] = [0, 1, 63, 64, 65, 127, 128, 129, 1000, CHUNK * TILE + 1, 100_000];

/// One direction: Alice sends.
fn pair() -> (SemiHonestSender, SemiHonestReceiver) {
    let [(sender, _), (_, receiver)] = extensions();
    (sender, receiver)
}

fn batch(sender: &mut SemiHonestSender, receiver: &mut SemiHonestReceiver, count: usize) -> (Vec<Block>, Choices) {
    let (mut from_sender, mut from_receiver) = (Vec::new(), Vec::new());
    sender.send(count, &mut from_sender).unwrap();
    receiver.send(count, &mut from_receiver).unwrap();
    assert_eq!(from_sender.len(), receiver.expect(count));
    assert_eq!(from_receiver.len(), sender.expect(count));
    // What was in the buffers before must not matter.
    let mut q = vec![Block::new(5); 3];
    let mut chosen = Choices { bits: vec![!0; 9], t: vec![Block::new(6); 7] };
    sender.receive(count, &from_receiver, &mut q).unwrap();
    receiver.receive(count, &from_sender, &mut chosen).unwrap();
    (q, chosen)
}

fn assert_correlated(delta: Block, q: &[Block], chosen: &Choices, count: usize) {
    assert_eq!((q.len(), chosen.len(), chosen.bits.len()), (count, count, count.div_ceil(64)));
    for (j, (&q, &t)) in q.iter().zip(&chosen.t).enumerate() {
        assert!(t == q ^ (delta & Block::mask(chosen.bit(j))), "COT {j} of {count}");
    }
    if !count.is_multiple_of(64) {
        assert_eq!(chosen.bits.last().unwrap() >> (count % 64), 0, "dirty padding");
    }
}

/// Batches of all sizes in a row, twice: correlated, and no block ever comes again.
#[test]
fn correlates_every_size_the_first_and_the_second_time() {
    let (mut sender, mut receiver) = pair();
    let (mut seen, mut total) = (HashSet::new(), 0);
    for count in COUNTS.into_iter().chain(COUNTS) {
        let (q, chosen) = batch(&mut sender, &mut receiver, count);
        assert_correlated(sender.delta(), &q, &chosen, count);
        seen.extend(q.iter().map(|q| q.get()));
        total += count;
        assert_eq!(seen.len(), total, "a block came twice");
    }
}

#[test]
fn choices_are_random_and_never_the_same() {
    let (mut sender, mut receiver) = pair();
    let first = batch(&mut sender, &mut receiver, 100_000).1;
    let second = batch(&mut sender, &mut receiver, 100_000).1;
    for chosen in [&first, &second] {
        let ones: u32 = chosen.bits.iter().map(|word| word.count_ones()).sum();
        assert!((49_000..51_000).contains(&ones), "{ones} of 100,000 choices are 1");
    }
    let different: u32 = first.bits.iter().zip(&second.bits).map(|(a, b)| (a ^ b).count_ones()).sum();
    assert!((49_000..51_000).contains(&different), "two batches differ in {different} choices");
}

/// The protocol and the layout of the header, bit by bit, from the seeds and the message.
#[test]
fn agrees_with_the_definition() {
    let count = CHUNK * TILE + 300; // a full chunk and one of 3 tiles
    let seed = |plane: usize, bit: usize| Block::new((1000 * plane + bit + 1) as u128);
    let pairs: Vec<[Block; 2]> = (0..COUNT).map(|i| [seed(i, 0), seed(i, 1)]).collect();
    let delta = Block::new(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let delta_bit = |i: usize| delta.get() >> i & 1 == 1;
    let keys = (0..COUNT).map(|i| seed(i, usize::from(delta_bit(i)))).collect();
    let mut sender = SemiHonestSender::new(SenderSeeds { delta, keys });
    let mut receiver = SemiHonestReceiver::new(ReceiverSeeds { pairs });
    let mut message = Vec::new();
    receiver.send(count, &mut message).unwrap();
    let (mut q, mut chosen) = Default::default();
    sender.receive(count, &message, &mut q).unwrap();
    receiver.receive(count, &[], &mut chosen).unwrap();

    let stream = |seed: Block| {
        let mut generator = Generator::from_seed(seed);
        let mut blocks = vec![Block::ZERO; CHUNK + 3];
        let (first, second) = blocks.split_at_mut(CHUNK);
        generator.fill_blocks(first);
        generator.fill_blocks(second);
        blocks
    };
    let bit = |blocks: &[Block], j: usize| blocks[j / 128].get() >> (j % 128) & 1 == 1;
    let streams: Vec<[Vec<Block>; 2]> = (0..COUNT).map(|i| [stream(seed(i, 0)), stream(seed(i, 1))]).collect();
    let sent = |i: usize, j: usize| {
        let full = 127 * 2048;
        let (chunk, plane_bytes, j) = match j < CHUNK * TILE {
            true => (&message[..full], 2048, j),
            false => (&message[full..], 48, j - CHUNK * TILE),
        };
        chunk[(i - 1) * plane_bytes + j / 8] >> (j % 8) & 1 == 1
    };
    for j in (0..count).step_by(97).chain([CHUNK * TILE - 1, CHUNK * TILE, count - 1]) {
        let r = bit(&streams[0][0], j) ^ bit(&streams[0][1], j);
        assert_eq!(chosen.bit(j), r);
        for (i, [zero, one]) in streams.iter().enumerate() {
            let (zero, one) = (bit(zero, j), bit(one, j));
            assert_eq!(chosen.t[j].get() >> i & 1 == 1, zero);
            if i > 0 {
                assert_eq!(sent(i, j), zero ^ one ^ r, "plane {i}, COT {j}");
            }
            assert_eq!(q[j].get() >> i & 1 == 1, zero ^ (r & delta_bit(i)));
        }
    }
}

#[test]
fn a_cot_costs_127_bits() {
    let (sender, receiver) = pair();
    assert_eq!(sender.expect(1 << 20), (1 << 20) / 8 * 127);
    assert_eq!((sender.expect(0), sender.expect(1), receiver.expect(1 << 20)), (0, 2032, 0));
}

/// Semi-honest means no check: a flipped bit reaches one bit of one COT and nothing else.
#[test]
fn a_flipped_bit_breaks_at_most_its_own_cot() {
    let (mut sender, mut receiver) = pair();
    let mut message = Vec::new();
    receiver.send(256, &mut message).unwrap();
    let (plane, cot) = (77, 200);
    message[(plane - 1) * 32 + cot / 8] ^= 1 << (cot % 8);
    let (mut q, mut chosen) = Default::default();
    sender.receive(256, &message, &mut q).unwrap();
    receiver.receive(256, &[], &mut chosen).unwrap();
    let delta = sender.delta();
    q[cot] ^= Block::new(delta.get() & 1 << plane);
    assert_correlated(delta, &q, &chosen, 256);
}

#[test]
fn wrong_lengths_are_named_with_both() {
    for len in [0, 1, 2031, 2033, 4064] {
        let (mut sender, _) = pair();
        let Err(Error::Peer(why)) = sender.receive(100, &vec![0; len], &mut Vec::new()) else {
            panic!("accepted {len} bytes")
        };
        assert_eq!(why, format!("its COT message has {len} bytes, not 2032"));
    }
    let (_, mut receiver) = pair();
    receiver.send(100, &mut Vec::new()).unwrap();
    let result = receiver.receive(100, &[0], &mut Choices::default());
    assert!(matches!(result, Err(Error::Peer(_))));
}

#[test]
fn a_batch_is_received_once_and_with_its_own_count() {
    let (_, mut receiver) = pair();
    let mut chosen = Choices::default();
    assert!(matches!(receiver.receive(5, &[], &mut chosen), Err(Error::Usage(_))));
    receiver.send(5, &mut Vec::new()).unwrap();
    receiver.receive(5, &[], &mut chosen).unwrap();
    assert!(matches!(receiver.receive(5, &[], &mut chosen), Err(Error::Usage(_))));
    receiver.send(5, &mut Vec::new()).unwrap();
    assert!(matches!(receiver.send(5, &mut Vec::new()), Err(Error::Usage(_))));
    assert!(matches!(receiver.receive(6, &[], &mut chosen), Err(Error::Usage(_))));
}
