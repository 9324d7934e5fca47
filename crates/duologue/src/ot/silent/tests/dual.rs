//! Dual rounds: their outputs against the definition, what a changed byte does, and twins that are broken.

use kernels::syndrome::SyndromeCode;

use super::*;

pub(super) const DUAL: [Round; 3] = [Round::dual(48, 6), Round::dual(96, 6), Round::dual(48, 7)];

#[test]
fn the_dual_sets_are_those_of_the_page() {
    let table = [
        ("silent16d", 10, 73_728, 1568, 71_808, 23_040),
        ("silent17d", 11, 147_456, 1712, 145_536, 25_344),
        ("silent18d", 12, 294_912, 1856, 292_992, 27_648),
        ("silent19d", 13, 589_824, 2000, 587_520, 29_952),
        ("silent20d", 14, 1_179_648, 2144, 1_177_344, 32_256),
    ];
    for (name, depth, n, m, usable, bytes) in table {
        let set = named(name);
        let Schedule { boot, every, .. } = set.schedule();
        assert!(boot.is_none() && every.form == Form::Syndrome);
        assert_eq!((every.trees, every.depth, every.trees * every.leaves() / 2), (144, depth, n));
        assert_eq!((every.base(), every.next, set.batch()), (m, m, usable));
        assert_eq!(set.traffic(), [bytes + 32, 16]);
        assert!(n >= 1 << set.log() && n < 2 << set.log());
    }
}

/// The first two dual sets over a session's own maker, outputs of every kind.
#[test]
fn the_smallest_dual_sets_correlate_round_after_round() {
    for name in ["silent16d", "silent17d"] {
        let mut pair = Pair::real(named(name).schedule(), 2);
        let delta = pair.sender.delta();
        let (settled, _) = pair.run(&[CotOutput::Blocks, CotOutput::Messages, CotOutput::Bits, CotOutput::Blocks]);
        let mut seen = HashSet::new();
        for batches in [&settled[0], &settled[3]] {
            assert_correlated(batches, delta);
            seen.extend(batches[0].blocks.iter().map(|q| q.get()));
        }
        assert_eq!(seen.len(), 2 * named(name).batch(), "a block came twice");
        let [sent, received] = &settled[1];
        for i in 0..sent.len() {
            let chosen = if received.factors[i / 64] >> (i % 64) & 1 == 1 { &sent.others } else { &sent.blocks };
            assert!(received.blocks[i] == chosen[i] && sent.blocks[i] != sent.others[i]);
        }
        let [sent, received] = &settled[2];
        let right = |i: usize| received.messages[i] == sent.messages[i] ^ (received.factors[i] & sent.factors[i]);
        assert!((0..sent.messages.len()).all(right));
    }
}

/// The seed of the code of a round with trees of this depth, after the receiver has said this.
fn seed(round: u64, depth: u8, said: &[u8]) -> Block {
    let said = blake3::derive_key("duologue v1 silent OT: receiver before the first round", said);
    let all = [&ID[..], &(round / 64).to_le_bytes(), &[depth], &said].concat();
    let seed = blake3::derive_key("duologue v1 silent OT: dual code", &all);
    Block::from_bytes(seed[..16].try_into().unwrap())
}

/// The outputs of a vector by the plain code, which the tests of `kernels` hold to the definition.
fn syndrome(seed: Block, leaves: &[Block]) -> Vec<Block> {
    let len = leaves.len() / 16;
    let code = SyndromeCode::with_backend(seed, len, Backend::Portable);
    let mut vector = vec![Block::ZERO; leaves.len()];
    for (segment, (mut rows, leaves)) in code.rows(&mut vector).into_iter().zip(leaves.chunks(len)).enumerate() {
        code.spread(&mut code.first(), segment, leaves, &mut rows);
    }
    let mut memory = vec![Block::ZERO; len];
    vector.chunks_mut(len).enumerate().for_each(|(segment, elements)| code.second(segment, elements, &mut memory));
    let mut out = vec![Block::ZERO; code.outputs()];
    code.outputs_from(0, &vector, &mut out);
    out
}

