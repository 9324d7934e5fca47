//! Programs with calls, against the step-by-step reference: by every protocol, over memory and sockets, in one session
//! and prepared for another; and calls that break their promises.

#[path = "../../../tests/support/calls.rs"]
mod calls;
#[path = "../../../tests/support/parties.rs"]
mod parties;
#[path = "../../../tests/support/programs.rs"]
mod programs;

use calls::{Fault, Product, calls, sample_with_calls};
use circuit::program::{CallPort, Functionalities, Functionality, Owner, Recipient, Step, reference};
use circuit::{BitMatrix, Party, Program, bits};
use duologue::call::{Call, CallLengths, CallProtocol, Calls, Context, OnlineStage, SetupStage, Zeroizing};
use duologue::channel::{Channel, Limits};
use duologue::cost::cost_with;
use duologue::ot::Extension;
use duologue::prepared::PreparedRuns;
use duologue::{Error, Inputs, Options, Outcome, Phase, Progress, Result, Scheme, Session};
use parties::{all_options, both, check, split, tcp};
use programs::{Dice, Sample};
use proptest::prelude::*;
use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use tempfile::TempDir;

/// One session runs all options twice, each time with fresh shares; bytes and rounds of the first are those foretold.
fn run_all(channels: (Channel, Channel), sample: &Sample, threads: [usize; 2]) {
    let expected = reference::evaluate(&sample.binding, &sample.inputs);
    let all = all_options();
    let inputs: Vec<[Inputs; 2]> =
        (0..2 * all.len()).map(|i| split(&sample.binding, &sample.inputs, &mut Dice(i as u64))).collect();
    let outcomes = both(channels, |mut session| {
        session.register_all(&calls(None));
        session.set_threads(threads[session.party() as usize]);
        let mut run = |(i, options): (usize, &Options)| {
            let mine = &inputs[i][session.party() as usize];
            session.run(&sample.binding, options, mine)
        };
        let outcomes: Vec<Outcome> = all.iter().chain(&all).enumerate().map(&mut run).collect::<Result<_>>()?;
        session.close()?;
        Ok(outcomes)
    });
    for (i, options) in all.iter().chain(&all).enumerate() {
        let got = [&outcomes[0][i].outputs, &outcomes[1][i].outputs];
        check(&sample.binding, &expected, got, &format!("seed {}, run {i}, {options:?}", sample.seed));
    }
    let first = cost_with(&sample.binding, &all[0], &calls(None)).unwrap();
    let reports = [&outcomes[0][0].report, &outcomes[1][0].report];
    assert_eq!((first.ands, first.demand), (reports[0].ands, reports[0].demand));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn random_programs_with_calls(seed: u64, lanes in prop::sample::select(vec![0u64, 1, 3, 64, 65, 130])) {
        run_all(Channel::pair(), &sample_with_calls(seed, lanes), [1, 1]);
    }
}

#[test]
fn over_sockets_and_with_threads() {
    for (seed, lanes, threads) in [(1, 1, [1, 1]), (2, 65, [2, 1]), (3, 300, [3, 2])] {
        run_all(tcp(Limits::default()), &sample_with_calls(seed, lanes), threads);
    }
}

#[test]
fn plain_agrees_with_the_reference() {
    let mut called = 0;
    for (seed, lanes) in (0..100).flat_map(|seed| [(seed, 0), (seed, 3), (seed, 65)]) {
        let sample = sample_with_calls(seed, lanes);
        called += sample.program.steps().iter().filter(|step| matches!(step, Step::Call { .. })).count();
        let expected = reference::evaluate(&sample.binding, &sample.inputs);
        let mut inputs = Inputs::new();
        for port in sample.binding.inputs() {
            inputs.set(&port.name, BitMatrix::from_lanes(port.ty.width as usize, &sample.inputs[&port.name]));
        }
        let outputs = duologue::plain::run(&sample.binding, &inputs).unwrap();
        for port in sample.binding.outputs() {
            assert!(outputs.get(&port.name).unwrap().to_lanes() == expected[&port.name], "seed {seed}, {lanes} lanes");
        }
    }
    assert!(called > 500, "{called} calls");
}

