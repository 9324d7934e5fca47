mod dual;

use std::collections::HashSet;

use kernels::Backend;
use kernels::aes::Aes128;
use kernels::tree::TreeHash;

use super::sets::Form;
use super::*;
use crate::ot::Extension;
use crate::ot::base_setup::tests::exchange;
use crate::ot::softspoken::SoftSpokenLengths;

const INNER: Extension = Extension::SoftSpoken { k: 8 };
const ID: [u8; 32] = [7; 32];
const DELTA: Block = Block::new(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);

/// Small rounds of every shape: odd and even depth, one piece and several, a table of one block and more.
const SMALL: [Round; 4] = [
    Round::feeding_itself(20, 6, 6),
    Round::feeding_itself(12, 5, 7),
    Round::feeding_itself(8, 4, 8),
    Round::feeding_itself(4, 9, 9),
];

fn random(seed: u128, len: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Generator::from_seed(Block::new(seed)).fill_blocks(&mut blocks);
    blocks
}

/// A maker of COTs that are given, in batches of 1,000 at most.
struct GivenCots {
    blocks: Vec<Block>,
    at: usize,
    pending: Option<CotBatch>,
}

impl CotMaker for GivenCots {
    fn batch(&self, wanted: u64) -> usize {
        wanted.min(1000) as usize
    }
    fn ready(&self) -> bool {
        self.pending.is_none()
    }
    fn begin(&mut self, batch: CotBatch) -> Result<()> {
        self.pending = Some(batch);
        Ok(())
    }
    fn send(&mut self, outbox: &mut Vec<u8>) -> Result<()> {
        outbox.push(1);
        Ok(())
    }
    fn expect(&self) -> usize {
        usize::from(self.pending.is_some())
    }
    fn receive(&mut self, inbox: &[u8]) -> Result<Option<CotBatch>> {
        check_length("given", inbox, self.expect())?;
        let Some(mut batch) = self.pending.take() else { return Ok(None) };
        let count = batch.len();
        batch.slice().fill_sender(Block::ZERO, DELTA, &self.blocks[self.at..self.at + count]);
        self.at += count;
        Ok(Some(batch))
    }
    fn idle(&self) -> bool {
        self.pending.is_none()
    }
}

impl CotSender for GivenCots {
    fn delta(&self) -> Block {
        DELTA
    }
}
impl CotReceiver for GivenCots {}

/// COTs made from a seed: q and t, with these choices.
fn given_cots(count: usize, seed: u128, choice: impl Fn(usize, bool) -> bool) -> [Vec<Block>; 2] {
    let random = random(seed, 2 * count);
    let q: Vec<Block> = random[..count].iter().map(|q| q.with_lsb(false)).collect();
    let choice = |i: usize| choice(i, random[count + i].lsb());
    let t = q.iter().enumerate().map(|(i, &q)| q ^ (Block::mask(choice(i)) & DELTA)).collect();
    [q, t]
}

struct Pair {
    sender: Sender,
    receiver: Receiver,
}

impl Pair {
    /// Over given COTs.
    fn small(schedule: Schedule, seed: u128, threads: usize) -> Self {
        Self::over(schedule, given_cots(schedule.seeds(), seed, |_, random| random), threads)
    }

    fn over(schedule: Schedule, given: [Vec<Block>; 2], threads: usize) -> Self {
        let [q, t] = given.map(|blocks| Box::new(GivenCots { blocks, at: 0, pending: None }));
        let (rng, threads) = (Generator::from_seed(Block::new(3)), &Threads::new(threads).unwrap());
        let sender = Sender::scheduled(ID, q, schedule, rng, threads);
        Pair { sender, receiver: Receiver::scheduled(ID, t, schedule, threads) }
    }

    /// Over the maker of a session.
    fn real(schedule: Schedule, threads: usize) -> Self {
        let (rng, threads) = (Generator::from_seed(Block::new(4)), &Threads::new(threads).unwrap());
        let [(q, _), (_, t)] = exchange().map(|seeds| INNER.makers_with(&rng, seeds, &Threads::default()));
        let sender = Sender::scheduled(ID, q, schedule, rng, threads);
        Pair { sender, receiver: Receiver::scheduled(ID, t, schedule, threads) }
    }

