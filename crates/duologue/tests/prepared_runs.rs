//! Runs that are prepared in one session and used in another: right, exactly once, and as cheap as promised.

#[path = "../../../tests/support/parties.rs"]
mod parties;
#[path = "../../../tests/support/programs.rs"]
mod programs;

use circuit::program::{Binding, Owner, reference};
use circuit::{BitMatrix, Party, Program, blocks};
use duologue::channel::{Channel, Limits};
use duologue::prepared::PreparedRuns;
use duologue::{Error, Garbling, Inputs, Options, Outcome, Result, Scheme, Session, Timing, cost, data};
use parties::{check, identities, split, tcp, tls_of};
use programs::{Dice, Sample, sample};
use proptest::prelude::*;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use tempfile::TempDir;

/// A folder for each party.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new().unwrap())
    }

    fn folder(&self, party: Party) -> PathBuf {
        self.0.path().join(party.to_string())
    }

    fn open(&self, party: Party) -> PreparedRuns {
        PreparedRuns::open(&self.folder(party), None).unwrap_or_else(|error| panic!("{error}"))
    }

    fn found(&self, party: Party) -> Result<PreparedRuns> {
        match PreparedRuns::is_in(&self.folder(party)) {
            true => PreparedRuns::open(&self.folder(party), None),
            false => PreparedRuns::create(&self.folder(party), None),
        }
    }

    /// Both prepare until there are so many.
    fn prepare(&self, job: &Job, times: u64) -> [Result<()>; 2] {
        self.prepare_over(Channel::pair(), job, times)
    }

    fn prepare_over(&self, channels: (Channel, Channel), job: &Job, times: u64) -> [Result<()>; 2] {
        meet(channels, |session| {
            let mut runs = self.found(session.party())?;
            session.prepare_to(&mut runs, &job.binding, &job.options, &job.public(), times).map(drop)
        })
    }

    fn online_over(&self, channels: (Channel, Channel), job: &Job, inputs: &[Inputs; 2]) -> [Result<Outcome>; 2] {
        meet(channels, |session| {
            let (party, mut runs) = (session.party(), self.found(session.party())?);
            session.online_from(&mut runs, &job.binding, &inputs[party as usize])
        })
    }

    fn online(&self, job: &Job, inputs: &[Inputs; 2]) -> [Result<Outcome>; 2] {
        self.online_over(Channel::pair(), job, inputs)
    }

    fn left(&self) -> [u64; 2] {
        [Party::Alice, Party::Bob].map(|party| self.open(party).status().unwrap().left)
    }

    fn files(&self, party: Party) -> Vec<String> {
        let entries = fs::read_dir(self.folder(party)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        // What a key is called is random.
        names.iter_mut().filter(|name| name.starts_with("key-")).for_each(|name| name.truncate(3));
        names.sort();
        names
    }
}

/// A program with its inputs, and how it is prepared.
struct Job {
    binding: Binding,
    all: Inputs,
    options: Options,
}

impl Job {
    fn of(sample: &Sample, garbler: Party, garbling: Garbling) -> Job {
        let [all, _] = split(&sample.binding, &sample.inputs, &mut Dice(0));
        let options = Options::new(Scheme::Yao).garbler(garbler).garbling(garbling).tile(64);
        Job { binding: sample.binding.clone(), all, options }
    }

    /// AES-128 over so many lanes: Alice has keys, Bob has blocks and garbles.
    fn aes(lanes: u64) -> Job {
        let circuit = blocks::find("aes128").unwrap().circuit(&[], blocks::Goal::Size).unwrap();
        let program = Program::of_circuit(&circuit, &[Owner::Party(Party::Alice), Owner::Party(Party::Bob)]);
        let options = Options::new(Scheme::Yao).garbler(Party::Bob);
        Job { binding: program.bind(&[("lanes", lanes)]).unwrap(), all: Inputs::new(), options }
    }

    fn public(&self) -> Inputs {
        let mut public = Inputs::new();
        for port in self.binding.inputs().iter().filter(|port| port.who == Owner::Public) {
            public.set(&port.name, self.all.get(&port.name).unwrap().clone());
        }
        public
    }

