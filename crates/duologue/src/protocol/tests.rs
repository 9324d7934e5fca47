//! Every protocol against its lengths: they fit together, and no stage departs from them.

use super::*;
use crate::correlation::{Demand, Stock};
use crate::executor::cells::Nothing;
use crate::executor::{
    Arg, Delivered, Exchange, Exchanges, Executor, Flow, Immediate, Job, Link, Made, NoPeer, Phase, Protocol,
    Scheduling, Stage, StoredSize,
};
use crate::outbox::{Inbox, Outbox};
use crate::threads::Threads;
use circuit::blocks::{self, Goal};
use circuit::program::{Binding, Owner, Recipient, TaskKind};
use circuit::{BitMatrix, uint};
use std::sync::Arc;
use terms::{Garbling, Timing};

/// Inputs and outputs of every kind around products, of so many lanes.
fn binding(lanes: u64) -> Binding {
    let product = blocks::find("multiply").unwrap().circuit(&[8], Goal::Size).unwrap();
    let mux = blocks::find("mux").unwrap().circuit(&[16], Goal::Size).unwrap();
    let mut p = circuit::Program::new("all kinds");
    let [x, y] = [("x", Party::Alice), ("y", Party::Bob)].map(|(name, who)| p.input(name, who, uint(8), lanes));
    let z = p.input("z", Owner::Shared, circuit::bits(16), lanes);
    let bit = p.input("bit", Owner::Party(Party::Bob), circuit::bits(1), lanes);
    let xy = p.map(&product, &[x, y]);
    let chosen = p.map(&mux, &[bit, xy, z]);
    let again = p.map(&mux, &[bit, chosen, xy]);
    for (name, who, value) in [
        ("alice", Recipient::Party(Party::Alice), xy),
        ("bob", Recipient::Party(Party::Bob), chosen),
        ("both", Recipient::Both, again),
        ("nobody", Recipient::Shared, chosen),
    ] {
        p.output(name, who, value);
    }
    p.bind(&[]).unwrap()
}

fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for (scheme, timing) in Scheme::ALL.iter().flat_map(|&s| [(s, Timing::Ahead), (s, Timing::Streamed)]) {
        let garblings = if scheme == Scheme::Yao { &Garbling::ALL[..] } else { &Garbling::ALL[..1] };
        for (&garbling, garbler) in garblings.iter().flat_map(|g| [(g, Party::Alice), (g, Party::Bob)]) {
            all.push(Options { timing, garbling, garbler: Some(garbler), tile: Some(64), ..Options::new(scheme) });
        }
    }
    all
}

fn jobs(schedule: &Schedule) -> impl Iterator<Item = Job> {
    let secret = schedule.tasks.iter().filter(|task| !task.public && !matches!(task.kind, TaskKind::View { .. }));
    secret.map(|task| {
        let plan = if let TaskKind::Map { plan, .. } = task.kind { Some(schedule.plan(plan).clone()) } else { None };
        Job { threads: Threads::default(), task: task.clone(), plan, public: BitMatrix::zeros(0, task.lanes) }
    })
}

/// The exchanges with the peer, as they are sent and read.
fn with_peer(exchanges: Exchanges, online: bool) -> Vec<(usize, usize)> {
    let with_peer = exchanges.filter(|exchange| !online || exchange.tables.is_none());
    with_peer.map(|exchange| (exchange.sent, exchange.read)).filter(|&bytes| bytes != (0, 0)).collect()
}

#[test]
fn one_party_reads_what_the_other_sends() {
    for (lanes, options) in
        [1, 63, 64, 65, 200].into_iter().flat_map(|lanes| all_options().into_iter().map(move |o| (lanes, o)))
    {
        let Ok((terms, schedule)) = Terms::resolve(&binding(lanes), &options) else { continue };
        let plans = PlanCache::default();
        let [alice, bob] =
            [Party::Alice, Party::Bob].map(|party| options.scheme.descriptor().lengths(&terms, party, &plans));
        let mirrored =
            |exchanges: Vec<(usize, usize)>| exchanges.into_iter().map(|(sent, read)| (read, sent)).collect::<Vec<_>>();
        for job in jobs(&schedule) {
            let at =
                |lengths: &dyn Lengths| [with_peer(lengths.setup(&job), false), with_peer(lengths.online(&job), true)];
            assert_eq!(at(&*alice), at(&*bob).map(mirrored), "{options:?}");
            assert_eq!(alice.demand(&job), bob.demand(&job), "{options:?}");
            for lengths in [&alice, &bob] {
                let stored = |exchanges: Exchanges| exchanges.filter_map(|exchange| exchange.tables).sum::<usize>();
                let tables = lengths.stored(&job).tables as usize;
                assert_eq!(
                    (stored(lengths.setup(&job)), stored(lengths.online(&job))),
                    (tables, tables),
                    "{options:?}"
                );
            }
        }
    }
}