/// The first run of a session takes what is foretold, byte by byte and round by round.
#[test]
fn bytes_and_rounds_are_exact() {
    for (seed, lanes) in [(1, 3), (2, 200), (5, 65), (6, 0)] {
        let sample = sample_with_calls(seed, lanes);
        let inputs = split(&sample.binding, &sample.inputs, &mut Dice(seed));
        for options in all_options() {
            let options = options.extension(Extension::DEFAULT);
            let counted = cost_with(&sample.binding, &options, &calls(None)).unwrap();
            let [alice, bob] = both(Channel::pair(), |mut session| {
                session.register_all(&calls(None));
                let outcome = session.run(&sample.binding, &options, &inputs[session.party() as usize])?;
                assert_eq!(session.drawn(), outcome.report.demand, "what was drawn is what was demanded");
                session.close().map(|()| outcome.report)
            });
            let what = format!("seed {seed}, {lanes} lanes, {options:?}");
            assert_eq!((counted.ands, counted.demand), (alice.ands, alice.demand), "{what}");
            for (phase, traffic, a, b) in
                [("setup", counted.setup, alice.setup, bob.setup), ("online", counted.online, alice.online, bob.online)]
            {
                assert_eq!((a.sent, a.received), (b.received, b.sent), "{what}, {phase}");
                assert_eq!((traffic.alice_to_bob, traffic.bob_to_alice), (a.sent, b.sent), "{what}, {phase}");
                assert_eq!((traffic.alice_rounds, traffic.bob_rounds), (a.rounds, b.rounds), "{what}, {phase}");
            }
        }
    }
}

/// A session for each party of a test that fails: errors are part of the result.
fn meet<T: Send>(act: impl Fn(&mut Session) -> Result<T> + Sync) -> [Result<T>; 2] {
    let (alice, bob) = Channel::pair();
    let run = |channel, party| {
        let mut session = Session::connect(channel, party)?;
        act(&mut session)
    };
    thread::scope(|scope| {
        let bob = scope.spawn(|| run(bob, Party::Bob));
        [run(alice, Party::Alice), bob.join().expect("no panic")]
    })
}

/// Runs that are prepared in one session are right in another, whoever garbles; and once.
#[test]
fn programs_with_calls_are_prepared() {
    for (seed, lanes, garbler) in [(1, 3, Party::Alice), (2, 65, Party::Bob), (4, 0, Party::Bob)] {
        let sample = sample_with_calls(seed, lanes);
        let expected = reference::evaluate(&sample.binding, &sample.inputs);
        // Of parts of different size, once with the tile that the largest wants.
        let options = Options::new(Scheme::Yao).garbler(garbler);
        let options = if seed == 2 { options } else { options.tile(64) };
        let place = TempDir::new().unwrap();
        let folder = |party: Party| place.path().join(party.to_string());
        let inputs = split(&sample.binding, &sample.inputs, &mut Dice(seed));
        let public = |party: Party| {
            let ports = sample.binding.inputs().iter().filter(|port| port.who == Owner::Public);
            let value = |name: &str| inputs[party as usize].get(name).unwrap().clone();
            ports.fold(Inputs::new(), |all, port| all.with(&port.name, value(&port.name)))
        };
        for made in meet(|session| {
            session.register_all(&calls(None));
            let mut runs = PreparedRuns::create(&folder(session.party()), None)?;
            session.prepare_to(&mut runs, &sample.binding, &options, &public(session.party()), 2)
        }) {
            made.unwrap();
        }
        for _ in 0..2 {
            let outcomes = meet(|session| {
                session.register_all(&calls(None));
                let mut runs = PreparedRuns::open(&folder(session.party()), None)?;
                session.online_from(&mut runs, &sample.binding, &inputs[session.party() as usize])
            });
            let [alice, bob] = outcomes.map(|outcome| outcome.unwrap());
            check(&sample.binding, &expected, [&alice.outputs, &bob.outputs], &format!("seed {seed}"));
        }
        let none_left = meet(|session| {
            session.register_all(&calls(None));
            let mut runs = PreparedRuns::open(&folder(session.party()), None)?;
            session.online_from(&mut runs, &sample.binding, &inputs[session.party() as usize])
        });
        assert!(none_left.into_iter().all(|run| matches!(run, Err(Error::Usage(_)))), "used up");
    }
}