    /// Each party's input of every port that it has alone is all zeros.
    fn zeros(&self) -> [Inputs; 2] {
        [Party::Alice, Party::Bob].map(|party| {
            let mut inputs = self.public();
            for port in self.binding.inputs().iter().filter(|port| port.who == Owner::Party(party)) {
                inputs.set(&port.name, BitMatrix::zeros(port.ty.width as usize, port.lanes as usize));
            }
            inputs
        })
    }
}

/// Both parties do this in a session of their own; the errors are part of the result.
fn meet<T: Send>((alice, bob): (Channel, Channel), act: impl Fn(&mut Session) -> Result<T> + Sync) -> [Result<T>; 2] {
    let run = |channel, party| {
        let mut session = Session::connect(channel, party)?;
        let done = act(&mut session)?;
        session.close().map(|()| done)
    };
    thread::scope(|scope| {
        let bob = scope.spawn(|| run(bob, Party::Bob));
        [run(alice, Party::Alice), bob.join().expect("no panic")]
    })
}

fn good<T>(results: [Result<T>; 2]) -> [T; 2] {
    results.map(|result| result.unwrap_or_else(|error| panic!("{error}")))
}

/// Two runs of every kind, each in a session of its own, with shares of their own.
fn prepared_and_run(sample: &Sample, mut channels: impl FnMut() -> (Channel, Channel)) {
    let expected = reference::evaluate(&sample.binding, &sample.inputs);
    let (alice, bob) = (Party::Alice, Party::Bob);
    for (garbler, garbling) in [(alice, Garbling::HalfGates), (bob, Garbling::HalfGates), (bob, Garbling::ThreeHalves)]
    {
        let (place, job) = (Place::new(), Job::of(sample, garbler, garbling));
        good(place.prepare_over(channels(), &job, 2));
        for run in 0..2 {
            let inputs = split(&sample.binding, &sample.inputs, &mut Dice(run));
            let outcomes = good(place.online_over(channels(), &job, &inputs));
            let got = [&outcomes[0].outputs, &outcomes[1].outputs];
            check(
                &sample.binding,
                &expected,
                got,
                &format!("seed {}, {garbler} garbles by {garbling}, run {run}", sample.seed),
            );
        }
        assert_eq!(place.left(), [0, 0]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_programs(seed: u64, lanes in prop::sample::select(vec![0u64, 1, 2, 63, 64, 65, 130])) {
        prepared_and_run(&sample(seed, lanes), Channel::pair);
    }
}

#[test]
fn over_tcp_and_tls() {
    for (seed, lanes) in [(1, 1), (2, 65)] {
        prepared_and_run(&sample(seed, lanes), || tcp(Limits::default()));
        let keys = identities();
        prepared_and_run(&sample(seed, lanes), || tls_of(&keys, Limits::default()));
    }
}

/// A thousand lanes: tasks of many pieces, pieces of many tasks.
#[test]
fn many_lanes() {
    for seed in 0..3 {
        prepared_and_run(&sample(seed, 1000), Channel::pair);
    }
}

/// One bit and one label for each bit of the evaluator, one label for each of the garbler, and the outputs.
#[test]
fn online_costs_a_bit_and_a_label() {
    let (place, job) = (Place::new(), Job::aes(5));
    good(place.prepare(&job, 1));
    let [alice, bob] = good(place.online(&job, &job.zeros())).map(|outcome| outcome.report);
    // Alice evaluates: she has 128 bits a lane, and so has Bob, whose labels she gets, too.
    let bits = 5 * 128;
    assert_eq!((alice.online.sent, alice.online.received), (bits / 8 + opened(&job, Party::Bob), 16 * 2 * bits));
    assert_eq!((bob.online.sent, bob.online.received), (alice.online.received, alice.online.sent));
    let cost = cost::cost(&job.binding, &job.options.timing(Timing::Ahead)).unwrap();
    assert_eq!((cost.online.alice_to_bob, cost.online.bob_to_alice), (alice.online.sent, bob.online.sent));
    let rounds = [cost.online.alice_rounds, cost.online.bob_rounds];
    assert_eq!(rounds, [alice.online.rounds, bob.online.rounds]);
    assert_eq!([alice.setup.sent, bob.setup.sent], [0, 0]);
}

/// Bytes of the lowest bits that the evaluator sends of what the garbler learns.
fn opened(job: &Job, garbler: Party) -> u64 {
    let learned = job.binding.outputs().iter().filter(|port| port.who.includes(garbler));
    learned.map(|port| (u64::from(port.ty.width) * port.lanes).div_ceil(8)).sum()
}

#[test]
fn what_is_there_is_not_made_again() {
    let (place, job) = (Place::new(), Job::aes(2));
    good(place.prepare(&job, 2));
    good(place.online(&job, &job.zeros()));
    good(place.prepare(&job, 3));
    for party in [Party::Alice, Party::Bob] {
        let status = place.open(party).status().unwrap();
        assert_eq!((status.made, status.used, status.left), (4, 1, 3));
        place.open(party).verify().unwrap();
    }
    good(place.prepare(&job, 3));
    assert_eq!(place.left(), [3, 3]);
}

#[test]
fn a_used_run_leaves_nothing() {
    let (place, job) = (Place::new(), Job::aes(2));
    good(place.prepare(&job, 1));
    let before: [Vec<String>; 2] = [Party::Alice, Party::Bob].map(|party| place.files(party));
    assert_eq!(before[0], ["cursor", "header", "key", "labels-000000000000", "lock", "tables-000000000000"]);
    assert_eq!(before[1], ["cursor", "header", "key", "labels-000000000000", "lock"]);
    good(place.online(&job, &job.zeros()));
    for party in [Party::Alice, Party::Bob] {
        assert_eq!(place.files(party), ["cursor", "header", "lock"]);
    }
    for result in place.online(&job, &job.zeros()) {
        assert!(matches!(&result, Err(Error::Usage(why)) if why.contains("no prepared run is left")));
    }
}

/// The files of a run that was used are put back: the cursor is beyond them.
#[test]
fn files_that_are_put_back_are_erased() {
    let (place, job) = (Place::new(), Job::aes(2));
    good(place.prepare(&job, 2));
    let copy = TempDir::new().unwrap();
    copy_files(&place.folder(Party::Alice), copy.path(), "-");
    good(place.online(&job, &job.zeros()));
    copy_files(copy.path(), &place.folder(Party::Alice), "-000000000000");
    assert_eq!(place.left(), [1, 1]);
    assert!(place.files(Party::Alice).iter().all(|name| !name.ends_with("-000000000000")));
}

/// The whole folder of one party comes back from a backup: the peer's cursor holds.
#[test]
fn a_backup_of_one_party_uses_nothing_twice() {
    let (place, job) = (Place::new(), Job::aes(2));
    good(place.prepare(&job, 3));
    let copy = TempDir::new().unwrap();
    copy_files(&place.folder(Party::Alice), copy.path(), "");
    good(place.online(&job, &job.zeros()));
    good(place.online(&job, &job.zeros()));
    copy_files(copy.path(), &place.folder(Party::Alice), "");
    assert_eq!(place.left(), [3, 1]);
    good(place.online(&job, &job.zeros()));
    assert_eq!(place.left(), [0, 0]);
}

fn copy_files(from: &Path, to: &Path, which: &str) {
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_owned();
        if name.to_string_lossy().contains(which) && name != "lock" {
            fs::copy(&entry, to.join(name)).unwrap();
        }
    }
}

#[test]
fn two_processes_do_not_share_a_folder() {
    let (place, job) = (Place::new(), Job::aes(1));
    good(place.prepare(&job, 1));
    let open = place.open(Party::Alice);
    let again = PreparedRuns::open(&place.folder(Party::Alice), None);
    assert!(matches!(&again, Err(Error::Usage(why)) if why.contains("another process uses")));
    drop(open);
    assert_eq!(place.left(), [1, 1]);
}

fn usage<T>(result: Result<T>, words: &str) {
    match result {
        Err(Error::Usage(why)) if why.contains(words) => {}
        Err(error) => panic!("{error}, without '{words}'"),
        Ok(_) => panic!("no error '{words}'"),
    }
}

/// What only one party can know is found by it before anything is sent.
#[test]
fn a_folder_serves_one_program_one_party_and_public_inputs() {
    let (place, sample) = (Place::new(), sample_with_public());
    let job = Job::of(&sample, Party::Alice, Garbling::HalfGates);
    good(place.prepare(&job, 1));
    let inputs = split(&sample.binding, &sample.inputs, &mut Dice(7));
    let other = Job::aes(1);
    for words in ["prepared for something else, ", ": the program was", "or prepare anew"] {
        let [alice, _] = place.online(&other, &other.zeros());
        usage(alice, words);
    }
    let [alice, _] = place.prepare(&Job { options: job.options.garbler(Party::Bob), ..job_of(&job) }, 1);
    usage(alice, "who garbles was alice, and is bob now");
    let three_halves = job.options.garbling(Garbling::ThreeHalves);
    let [alice, _] = place.prepare(&Job { options: three_halves, ..job_of(&job) }, 1);
    usage(alice, "how ANDs are garbled was half-gates, and is three-halves now");
    let [alice, _] = place.prepare(&Job { options: job.options.tile(16), ..job_of(&job) }, 1);
    usage(alice, "the lanes of a tile was 64, and is 16 now");
    let mut changed = inputs.clone();
    let port = job.binding.inputs().iter().find(|port| port.who == Owner::Public).unwrap();
    let public = inputs[0].get(&port.name).unwrap();
    let ones =
        BitMatrix::from_words(public.rows(), public.lanes(), public.words().iter().map(|word| word ^ 1).collect());
    changed.iter_mut().for_each(|inputs| inputs.set(&port.name, ones.clone().unwrap()));
    let [alice, _] = place.online(&job, &changed);
    usage(alice, "the public inputs was");
    let swapped = Place(TempDir::new().unwrap());
    fs::rename(place.folder(Party::Alice), swapped.folder(Party::Bob)).unwrap();
    fs::rename(place.folder(Party::Bob), swapped.folder(Party::Alice)).unwrap();
    let [alice, _] = swapped.online(&job, &inputs);
    usage(alice, "has bob's half of prepared runs, not alice's");
    fs::rename(swapped.folder(Party::Bob), place.folder(Party::Alice)).unwrap();
    fs::rename(swapped.folder(Party::Alice), place.folder(Party::Bob)).unwrap();
    good(place.online(&job, &inputs));
}

fn job_of(job: &Job) -> Job {
    Job { binding: job.binding.clone(), all: job.all.clone(), options: job.options }
}

/// The first sample whose public input has a lane and a bit.
fn sample_with_public() -> Sample {
    let has_public = |sample: &Sample| {
        let mut ports = sample.binding.inputs().iter();
        ports.any(|port| port.who == Owner::Public && port.lanes > 0 && port.ty.width > 0)
    };
    (0..100).map(|seed| sample(seed, 3)).find(has_public).unwrap()
}

/// Halves of different folders, and halves of different runs: both parties hear what differs, and nothing is used up.
#[test]
fn what_does_not_belong_together_is_named_and_not_used_up() {
    let (one, other, job) = (Place::new(), Place::new(), Job::aes(1));
    good(one.prepare(&job, 1));
    good(other.prepare(&job, 1));
    let mixed = meet(Channel::pair(), |session| {
        let place = if session.party() == Party::Alice { &one } else { &other };
        let mut runs = place.open(session.party());
        match session.online_from(&mut runs, &job.binding, &job.zeros()[session.party() as usize]) {
            Err(Error::Incompatible { what: "the prepared runs", .. }) => Ok(()),
            other => panic!("{:?}", other.err()),
        }
    });
    good(mixed);
    assert_eq!([one.left(), other.left()], [[1, 1]; 2]);
    good(one.online(&job, &job.zeros()));
    good(other.online(&job, &job.zeros()));
}

/// Alice's folder comes back from a backup, from before the last run was erased and made anew.
#[test]
fn halves_of_different_batches_are_not_used() {
    let (place, job) = (Place::new(), Job::aes(1));
    good(place.prepare(&job, 1));
    let copy = TempDir::new().unwrap();
    copy_files(&place.folder(Party::Alice), copy.path(), "");
    // Bob loses his half; the parties make another.
    for name in place.files(Party::Bob).iter().filter(|name| name.contains('-')) {
        fs::remove_file(place.folder(Party::Bob).join(name)).unwrap();
    }
    good(place.prepare(&job, 1));
    copy_files(copy.path(), &place.folder(Party::Alice), "");
    for result in place.online(&job, &job.zeros()) {
        assert!(matches!(result, Err(Error::Incompatible { what: "which prepared run comes next", .. })));
    }
    assert_eq!(place.left(), [1, 1]);
}

/// Each party has lost another run of its own: what is left of both goes on, and new runs have numbers of their own.
#[test]
fn lost_runs_are_passed_over() {
    let (place, job) = (Place::new(), Job::aes(1));
    good(place.prepare(&job, 4));
    for (party, lost) in [(Party::Alice, 0), (Party::Alice, 3), (Party::Bob, 1)] {
        fs::remove_file(place.folder(party).join(format!("labels-{lost:012x}"))).unwrap();
    }
    good(place.prepare(&job, 4));
    // Alice has 1 and 2, Bob 0 and 2; two are made anew.
    assert_eq!(place.left(), [4, 4]);
    for left in [2, 1, 0] {
        good(place.online(&job, &job.zeros()));
        assert_eq!(place.left(), [left, left]);
    }
}

#[test]
fn only_yao_ahead_of_time_is_prepared() {
    let (place, job) = (Place::new(), Job::aes(1));
    let with = |options| Job { options, ..job_of(&job) };
    let [alice, bob] = place.prepare(&with(Options::new(Scheme::Gmw)), 1);
    usage(alice, "triples in a pool");
    usage(bob, "triples in a pool");
    let [alice, _] = place.prepare(&with(job.options.timing(Timing::Streamed)), 1);
    usage(alice, "cannot be streamed");
    let [alice, _] = place.online(&job, &job.zeros());
    usage(alice, "no prepared run is left");
}

/// Whoever calls for another number, or for nothing of the kind, hears of it; the session goes on.
#[test]
fn parties_that_call_for_different_things_are_told() {
    let (place, job) = (Place::new(), Job::aes(1));
    good(meet(Channel::pair(), |session| {
        let mut runs = place.found(session.party())?;
        let times = 1 + session.party() as u64;
        let told = session.prepare_to(&mut runs, &job.binding, &job.options, &Inputs::new(), times);
        assert!(matches!(told, Err(Error::Incompatible { what: "how many times", .. })));
        session.prepare_to(&mut runs, &job.binding, &job.options, &Inputs::new(), 1)
    }));
    assert_eq!(place.left(), [1, 1]);
    good(meet(Channel::pair(), |session| {
        let (party, mut runs) = (session.party(), place.open(session.party()));
        let inputs = &job.zeros()[party as usize];
        let told = match party {
            Party::Alice => session.online_from(&mut runs, &job.binding, inputs),
            Party::Bob => session.run(&job.binding, &job.options, inputs),
        };
        assert!(matches!(told, Err(Error::Incompatible { what: "what is called for", .. })));
        session.online_from(&mut runs, &job.binding, inputs)
    }));
}

/// Preparing stops in the middle of a run: those that are complete stay, and the next call goes on.
#[test]
fn an_interrupted_preparation_goes_on() {
    let (place, job) = (Place::new(), Job::aes(300));
    for (stops, party) in [(2, Party::Alice), (5, Party::Bob)] {
        let results = meet(Channel::pair(), |session| {
            let mut runs = place.found(session.party())?;
            let (mut begun, us) = (0, session.party());
            session.observe(move |progress| {
                begun += u64::from(progress.done > 0 && progress.done < progress.total);
                if us != party || begun < 4 * stops { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            session.prepare_to(&mut runs, &job.binding, &job.options, &Inputs::new(), 6).map(drop)
        });
        assert!(results.iter().all(Result::is_err));
        for party in [Party::Alice, Party::Bob] {
            assert!(place.files(party).iter().all(|name| !name.ends_with(".part")));
            place.open(party).verify().unwrap();
        }
    }
    let left = place.left();
    assert!(left.iter().all(|&left| left < 6) && left != [0, 0], "{left:?}");
    good(place.prepare(&job, 6));
    assert_eq!(place.left(), [6, 6]);
    let zeros = data::to_bytes(good(place.online(&job, &job.zeros()))[0].outputs.iter().next().unwrap().1);
    // FIPS 197 does not list it, but everybody knows what AES makes of zeros under the key zero.
    assert_eq!(zeros[0][..4], [0x66, 0xe9, 0x4b, 0xd4]);
}
