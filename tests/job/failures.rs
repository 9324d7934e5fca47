//! Whatever is killed, lost or stopped: the outputs are right, or both parties hear why there are none.

use super::between::{ALICE, ALL, AtStop, BOB, Between, Line, Said, Stop};
use super::{Couple, attempts, kill, lines, values, worker_process};
use crate::process::{Done, Running};
use duologue::job::control::{Attempt, Message, Offer, Verdict};
use std::fs;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

/// Products, of which a pair of workers computes some shards.
pub(super) struct Job {
    pub couple: Couple,
    words: String,
    expected: Vec<u64>,
}

impl Job {
    pub fn new(shards: usize) -> Job {
        let couple = Couple::new();
        let numbers: Vec<u64> = (0..10 * shards as u64).map(|lane| (lane + 3) * 77_777 % 65_521).collect();
        couple.place.write("n.csv", lines(&numbers));
        let expected = numbers.iter().map(|number| number * number % (1 << 32)).collect();
        Job { couple, words: format!("block:multiply_low:32 --shards {shards}"), expected }
    }

    pub fn bob(&self, words: &str) -> (Running, String) {
        self.couple.bob(&format!("{} --input b=n.csv {words}", self.words))
    }

    pub fn alice(&self, words: &str, address: &str) -> Running {
        self.couple.alice(&format!("{} --input a=n.csv {words}", self.words), address)
    }

    /// Both parties have the right outputs, after as many attempts.
    pub fn check(&self, parties: &[Done; 2]) -> Vec<u64> {
        parties.iter().for_each(|done| assert!(values(done, "out") == self.expected));
        assert_eq!(attempts(&parties[ALICE]), attempts(&parties[BOB]));
        attempts(&parties[ALICE])
    }
}

/// How far the first attempt at a shard is when it is disturbed. What is said is not heard before.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// Alice's driver has begun it, and Bob's has not heard of it.
    Begun,
    /// The worker of this party is ready, and the other driver has not heard of it.
    Ready(usize),
    /// Both workers were told to meet, and no byte passes between them.
    Meeting,
    /// Half of what they have to say has passed.
    Computing,
    /// The worker of this party is done, and the other driver has not heard of it.
    Done(usize),
    /// Whatever it is, it goes on.
    Any,
}

pub(super) const FIRST: Attempt = Attempt { shard: 0, number: 1 };

/// Half of the bytes of a session of ten lanes.
const HALF: u64 = 50_000;

impl Phase {
    fn is(self, from: usize, message: &Message) -> bool {
        match message {
            Message::Begin(_) => self == Phase::Begun,
            Message::Ready(..) => self == Phase::Ready(from),
            Message::Ended(_, Verdict::Done(_)) => self == Phase::Done(from),
            _ => false,
        }
    }

    /// How many bytes pass between the workers.
    fn passes(self) -> u64 {
        match self {
            Phase::Meeting => 0,
            Phase::Computing => HALF,
            _ => ALL,
        }
    }
}

/// The attempt that a message is about.
fn about(message: &Message) -> Option<Attempt> {
    match message {
        Message::Begin(attempt) | Message::Ready(attempt, _) | Message::Ended(attempt, _) => Some(*attempt),
        _ => None,
    }
}

/// Has the first attempt at each shard stand still at a phase of its own, if there is one for it.
fn disturbed(
    phases: Vec<Phase>,
    at: AtStop,
    held: Sender<()>,
) -> impl FnMut(usize, Said) -> Vec<Said> + Send + 'static {
    move |from, mut said| {
        let Said::Message(message) = &mut said else { return vec![said] };
        let first = about(message).filter(|attempt| attempt.number == 1);
        let Some(phase) = first.and_then(|attempt| phases.get(attempt.shard as usize)) else { return vec![said] };
        if phase.is(from, message) {
            at.stand();
        }
        if let Message::Ready(_, Offer { address, .. }) = message
            && from == BOB
        {
            *address = Line::new(address, phase.passes(), held.clone()).address;
        }
        vec![said]
    }
}

/// Whose workers are killed at which phase of a shard, and how many attempts the shard takes then.
const KILLS: [(Phase, &[usize], &[u64]); 15] = [
    (Phase::Begun, &[ALICE], &[2]),
    // Another worker may be there before Bob's driver hears that the attempt has begun.
    (Phase::Begun, &[BOB], &[1, 2]),
    (Phase::Ready(BOB), &[ALICE], &[2]),
    (Phase::Ready(ALICE), &[BOB], &[2]),
    (Phase::Ready(ALICE), &[ALICE], &[2]),
    (Phase::Ready(BOB), &[BOB], &[2]),
    (Phase::Meeting, &[ALICE], &[2]),
    (Phase::Meeting, &[BOB], &[2]),
    (Phase::Computing, &[ALICE], &[2]),
    (Phase::Computing, &[BOB], &[2]),
    (Phase::Computing, &[ALICE, BOB], &[2]),
    // What is done is done; the next attempt may begin before the driver has found out that its worker is gone.
    (Phase::Done(ALICE), &[ALICE], &[1]),
    (Phase::Any, &[], &[1, 2]),
    (Phase::Done(BOB), &[BOB], &[1]),
    (Phase::Any, &[], &[1, 2]),
];

