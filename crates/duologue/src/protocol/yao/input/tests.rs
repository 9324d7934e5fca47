//! Both sides of an input, step by step, against what labels are.

use crate::threads::Threads;
use circuit::program::{Seat, Task};

use super::*;
use crate::executor::{Exchange, PlanCache, Protocol};
use crate::protocol::yao::lengths::YaoLengths;
use crate::{Garbling, Party};
use circuit::program::{Owner, TaskKind};

const ALICE: Party = Party::Alice;

/// Alice garbles, Bob evaluates.
struct Pair {
    garbler: Garbler,
    evaluator: Evaluator,
    random: Generator,
}

fn pair(ahead: bool) -> Pair {
    let mut random = Generator::from_os().unwrap();
    let [delta, s, common, secret] = [(); 4].map(|()| random.block());
    let (base, plans) = (Base { and0: 0, in0: 1000 }, PlanCache::default());
    let lengths = |party| YaoLengths { party, garbler: ALICE, ahead, table: 32, plans: plans.clone() };
    let labels = Generator::from_seed(if ahead { secret } else { common });
    let garbler = Garbler::new(lengths(ALICE), delta.with_lsb(true), (Garbling::HalfGates, s), labels, base);
    let evaluator = Evaluator::new(lengths(Party::Bob), (Garbling::HalfGates, s), Generator::from_seed(common), base);
    Pair { garbler, evaluator, random }
}

fn job(owner: Owner, rows: usize, lanes: usize) -> Job {
    let kind = TaskKind::Input { port: 0, owner, from: 0 };
    let seat = Seat { and0: 0, in0: 70, out0: 0 };
    let task = Task { kind, cell: 0, rows, lanes, args: Vec::new(), public: false, seat };
    Job { threads: Threads::default(), task, plan: None, public: BitMatrix::zeros(0, 0) }
}

/// The labels that an input left with both parties, and the bytes that went up and down.
struct Done {
    zeros: Labels,
    active: Labels,
    bits: Vec<bool>,
    up: usize,
    down: Vec<u8>,
}

impl Pair {
    fn bits(&mut self, rows: usize, lanes: usize) -> BitMatrix {
        let mut bits = BitMatrix::zeros(rows, lanes);
        self.random.words(bits.words_mut());
        bits.clear_padding();
        bits
    }

    fn run(&mut self, job: &Job) -> Done {
        let (rows, lanes) = (job.task.rows, job.task.lanes);
        let TaskKind::Input { owner, .. } = job.task.kind else { panic!("not an input") };
        let held = |party| owner == Owner::Shared || owner == Owner::Party(party);
        let [ours, theirs] = [ALICE, Party::Bob].map(|party| held(party).then(|| self.bits(rows, lanes)));
        let count = if held(Party::Bob) { rows * lanes } else { 0 };
        let delta = self.garbler.delta;
        let t: Vec<Block> = (0..count).map(|_| self.random.block()).collect();
        let q: Vec<_> = t.iter().map(|&t| t ^ (delta & Block::mask(t.lsb()))).collect();
        let common = |labels, base, job| base_labels(labels, base, job, &BufferPool::default());
        let fixed = common(&self.garbler.labels, &self.garbler.base, job);
        let known = common(&self.evaluator.labels, &self.evaluator.base, job);
        let mut sums = common(&self.garbler.labels, &self.garbler.base, job);
        add(&mut sums, &q);
        let mut garbler = GarblerInput { bits: ours.clone(), ..GarblerInput::of_sums(sums) };
        let choices = (count > 0).then(|| Zeroizing::new(Choices::new(t)));
        let ahead = self.garbler.lengths.ahead;
        let base = if ahead { Labels::absent() } else { known };
        let mut evaluator = EvaluatorInput { base, choices, bits: theirs.clone(), turn: 0 };
        let (mut up, mut down) = (Outbox::default(), Outbox::default());
        let (mut turn, mut all_up, mut all_down) = (0, 0, Vec::new());
        let (zeros, active) = loop {
            let (inbox_up, inbox_down) = (std::mem::take(&mut up), std::mem::take(&mut down));
            let garblers = garbler.step(&self.garbler, job, &inbox_up, &mut down).unwrap();
            let evaluators = evaluator.step(&self.evaluator, job, &inbox_down, &mut up).unwrap();
            match (garblers, evaluators) {
                (Flow::Exchange, Flow::Exchange) => {
                    let [sent, read] =
                        [self.garbler.lengths(), self.evaluator.lengths()].map(|lengths| lengths.online(job).nth(turn));
                    assert_eq!(
                        (sent, read),
                        (Some(Exchange::new(down.len(), up.len())), Some(Exchange::new(up.len(), down.len())))
                    );
                    turn += 1;
                    all_up += up.len();
                    all_down.extend_from_slice(&down);
                }
                (Flow::Done(Made::Value(zeros)), Flow::Done(Made::Value(active))) => break (zeros, active),
                _ => panic!("one party is done before the other"),
            }
        };
        let bit = |row, lane| [&ours, &theirs].iter().any(|x| x.as_ref().is_some_and(|x| x.get(row, lane)));
        let both = |row, lane| [&ours, &theirs].iter().all(|x| x.as_ref().is_some_and(|x| x.get(row, lane)));
        let all = (0..rows).flat_map(|row| (0..lanes).map(move |lane| (row, lane)));
        let bits = all.map(|(row, lane)| bit(row, lane) && !both(row, lane)).collect();
        Done { zeros: if ahead { fixed } else { zeros }, active, bits, up: all_up, down: all_down }
    }
}

