//! Runs that two processes prepare, and two others use: right, once, also if they are killed.

use crate::couple::{Couple, PARTIES, Process, Roll};
use crate::process::{Done, Place};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// FIPS 197, appendix C.1: the key, the block and what comes out.
const AES: [&str; 3] =
    ["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"];

/// Both parties' commands, Bob listening.
fn both(place: &Place, args: [&str; 2]) -> [Done; 2] {
    let (bob, address) = place.listen(&format!("{} --as bob", args[1]));
    let alice = place.run(&format!("{} --as alice --connect {address}", args[0]));
    [alice, bob.end()]
}

#[test]
fn prepared_today_and_run_twice_later() {
    for garbling in ["half-gates", "three-halves"] {
        prepare_and_run_twice(garbling);
    }
}

fn prepare_and_run_twice(garbling: &str) {
    let place = Place::new();
    place.write("seal.key", [7; 32]);
    private(&place, "seal.key");
    let tls = place.tls();
    // Alice's folder is sealed, Bob's is not: that is everybody's own business.
    let prepare = |party: usize| {
        let key = ["--prepared-key seal.key", ""][party];
        let what = format!("block:aes128 --size lanes=3 --garbling {garbling} --times 2");
        format!("prepare {what} --to {} --json {} {key}", PARTIES[party], tls[party])
    };
    for done in both(&place, [&prepare(0), &prepare(1)]) {
        let report = done.json();
        assert_eq!([&report["left"], &report["used"], &report["made"]], [2, 0, 2]);
        assert_eq!(report["terms"]["its sizes"], "lanes=3");
        assert_eq!(report["terms"]["how ANDs are garbled"], garbling);
    }
    for left in [1, 0] {
        let run = |party: usize| {
            let key = ["--prepared-key seal.key", ""][party];
            let input = [format!("key={0},{0},{0}", AES[0]), format!("block={0},{0},{0}", AES[1])];
            let (us, input) = (PARTIES[party], &input[party]);
            format!("run block:aes128 --prepared {us} {key} --yes --json --input {input} {}", tls[party])
        };
        let [alice, bob] = both(&place, [&run(0), &run(1)]);
        for done in [&alice, &bob] {
            assert_eq!(done.values("out"), [AES[2]; 3]);
        }
        // A bit and a label for each bit of the evaluator, a label for each of the garbler's.
        let (alice, bob) = (alice.json(), bob.json());
        assert_eq!([&alice["garbling"], &bob["garbling"]], [garbling; 2], "the folder says how");
        let evaluator = if alice["garbler"] == "alice" { &bob } else { &alice };
        assert_eq!(evaluator["online"]["received"], 16 * 2 * 3 * 128);
        assert_eq!(evaluator["online"]["sent"], 2 * 3 * 128 / 8, "masked bits, and what the garbler learns");
        assert_eq!([&alice["setup"]["sent"], &bob["setup"]["sent"]], [0, 0]);
        let shown = place.run("pool alice --pool-key seal.key --verify --json").json();
        assert_eq!([&shown["left"], &shown["used"]], [left, 2 - left]);
    }
    let shown = place.run("pool bob").succeeded().stdout.clone();
    let garbled = format!("by {garbling}");
    for words in [&garbled, "bob's half of prepared runs", "'aes128'", "lanes=3", "0 left, 2 used"] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
    let again = format!("run block:aes128 --prepared bob --yes --input block={0},{0},{0} {1}", AES[1], tls[1]);
    place.run(&format!("{again} --as bob --connect 127.0.0.1:1")).failed(1, &["no prepared run is left in bob"]);
}

