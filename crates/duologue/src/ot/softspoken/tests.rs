use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use blake3::{Hasher, hazmat::HasherExt};
use kernels::{aes::Aes128, generator::Generator};

use super::*;
use crate::ot::base_setup::tests::exchange_in;
use crate::ot::{CotOutput, Extension, Side};

const ID: [u8; 32] = [7; 32];
const DELTA: Block = Block::new(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);

/// Both sides' seeds for this Δ.
fn seeds(delta: Block) -> (SenderSeeds, ReceiverSeeds) {
    let mut rng = Generator::from_seed(Block::new(5));
    let pairs: Vec<[Block; 2]> = (0..PLANES).map(|_| [rng.block(), rng.block()]).collect();
    let keys = pairs.iter().enumerate().map(|(i, pair)| pair[usize::from(delta.get() >> i & 1 == 1)]).collect();
    (SenderSeeds { id: ID, delta, keys }, ReceiverSeeds { id: ID, pairs })
}

fn pair(k: u8) -> (Sender, Receiver) {
    let (sender, receiver) = seeds(DELTA);
    (Sender::new(sender, k, &Threads::default()), Receiver::new(receiver, k, &Threads::default()))
}

/// The receiver's message of a batch, and what it keeps.
fn offer(receiver: &mut Receiver, output: CotOutput, count: usize) -> (Vec<u8>, CotBatch) {
    let mut message = b"before".to_vec();
    receiver.begin(CotBatch::new(Side::Receiver, output, count)).unwrap();
    receiver.send(&mut message).unwrap();
    assert_eq!(receiver.expect(), 0);
    (message.split_off(6), receiver.receive(&[]).unwrap().unwrap())
}

fn accept(sender: &mut Sender, output: CotOutput, count: usize, message: &[u8]) -> Result<CotBatch> {
    sender.begin(CotBatch::new(Side::Sender, output, count))?;
    let mut outbox = Vec::new();
    sender.send(&mut outbox)?;
    assert!(outbox.is_empty() && !sender.idle());
    sender.receive(message).map(|batch| batch.expect("a batch is settled at once"))
}

fn batch_of(sender: &mut Sender, receiver: &mut Receiver, output: CotOutput, count: usize) -> (CotBatch, CotBatch) {
    let (message, received) = offer(receiver, output, count);
    (accept(sender, output, count, &message).unwrap(), received)
}

fn correlated(delta: Block, q: &[Block], t: &[Block]) -> bool {
    q.iter().zip(t).all(|(&q, &t)| !q.lsb() && t == q ^ (delta & Block::mask(t.lsb())))
}

fn bit(words: &[u64], i: usize) -> bool {
    words[i / 64] >> (i % 64) & 1 == 1
}

/// The first batch and later ones of all sizes: correlated, and no block ever comes again.
#[test]
fn correlates_every_size_for_every_k() {
    for k in 1..=8 {
        let (mut sender, mut receiver) = pair(k);
        let (mut seen, mut total) = (HashSet::new(), 0);
        for count in [1, 127, 128, 129, 1000, CHUNK * TILE + 1, 63, 1] {
            let (sent, received) = batch_of(&mut sender, &mut receiver, CotOutput::Blocks, count);
            assert_eq!((sent.blocks.len(), received.blocks.len()), (count, count));
            assert!(correlated(DELTA, &sent.blocks, &received.blocks), "k = {k}, {count} COTs");
            seen.extend(sent.blocks.iter().map(|q| q.get()));
            total += count;
            assert_eq!(seen.len(), total, "a block came twice");
        }
    }
}

/// The OTs that a hash makes of them, kept as bits and as messages.
#[test]
fn what_is_kept_are_oblivious_transfers() {
    let count = CHUNK * TILE + 1100;
    for output in [CotOutput::Bits, CotOutput::Messages] {
        let (mut sender, mut receiver) = pair(4);
        let (sent, received) = batch_of(&mut sender, &mut receiver, output, count);
        for i in 0..count {
            let b = bit(&received.factors, i);
            match output {
                CotOutput::Bits => {
                    let m = bit(&sent.messages, i) ^ (b & bit(&sent.factors, i));
                    assert_eq!(bit(&received.messages, i), m, "OT {i}");
                }
                _ => assert!(received.blocks[i] == if b { sent.others[i] } else { sent.blocks[i] }, "OT {i}"),
            }
        }
    }
}