/// Two calls, one after the other, by OTs and by triples; the results go to Bob.
fn two_calls() -> Program {
    two_calls_of(Arc::new(Product(None)))
}

fn two_calls_of(product: Arc<dyn Functionality>) -> Program {
    let mut p = Program::new("two calls");
    let [a, b] = [("a", Party::Alice), ("b", Party::Bob)].map(|(name, party)| p.input(name, party, bits(5), 70));
    let first = p.call(&product, &[1, 0], &[a, b])[0];
    let second = p.call(&product, &[0, 2], &[first, b])[0];
    p.output("second", Party::Bob, second);
    p
}

fn zeros(party: Party) -> Inputs {
    Inputs::new().with(["a", "b"][party as usize], BitMatrix::zeros(5, 70))
}

/// The next version of the call.
struct Next(Product);

impl Functionality for Next {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn version(&self) -> u32 {
        self.0.version() + 1
    }

    fn results(&self, parameters: &[u8], args: &[CallPort]) -> circuit::Result<Vec<CallPort>> {
        self.0.results(parameters, args)
    }

    fn lanes(&self, parameters: &[u8], args: &[u64]) -> circuit::Result<Vec<u64>> {
        self.0.lanes(parameters, args)
    }

    fn evaluate(&self, parameters: &[u8], args: &[BitMatrix]) -> Vec<BitMatrix> {
        self.0.evaluate(parameters, args)
    }
}

impl CallProtocol for Next {
    fn lengths(&self, call: &Call, party: Party) -> Result<CallLengths> {
        self.0.lengths(call, party)
    }

    fn setup(&self, call: &Arc<Call>, context: &Context) -> Result<SetupStage> {
        self.0.setup(call, context)
    }

    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> Result<OnlineStage> {
        self.0.online(call, party, setup, args)
    }
}

/// A run whose call has another version now is refused with what to do, and not used up.
#[test]
fn runs_of_an_older_call_are_to_be_prepared_anew() {
    let place = TempDir::new().unwrap();
    let folder = |party: Party| place.path().join(party.to_string());
    let (binding, options) = (two_calls().bind(&[]).unwrap(), Options::new(Scheme::Yao));
    for made in meet(|session| {
        session.register_all(&calls(None));
        let mut runs = PreparedRuns::create(&folder(session.party()), None)?;
        session.prepare_to(&mut runs, &binding, &options, &Inputs::new(), 1)
    }) {
        made.unwrap();
    }
    let newer = two_calls_of(Arc::new(Next(Product(None)))).bind(&[]).unwrap();
    let refused = meet(|session| {
        session.register_all(&Calls::new().with(Arc::new(Next(Product(None)))));
        let mut runs = PreparedRuns::open(&folder(session.party()), None)?;
        session.online_from(&mut runs, &newer, &zeros(session.party())).map(drop)
    });
    for error in refused.map(|run| run.expect_err("another program")) {
        let why = error.to_string();
        assert!(matches!(error, Error::Usage(_)), "{why}");
        ["another version: the program was", "prepare anew"]
            .iter()
            .for_each(|words| assert!(why.contains(words), "{why}"));
    }
    for party in [Party::Alice, Party::Bob] {
        assert_eq!(PreparedRuns::open(&folder(party), None).unwrap().status().unwrap().left, 1);
    }
}