/// Nobody else may read it.
fn private(place: &Place, file: &str) {
    #[cfg(unix)]
    fs::set_permissions(place.path(file), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

/// What is wrong is found out before the peer is looked for, who is not there.
#[test]
fn what_is_wrong_is_said_before_the_parties_meet() {
    let mut couple = Couple::new();
    for done in both_do(&mut couple, Task::Prepare) {
        done.succeeded();
    }
    let place = &couple.place;
    let open = "--as alice --insecure-plaintext --yes --connect 127.0.0.1:1 --wait 1";
    let aes = format!("run block:aes128 {open} --input key={}", AES[0]);
    place
        .run(&format!("{aes} --prepared elsewhere"))
        .failed(1, &["no prepared runs in elsewhere", "`duologue prepare --to`"]);
    place.run(&format!("{aes} --prepared alice --prepared-key alice/header")).failed(1, &["is not sealed"]);
    let prepare = "prepare block:aes128 --as alice --insecure-plaintext --connect 127.0.0.1:1 --wait 1";
    let secret = format!("{prepare} --to alice --input key={}", AES[0]);
    place.run(&secret).failed(1, &["'key' is not public", "--size"]);
    let other = place.run(&format!("{aes} --prepared alice --garbler alice"));
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    // A table is damaged: the run stays, whose number says what is lost.
    let tables = place.path("alice").join("tables-000000000000");
    if tables.exists() {
        let mut bytes = fs::read(&tables).unwrap();
        bytes[100_000] ^= 1;
        fs::write(&tables, bytes).unwrap();
        place.run(&format!("{aes} --prepared alice")).failed(7, &["tables-000000000000", "damaged"]);
        assert_eq!(place.run("pool alice --json").json()["used"], 0);
    }
}

/// Flags that other verbs have are refused with the verb that has them.
#[test]
fn a_flag_of_another_verb_names_that_verb() {
    let place = Place::new();
    for flag in ["--prepare-to folder", "--times 3"] {
        place.run(&format!("run block:aes128 --as alice {flag}")).failed(2, &["duologue prepare PROGRAM --to FOLDER"]);
    }
    for flag in ["--triples 10", "--cots 10"] {
        place.run(&format!("prepare --as alice {flag}")).failed(2, &["duologue pool fill --pool FOLDER"]);
    }
}

/// What two processes do.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Task {
    Prepare,
    Run,
}

impl Task {
    fn args(self, started: usize) -> [String; 2] {
        [0, 1].map(|party| {
            let us = PARTIES[party];
            let common = format!("block:aes128 --as {us} --insecure-plaintext --silence 5 --json");
            let input = [format!("key=hex:{}", AES[0]), format!("block=hex:{}", AES[1])];
            match self {
                Task::Prepare => {
                    format!("prepare {common} --size lanes=1 --garbler bob --to {us} --times {}", 3 + started % 3)
                }
                Task::Run => format!("run {common} --prepared {us} --yes --input {}", input[party]),
            }
        })
    }
}

fn meet(couple: &mut Couple, task: Task) -> [Process; 2] {
    let args = task.args(couple.started);
    couple.meet(args)
}

fn both_do(couple: &mut Couple, task: Task) -> [Done; 2] {
    meet(couple, task).map(|process| couple.end(process))
}

/// How many runs a party has used, and has left; all are as they were written.
fn state(couple: &Couple, party: usize) -> [u64; 2] {
    let report = couple.place.run(&format!("pool {} --verify --json", PARTIES[party])).json();
    ["used", "left"].map(|field| report[field].as_u64().unwrap())
}

/// Nothing was used twice, and the cursor has passed all of it.
fn check(couple: &Couple, party: usize) {
    let used = if couple.has_header(party) { state(couple, party)[0] } else { 0 };
    let mut end = 0;
    for number in couple.lines_after(party, "a prepared run is used up number=") {
        let number: u64 = number.trim().parse().unwrap();
        assert!(number >= end, "{number} was used before");
        end = number + 1;
    }
    assert!(end <= used, "the cursor is behind {end}");
}

/// Who is not killed ends by itself, with the result, because the peer is gone, or because nothing is left.
fn survived(task: Task, done: &Done) {
    match (done.code, task) {
        (Some(0), Task::Run) => assert_eq!(done.values("out"), [AES[2]]),
        (Some(0 | 5), _) => {}
        (Some(1), Task::Run) => assert!(done.stderr.contains("no prepared run is left"), "{}", done.stderr),
        _ => panic!("{task:?} ended with {:?}: {}{}", done.code, done.stdout, done.stderr),
    }
}

const TASKS: [Task; 2] = [Task::Prepare, Task::Run];

fn kill_for_a_while(kills: u64, seed: u64) {
    let times = {
        let mut couple = Couple::new();
        TASKS.map(|task| {
            let processes = meet(&mut couple, task);
            let start = Instant::now();
            let [_, _] = processes.map(|process| couple.end(process).code);
            start.elapsed().as_micros() as u64
        })
    };
    let (mut couple, mut roll) = (Couple::new(), Roll(seed));
    for round in 0..kills {
        let ready = [0, 1].map(|party| couple.has_header(party) && state(&couple, party)[1] > 0);
        let which = if ready == [true; 2] { round as usize % 2 } else { 0 };
        let task = TASKS[which];
        let mut processes = meet(&mut couple, task);
        // Some are done before they are killed.
        thread::sleep(Duration::from_micros(roll.below(1 + 5 * times[which] / 4)));
        let victims = roll.victims();
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
        // Whoever was alone in making a folder when its peer was killed removes it.
        for party in [0, 1] {
            if couple.has_header(party) && !couple.has_header(1 - party) {
                assert_eq!(state(&couple, party), [0, 0]);
                fs::remove_dir_all(couple.place.path(PARTIES[party])).unwrap();
            }
        }
        check(&couple, 0);
        check(&couple, 1);
    }
    for task in TASKS {
        for done in both_do(&mut couple, task) {
            done.succeeded();
            survived(task, &done);
        }
        assert_eq!(state(&couple, 0), state(&couple, 1));
    }
}

#[test]
fn killed_at_any_moment_no_run_is_used_twice_and_both_agree_afterwards() {
    thread::scope(|scope| {
        for seed in 1..=4 {
            scope.spawn(move || kill_for_a_while(40, seed));
        }
    });
}

/// Two runs at once on one folder: one of them has the lock.
#[test]
fn a_folder_serves_one_process_at_a_time() {
    let mut couple = Couple::new();
    for done in both_do(&mut couple, Task::Prepare) {
        done.succeeded();
    }
    let common = "run block:aes128 --insecure-plaintext --yes";
    let (bob, address) = couple.place.listen(&format!("{common} --as bob --prepared bob --input block={}", AES[1]));
    let again = format!("{common} --as bob --prepared bob --input block={} --connect {address}", AES[1]);
    couple.place.run(&again).failed(1, &["another process uses bob"]);
    let alice = format!("{common} --as alice --prepared alice --input key={} --connect {address}", AES[0]);
    couple.place.run(&alice).succeeded();
    bob.end().succeeded();
    assert_eq!([state(&couple, 0), state(&couple, 1)], [[1, 2]; 2]);
}

/// What the call's setup stores is part of the run.
#[test]
fn a_program_with_a_call_is_prepared() {
    let place = Place::new();
    let tls = place.tls();
    let prepare = |party: usize| {
        format!("prepare app:equality:32 --size lanes=2 --times 1 --to {} --json {}", PARTIES[party], tls[party])
    };
    for done in both(&place, [&prepare(0), &prepare(1)]) {
        assert_eq!(done.json()["left"], 1);
    }
    let run = |party: usize| {
        let (us, input) = (PARTIES[party], ["a=00000001,00000002", "b=00000001,00000003"][party]);
        format!("run app:equality:32 --prepared {us} --yes --json --input {input} {}", tls[party])
    };
    for done in both(&place, [&run(0), &run(1)]) {
        assert_eq!(done.values("equal"), [1, 0]);
        assert_eq!(done.json()["setup"]["sent"], 0);
    }
}

#[test]
fn the_least_of_many_values_is_prepared() {
    let place = Place::new();
    let tls = place.tls();
    let prepare = |party: usize| {
        format!("prepare app:argmin:8 --size values=3 --times 1 --to {} --json {}", PARTIES[party], tls[party])
    };
    for done in both(&place, [&prepare(0), &prepare(1)]) {
        assert_eq!(done.json()["left"], 1);
    }
    let run = |party: usize| {
        let inputs = ["--input alice_shares=500,2,300 --input alice_least=77", "--input bob_shares=21,2,216"][party];
        format!("run app:argmin:8 --prepared {} --yes --json {inputs} {}", PARTIES[party], tls[party])
    };
    let [alice, bob] = both(&place, [&run(0), &run(1)]);
    assert_eq!(bob.values("bob_least"), [439]);
    let index = [&alice, &bob].map(|done| done.values("index")[0].as_u64().unwrap());
    assert_eq!(index[0] ^ index[1], 1);
    assert_eq!(alice.json()["setup"]["sent"], 0);
    assert_eq!(alice.json()["protocol"], "yao");
}