    fn begin(&mut self, output: CotOutput) {
        let count = self.sender.batch(1);
        assert_eq!(self.receiver.batch(1 << 40), count);
        self.sender.begin(CotBatch::new(Side::Sender, output, count)).unwrap();
        self.receiver.begin(CotBatch::new(Side::Receiver, output, count)).unwrap();
    }

    fn send(&mut self) -> [Vec<u8>; 2] {
        let mut messages = [vec![], vec![]];
        self.sender.send(&mut messages[0]).unwrap();
        self.receiver.send(&mut messages[1]).unwrap();
        assert_eq!([self.receiver.expect(), self.sender.expect()], [messages[0].len(), messages[1].len()]);
        messages
    }

    fn receive(&mut self, [from_sender, from_receiver]: &[Vec<u8>; 2]) -> Result<Option<[CotBatch; 2]>> {
        let sent = self.sender.receive(from_receiver)?;
        let received = self.receiver.receive(from_sender)?;
        assert_eq!(sent.is_some(), received.is_some());
        assert_eq!(self.sender.idle(), self.receiver.idle());
        Ok(sent.zip(received).map(|(sent, received)| [sent, received]))
    }

    fn exchange(&mut self) -> Option<[CotBatch; 2]> {
        let messages = self.send();
        self.receive(&messages).unwrap()
    }

    /// Batches begun as early as they can be, and all messages.
    fn run(&mut self, outputs: &[CotOutput]) -> (Vec<[CotBatch; 2]>, Vec<[Vec<u8>; 2]>) {
        let (mut outputs, mut settled, mut messages) = (outputs.iter(), Vec::new(), Vec::new());
        loop {
            if self.sender.ready() {
                if let Some(&output) = outputs.next() {
                    self.begin(output);
                } else if self.sender.idle() {
                    return (settled, messages);
                }
            }
            let sent = self.send();
            settled.extend(self.receive(&sent).unwrap());
            messages.push(sent);
        }
    }
}

/// As many choices as there are, and every t as the correlation says.
fn assert_correlated([sent, received]: &[CotBatch; 2], delta: Block) {
    assert_eq!(sent.blocks.len(), received.blocks.len());
    let mut ones = 0;
    for (q, t) in sent.blocks.iter().zip(&received.blocks) {
        assert!(!q.lsb() && *t == *q ^ (Block::mask(t.lsb()) & delta));
        ones += usize::from(t.lsb());
    }
    let (count, slack) = (sent.len(), 4 * sent.len().isqrt());
    assert!(ones.abs_diff(count / 2) < slack, "{ones} of {count} choices are 1");
}

fn named(name: &str) -> Set {
    Set::ALL.into_iter().find(|set| set.to_string() == name).unwrap()
}

#[test]
fn the_parameters_are_those_of_the_page() {
    let table = [
        ("silent16w", 1700, 1 << 16, 9, 870_400, 80_964, 788_992, 244_800),
        ("silent17w", 2340, 1 << 17, 10, 2_396_160, 154_600, 2_241_536, 374_400),
        ("silent18w", 3040, 1 << 18, 11, 6_225_920, 295_712, 5_928_960, 535_040),
        ("silent19w", 3800, 1 << 19, 12, 15_564_800, 570_016, 14_991_360, 729_600),
    ];
    for (name, t, k, depth, n, m, usable, bytes) in table {
        let set = named(name);
        let Schedule { boot, every, .. } = set.schedule();
        assert_eq!((every.trees, every.secret(), every.depth), (t, k, depth));
        assert_eq!((every.trees * every.leaves(), every.base(), every.next), (n, m, m));
        assert_eq!((set.batch(), every.message(), set.traffic()), (usable, bytes, [bytes + 32, 16]));
        let small = named("silent16w").schedule().every;
        if let Some(boot) = boot {
            assert_eq!((boot.form, boot.depth, boot.next, boot.outputs()), (small.form, small.depth, m, 0));
            assert!(boot.trees <= small.trees && boot.trees * boot.leaves() >= m);
        }
    }
    for set in Set::ALL {
        let extension = Extension::Silent(set);
        assert_eq!(extension.to_string().parse::<Extension>().unwrap(), extension);
    }
    assert_eq!(sets::MASKS, 128);
}