/// A protocol of one party that sends three bytes in each exchange of a task.
struct Noisy {
    /// Bytes sent beyond the lengths, exchanges beyond them, and bytes sent with the result.
    wrong: [usize; 3],
    /// Whether a task has two exchanges, in which as much is read.
    answered: bool,
    /// Whether tasks are stepped side by side; else, if they are answered, their maps are one way.
    side_by_side: bool,
    /// The task that panics in its second step.
    panics: Option<u32>,
}

impl Noisy {
    fn new(wrong: [usize; 3], answered: bool) -> Noisy {
        Noisy { wrong, answered, side_by_side: false, panics: None }
    }
}

struct NoisyOnline {
    turn: usize,
    value: Option<BitMatrix>,
}

impl Lengths for Noisy {
    fn scheduling(&self) -> Scheduling {
        let one_way = self.answered && !self.side_by_side;
        Scheduling { one_way, side_by_side: self.side_by_side, cell_bits: 1 }
    }

    fn demand(&self, _: &Job) -> Demand {
        Demand::NONE
    }

    fn online(&self, _: &Job) -> Exchanges {
        let exchange = Exchange::new(3, if self.answered { 3 } else { 0 });
        Exchanges::few([Some(exchange), self.answered.then_some(exchange)])
    }

    fn stored(&self, _: &Job) -> StoredSize {
        StoredSize::default()
    }
}

impl Stage<Noisy> for NoisyOnline {
    type Output = Made<BitMatrix>;

    fn step(&mut self, noisy: &Noisy, job: &Job, _: &[u8], outbox: &mut Outbox) -> Result<Flow<Made<BitMatrix>>> {
        let [bytes, exchanges, last] = noisy.wrong;
        self.turn += 1;
        assert!(self.turn < 2 || noisy.panics != Some(job.task.cell), "a task panics");
        if self.turn <= 1 + exchanges + usize::from(noisy.answered) {
            outbox.room(3 + bytes).fill(job.task.cell as u8);
            return Ok(Flow::Exchange);
        }
        outbox.room(last).fill(0);
        Ok(Flow::Done(self.value.take().map_or(Made::Output(None), Made::Value)))
    }
}

impl Protocol for Noisy {
    type Mask = Nothing;
    type Value = BitMatrix;
    type Prepared = ();
    type Setup = Immediate<()>;
    type Online = NoisyOnline;

    fn lengths(&self) -> &dyn Lengths {
        self
    }