/// Everything once more, plainly, from the headers.
mod definition {
    use super::*;

    fn function(k: usize, kind: u8, group: usize, depth: usize, x: usize, node: Block) -> [Block; 4] {
        let mut key = Hasher::new_derive_key("duologue v1 SoftSpoken: tree");
        let mut call = Hasher::new_keyed(key.update(&ID).update(&[k as u8]).finalize().as_bytes());
        call.update(&[kind, group as u8, depth as u8, x as u8]).update(&node.to_bytes());
        let mut output = [0; 64];
        call.finalize_xof().fill(&mut output);
        std::array::from_fn(|i| Block::from_bytes(output[16 * i..16 * i + 16].try_into().unwrap()))
    }

    pub(super) fn leaf_keys(k: usize, group: usize, pairs: &[[Block; 2]]) -> Vec<Block> {
        let leaf = |x: usize| {
            let mut node = pairs[0][1 - (x & 1)];
            for depth in 1..pairs.len() {
                node = function(k, 0, group, depth, x & ((1 << depth) - 1), node)[x >> depth & 1];
            }
            function(k, 1, group, pairs.len(), x, node)[0]
        };
        (0..1 << pairs.len()).map(leaf).collect()
    }

    pub(super) struct Streams {
        /// The streams of each leaf of each group.
        keys: Vec<Vec<Aes128>>,
    }

    impl Streams {
        pub(super) fn new(k: usize, pairs: &[[Block; 2]]) -> Self {
            let cipher = |key: Block| Aes128::with_backend(key, Backend::Portable);
            let keys = |(group, pairs)| leaf_keys(k, group, pairs).into_iter().map(cipher).collect();
            Streams { keys: pairs.chunks(k).enumerate().map(keys).collect() }
        }

        /// Block n of each plane, and of the sum of all leaves of each group.
        pub(super) fn block(&self, n: u64) -> (Vec<Block>, Vec<Block>) {
            let (mut planes, mut sums) = (Vec::new(), Vec::new());
            for leaves in &self.keys {
                let stream = |key: &Aes128| {
                    let mut block = [Block::new(n.into())];
                    key.encrypt(&mut block);
                    block[0]
                };
                let r: Vec<Block> = leaves.iter().map(stream).collect();
                let sum =
                    |of: &dyn Fn(usize) -> bool| (0..r.len()).filter(|&x| of(x)).fold(Block::ZERO, |sum, x| sum ^ r[x]);
                sums.push(sum(&|_| true));
                planes.extend((0..leaves.len().ilog2()).map(|j| sum(&|x| x >> j & 1 == 1)));
            }
            planes[0] = sums[0];
            (planes, sums)
        }
    }

    fn mul(x: Block, y: Block) -> Block {
        let mut sum = 0;
        for i in (0..128).rev() {
            sum = (sum << 1) ^ ((sum >> 127) * 0x87) ^ ((y.get() >> i & 1) * x.get());
        }
        Block::new(sum)
    }