/// The names of earlier versions: the noise of these sets was half of what their samples need.
#[test]
fn a_set_that_is_gone_says_why_and_what_to_use() {
    for log in 16..20 {
        let why = format!("silent{log}").parse::<Extension>().unwrap_err().to_string();
        assert!(why.contains("is gone") && why.contains("bits") && why.contains(&format!("use silent{log}w")), "{why}");
    }
    assert!("silent20".parse::<Extension>().unwrap_err().to_string().contains("is no maker"));
}

/// All outputs, pipelined rounds, over a session's own maker; no block ever comes again.
#[test]
fn the_smallest_set_correlates_round_after_round() {
    let mut pair = Pair::real(named("silent16w").schedule(), 2);
    let delta = pair.sender.delta();
    let (settled, _) = pair.run(&[CotOutput::Blocks, CotOutput::Messages, CotOutput::Bits, CotOutput::Blocks]);
    let mut seen = HashSet::new();
    for batches in [&settled[0], &settled[3]] {
        assert_correlated(batches, delta);
        assert_eq!(batches[0].len(), 788_992);
        seen.extend(batches[0].blocks.iter().map(|q| q.get()));
    }
    assert_eq!(seen.len(), 2 * 788_992, "a block came twice");
    let [sent, received] = &settled[1];
    for i in 0..sent.len() {
        let chosen = if received.factors[i / 64] >> (i % 64) & 1 == 1 { &sent.others } else { &sent.blocks };
        assert!(received.blocks[i] == chosen[i] && sent.blocks[i] != sent.others[i]);
    }
    let [sent, received] = &settled[2];
    let right = |i: usize| received.messages[i] == sent.messages[i] ^ (received.factors[i] & sent.factors[i]);
    assert!((0..sent.messages.len()).all(right));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "some seconds: with --release, or --ignored")]
fn the_larger_sets_correlate() {
    for set in Set::ALL.iter().filter(|set| set.log() > 16) {
        let mut pair = Pair::real(set.schedule(), 2);
        let (settled, _) = pair.run(&[CotOutput::Blocks]);
        assert_correlated(&settled[0], pair.sender.delta());
        assert_eq!(settled[0][0].len(), set.batch());
    }
}

fn schedules() -> impl Iterator<Item = Schedule> {
    let plain = SMALL.map(Schedule::of_one);
    let booted = plain.map(|schedule| {
        let every = schedule.every;
        let trees = every.base().div_ceil(64);
        let boot = Round { trees, form: Form::Local { log: 6 }, depth: 6, next: every.base() };
        Schedule { boot: Some(boot), ..schedule }
    });
    let dual = dual::DUAL.map(Schedule::of_one);
    plain.into_iter().chain(booted).chain(dual)
}

#[test]
fn small_rounds_correlate_with_any_threads_alike() {
    for schedule in schedules() {
        let outputs = [CotOutput::Blocks; 5];
        let (settled, messages) = Pair::small(schedule, 1, 1).run(&outputs);
        settled.iter().for_each(|batches| assert_correlated(batches, DELTA));
        for threads in [2, 3] {
            let (others, again) = Pair::small(schedule, 1, threads).run(&outputs);
            assert!(messages == again, "{threads} threads send something else");
            let same = |(a, b): (&[CotBatch; 2], &[CotBatch; 2])| (0..2).all(|i| a[i].blocks == b[i].blocks);
            assert!(settled.iter().zip(&others).all(same));
        }
    }
}

/// Batches begun in every pattern of four exchanges, again and again.
#[test]
fn the_lengths_are_those_of_all_exchanges() {
    let schedules: Vec<Schedule> = schedules().collect();
    for pattern in 1..16 {
        let schedule = schedules[[0, 5, 8][pattern % 3]];
        let mut pair = Pair::real(schedule, 1);
        let mut lengths = SilentLengths::scheduled(schedule, SoftSpokenLengths::new(8));
        assert_eq!(pair.sender.batch(1), lengths.batch(1));
        for number in 0..24 {
            let begin = pattern >> (number % 4) & 1 == 1 && lengths.ready();
            if begin {
                pair.begin(CotOutput::Bits);
            }
            let messages = pair.send();
            assert_eq!(
                messages.each_ref().map(|message| message.len()),
                lengths.exchange(if begin { pair.sender.batch(1) } else { 0 }),
                "exchange {number}"
            );
            pair.receive(&messages).unwrap();
            assert_eq!((pair.sender.ready(), pair.sender.idle()), (lengths.ready(), lengths.idle()));
        }
    }
}