/// The receiver's vector is the sender's but for one place in each tree, so that its choices are the syndrome of that noise.
#[test]
fn agrees_with_the_definition_and_the_noise_is_regular() {
    for every in DUAL {
        // Whoever gives COTs says a byte in each exchange.
        let said = vec![1; seeding(&every)];
        agrees_with(every, |round, leaves, _| syndrome(seed(round, every.depth as u8, &said), leaves));
        let mut noise = vec![Block::ZERO; every.trees * every.leaves()];
        noise.chunks_mut(every.leaves()).for_each(|tree| tree[7] = Block::new(1));
        let choices = syndrome(seed(0, every.depth as u8, &said), &noise);
        noise[8] = Block::new(1);
        assert!(syndrome(seed(0, every.depth as u8, &said), &noise) != choices, "noise of one place more is the same");
    }
}

/// The first convolution of a vector under the code that is drawn after the receiver has said this.
fn convolved(said: &[&[u8]]) -> Vec<Block> {
    let (mut code, round) = (Code::new(&ID), DUAL[0]);
    said.iter().for_each(|message| code.hear(message));
    code.draw(&round, 0);
    let code = code.syndrome(&round).unwrap();
    let mut vector = vec![Block::ZERO; round.trees * round.leaves()];
    let elements = random(4, code.segment());
    code.spread(&mut code.first(), 0, &elements, &mut code.rows(&mut vector)[0]);
    vector
}

/// Whoever chooses the id among many, and so the code of the twin that hears nothing, does not choose this one.
#[test]
fn the_receiver_has_a_part_in_the_code() {
    let [one, other] = [&b"one"[..], b"other"];
    assert!(convolved(&[one]) != convolved(&[other]) && convolved(&[]) != convolved(&[one]));
    assert!(convolved(&[]) == convolved(&[]) && convolved(&[b"on", b"e"]) == convolved(&[one]));
    // Both sides hear it: where something else arrives than was said, the codes are two.
    for changed in [false, true] {
        let mut pair = Pair::small(Schedule::of_one(DUAL[0]), 1, 1);
        pair.begin(CotOutput::Blocks);
        let mut messages = pair.send();
        messages[1][0] ^= u8::from(changed);
        assert!(pair.receive(&messages).unwrap().is_none());
        let [sent, received] = finish(pair, |_, _| {}).unwrap();
        let wrong = |(q, t): &(&Block, &Block)| **t != **q ^ (Block::mask(t.lsb()) & DELTA);
        let wrong = sent.blocks.iter().zip(&received.blocks).filter(wrong).count();
        assert_eq!(wrong > sent.len() / 2, changed, "{wrong} of {}", sent.len());
    }
}

fn at_dual_corrections() -> Pair {
    let mut pair = Pair::small(Schedule::of_one(DUAL[0]), 1, 1);
    pair.begin(CotOutput::Blocks);
    assert!(pair.exchange().is_none());
    pair
}

#[test]
fn a_changed_byte_of_a_dual_round_is_caught() {
    let lengths = [[DUAL[0].message(), 0], [0, MASKED], [HASH, 0]];
    for (exchange, lengths) in lengths.into_iter().enumerate() {
        for (side, len) in lengths.into_iter().enumerate() {
            for byte in (0..len).step_by(if len > 100 { 97 } else { 1 }) {
                let result = finish(at_dual_corrections(), |at, messages| {
                    if at == exchange {
                        messages[side][byte] ^= 1 << (byte % 8);
                    }
                });
                let caught = matches!(result, Err(Error::Peer(why)) if why.contains("consistency"));
                assert!(caught, "{exchange} {side} {byte}");
            }
        }
    }
    assert!(finish(at_dual_corrections(), |_, _| {}).is_ok());
}