    /// The sum and the hash at the end of the message of a batch of one chunk.
    pub(super) fn check(k: usize, batch: u64, message: &[u8], blocks: &[Vec<Block>]) -> Vec<u8> {
        let derive = |context: &str, parts: &[&[u8]]| {
            let mut hasher = Hasher::new_derive_key(context);
            parts.iter().for_each(|part| _ = hasher.update(part));
            let mut output = [0; 64];
            hasher.finalize_xof().fill(&mut output);
            output
        };
        let corrections = (PLANES.div_ceil(k) - 1) * 16;
        let chunk = message.len() - 48 - (blocks.len() - 1) * corrections;
        let (opening, rest) = message.split_at(chunk);
        let begin = derive("duologue v1 SoftSpoken: batch", &[&ID, &[k as u8], &batch.to_le_bytes(), opening]);
        let rest = &rest[..rest.len() - 48];
        let (whole, last) = rest.split_at(rest.len() / 1024 * 1024);
        let value = |(i, chunk): (usize, &[u8])| {
            Hasher::new().set_input_offset(1024 * i as u64).update(chunk).finalize_non_root()
        };
        let values: Vec<u8> = whole.chunks(1024).enumerate().flat_map(value).collect();
        let digest = derive("duologue v1 SoftSpoken: chunk", &[&(rest.len() as u64).to_le_bytes(), &values, last]);
        let challenge = derive("duologue v1 SoftSpoken: link", &[&begin[..32], &digest[..32]]);
        let mut weights = vec![Block::ZERO; blocks.len() - 1];
        Generator::from_seed(Block::from_bytes(challenge[48..].try_into().unwrap())).fill_blocks(&mut weights);
        let fold = |plane: usize| {
            let masked = blocks[0][plane];
            weights.iter().zip(&blocks[1..]).fold(masked, |sum, (&weight, planes)| sum ^ mul(weight, planes[plane]))
        };
        let folds: Vec<u8> = (0..PLANES).flat_map(|plane| fold(plane).to_bytes()).collect();
        let seal = derive("duologue v1 SoftSpoken: check", &[&challenge[..32], &folds]);
        [&folds[..16], &seal[..32]].concat()
    }
}

#[test]
fn agrees_with_the_definition() {
    for k in [1, 3, 4, 8] {
        let (mut sender, mut receiver) = pair(k as u8);
        let streams = definition::Streams::new(k, &seeds(DELTA).1.pairs);
        let groups = PLANES.div_ceil(k);
        let mut position = 0;
        for (number, count) in [300, 129].into_iter().enumerate() {
            let (message, received) = offer(&mut receiver, CotOutput::Blocks, count);
            let sent = accept(&mut sender, CotOutput::Blocks, count, &message).unwrap();
            let tiles = count.div_ceil(TILE);
            let blocks: Vec<_> = (position..=position + tiles as u64).map(|n| streams.block(n)).collect();
            position += 1 + tiles as u64;
            let correction = |group: usize, tile: usize| blocks[tile].1[group] ^ blocks[tile].0[0];
            let chunk: Vec<u8> = (1..groups)
                .flat_map(|group| (1..=tiles).map(move |tile| (group, tile)))
                .flat_map(|(group, tile)| correction(group, tile).to_bytes())
                .collect();
            let planes: Vec<_> = blocks.iter().map(|(planes, _)| planes.clone()).collect();
            let end = message.len() - 48;
            assert!(message[end - chunk.len()..end] == chunk, "corrections, k = {k}");
            assert!(message[end..] == definition::check(k, number as u64, &message, &planes), "check, k = {k}");
            for i in 0..count {
                let t = (0..PLANES).fold(0, |t, j| t | (planes[1 + i / TILE][j].get() >> (i % TILE) & 1) << j);
                assert_eq!(received.blocks[i].get(), t, "k = {k}, COT {i}");
                assert_eq!(sent.blocks[i].get(), t ^ ((t & 1) * DELTA.get()), "k = {k}, COT {i}");
            }
        }
    }
}

/// Threads are a local matter.
#[test]
fn any_number_of_threads_makes_the_same() {
    let count = 5 * CHUNK * TILE + 77;
    let all = [1, 2, 3, 8].map(|threads| {
        let (threads, (sender, receiver)) = (Threads::new(threads).unwrap(), seeds(DELTA));
        let (mut sender, mut receiver) = (Sender::new(sender, 2, &threads), Receiver::new(receiver, 2, &threads));
        let (mut messages, mut kept) = (Vec::new(), Vec::new());
        for output in [CotOutput::Blocks, CotOutput::Bits] {
            let (message, received) = offer(&mut receiver, output, count);
            let sent = accept(&mut sender, output, count, &message).unwrap();
            messages.push(message);
            kept.push((received.blocks.clone(), sent.blocks.clone(), received.messages.clone(), sent.factors.clone()));
        }
        (messages, kept)
    });
    assert!(all.iter().all(|one| *one == all[0]));
}

