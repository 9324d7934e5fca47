//! Pools between two processes that are killed: no correlation is used twice, and the halves agree afterwards.

#[path = "support/process.rs"]
mod process;

use process::{Done, Place};
use std::fs::{self, File};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PARTIES: [&str; 2] = ["alice", "bob"];

/// FIPS 197, appendix C.1: the key, the block and what comes out.
const AES: [&str; 3] =
    ["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"];

const KINDS: [&str; 3] = ["COTs by alice", "COTs by bob", "triples"];

/// Two parties with a folder for a pool each, `alice` and `bob`.
struct Couple {
    place: Place,
    started: usize,
}

/// What two processes do.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Task {
    Prepare,
    Run(&'static str),
}

/// A party's process, and where it writes.
struct Process {
    child: Child,
    name: String,
}

impl Couple {
    fn new() -> Couple {
        Couple { place: Place::new(), started: 0 }
    }

    fn start(&mut self, task: Task, party: usize, meeting: &str) -> Process {
        let us = PARTIES[party];
        let common = format!("--as {us} --pool {us} --insecure-plaintext {meeting} --silence 5 --json");
        let args = match task {
            // More each time, so that there is always something to make.
            Task::Prepare => {
                let turn = self.started / 2;
                let (triples, cots) = (40_000 + 1000 * turn, 2000 + 100 * turn);
                format!("prepare {common} --triples {triples} --cots {cots} --correlations softspoken8")
            }
            Task::Run(protocol) => {
                let input = [format!("key=hex:{}", AES[0]), format!("block=hex:{}", AES[1])];
                format!("run block:aes128 {common} --protocol {protocol} --yes --input {}", input[party])
            }
        };
        let name = format!("{us}-{}", self.started);
        self.started += 1;
        let file = |end: &str| Stdio::from(File::create(self.place.path(&format!("{name}.{end}"))).unwrap());
        let mut command = self.place.command(&args);
        command.env("RUST_LOG", "duologue=debug").stdout(file("out")).stderr(file("err"));
        Process { child: command.spawn().unwrap(), name }
    }

    /// Both processes, connected.
    fn meet(&mut self, task: Task) -> [Process; 2] {
        let bob = self.start(task, 1, "--listen 127.0.0.1:0");
        let address = self.until(&bob, "listening on ");
        let alice = self.start(task, 0, &format!("--connect {address}"));
        self.until(&bob, "connected");
        [alice, bob]
    }