/// The twin without the check takes what the test before has caught. A wrong leaf is in half of the outputs.
#[test]
fn without_the_check_a_changed_byte_spoils_a_dual_round() {
    for byte in (0..DUAL[0].message()).step_by(512) {
        let mut pair = at_dual_corrections();
        pair.receiver.unchecked = true;
        let [sent, received] = finish(pair, |at, messages| {
            if at == 0 {
                messages[0][byte] ^= 2;
            }
        })
        .unwrap();
        let wrong = |(q, t): &(&Block, &Block)| **t != **q ^ (Block::mask(t.lsb()) & DELTA);
        let wrong = sent.blocks.iter().zip(&received.blocks).filter(wrong).count();
        assert!(wrong > sent.len() / 3, "{wrong} of {}", sent.len());
    }
}

/// No round has the trees' key or the salt of another, and none after 64 the code of those before. The twin that
/// takes them of one and the same round makes the same leaves of the same roots.
#[test]
fn rounds_share_no_key_no_salt_and_not_long_a_code() {
    let (mut code, round) = (Code::new(&ID), DUAL[0]);
    let mut noise = vec![Block::ZERO; round.trees * round.leaves()];
    noise[5] = Block::new(1);
    let mut of_round = |number| {
        code.draw(&round, number);
        let code = code.syndrome(&round).unwrap();
        let mut vector = vec![Block::ZERO; noise.len()];
        code.spread(&mut code.first(), 0, &noise[..64], &mut code.rows(&mut vector)[0]);
        vector
    };
    let vectors = [0, 63, 64, 127, 128].map(&mut of_round);
    assert!(
        vectors[0] == vectors[1] && vectors[1] != vectors[2] && vectors[2] == vectors[3] && vectors[3] != vectors[4]
    );
    let salts = (0..3).map(|round| check::Transcript::new(&ID, round).salt(b"the same corrections").get());
    assert_eq!(salts.collect::<HashSet<_>>().len(), 3);
    let leaves_of = |round| leaves(tree_key(round), Block::new(9), 4);
    assert!(leaves_of(0) != leaves_of(1) && leaves_of(0) == leaves_of(0));
    let transcript = check::Transcript::new(&ID, 0);
    assert!(transcript.salt(b"some") != transcript.salt(b"others"));
}

/// By demand a batch is of the smallest round that makes all, and any round follows any other.
#[test]
fn rounds_by_demand_follow_one_another() {
    let schedule = Schedule::by_demand(48, 6..=8);
    let mut pair = Pair::real(schedule, 2);
    let delta = pair.sender.delta();
    let mut lengths = SilentLengths::scheduled(schedule, SoftSpokenLengths::new(8));
    let batches = [768, 2304, 5376];
    let mut exchange = |pair: &mut Pair, batch: usize| {
        let messages = pair.send();
        assert_eq!(messages.each_ref().map(|message| message.len()), lengths.exchange(batch));
        pair.receive(&messages).unwrap()
    };
    for wanted in [1, 768, 769, 2304, 2305, 1 << 40, 700, 1] {
        let batch = *batches.iter().find(|&&batch| batch as u64 >= wanted).unwrap_or(&batches[2]);
        assert_eq!([pair.sender.batch(wanted), pair.receiver.batch(wanted)], [batch; 2]);
        for (maker, side) in
            [(&mut pair.sender as &mut dyn CotMaker, Side::Sender), (&mut pair.receiver, Side::Receiver)]
        {
            maker.begin(CotBatch::new(side, CotOutput::Blocks, batch)).unwrap();
        }
        let mut begun = batch;
        let settled = loop {
            if let Some(settled) = exchange(&mut pair, std::mem::take(&mut begun)) {
                break settled;
            }
        };
        assert_correlated(&settled, delta);
        assert_eq!(settled[0].len(), batch);
    }
}

#[test]
fn silent_takes_the_round_by_the_demand() {
    let schedule = Set::BY_DEMAND.schedule();
    let outputs = [10, 11, 12, 13, 14].map(|depth| ((72 << depth) - 2144) / 384 * 384);
    for (i, &least) in outputs.iter().enumerate() {
        for (wanted, depth) in [(least, 10 + i), (least + 1, (11 + i).min(14))] {
            assert_eq!(schedule.for_demand(wanted as u64).depth, depth, "{wanted}");
        }
    }
    assert_eq!((schedule.seeds(), Set::BY_DEMAND.batch()), (2144, outputs[4]));
    assert_eq!("silent".parse::<Extension>().unwrap(), Extension::Silent(Set::BY_DEMAND));
}

