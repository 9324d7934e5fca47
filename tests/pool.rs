//! Pools between two processes that are killed: no correlation is used twice, and the halves agree afterwards.

use crate::couple::{Couple, PARTIES, Process, Roll};
use crate::process::Done;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// FIPS 197, appendix C.1: the key, the block and what comes out.
const AES: [&str; 3] =
    ["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"];

const KINDS: [&str; 3] = ["COTs by alice", "COTs by bob", "triples"];

/// What two processes do.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Task {
    Fill,
    Run(&'static str),
}

impl Task {
    /// What both are told.
    fn args(self, started: usize) -> [String; 2] {
        [0, 1].map(|party| {
            let us = PARTIES[party];
            let common = format!("--as {us} --pool {us} --insecure-plaintext --silence 5 --json");
            match self {
                // More each time, so that there is always something to make.
                Task::Fill => {
                    let turn = started / 2;
                    let (triples, cots) = (40_000 + 1000 * turn, 2000 + 100 * turn);
                    format!("pool fill {common} --triples {triples} --cots {cots} --correlations softspoken8")
                }
                Task::Run(protocol) => {
                    let input = [format!("key=hex:{}", AES[0]), format!("block=hex:{}", AES[1])];
                    format!("run block:aes128 {common} --protocol {protocol} --yes --input {}", input[party])
                }
            }
        })
    }
}

/// Two parties with a pool each.
struct Pools(Couple);

impl Pools {
    fn new() -> Pools {
        Pools(Couple::new())
    }

    fn meet(&mut self, task: Task) -> [Process; 2] {
        let args = task.args(self.0.started);
        self.0.meet(args)
    }

    /// Both do this to its end.
    fn both(&mut self, task: Task) -> [Done; 2] {
        self.meet(task).map(|process| self.0.end(process))
    }

    /// What was made and used of each kind; everything is as it was written.
    fn state(&self, party: usize) -> [[u64; 2]; 3] {
        let report = self.0.place.run(&format!("pool {} --verify --json", PARTIES[party])).json();
        let kinds = report["kinds"].as_array().unwrap();
        assert!(kinds.iter().zip(KINDS).all(|(kind, name)| kind["kind"] == name));
        std::array::from_fn(|i| ["made", "used"].map(|field| kinds[i][field].as_u64().unwrap()))
    }

    /// The numbers that each of a party's processes took, in the order in which the processes ran.
    fn taken(&self, party: usize) -> [Vec<[u64; 2]>; 3] {
        let mut taken: [Vec<[u64; 2]>; 3] = Default::default();
        for numbers in self.0.lines_after(party, "taken from the pool numbers=[") {
            let ranges = numbers.trim_end_matches(']').split(", ");
            for (taken, range) in taken.iter_mut().zip(ranges) {
                let (start, end) = range.split_once("..").unwrap();
                taken.push([start.parse().unwrap(), end.parse().unwrap()]);
            }
        }
        taken
    }

    /// Nothing was taken twice, and the cursor has passed all of it.
    fn check(&self, party: usize) {
        let state = if self.0.has_header(party) { self.state(party) } else { Default::default() };
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
            if self.0.has_header(party) && !self.0.has_header(1 - party) {
                assert_eq!(self.state(party), [[0, 0]; 3]);
                fs::remove_dir_all(self.0.place.path(PARTIES[party])).unwrap();
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

const TASKS: [Task; 3] = [Task::Fill, Task::Run("gmw"), Task::Run("yao")];

/// How long each task takes on this machine as busy as it is, in microseconds.
fn times() -> [u64; 3] {
    let mut couple = Pools::new();
    TASKS.map(|task| {
        let processes = couple.meet(task);
        let start = Instant::now();
        let [_, _] = processes.map(|process| couple.0.end(process).code);
        start.elapsed().as_micros() as u64
    })
}

fn kill_for_a_while(kills: u64, seed: u64) {
    let times = times();
    let mut couple = Pools::new();
    let mut roll = Roll(seed);
    for round in 0..kills {
        let pools = couple.0.has_header(0) && couple.0.has_header(1);
        let which = if pools { round as usize % 3 } else { 0 };
        let task = TASKS[which];
        let mut processes = couple.meet(task);
        // Some are done before they are killed.
        thread::sleep(Duration::from_micros(roll.below(1 + 5 * times[which] / 4)));
        let victims = roll.victims();
        for (process, victim) in processes.iter_mut().zip(victims) {
            if victim {
                process.child.kill().unwrap();
            }
        }
        for (process, victim) in processes.into_iter().zip(victims) {
            let done = couple.0.end(process);
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

fn agree_afterwards(couple: &mut Pools) {
    for task in TASKS {
        let before = couple.taken(0).map(|taken| taken.len());
        for done in couple.both(task) {
            done.succeeded();
            survived(task, &done);
        }
        assert_eq!(couple.state(0), couple.state(1));
        assert_eq!(couple.taken(0).map(|taken| taken.len()) != before, task != Task::Fill, "{task:?}");
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
    let mut couple = Pools::new();
    for done in couple.both(Task::Fill) {
        done.succeeded();
    }
    let common = "--as alice --insecure-plaintext --connect 127.0.0.1:1";
    let fill = format!("pool fill {common} --pool alice --triples 10 --correlations softspoken4");
    couple.0.place.run(&fill).failed(1, &["softspoken8", "softspoken4", "keeps its maker"]);
    let run = format!("run block:aes128 {common} --pool elsewhere --protocol gmw --yes --input key=hex:{}", AES[0]);
    couple.0.place.run(&run).failed(1, &["there is no pool in elsewhere"]);
}

/// A party whose peer was killed while both made a pool hears what to do with its own.
#[test]
fn a_lonely_pool_is_named() {
    let mut couple = Pools::new();
    for done in couple.both(Task::Fill) {
        done.succeeded();
    }
    fs::remove_dir_all(couple.0.place.path("bob")).unwrap();
    for done in couple.both(Task::Fill) {
        done.failed(4, &["a new pool", "remove that folder and fill both again"]);
    }
    assert!(!couple.0.has_header(1));
}