    fn setup(&self, _: &Job, _: &[Arg<'_, Nothing>], _: &mut Stock) -> Result<Immediate<()>> {
        Ok(Immediate::new(()))
    }

    fn online(&self, _: &Job, (): (), _: &[Arg<'_, BitMatrix>], feed: Option<BitMatrix>) -> Result<NoisyOnline> {
        Ok(NoisyOnline { turn: 0, value: feed })
    }

    fn lift_mask(&self, _: &BitMatrix) -> Nothing {
        Nothing
    }

    fn lift(&self, public: &BitMatrix) -> BitMatrix {
        public.clone()
    }
}

/// A peer that answers each exchange once it has come, and is never asked for an answer before.
#[derive(Default)]
struct Answering {
    sent: usize,
    read: usize,
    /// All that was sent.
    said: Vec<u8>,
    /// Receives after which the connection is lost, if it is.
    lasts: Option<usize>,
}

impl Link for Answering {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.sent += bytes.len();
        self.said.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn receive(&mut self, count: usize, inbox: &mut Inbox) -> Result<()> {
        self.read += count;
        match &mut self.lasts {
            Some(0) => return Err(Error::Closed("in a test".into())),
            lasts => lasts.iter_mut().for_each(|lasts| *lasts -= 1),
        }
        if self.read > self.sent {
            return Err(Error::usage("both parties would wait"));
        }
        inbox.only(count).fill(0);
        Ok(())
    }

    fn supply(&mut self, _: &mut Stock, _: Demand, _: Demand) -> Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: Phase, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}

/// Runs an input that becomes an output.
fn run(noisy: Noisy, threads: usize, link: &mut dyn Link) -> Result<Delivered> {
    run_on(noisy, 5, &Threads::new(threads)?, link)
}

/// The same on so many lanes, in tiles of 64.
fn run_on(noisy: Noisy, lanes: usize, threads: &Threads, link: &mut dyn Link) -> Result<Delivered> {
    let mut p = circuit::Program::new("echo");
    let x = p.input("x", Party::Alice, uint(8), lanes as u64);
    p.output("y", Party::Alice, x);
    let binding = p.bind(&[]).unwrap();
    let schedule = Schedule::new(&binding, Order::Layered, |_| 64).unwrap();
    let program = Program {
        party: Some(Party::Alice),
        binding: Arc::new(binding),
        schedule: Arc::new(schedule),
        window: Window { cells: 1 << 20, maps: 1 << 20 },
        ahead: noisy.side_by_side,
        public: vec![None],
        threads: threads.clone(),
        strands: 1,
        movers: 0,
    };
    let mut engine = Box::new(Executor::new(noisy, program)?);
    let feeds = vec![Some(BitMatrix::zeros(8, lanes).into())];
    let mut stock = Stock::new(Party::Alice);
    engine.setup(&mut stock, link)?;
    Ok(engine.online(&feeds, &mut stock, link)?.outputs)
}

#[test]
fn a_stage_that_departs_from_its_lengths_ends_the_run() {
    let run = |wrong| run(Noisy::new(wrong, false), 1, &mut NoPeer);
    assert!(run([0, 0, 0]).is_ok(), "the lengths are right");
    for wrong in [[1, 0, 0], [0, 1, 0], [0, 0, 1]] {
        let error = run(wrong).map(drop).unwrap_err();
        assert!(matches!(&error, Error::Usage(what) if what.contains("its lengths")), "{wrong:?}: {error}");
    }
}

/// With many threads an exchange is read ahead, but never one that waits for what this party sends in it.
#[test]
fn no_exchange_is_read_before_what_it_answers_is_sent() {
    for threads in [1, 2, 3, 7] {
        let mut link = Answering::default();
        let ran = run(Noisy::new([0, 0, 0], true), threads, &mut link);
        assert!(ran.is_ok(), "{threads} threads: {}", ran.map(drop).unwrap_err());
        assert_eq!((link.sent, link.read), (12, 12), "two tasks of two exchanges");
    }
}

/// Tasks that are stepped side by side, group by group.
fn side_by_side(panics: Option<u32>) -> Noisy {
    Noisy { side_by_side: true, panics, ..Noisy::new([0, 0, 0], true) }
}

#[test]
fn groups_send_the_same_bytes_by_any_number_of_threads() {
    let said = [1, 2, 3, 7].map(|threads| {
        let mut link = Answering::default();
        run_on(side_by_side(None), 300, &Threads::new(threads).unwrap(), &mut link).unwrap();
        assert_eq!((link.sent, link.read), (60, 60), "ten tasks of two exchanges");
        link.said
    });
    assert!(said[0][..15].is_sorted() && said.iter().all(|other| *other == said[0]), "{said:?}");
}

/// Whatever fails while groups are under way ends the run, and no thread is left behind.
#[test]
fn groups_end_with_whoever_fails() {
    for threads in [1, 2, 3, 7].map(|count| Threads::new(count).unwrap()) {
        let lasting = |receives| Answering { lasts: Some(receives), ..Answering::default() };
        let mut lasts = 0;
        while let Err(error) = run_on(side_by_side(None), 300, &threads, &mut lasting(lasts)) {
            assert!(matches!(error, Error::Closed(_)), "{lasts}: {error}");
            lasts += 1;
        }
        assert!(lasts >= 12, "groups are read one by one: {lasts}");
        for task in 0..10 {
            let mut link = Answering::default();
            let broken = || run_on(side_by_side(Some(task)), 300, &threads, &mut link).map(drop);
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(broken));
            assert!(ended.is_err(), "task {task} does not panic");
        }
        let turns = std::sync::atomic::AtomicUsize::new(0);
        threads.on_all(|_| {
            turns.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(turns.into_inner(), threads.count(), "every thread answers");
    }
}