/// One block of AES by the portable code, which is another's.
fn aes(key: Block, x: Block) -> Block {
    let mut block = [x];
    Aes128::with_backend(key, Backend::Portable).encrypt(&mut block);
    block[0]
}

/// The key of the hash of a round's trees.
fn tree_key(round: u64) -> Block {
    let id_and_round = [&ID[..], &round.to_le_bytes()].concat();
    let key = blake3::derive_key("duologue v1 silent OT: key of the trees", &id_and_round);
    Block::from_bytes(key[..16].try_into().unwrap())
}

/// The definition, a node and a bit at a time: leaves of the subtree below x.
fn leaves(key: Block, x: Block, depth: usize) -> Vec<Block> {
    if depth == 0 {
        return vec![x];
    }
    let mut left = [Block::ZERO];
    TreeHash::with_backend(key, Backend::Portable).hash(&[x], &mut left);
    let mut all = leaves(key, left[0], depth - 1);
    all.extend(leaves(key, left[0] ^ x, depth - 1));
    all
}

fn xor<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Block {
    blocks.into_iter().fold(Block::ZERO, |sum, &block| sum ^ block)
}

/// The seed of the local code, after the receiver has said this.
fn local_seed(said: &[u8]) -> Block {
    let said = blake3::derive_key("duologue v1 silent OT: receiver before the first round", said);
    let key = blake3::derive_key("duologue v1 silent OT: code", &[ID, said].concat());
    Block::from_bytes(key[..16].try_into().unwrap())
}

/// The row of an output: which entries of the secret it adds.
fn row(key: Block, round: u64, output: usize, log: u32) -> [usize; 10] {
    let first_bit = ((u128::from(round) << 24) + output as u128) * 192;
    let word = |i: u128| {
        let bit = first_bit + 64 * i;
        let block = aes(key, Block::from_bytes((bit / 128).to_be_bytes())).get();
        (block >> (bit % 128)) as u64 as usize
    };
    let [a, b, c] = [0, 1, 2].map(word);
    let tenth = (a >> 57) * 128 * 128 + (b >> 57) * 128 + (c >> 57);
    let indices = [a, a >> 19, a >> 38, b, b >> 19, b >> 38, c, c >> 19, c >> 38, tenth];
    indices.map(|index| index % (1 << log))
}

/// A tree as the definition has it, of which these corrections were sent: the leaves of the sender and of the receiver.
fn tree_of(key: Block, root: Block, [q, t]: [&[Block]; 2], corrections: &[u8]) -> [Vec<Block>; 2] {
    let (depth, mut alpha) = (q.len(), 0);
    for level in 1..=depth {
        let mut nodes = leaves(key, root, level - 1);
        nodes.extend(leaves(key, root ^ DELTA, level - 1));
        assert!(xor(&nodes) == DELTA);
        // The left ones; the first level has the root alone.
        let left = if level == 1 { root } else { xor(nodes.iter().step_by(2)) };
        let correction = &corrections[16 * (level - 1)..16 * level];
        assert!(correction == (q[level - 1] ^ left).to_bytes(), "level {level}");
        alpha = 2 * alpha + usize::from(!t[level - 1].lsb());
    }
    let mut v = leaves(key, root, depth - 1);
    v.extend(leaves(key, root ^ DELTA, depth - 1));
    v.iter_mut().for_each(|v| *v = v.with_lsb(false));
    let mut w = v.clone();
    w[alpha] ^= DELTA;
    [v, w]
}