/// A stored run that lost its end is refused by name, and nothing of it is used up.
#[test]
fn a_truncated_run_is_refused() {
    let (binding, options) = (two_calls().bind(&[]).unwrap(), Options::new(Scheme::Yao));
    let place = TempDir::new().unwrap();
    let folder = |party: Party| place.path().join(party.to_string());
    for made in meet(|session| {
        session.register_all(&calls(None));
        let mut runs = PreparedRuns::create(&folder(session.party()), None)?;
        session.prepare_to(&mut runs, &binding, &options, &Inputs::new(), 1)
    }) {
        made.unwrap();
    }
    let files = fs::read_dir(folder(Party::Alice)).unwrap().map(|entry| entry.unwrap().path());
    let labels = files.into_iter().find(|path| path.to_string_lossy().contains("labels")).expect("a run");
    let length = fs::metadata(&labels).unwrap().len();
    for cut in [1, 17, length / 2, length] {
        let whole = fs::read(&labels).unwrap();
        fs::write(&labels, &whole[..(length - cut) as usize]).unwrap();
        let [alice, _] = meet(|session| {
            session.register_all(&calls(None));
            let mut runs = PreparedRuns::open(&folder(session.party()), None)?;
            session.online_from(&mut runs, &binding, &zeros(session.party())).map(drop)
        });
        assert!(matches!(alice, Err(Error::Malformed { .. })), "{cut} bytes less: {alice:?}");
        fs::write(&labels, whole).unwrap();
    }
    let runs = PreparedRuns::open(&folder(Party::Alice), None).unwrap();
    assert_eq!(runs.status().unwrap().left, 1);
}

#[test]
fn a_call_that_departs_from_its_lengths_ends_the_run() {
    let binding = two_calls().bind(&[]).unwrap();
    let run = |fault| {
        meet(|session| {
            session.register_all(&calls(fault));
            session.run(&binding, &Options::new(Scheme::Gmw), &zeros(session.party())).map(drop)
        })
    };
    assert!(run(None).iter().all(Result::is_ok), "the twin without a fault");
    for (fault, why) in [
        (Fault::ByteTooMany, "departs from its lengths: 351 bytes in exchange 0 in place of 350"),
        (Fault::ByteTooFew, "departs from its lengths: 349 bytes in exchange 0 in place of 350"),
        (Fault::Stored, "departs from its lengths: setup stores 1401 bytes in place of 1400"),
        (Fault::Shape, "its results have other shapes"),
        (Fault::Lengths, "do not fit, online: in exchange 0 alice sends 350 bytes and reads 351, bob reads 350"),
        (Fault::Demand, "do not fit, setup: correlations of exchange 0"),
    ] {
        let [alice, bob] = run(Some(fault));
        assert!(matches!(&alice, Err(Error::Usage(said)) if said.contains(why)), "{fault:?}: {alice:?}");
        assert!(bob.is_err(), "{fault:?}");
    }
}