    /// Waits for a line that begins so; what follows in it.
    fn until(&self, process: &Process, words: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let said = self.said(process, "err");
            // The last line may not be whole yet.
            let mut lines = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            if let Some(rest) = lines.find_map(|line| line.strip_prefix(words)) {
                return rest.trim().to_string();
            }
            assert!(Instant::now() < deadline, "no '{words}' in {said}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn said(&self, process: &Process, end: &str) -> String {
        fs::read_to_string(self.place.path(&format!("{}.{end}", process.name))).unwrap()
    }

    fn end(&self, mut process: Process) -> Done {
        let code = process.child.wait().unwrap().code();
        Done { code, stdout: self.said(&process, "out"), stderr: self.said(&process, "err") }
    }

    /// Both do this to its end.
    fn both(&mut self, task: Task) -> [Done; 2] {
        self.meet(task).map(|process| self.end(process))
    }

    fn has_pool(&self, party: usize) -> bool {
        self.place.path(PARTIES[party]).join("header").exists()
    }

    /// What was made and used of each kind; everything is as it was written.
    fn state(&self, party: usize) -> [[u64; 2]; 3] {
        let report = self.place.run(&format!("pool {} --verify --json", PARTIES[party])).json();
        let kinds = report["kinds"].as_array().unwrap();
        assert!(kinds.iter().zip(KINDS).all(|(kind, name)| kind["kind"] == name));
        std::array::from_fn(|i| ["made", "used"].map(|field| kinds[i][field].as_u64().unwrap()))
    }

    /// The numbers that each of a party's processes took, in the order in which the processes ran.
    fn taken(&self, party: usize) -> [Vec<[u64; 2]>; 3] {
        let mut taken: [Vec<[u64; 2]>; 3] = Default::default();
        for started in 0..self.started {
            let path = self.place.path(&format!("{}-{started}.err", PARTIES[party]));
            let said = fs::read_to_string(path).unwrap_or_default();
            let lines = said.lines().filter_map(|line| line.split_once("taken from the pool numbers=["));
            for (_, numbers) in lines {
                let ranges = numbers.trim_end_matches(']').split(", ");
                for (taken, range) in taken.iter_mut().zip(ranges) {
                    let (start, end) = range.split_once("..").unwrap();
                    taken.push([start.parse().unwrap(), end.parse().unwrap()]);
                }
            }
        }
        taken
    }

    /// Nothing was taken twice, and the cursor has passed all of it.
    fn check(&self, party: usize) {
        let state = if self.has_pool(party) { self.state(party) } else { Default::default() };
        for (taken, [made, used]) in self.taken(party).iter().zip(state) {
            let end = taken.iter().fold(0, |end, range| {
                assert!(range[0] >= end && range[1] >= range[0], "{range:?} was used before");
                range[1]
            });
            assert!(end <= used && used <= made, "taken to {end}, used {used}, made {made}");
        }
    }

    /// Whoever was alone in making a pool when its peer was killed removes it, as it is told.
    fn remove_a_lonely_pool(&self) {
        for party in [0, 1] {
            if self.has_pool(party) && !self.has_pool(1 - party) {
                assert_eq!(self.state(party), [[0, 0]; 3]);
                fs::remove_dir_all(self.place.path(PARTIES[party])).unwrap();
            }
        }
    }
}

/// Who is not killed ends by itself, with the result or because the peer is gone.
fn survived(task: Task, done: &Done) {
    match (done.code, task) {
        (Some(0), Task::Run(_)) => assert_eq!(done.values("out"), [AES[2]]),
        (Some(0 | 5), _) => {}
        _ => panic!("{task:?} ended with {:?}: {}{}", done.code, done.stdout, done.stderr),
    }
}

const TASKS: [Task; 3] = [Task::Prepare, Task::Run("gmw"), Task::Run("yao")];

/// How long each task takes on this machine as busy as it is, in microseconds.
fn times() -> [u64; 3] {
    let mut couple = Couple::new();
    TASKS.map(|task| {
        let processes = couple.meet(task);
        let start = Instant::now();
        let [_, _] = processes.map(|process| couple.end(process).code);
        start.elapsed().as_micros() as u64
    })
}

fn kill_for_a_while(kills: u64, seed: u64) {
    let times = times();
    let mut couple = Couple::new();
    let mut dice = seed;
    let mut roll = |sides: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % sides
    };
    for round in 0..kills {
        let pools = couple.has_pool(0) && couple.has_pool(1);
        let which = if pools { round as usize % 3 } else { 0 };
        let task = TASKS[which];
        let mut processes = couple.meet(task);
        // Some are done before they are killed.
        thread::sleep(Duration::from_micros(roll(1 + 5 * times[which] / 4)));
        // Either, or both.
        let victims = [[true, false], [false, true], [true, true]][roll(3) as usize];
        for (process, victim) in processes.iter_mut().zip(victims) {
            if victim {
                process.child.kill().unwrap();
            }
        }
        for (process, victim) in processes.into_iter().zip(victims) {
            let done = couple.end(process);
            if !victim {
                survived(task, &done);
            }
        }
        couple.remove_a_lonely_pool();
        couple.check(0);
        couple.check(1);
    }
    agree_afterwards(&mut couple);
}

fn agree_afterwards(couple: &mut Couple) {
    for task in TASKS {
        let before = couple.taken(0).map(|taken| taken.len());
        for done in couple.both(task) {
            done.succeeded();
            survived(task, &done);
        }
        assert_eq!(couple.state(0), couple.state(1));
        assert_eq!(couple.taken(0).map(|taken| taken.len()) != before, task != Task::Prepare, "{task:?}");
    }
    couple.check(0);
    couple.check(1);
}

#[test]
fn killed_at_any_moment_nothing_is_used_twice_and_both_agree_afterwards() {
    thread::scope(|scope| {
        for seed in 1..=4 {
            scope.spawn(move || kill_for_a_while(50, seed));
        }
    });
}

/// What is wrong with a folder is found out before the peer is looked for, who is not there.
#[test]
fn a_wrong_folder_is_refused_before_the_parties_meet() {
    let mut couple = Couple::new();
    for done in couple.both(Task::Prepare) {
        done.succeeded();
    }
    let common = "--as alice --insecure-plaintext --connect 127.0.0.1:1";
    let prepare = format!("prepare {common} --pool alice --triples 10 --correlations softspoken4");
    couple.place.run(&prepare).failed(1, &["softspoken8", "softspoken4", "keeps its maker"]);
    let run = format!("run block:aes128 {common} --pool elsewhere --protocol gmw --yes --input key=hex:{}", AES[0]);
    couple.place.run(&run).failed(1, &["there is no pool in elsewhere"]);
}

/// A party whose peer was killed while both made a pool hears what to do with its own.
#[test]
fn a_lonely_pool_is_named() {
    let mut couple = Couple::new();
    for done in couple.both(Task::Prepare) {
        done.succeeded();
    }
    fs::remove_dir_all(couple.place.path("bob")).unwrap();
    for done in couple.both(Task::Prepare) {
        done.failed(4, &["a new pool", "remove that folder and prepare again"]);
    }
    assert!(!couple.has_pool(1));
}