/// Threads that cannot work, on either side: those that wait for their chunks panic too, and nobody waits for ever.
#[test]
fn a_panic_of_one_thread_ends_all() {
    let count = 32 * CHUNK * TILE;
    let (sender, receiver) = seeds(DELTA);
    let threads = Threads::new(3).unwrap();
    let (mut sender, mut receiver) = (Sender::new(sender, 4, &threads), Receiver::new(receiver, 4, &threads));
    let (message, _) = offer(&mut receiver, CotOutput::Bits, count);
    for common in [&mut sender.common, &mut receiver.common] {
        common.workers[1..].iter_mut().for_each(|worker| worker.scratch.rows.clear());
    }
    let panics = |work: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(work)).is_err();
    assert!(panics(&mut || drop(offer(&mut receiver, CotOutput::Bits, count))));
    assert!(panics(&mut || drop(accept(&mut sender, CotOutput::Bits, count, &message))));
}

#[test]
fn every_backend_makes_the_same() {
    for k in [1, 4, 7] {
        let all = Backend::available().into_iter().map(|backend| {
            let (sender, receiver) = seeds(DELTA);
            let mut sender = Sender::with_backend(sender, k, &Threads::default(), backend);
            let mut receiver = Receiver::with_backend(receiver, k, &Threads::default(), backend);
            let (message, received) = offer(&mut receiver, CotOutput::Blocks, 1000);
            let sent = accept(&mut sender, CotOutput::Blocks, 1000, &message).unwrap();
            (message, received.blocks.clone(), sent.blocks.clone())
        });
        let all: Vec<_> = all.collect();
        assert!(all.iter().all(|one| *one == all[0]), "k = {k}");
    }
}

#[test]
fn the_lengths_are_those_of_the_messages() {
    for k in 1..=8 {
        let (mut sender, mut receiver) = pair(k);
        let mut lengths = Extension::SoftSpoken { k }.lengths();
        assert_eq!(lengths.exchange(0), [0, 0]);
        for count in [300, 1, 128, CHUNK * TILE + 5] {
            let (message, _) = offer(&mut receiver, CotOutput::Bits, count);
            sender.begin(CotBatch::new(Side::Sender, CotOutput::Bits, count)).unwrap();
            let mut proof = Vec::new();
            sender.send(&mut proof).unwrap();
            assert_eq!(lengths.exchange(count), [proof.len(), message.len()], "k = {k}, {count} COTs");
            assert_eq!(sender.expect(), message.len());
            sender.receive(&message).unwrap();
            assert_eq!(sender.expect(), 0);
        }
        assert_eq!((lengths.batch(u64::MAX), lengths.batch(9)), (sender.batch(u64::MAX), receiver.batch(9)));
    }
}

/// The bits a COT of the header, and what a batch costs more.
#[test]
fn costs_what_it_says() {
    for (k, bits) in [(1, 127), (2, 63), (4, 31), (8, 15)] {
        let tile = bits * TILE / 8;
        let trees = if k > 1 { 4128 } else { 0 };
        let mut lengths = SoftSpokenLengths::new(k);
        assert_eq!(lengths.exchange(1 << 16), [0, (bits << 16) / 8 + tile + 48 + trees]);
        assert_eq!(lengths.exchange(1 << 16), [0, (bits << 16) / 8 + tile + 48]);
    }
}

/// One byte changed anywhere: the sender says that the peer is to blame, and forgets Δ.
#[test]
fn a_changed_byte_is_detected_anywhere() {
    for k in [1, 2, 4, 8] {
        let (message, _) = offer(&mut pair(k).1, CotOutput::Blocks, 200);
        let sampled = (0..message.len() - 48).step_by(message.len() / 40);
        for at in sampled.chain(message.len() - 48..message.len()) {
            let mut message = message.clone();
            message[at] ^= 1 << (at % 8);
            let mut sender = pair(k).0;
            let error = accept(&mut sender, CotOutput::Blocks, 200, &message).err();
            assert!(matches!(error, Some(Error::Peer(_))), "k = {k}: byte {at} of {}", message.len());
            assert!(sender.delta() == Block::ZERO);
            let again = accept(&mut sender, CotOutput::Blocks, 200, &message).err();
            assert!(matches!(again, Some(Error::Dead(_))), "k = {k}: a second trial");
        }
    }
}