/// Two rounds of both parties from the definition: `outputs` makes those of a round of all its leaves and its base.
fn agrees_with(every: Round, outputs: impl Fn(u64, &[Block], &[Block]) -> Vec<Block>) {
    let schedule = Schedule::of_one(every);
    let mut base = given_cots(schedule.seeds(), 5, |_, random| random);
    let (settled, messages) = Pair::over(schedule, base.clone(), 1).run(&[CotOutput::Blocks; 2]);
    let (depth, mut rng) = (every.depth, Generator::from_seed(Block::new(3)));
    let sent = messages.iter().skip(seeding(&every));
    for ((round, batches), sent) in (0..).zip(&settled).zip(sent) {
        let mut roots = vec![Block::ZERO; every.trees];
        rng.fill_blocks(&mut roots);
        let mut all = [Vec::new(), Vec::new()];
        for (tree, &root) in roots.iter().enumerate() {
            let at = every.secret() + tree * depth;
            let own = [&base[0][at..at + depth], &base[1][at..at + depth]];
            let corrections = &sent[0][16 * tree * depth..][..16 * depth];
            let trees = tree_of(tree_key(round), root, own, corrections);
            all.iter_mut().zip(trees).for_each(|(all, leaves)| all.extend(leaves));
        }
        for side in 0..2 {
            let made = outputs(round, &all[side], &base[side]);
            let (given, rest) = made.split_at(every.outputs());
            assert!(batches[side].blocks == given, "round {round}, side {side}");
            base[side] = rest[..every.next].to_vec();
        }
    }
}

/// Exchanges in which the first base comes from COTs that are given.
fn seeding(round: &Round) -> usize {
    round.base().div_ceil(1000)
}

/// With the code as a matrix.
#[test]
fn agrees_with_the_definition() {
    for every in SMALL {
        let log = every.secret().ilog2();
        // Whoever gives COTs says a byte in each exchange.
        let key = local_seed(&vec![1; seeding(&every)]);
        agrees_with(every, |round, leaves, base| {
            let coded = |i: usize| xor(row(key, round, i, log).map(|index| base[index]).iter());
            leaves.iter().enumerate().map(|(i, &leaf)| leaf ^ coded(i)).collect()
        });
    }
}

/// Both sides draw the code from what the receiver says, so that nobody chooses it with the id: where something else arrives
/// than was said, the codes are two.
#[test]
fn the_receiver_has_a_part_in_the_local_code() {
    for changed in [false, true] {
        let mut pair = Pair::small(Schedule::of_one(SMALL[0]), 1, 1);
        pair.begin(CotOutput::Blocks);
        for exchange in 0..seeding(&SMALL[0]) {
            let mut messages = pair.send();
            messages[1][0] ^= u8::from(changed && exchange == 0);
            assert!(pair.receive(&messages).unwrap().is_none());
        }
        let [sent, received] = finish(pair, |_, _| {}).unwrap();
        let wrong = |(q, t): &(&Block, &Block)| **t != **q ^ (Block::mask(t.lsb()) & DELTA);
        let wrong = sent.blocks.iter().zip(&received.blocks).filter(wrong).count();
        assert_eq!(wrong > sent.len() / 2, changed, "{wrong} of {}", sent.len());
    }
}

/// A product in GF(2¹²⁸) by shifting and adding.
fn times(x: Block, y: Block) -> Block {
    let shift = |x: u128| x << 1 ^ if x >> 127 == 1 { 0x87 } else { 0 };
    let powers = std::iter::successors(Some(x.get()), |&x| Some(shift(x)));
    let picked = powers.take(128).enumerate().filter(|(i, _)| y.get() >> i & 1 == 1);
    Block::new(picked.fold(0, |sum, (_, power)| sum ^ power))
}

/// A tree's sum is the sum of its leaves times their weights, each of which is what the receiver takes for it.
#[test]
fn weights_are_those_of_the_sum() {
    for len in [1, 64, 128, 256, 1024] {
        let leaves = random(6, len);
        let mut sum = check::TreeSum::new();
        sum.seed(Block::new(99));
        let weights: Vec<Block> = (0..len as u64).map(|leaf| sum.weight(leaf, len)).collect();
        let products: Vec<Block> = leaves.iter().zip(&weights).map(|(&leaf, &weight)| times(leaf, weight)).collect();
        assert!(sum.sum(&leaves) == xor(&products));
        let different: HashSet<u128> = weights.iter().map(|weight| weight.get()).collect();
        assert_eq!(different.len(), len);
    }
}