/// Rounds of 768 COTs or more, and a first batch of at most 300 without a round.
const SMALL_FIRST: Schedule = Schedule { direct: 300, ..Schedule::by_demand(48, 6..=8) };

/// A batch for so many COTs, both sides' messages counted, until it is settled.
fn make(
    pair: &mut Pair,
    lengths: &mut SilentLengths,
    wanted: u64,
    output: CotOutput,
) -> (Vec<[usize; 2]>, [CotBatch; 2]) {
    let mut batch = lengths.batch(wanted);
    assert_eq!([pair.sender.batch(wanted), pair.receiver.batch(wanted)], [batch; 2]);
    pair.sender.begin(CotBatch::new(Side::Sender, output, batch)).unwrap();
    pair.receiver.begin(CotBatch::new(Side::Receiver, output, batch)).unwrap();
    let mut sent = Vec::new();
    loop {
        assert!(!pair.sender.idle() && !pair.receiver.idle());
        let messages = pair.send();
        sent.push(messages.each_ref().map(|message| message.len()));
        assert_eq!(sent.last(), Some(&lengths.exchange(std::mem::take(&mut batch))));
        if let Some(settled) = pair.receive(&messages).unwrap() {
            assert!(pair.sender.ready() && pair.sender.idle() && lengths.ready() && lengths.idle());
            return (sent, settled);
        }
    }
}

/// The first batch is the other maker's if it is small, and only the first; what it makes is in no base and comes once.
#[test]
fn a_small_first_batch_needs_no_round() {
    for (first, direct) in [(1, true), (129, true), (300, true), (301, false), (769, false)] {
        let mut pair = Pair::real(SMALL_FIRST, 1);
        let mut lengths = SilentLengths::scheduled(SMALL_FIRST, SoftSpokenLengths::new(8));
        let delta = pair.sender.delta();
        let (sent, settled) = make(&mut pair, &mut lengths, first, CotOutput::Blocks);
        assert_correlated(&settled, delta);
        assert_eq!((sent.len() == 1, settled[0].len() as u64 == first), (direct, direct), "{first}");
        if direct {
            assert_eq!(sent[0], SoftSpokenLengths::new(8).exchange(first as usize));
        }
        let mut seen: HashSet<u128> = settled[0].blocks.iter().map(|q| q.get()).collect();
        let mut count = seen.len();
        // The base of the first round, as it is before the round.
        pair.sender.begin(CotBatch::new(Side::Sender, CotOutput::Blocks, 768)).unwrap();
        pair.receiver.begin(CotBatch::new(Side::Receiver, CotOutput::Blocks, 768)).unwrap();
        lengths.exchange(768);
        let messages = pair.send();
        pair.receive(&messages).unwrap();
        if direct {
            assert_eq!(pair.sender.core.base.len(), SMALL_FIRST.seeds());
            seen.extend(pair.sender.core.base.iter().map(|q| q.get()));
            count += SMALL_FIRST.seeds();
        }
        while pair.exchange().is_none() {
            lengths.exchange(0);
        }
        lengths.exchange(0);
        for wanted in [1, 300, 5376] {
            let (sent, settled) = make(&mut pair, &mut lengths, wanted, CotOutput::Blocks);
            assert_correlated(&settled, delta);
            assert!(sent.len() == 3 && settled[0].len() >= 768);
            seen.extend(settled[0].blocks.iter().map(|q| q.get()));
            count += settled[0].len();
        }
        assert_eq!(seen.len(), count, "a block came twice");
    }
}