#[test]
fn a_message_of_the_second_batch_is_checked_as_well() {
    let (mut sender, mut receiver) = pair(4);
    batch_of(&mut sender, &mut receiver, CotOutput::Bits, 100);
    let (mut message, _) = offer(&mut receiver, CotOutput::Bits, 100);
    message[0] ^= 1;
    assert!(matches!(accept(&mut sender, CotOutput::Bits, 100, &message), Err(Error::Peer(_))));
}

/// The receiver uses other choices in one group, and follows the protocol otherwise: it passes exactly if Δ is zero
/// there, where it does no harm. A sender that does not check has wrong COTs.
#[test]
fn other_choices_in_one_group_are_detected() {
    for (k, group) in [(1, 9), (2, 40), (4, 5), (8, 15)] {
        let zeros = Block::new(((1_u128 << k) - 1) << (group * usize::from(k)));
        for (delta, harmless) in [(DELTA & !zeros, true), (DELTA, false)] {
            let delta = if harmless { delta } else { delta ^ (zeros & !delta) };
            for checked in [true, false] {
                let (sender, receiver) = seeds(delta);
                let (mut sender, mut receiver) =
                    (Sender::new(sender, k, &Threads::default()), Receiver::new(receiver, k, &Threads::default()));
                receiver.cheat = vec![(group, Block::new(1 << 77))];
                sender.unchecked = !checked;
                let (message, received) = offer(&mut receiver, CotOutput::Blocks, 500);
                let sent = accept(&mut sender, CotOutput::Blocks, 500, &message);
                assert_eq!(sent.is_ok(), harmless || !checked, "k = {k}");
                if let Ok(sent) = sent {
                    assert_eq!(correlated(delta, &sent.blocks, &received.blocks), harmless, "k = {k}");
                }
            }
        }
    }
}

/// Weights of a chunk depend on all before it: errors in two chunks cannot be searched for one by one.
#[test]
fn a_challenge_depends_on_all_before_it() {
    let challenges = [b"one", b"two"].map(|first| {
        let transcript = Transcript::new(&ID, 4, 0, b"opening");
        transcript.challenge(0, first);
        let mut weights = [Block::ZERO; 2];
        let challenge = transcript.challenge(1, b"same");
        challenge.weights(&mut weights);
        (weights.map(Block::get), challenge.salt.get())
    });
    assert!(challenges[0].0 != challenges[1].0 && challenges[0].1 != challenges[1].1);
}

#[test]
fn wrong_lengths_are_named_with_both() {
    let expect = Shape::new(4).message_len(100, true);
    for len in [0, 1, expect - 1, expect + 1, 2 * expect] {
        let Err(Error::Peer(why)) = accept(&mut pair(4).0, CotOutput::Blocks, 100, &vec![0; len]) else {
            panic!("accepted {len} bytes")
        };
        assert_eq!(why, format!("its COT message has {len} byte{}, not {expect}", if len == 1 { "" } else { "s" }));
    }
    assert!(matches!(pair(4).1.receive(&[0]), Err(Error::Peer(_))));
    assert!(matches!(pair(4).0.receive(&[0]), Err(Error::Peer(_))));
}

#[test]
fn one_batch_at_a_time() {
    let (mut sender, mut receiver) = pair(2);
    for maker in [&mut sender as &mut dyn CotMaker, &mut receiver] {
        assert!(maker.ready() && maker.idle());
        maker.begin(CotBatch::new(Side::Sender, CotOutput::Bits, 10)).unwrap();
        assert!(!maker.ready() && !maker.idle());
        assert!(matches!(maker.begin(CotBatch::new(Side::Sender, CotOutput::Bits, 10)), Err(Error::Usage(_))));
    }
}