/// One job whose workers are killed at every phase, one and both at once.
#[test]
fn a_killed_worker_costs_an_attempt_at_its_shard() {
    let job = Job::new(KILLS.len());
    let (bob, address) = job.bob("");
    let ((stop, at), phases) = (Stop::new(), KILLS.map(|(phase, ..)| phase).to_vec());
    let (held, stuck) = mpsc::channel();
    let between = Between::new(&job.couple, &address, false, disturbed(phases, at, held));
    let alice = job.alice("", &between.address);
    let mut drivers = [alice, bob];
    let mut workers = [0, 0];
    for (phase, victims, _) in KILLS.into_iter().filter(|(phase, ..)| *phase != Phase::Any) {
        let is_of_drivers = phase.passes() == ALL;
        if is_of_drivers {
            stop.wait()
        } else {
            stuck.recv().unwrap()
        }
        for &victim in victims {
            workers[victim] += 1;
            kill(worker_process(&mut drivers[victim], workers[victim]));
        }
        if is_of_drivers {
            stop.go();
        }
    }
    let parties = drivers.map(Running::end);
    let attempts = job.check(&parties);
    for ((phase, victims, expected), attempts) in KILLS.into_iter().zip(attempts) {
        assert!(expected.contains(&attempts), "{phase:?}, {victims:?}: {attempts} attempts");
    }
}

/// A worker that says that it is done to a driver that does not listen, and is gone when that does: it is done, or tried again.
#[test]
fn a_worker_that_is_killed_when_it_is_done_has_finished_or_not() {
    let job = Job::new(2);
    let (bob, address) = job.bob("");
    let ((stop, at), (tell, told), (held, stuck)) = (Stop::new(), mpsc::channel(), mpsc::channel());
    let between = Between::new(&job.couple, &address, false, move |from, mut said| {
        match &mut said {
            Said::Message(Message::Ready(FIRST, Offer { address, .. })) if from == BOB => {
                let line = Line::new(address, HALF, held.clone());
                *address = line.address;
                tell.send(line.passes).unwrap();
            }
            Said::Message(Message::Ended(FIRST, _)) if from == BOB => drop(at.stand()),
            _ => {}
        }
        vec![said]
    });
    let mut alice = job.alice("", &between.address);
    let worker = worker_process(&mut alice, 1);
    stuck.recv().unwrap();
    alice.signal("STOP");
    told.recv().unwrap().store(ALL, Ordering::Relaxed);
    stop.wait();
    // Bob's worker is done when Alice's has all that it needs; then it writes what it has.
    let parts = job.couple.place.path("alice.state/parts");
    while fs::read_dir(&parts).unwrap().all(|file| !file.unwrap().file_name().to_string_lossy().contains(".0.1.")) {
        thread::sleep(Duration::from_millis(1));
    }
    kill(worker);
    alice.signal("CONT");
    stop.go();
    let attempts = job.check(&[alice.end(), bob.end()]);
    assert!(attempts[0] <= 2 && attempts[1] <= 2, "{attempts:?}");
}

#[test]
fn whoever_is_interrupted_ends_the_job_of_both() {
    for (who, signal) in [(ALICE, "TERM"), (BOB, "INT")] {
        let job = Job::new(2);
        let (bob, address) = job.bob("");
        let ((stop, at), (held, stuck)) = (Stop::new(), mpsc::channel());
        let between = Between::new(&job.couple, &address, false, disturbed(vec![Phase::Computing], at, held));
        let mut drivers = [job.alice("", &between.address), bob];
        let workers = [ALICE, BOB].map(|party| worker_process(&mut drivers[party], 1));
        stuck.recv().unwrap();
        drivers[who].signal(signal);
        // Somebody between them passes on that they are gone, and not why.
        drivers.rotate_left(who);
        let [interrupted, other] = drivers;
        interrupted.end().failed(130, &["error: cancelled"]);
        assert!(between.end().to_string().contains("it was cancelled"));
        other.end().failed(5, &["the peer stopped"]);
        workers.into_iter().for_each(is_gone);
        drop(stop);
    }
}