/// Weights of a tree hang on its corrections and its number, and those of all trees on all corrections, the round and
/// the session. Without the latter, a sender could make the errors of different trees cancel.
#[test]
fn weights_hang_on_the_whole_transcript() {
    let sum = |id: u8, round, corrections: &[u8]| {
        check::Transcript::new(&[id; 32], round).sum(corrections, &random(8, 3), &random(9, 128)).get()
    };
    let seed = |id: u8, round, tree, corrections: &[u8]| {
        check::Transcript::new(&[id; 32], round).trees_hasher().tree(tree, corrections).map(Block::get)
    };
    let sums = [sum(1, 1, b"abc"), sum(2, 1, b"abc"), sum(1, 2, b"abc"), sum(1, 1, b"abd"), sum(1, 1, b"bbc")];
    let seeds = [
        seed(1, 1, 1, b"abc"),
        seed(2, 1, 1, b"abc"),
        seed(1, 2, 1, b"abc"),
        seed(1, 1, 2, b"abc"),
        seed(1, 1, 1, b"abd"),
    ];
    assert_eq!(HashSet::from(sums).len(), 5);
    assert_eq!(HashSet::<u128>::from_iter(seeds.into_iter().flatten()).len(), 10);
}

/// The exchange in which the first corrections go, and a pair before it has sent.
fn at_corrections() -> Pair {
    let mut pair = Pair::small(Schedule::of_one(SMALL[0]), 1, 1);
    pair.begin(CotOutput::Blocks);
    assert!(pair.exchange().is_none());
    pair
}

/// Runs on until the batch is settled or a side complains; `change` may change the messages of each exchange.
fn finish(mut pair: Pair, mut change: impl FnMut(usize, &mut [Vec<u8>; 2])) -> Result<[CotBatch; 2]> {
    for exchange in 0.. {
        let mut messages = pair.send();
        change(exchange, &mut messages);
        if let Some(batches) = pair.receive(&messages).inspect_err(|_| assert_dead(&mut pair))? {
            return Ok(batches);
        }
    }
    unreachable!()
}

/// Who has failed does nothing any more.
fn assert_dead(pair: &mut Pair) {
    if !pair.receiver.core.dead {
        assert!(matches!(pair.sender.receive(&[]), Err(Error::Dead(_))));
        return assert!(matches!(pair.sender.send(&mut Vec::new()), Err(Error::Dead(_))));
    }
    let receiver = &mut pair.receiver;
    assert!(matches!(receiver.send(&mut Vec::new()), Err(Error::Dead(_))));
    assert!(matches!(receiver.receive(&[]), Err(Error::Dead(_))));
    let batch = CotBatch::new(Side::Receiver, CotOutput::Bits, receiver.batch(1));
    assert!(matches!(receiver.begin(batch), Err(Error::Dead(_))));
    assert!(receiver.core.base.is_empty() && receiver.core.stages.iter().all(Option::is_none));
}

/// Every byte of every message, with another bit each: caught when the hash comes.
#[test]
fn a_changed_byte_is_caught() {
    let lengths = [[SMALL[0].message(), 0], [0, MASKED], [HASH, 0]];
    for (exchange, lengths) in lengths.into_iter().enumerate() {
        for (side, len) in lengths.into_iter().enumerate() {
            for byte in 0..len {
                let result = finish(at_corrections(), |at, messages| {
                    if at == exchange {
                        assert_eq!(messages[side].len(), len);
                        messages[side][byte] ^= 1 << (byte % 8);
                    }
                });
                assert!(
                    matches!(result, Err(Error::Peer(why)) if why.contains("consistency")),
                    "{exchange} {side} {byte}"
                );
            }
        }
    }
    assert!(finish(at_corrections(), |_, _| {}).is_ok());
}

/// The twin without the check takes what the test before has caught.
#[test]
fn without_the_check_a_changed_byte_makes_wrong_cots() {
    let mut wrong = 0;
    for byte in (0..SMALL[0].message()).step_by(16) {
        let mut pair = at_corrections();
        pair.receiver.unchecked = true;
        let [sent, received] = finish(pair, |at, messages| {
            if at == 0 {
                messages[0][byte] ^= 1;
            }
        })
        .unwrap();
        let right = |(q, t): (&Block, &Block)| *t == *q ^ (Block::mask(t.lsb()) & DELTA);
        wrong += usize::from(!sent.blocks.iter().zip(&received.blocks).all(right));
    }
    // All but those of trees that go to the next base, and of lowest bits of leaves.
    assert_eq!(wrong, 15 * 5);
}