/// Outputs of all kinds, as a protocol may want them first.
#[test]
fn a_small_first_batch_is_of_every_kind() {
    for output in [CotOutput::Blocks, CotOutput::Messages, CotOutput::Bits] {
        let mut pair = Pair::real(SMALL_FIRST, 1);
        let mut lengths = SilentLengths::scheduled(SMALL_FIRST, SoftSpokenLengths::new(8));
        let (_, [sent, received]) = make(&mut pair, &mut lengths, 200, output);
        assert_eq!((sent.output(), sent.len(), received.len()), (output, 200, 200));
        let chosen = |i: usize| received.factors[i / 64] >> (i % 64) & 1 == 1;
        match output {
            CotOutput::Blocks => assert_correlated(&[sent, received], pair.sender.delta()),
            CotOutput::Messages => (0..200).for_each(|i| {
                let [this, other] = if chosen(i) { [&sent.others, &sent.blocks] } else { [&sent.blocks, &sent.others] };
                assert!(received.blocks[i] == this[i] && received.blocks[i] != other[i]);
            }),
            CotOutput::Bits => {
                let right =
                    |i: usize| received.messages[i] == sent.messages[i] ^ (received.factors[i] & sent.factors[i]);
                assert!((0..sent.messages.len()).all(right));
            }
        }
    }
}

/// The other maker's check is on the batch that it makes for the user: a changed byte of it ends both makers.
#[test]
fn a_changed_byte_of_a_small_first_batch_is_caught() {
    let len = SoftSpokenLengths::new(8).exchange(200)[1];
    for byte in (0..len).step_by(61).chain([len - 48, len - 1]) {
        let mut pair = Pair::real(SMALL_FIRST, 1);
        pair.sender.begin(CotBatch::new(Side::Sender, CotOutput::Blocks, 200)).unwrap();
        pair.receiver.begin(CotBatch::new(Side::Receiver, CotOutput::Blocks, 200)).unwrap();
        let mut messages = pair.send();
        assert_eq!(messages[1].len(), len);
        messages[1][byte] ^= 1 << (byte % 8);
        assert!(matches!(pair.sender.receive(&messages[1]), Err(Error::Peer(_))), "byte {byte}");
        assert!(matches!(pair.sender.begin(CotBatch::new(Side::Sender, CotOutput::Blocks, 768)), Err(Error::Dead(_))));
    }
}

/// While a first batch is under way nothing else is begun; a second small one cannot be.
#[test]
fn only_the_first_batch_is_small() {
    let batch = |count| CotBatch::new(Side::Sender, CotOutput::Blocks, count);
    let mut pair = Pair::real(SMALL_FIRST, 1);
    pair.sender.begin(batch(200)).unwrap();
    assert!(!pair.sender.ready() && !pair.sender.idle());
    for more in [200, 768] {
        assert!(matches!(pair.sender.begin(batch(more)), Err(Error::Usage(_))));
    }
    pair.receiver.begin(CotBatch::new(Side::Receiver, CotOutput::Blocks, 200)).unwrap();
    assert_correlated(&pair.exchange().unwrap(), pair.sender.delta());
    assert!(pair.sender.ready());
    assert!(matches!(pair.sender.begin(batch(200)), Err(Error::Usage(_))));
    // Named sets have no such batch, and no empty one.
    for (schedule, count) in
        [(named("silent16d").schedule(), 200), (named("silent16w").schedule(), 0), (SMALL_FIRST, 0)]
    {
        assert!(matches!(Pair::small(schedule, 1, 1).sender.begin(batch(count)), Err(Error::Usage(_))));
    }
}

/// The bound is where the other maker sends as much as the smallest round, by the exact lengths of both.
#[test]
fn a_first_batch_is_small_while_it_takes_no_more_bytes_than_a_round() {
    let round = named("silent16d").traffic().iter().sum::<usize>();
    let bytes = |count| {
        let mut softspoken = SoftSpokenLengths::new(8);
        softspoken.exchange(1);
        softspoken.exchange(count).iter().sum::<usize>()
    };
    let direct = Set::BY_DEMAND.schedule().direct;
    assert!(bytes(direct) <= round && round < bytes(direct + 1));
    for set in Set::ALL.into_iter().filter(|set| *set != Set::BY_DEMAND) {
        assert_eq!(set.schedule().direct, 0, "{set}");
    }
}