/// A driver has ended its workers before it ends itself.
fn is_gone(worker: u32) {
    let there = Command::new("sh").args(["-c", &format!("kill -s 0 {worker}")]).output().unwrap();
    assert!(!there.status.success(), "a worker outlived its driver");
}

/// Outputs that cannot be written are not lost.
#[test]
fn a_disk_that_is_full_costs_no_shard() {
    let couple = Couple::new();
    couple.place.write("n.csv", lines(&[1, 2, 3, 4, 5]));
    let [alice, bob] =
        couple.both("block:add:8 --shards 2", "--input a=n.csv --output out=/dev/full", "--input b=n.csv");
    alice.failed(8, &["writing /dev/full", "hint: the job is done: `duologue job merge alice.state`"]);
    assert_eq!(values(&bob, "out"), [2, 4, 6, 8, 10]);
    let merged = couple.place.run("job merge alice.state --output out=sums.csv");
    assert_eq!(merged.succeeded().stdout, "out: 5 lanes in sums.csv\n");
    assert_eq!(std::fs::read_to_string(couple.place.path("sums.csv")).unwrap(), "2\n4\n6\n8\n10\n");
}

/// Nor are shards lost for which there was no room when they were done: three attempts fail, and the job goes on when there is some.
#[test]
fn outputs_of_shards_that_cannot_be_written_end_the_job_and_it_goes_on() {
    let job = Job::new(2);
    let (bob, address) = job.bob("");
    let ((stop, at), (held, _)) = (Stop::new(), mpsc::channel());
    let between = Between::new(&job.couple, &address, false, disturbed(vec![Phase::Any, Phase::Begun], at, held));
    let alice = job.alice("", &between.address);
    stop.wait();
    let [parts, hidden] = ["alice.state/parts", "hidden"].map(|name| job.couple.place.path(name));
    fs::rename(&parts, &hidden).unwrap();
    stop.go();
    alice.end().failed(8, &["shard 1, attempt 3: ", "alice.state/parts"]);
    bob.end().failed(5, &["shard 1, attempt 3 failed on the side of alice: its operating system refused"]);
    fs::rename(&hidden, &parts).unwrap();
    let (bob, address) = job.bob("--resume");
    let alice = job.alice("--resume", &address);
    assert_eq!(job.check(&[alice.end(), bob.end()]), [1, 4]);
}

/// A line between the drivers that holds bytes for a while loses nothing; one that holds them longer ends the job, and it goes on.
/// Ten and forty seconds, of the thirty that a party may be silent, pass in virtual time (`job/control/tests`).
#[test]
fn a_partition_of_the_drivers_is_survived_or_told() {
    for (silence, is_survived) in [(120, true), (SILENCE, false)] {
        let job = Job::new(2);
        let (mut bob, address) = job.bob(&format!("--silence {silence}"));
        let (held, stuck) = mpsc::channel();
        let line = Line::new(&address, ALL, held);
        let mut alice = job.alice(&format!("--silence {silence}"), &line.address);
        bob.until("the other driver is there");
        alice.until("the other driver is there");
        line.passes.store(0, Ordering::Relaxed);
        stuck.recv().unwrap();
        if is_survived {
            thread::sleep(PARTITION);
            line.passes.store(ALL, Ordering::Relaxed);
            assert_eq!(job.check(&[alice.end(), bob.end()]), [1, 1]);
        } else {
            for done in [alice.end(), bob.end()] {
                done.failed(6, &[&format!("from the peer for {silence} s")]);
            }
        }
    }
}

/// As little as is left to a party that is alive and gets hardly a processor; and how long bytes are held that come after all.
pub(super) const SILENCE: u64 = 8;
const PARTITION: Duration = Duration::from_millis(1500);

/// Workers that are cut off from each other go on, or try again.
#[test]
fn a_partition_of_workers_is_survived_or_costs_an_attempt() {
    for (silence, is_survived) in [(120, true), (SILENCE, false)] {
        let job = Job::new(2);
        let (bob, address) = job.bob(&format!("--silence {silence}"));
        let (held, stuck) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        let between = Between::new(&job.couple, &address, false, move |from, mut said| {
            if let Said::Message(Message::Ready(FIRST, Offer { address, .. })) = &mut said
                && from == BOB
            {
                let line = Line::new(address, HALF, held.clone());
                *address = line.address;
                tell.send(line.passes).unwrap();
            }
            vec![said]
        });
        let alice = job.alice(&format!("--silence {silence}"), &between.address);
        let passes = told.recv().unwrap();
        stuck.recv().unwrap();
        if is_survived {
            thread::sleep(PARTITION);
            passes.store(ALL, Ordering::Relaxed);
        }
        let attempts = job.check(&[alice.end(), bob.end()]);
        assert_eq!(attempts[0] == 1, is_survived, "{attempts:?}");
    }
}