#[test]
fn calls_are_watched_and_cancelled() {
    let binding = two_calls().bind(&[]).unwrap();
    for cancelled in [Phase::Setup, Phase::Online] {
        let seen = Mutex::new(Vec::new());
        let calls_of_alice = AtomicU64::new(0);
        thread::scope(|scope| {
            let (alice, bob) = Channel::pair();
            let bob = scope.spawn(|| {
                let mut session = Session::connect(bob, Party::Bob).unwrap();
                session.register_all(&calls(None));
                session.run(&binding, &Options::new(Scheme::Gmw), &zeros(Party::Bob)).map(drop)
            });
            let mut session = Session::connect(alice, Party::Alice).unwrap();
            session.register_all(&calls(None));
            let marks = Arc::new(Mutex::new(Vec::new()));
            let here = marks.clone();
            session.observe(move |&Progress { phase, done, total, .. }| {
                assert!(done <= total && total > 0);
                here.lock().unwrap().push((phase, done));
                if phase == cancelled { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let run = session.run(&binding, &Options::new(Scheme::Gmw), &zeros(Party::Alice));
            assert!(matches!(run, Err(Error::Cancelled)));
            assert!(bob.join().unwrap().is_err(), "the peer hears of it");
            seen.lock().unwrap().extend(marks.lock().unwrap().iter().copied());
            calls_of_alice.fetch_add(1, Ordering::Relaxed);
        });
        assert!(seen.lock().unwrap().iter().any(|(phase, _)| *phase == cancelled));
    }
}

/// A program with calls has version 2, any other version 1; without the functionality it is refused by name.
#[test]
fn files_of_programs_with_calls() {
    let known = calls(None).functionalities();
    for seed in 0..50 {
        let sample = sample_with_calls(seed, 3);
        let bytes = sample.program.to_bytes().unwrap();
        let again = Program::from_bytes_with(&bytes, &known).unwrap();
        assert!(again.to_bytes().unwrap() == bytes);
        assert_eq!(bytes[10], if sample.program.has_calls() { 2 } else { 1 });
        if sample.program.has_calls() {
            let error = Program::from_bytes(&bytes).err().expect("nobody handed it in").to_string();
            assert!(error.contains("calls 'test:product' version 3, which was not handed in"), "{error}");
            let none = Program::from_bytes_with(&bytes, &Functionalities::new());
            assert!(none.is_err());
        }
    }
    let mut other = two_calls().to_bytes().unwrap();
    other.truncate(other.len() - 32);
    other[10] = 1;
    let digest = blake3::hash(&other);
    other.extend(digest.as_bytes());
    let error = Program::from_bytes_with(&other, &known).err().expect("version 1 has no calls").to_string();
    assert!(error.contains("not in the canonical encoding"), "{error}");
}

/// Parameters are in the digest, so that parties with others do not begin.
#[test]
fn parameters_are_in_the_digest() {
    let program = |parameters: [u8; 2]| {
        let product: Arc<dyn Functionality> = Arc::new(Product(None));
        let mut p = Program::new("p");
        let [a, b] = [("a", Party::Alice), ("b", Party::Bob)].map(|(name, party)| p.input(name, party, bits(5), 70));
        let made = p.call(&product, &parameters, &[a, b])[0];
        p.output("made", Recipient::Both, made);
        p.bind(&[]).unwrap()
    };
    let found = meet(|session| {
        session.register_all(&calls(None));
        let binding = program([session.party() as u8, 0]);
        session.run(&binding, &Options::new(Scheme::Gmw), &zeros(session.party())).map(drop)
    });
    for error in found {
        assert!(matches!(error, Err(Error::Incompatible { what: "the program", .. })), "{error:?}");
    }
}

/// Many calls, each on the result of the one before, and far more lanes than there is memory for: refused by name.
#[test]
fn short_files_do_not_fill_the_memory() {
    let product: Arc<dyn Functionality> = Arc::new(Product(None));
    let mut p = Program::new("chain");
    let mut x = p.input("x", Party::Alice, bits(1), 1);
    for _ in 0..2000 {
        x = p.call(&product, &[0, 0], &[x, x]).first().copied().unwrap_or(x);
    }
    assert!(p.bind(&[]).err().unwrap().to_string().contains("more than 1024 calls"));
    let mut p = Program::new("large");
    let n = p.size("n", 1..=1 << 40);
    let x = p.input("x", Party::Alice, bits(1), 1);
    let many = p.repeat(x, n);
    p.call(&product, &[0, 0], &[many, many]);
    assert!(p.bind(&[("n", 1 << 40)]).err().unwrap().to_string().contains("is too large"));
}