/// One tree under another Δ, for every position that the receiver may lack. An honest V never passes. One that is
/// made for a guessed position passes if the guess is right, and only then: the leakage that is allowed.
#[test]
fn another_delta_in_one_tree_passes_only_by_a_right_guess() {
    let every = SMALL[0];
    let schedule = Schedule::of_one(every);
    let (tree, guess, other) = (2, 37, DELTA ^ Block::new(0xbad << 50));
    let first = every.secret() + tree * every.depth;
    for alpha in 0..64 {
        let path = |level: usize| alpha >> (every.depth - 1 - level) & 1 == 0;
        let in_tree = |i: usize| (first..first + every.depth).contains(&i);
        let given = given_cots(schedule.seeds(), 1, |i, random| if in_tree(i) { path(i - first) } else { random });
        for guessed in [false, true] {
            let mut pair = Pair::over(schedule, given.clone(), 1);
            pair.begin(CotOutput::Blocks);
            pair.exchange();
            let at = 16 * tree * every.depth;
            let (mut forged, cheated) = (Block::ZERO, [Block::new(12345), other]);
            let q = &given[0][first..first + every.depth];
            let result = finish(pair, |exchange, messages| match exchange {
                0 => {
                    let hash = TreeHash::new(tree_key(0));
                    let mut levels = tree::Levels::new(every.depth);
                    let mine = &mut messages[0][at..at + 16 * every.depth];
                    tree::grow(&hash, &mut levels, cheated, q, mine);
                    if guessed {
                        // What the guessed receiver takes for a sum of right nodes is one.
                        for (level, correction) in mine.chunks_mut(16).enumerate() {
                            let right = Block::mask(guess >> (every.depth - 1 - level) & 1 == 0);
                            let error = (right & (DELTA ^ other)).to_bytes();
                            correction.iter_mut().zip(error).for_each(|(byte, error)| *byte ^= error);
                        }
                    }
                    let guess = guessed.then_some(guess);
                    forged = forge(every, &given[0], &messages[0], tree, cheated, guess);
                }
                2 => messages[0] = check::Transcript::new(&ID, 0).hash(forged).to_vec(),
                _ => forged ^= times(Block::from_bytes(messages[1][..].try_into().unwrap()), DELTA),
            });
            // The leaf beside the guessed one makes the same trees, but for what the sender calls its own leaf.
            assert_eq!(result.is_ok(), guessed && alpha / 2 == guess / 2, "{alpha}, {guessed}");
        }
    }
}

/// V of a sender who grew one tree from another root and Δ, without x'·Δ; with a guess, as for w at that position.
fn forge(
    every: Round,
    q: &[Block],
    corrections: &[u8],
    cheated: usize,
    [root, delta]: [Block; 2],
    guess: Option<u64>,
) -> Block {
    let transcript = check::Transcript::new(&ID, 0);
    let mut roots = vec![Block::ZERO; every.trees];
    Generator::from_seed(Block::new(3)).fill_blocks(&mut roots);
    let sums: Vec<Block> = (0..every.trees)
        .map(|tree| {
            let own = &corrections[16 * tree * every.depth..][..16 * every.depth];
            let mut sum = check::TreeSum::new();
            sum.seed(transcript.trees_hasher().tree(tree, own)[1]);
            let [root, delta] = if tree == cheated { [root, delta] } else { [roots[tree], DELTA] };
            let mut v = leaves(tree_key(0), root, every.depth - 1);
            v.extend(leaves(tree_key(0), root ^ delta, every.depth - 1));
            v.iter_mut().for_each(|v| *v = v.with_lsb(false));
            if let (Some(guess), true) = (guess, tree == cheated) {
                v[guess as usize] ^= delta ^ DELTA;
            }
            sum.sum(&v)
        })
        .collect();
    transcript.sum(corrections, &sums, &q[every.secret() + every.trees * every.depth..])
}