const OWNERS: [Owner; 3] = [Owner::Party(Party::Alice), Owner::Party(Party::Bob), Owner::Shared];

/// The active label is the zero label, plus Δ if the bit is set; and only what must travels.
#[test]
fn labels_are_those_of_the_bits() {
    for (ahead, owner) in [true, false].into_iter().flat_map(|ahead| OWNERS.map(|owner| (ahead, owner))) {
        for (rows, lanes) in [(1, 1), (2, 0), (3, 65), (8, 64), (5, 130)] {
            let mut pair = pair(ahead);
            let delta = pair.garbler.delta;
            let done = pair.run(&job(owner, rows, lanes));
            let what = format!("ahead {ahead}, {owner:?}, {rows} rows of {lanes}");
            assert_eq!((done.zeros.blocks().len(), done.active.blocks().len()), (rows * lanes, rows * lanes), "{what}");
            for (i, &bit) in done.bits.iter().enumerate() {
                let expected = if bit { done.zeros.blocks()[i] ^ delta } else { done.zeros.blocks()[i] };
                assert!(done.active.blocks()[i] == expected, "{what}, bit {i}");
            }
            let up = if owner == OWNERS[0] { 0 } else { (rows * lanes).div_ceil(8) };
            let down = if ahead { rows * lanes * LABEL } else { 0 };
            assert_eq!((done.up, done.down.len()), (up, down), "{what}");
        }
    }
}

/// P16: streamed, the zero labels belong to the garbler alone. The broken twin sends them as it would ahead: where the
/// bit is set, the evaluator has both labels.
#[test]
fn answers_that_are_sent_although_the_base_is_known_give_delta_away() {
    for owner in OWNERS {
        let mut pair = pair(false);
        let done = pair.run(&job(owner, 8, 64));
        assert!(done.down.is_empty(), "{owner:?}");
        let twin = done.zeros.blocks().iter().zip(done.active.blocks()).map(|(&y, &active)| y ^ active);
        assert!(twin.into_iter().any(|sum| sum == pair.garbler.delta), "{owner:?}");
    }
}

/// Permute bits and active labels are fair coins whatever the bits are.
#[test]
fn labels_look_random() {
    for (ahead, owner) in [true, false].into_iter().flat_map(|ahead| OWNERS.map(|owner| (ahead, owner))) {
        let done = pair(ahead).run(&job(owner, 100, 1000));
        for (name, labels) in [("zero", &done.zeros), ("active", &done.active)] {
            for place in [0, 1, 64, 127] {
                let ones = labels.blocks().iter().filter(|label| label.get() >> place & 1 == 1).count();
                assert!((49_000..51_000).contains(&ones), "ahead {ahead}, {owner:?}, bit {place} of {name}: {ones}");
            }
        }
        let set = done.bits.iter().zip(done.zeros.blocks()).filter(|&(&bit, zero)| bit == zero.lsb()).count();
        assert!((49_000..51_000).contains(&set), "permute bits follow the bits: {set}");
    }
}