/// Every plane of q and t, and the choices, are about half ones; two setups give different COTs.
#[test]
fn blocks_are_random_and_never_the_same() {
    let count = 20_000;
    let runs = [(); 2].map(|()| {
        let [(sender, _), (_, receiver)] = exchange_in(&ID);
        let (mut sender, mut receiver) =
            (Sender::new(sender, 4, &Threads::default()), Receiver::new(receiver, 4, &Threads::default()));
        let (sent, received) = batch_of(&mut sender, &mut receiver, CotOutput::Blocks, count);
        assert!(correlated(sender.delta(), &sent.blocks, &received.blocks));
        [sent.blocks.clone(), received.blocks.clone()]
    });
    for blocks in runs.iter().flatten() {
        for plane in 1..PLANES {
            let ones = blocks.iter().filter(|block| block.get() >> plane & 1 == 1).count();
            assert!((9_500..10_500).contains(&ones), "{ones} of {count} in plane {plane}");
        }
    }
    for ones in [0, 1].map(|run| runs[run][1].iter().filter(|t| t.lsb()).count()) {
        assert!((9_500..10_500).contains(&ones), "{ones} of {count} choices are 1");
    }
    assert!((0..2).all(|side| runs[0][side].iter().zip(&runs[1][side]).all(|(a, b)| a != b)));
}

/// The trees by themselves.
mod trees {
    use super::*;

    fn full(k: u8) -> (Vec<u8>, Vec<Vec<Block>>) {
        let mut message = Vec::new();
        let trees = pprf::full_trees(&ID, Shape::new(k), &seeds(DELTA).1.pairs, &mut message);
        assert_eq!(message.len(), pprf::message_len(Shape::new(k)));
        (message, trees.iter().map(|keys| keys.to_vec()).collect())
    }

    fn punctured(k: u8, message: &[u8]) -> Result<Vec<Vec<Block>>> {
        let keys = seeds(DELTA).0.keys.clone();
        let trees = pprf::punctured_trees(&ID, Shape::new(k), DELTA, &keys, message)?;
        Ok(trees.iter().map(|keys| keys.to_vec()).collect())
    }

    #[test]
    fn all_leaves_but_one_are_common() {
        for k in 1..=8 {
            let shape = Shape::new(k);
            let (message, full) = full(k);
            let punctured = punctured(k, &message).unwrap();
            assert_eq!(shape.widths().sum::<usize>(), PLANES);
            for (group, width) in shape.widths().enumerate() {
                let first = group * shape.k;
                let pairs = &seeds(DELTA).1.pairs[first..first + width];
                assert!(full[group] == definition::leaf_keys(k.into(), group, pairs), "k = {k}");
                let delta = usize::from(shape.delta(DELTA, group));
                assert_eq!(punctured[group].len(), 1 << width);
                for y in 0..1 << width {
                    assert_eq!(
                        punctured[group][y] == full[group][y ^ delta],
                        y > 0,
                        "k = {k}, group {group}, leaf {y}"
                    );
                }
            }
        }
    }

    /// A wrong sum is noticed by a receiver who opens it, by the bit of Δ that chooses between the two: without the tags,
    /// it would have other leaves.
    #[test]
    fn a_wrong_sum_is_detected_by_who_needs_it() {
        let k = 4;
        let (message, full) = full(k);
        for group in [0, 7, 31] {
            for (level, side) in (1..4).flat_map(|level| [(level, 0), (level, 1)]) {
                let mut message = message.clone();
                message[128 * group + 32 * (level - 1) + 16 * side + 3] ^= 8;
                let opened = 1 - usize::from(shape_bit(group, level)) == side;
                match punctured(k, &message) {
                    Ok(punctured) => assert!(!opened && same(&full, &punctured, k)),
                    Err(error) => assert!(opened && matches!(error, Error::Peer(_))),
                }
            }
            for tag in [0, 31] {
                let mut message = message.clone();
                message[128 * group + 96 + tag] ^= 1;
                assert!(matches!(punctured(k, &message), Err(Error::Peer(_))));
            }
        }
    }

    fn shape_bit(group: usize, level: usize) -> bool {
        DELTA.get() >> (4 * group + level) & 1 == 1
    }

    fn same(full: &[Vec<Block>], punctured: &[Vec<Block>], k: u8) -> bool {
        full.iter().zip(punctured).enumerate().all(|(group, (full, punctured))| {
            let delta = usize::from(Shape::new(k).delta(DELTA, group));
            (1..full.len()).all(|y| punctured[y] == full[y ^ delta])
        })
    }
}