/// The twin whose leaves keep their lowest bit: it is data of the sender's, and no choice of the receiver's.
#[test]
fn lowest_bits_that_are_data_are_no_choices() {
    let [q, t] = given_cots(6, 2, |_, random| random);
    let key = Block::new(8);
    let (hash, mut levels, mut corrections) = (TreeHash::new(key), tree::Levels::new(6), vec![0; 96]);
    let root = Block::new(77);
    let sealed = tree::grow(&hash, &mut levels, [root, DELTA], &q, &mut corrections).to_vec();
    let mut raw = leaves(key, root, 5);
    raw.extend(leaves(key, root ^ DELTA, 5));
    assert!(sealed.iter().all(|leaf| !leaf.lsb()));
    assert!(raw.iter().filter(|leaf| leaf.lsb()).count() > 16, "the twin is not broken");
    let (alpha, received) = tree::regrow(&hash, &mut levels, &t, &corrections);
    let choices: Vec<usize> = (0..64).filter(|&i| received[i].lsb()).collect();
    assert_eq!(choices, [alpha as usize]);
    // Whatever the sender sends, the choice is where the receiver has it.
    corrections.iter_mut().for_each(|byte| *byte ^= 0x5b);
    let (again, received) = tree::regrow(&hash, &mut levels, &t, &corrections);
    assert!(again == alpha && (0..64).all(|i| received[i].lsb() == (i as u64 == alpha)));
}

#[test]
fn wrong_lengths_are_the_peers_fault() {
    for exchange in 0..3 {
        for side in 0..2 {
            for shorter in [false, true] {
                let result = finish(at_corrections(), |at, messages| match (at == exchange, shorter) {
                    (true, false) => messages[side].push(0),
                    (true, true) => messages[side] = vec![0; messages[side].len().saturating_sub(1)],
                    _ => {}
                });
                let empty = [[false, true], [true, false], [false, true]][exchange][side];
                let peer = matches!(&result, Err(Error::Peer(why)) if why.contains(", not "));
                assert_eq!(peer, !(shorter && empty), "{exchange} {side} {shorter}");
            }
        }
    }
}

#[test]
fn a_batch_has_the_length_of_a_round() {
    let mut pair = at_corrections();
    let right = pair.receiver.batch(1);
    for count in [0, right - 1, right + 1] {
        let batch = CotBatch::new(Side::Receiver, CotOutput::Blocks, count);
        assert!(matches!(pair.receiver.begin(batch), Err(Error::Usage(_))), "{count}");
    }
}

/// Other secrets of the sender, other base COTs or another session: nothing is the same.
#[test]
fn two_runs_differ() {
    let schedule = Schedule::of_one(SMALL[1]);
    let run = |given: u128, rng: u128, id: u8| {
        let mut pair = Pair::small(schedule, given, 1);
        pair.sender.rng = Generator::from_seed(Block::new(rng));
        pair.sender.core.code = Code::new(&[id; 32]);
        pair.receiver.core.code = Code::new(&[id; 32]);
        pair.run(&[CotOutput::Blocks; 2]).0.into_iter().map(|[sent, _]| sent.blocks.clone()).collect::<Vec<_>>()
    };
    let runs = [run(1, 3, 7), run(2, 3, 7), run(1, 4, 7), run(1, 3, 8)];
    let all: Vec<u128> = runs.iter().flatten().flatten().map(|block| block.get()).collect();
    assert_eq!(HashSet::<u128>::from_iter(all.iter().copied()).len(), all.len());
}

/// Each bit of the blocks but the lowest of q is one half of the time, and choices do not repeat.
#[test]
fn outputs_look_uniform() {
    let (settled, _) = Pair::small(Schedule::of_one(SMALL[3]), 1, 1).run(&[CotOutput::Blocks; 8]);
    for side in 0..2 {
        let blocks: Vec<u128> =
            settled.iter().flat_map(|batches| batches[side].blocks.iter().map(|x| x.get())).collect();
        for bit in (1 - side)..128 {
            let ones = blocks.iter().filter(|&&block| block >> bit & 1 == 1).count();
            let slack = 5 * blocks.len().isqrt() / 2;
            assert!(ones.abs_diff(blocks.len() / 2) < slack, "side {side}, bit {bit}: {ones} of {}", blocks.len());
        }
    }
}
