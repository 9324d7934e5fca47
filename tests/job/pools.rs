//! Pools that are made for the shards of a job: each serves one attempt, whatever is killed or lost, and none is left.

use super::results::{in_the_clear, inputs, scores};
use super::{Couple, attempts, kill, lines, values, worker_process};
use crate::process::{Done, Running};
use duologue::circuit::{Party, Program, uint};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const PEOPLE: u64 = 101;
const SCORES: &str = "scores.duo --shards 3";
const GMW: &str = "--protocol gmw --correlations softspoken4";
const YAO: &str = "--protocol yao --correlations softspoken4";

/// Two parties with a job that has shards and a last program.
struct Scores(Couple);

impl Scores {
    fn new() -> Scores {
        let couple = Couple::new();
        let [hers, his, places] = inputs(PEOPLE).map(|lanes| lines(&lanes));
        couple.place.write("scores.duo", scores().to_bytes().unwrap());
        for (name, lanes) in [("hers.csv", hers), ("his.csv", his), ("places.csv", places)] {
            couple.place.write(name, lanes);
        }
        Scores(couple)
    }

    fn prepare(&self, words: &str) -> [Done; 2] {
        let words = format!("job prepare {SCORES} --size people={PEOPLE} {words}");
        both(&self.0, [&words, &words])
    }

    fn drive(&self, words: &str) -> [Done; 2] {
        let words = format!("job drive {SCORES} --yes {words}");
        let alice = format!("{words} --input hers=hers.csv --input offset=3");
        both(&self.0, [&alice, &format!("{words} --input his=his.csv --input places=places.csv")])
    }

    /// The outputs are those of the whole program, after so many attempts, and no pool is left.
    fn check(&self, [alice, bob]: &[Done; 2], expected: [u64; 3]) {
        let [all, total, least, at] = in_the_clear(&scores(), PEOPLE, 3);
        assert_eq!((values(alice, "scores"), values(alice, "total")), (all, total.clone()));
        assert_eq!((values(bob, "total"), values(bob, "least")), (total, least));
        assert_eq!(values(alice, "at")[0] ^ values(bob, "at")[0], at[0]);
        assert_eq!((attempts(alice), attempts(bob)), (expected.into(), expected.into()));
        nothing_left(&self.0);
    }
}

/// Starts Bob's driver, which listens.
fn bob(couple: &Couple, words: &str) -> (Running, String) {
    couple.place.listen(&format!("{words} --json {} --as bob --state bob.state", couple.keys[1]))
}

fn alice(couple: &Couple, words: &str, address: &str) -> Running {
    let words = format!("{words} --json {} --as alice --state alice.state", couple.keys[0]);
    couple.place.start(&format!("{words} --connect {address}"))
}

/// Runs both drivers to their ends, Alice's first.
fn both(couple: &Couple, [hers, his]: [&str; 2]) -> [Done; 2] {
    let (bob, address) = bob(couple, his);
    let alice = alice(couple, hers, &address);
    [alice.end(), bob.end()]
}

/// The folders of a party's pools, by shard.
fn pools(couple: &Couple, party: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(couple.place.path(&format!("{party}.state/pools"))) else { return Vec::new() };
    let mut pools: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    pools.sort();
    pools
}

/// The numbers behind the job's in the names of pools: shard and attempt.
fn names(couple: &Couple, party: &str) -> Vec<String> {
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().split_once('.').unwrap().1.to_string();
    pools(couple, party).iter().map(name).collect()
}

fn succeeded(done: &Done) {
    done.succeeded();
}

fn nothing_left(couple: &Couple) {
    for party in ["alice", "bob"] {
        assert_eq!(pools(couple, party), [] as [PathBuf; 0]);
        assert!(!couple.place.path(&format!("{party}.state/pools")).exists());
    }
}

/// The bytes that a party's workers have sent, of each shard.
fn sent(done: &Done) -> Vec<u64> {
    let shards = done.json()["shards"].as_array().expect("shards").clone();
    shards.iter().map(|shard: &Value| shard["sent"].as_u64().expect("a number")).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let to = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &to);
        } else {
            fs::copy(&entry, &to).unwrap();
        }
    }
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
}

#[test]
fn shards_take_from_their_pools_and_make_nothing_anew() {
    // What Yao's evaluator draws is a COT for each bit of its inputs: base OTs are what it saves.
    for (settings, fewer) in [(GMW, |sent: u64| sent / 2), (YAO, |sent| sent - 2000)] as [(&str, fn(u64) -> u64); 2] {
        let scores = Scores::new();
        let without = scores.drive(settings);
        scores.check(&without, [1; 3]);
        scores.0.forget();
        for done in scores.prepare(&format!("{settings} --workers 2")) {
            done.succeeded();
            assert_eq!(attempts(&done), [1; 3]);
        }
        for party in ["alice", "bob"] {
            assert_eq!(names(&scores.0, party), ["0.1", "1.1", "2.1"]);
            #[cfg(unix)]
            for pool in pools(&scores.0, party) {
                let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&pool).unwrap()) & 0o777;
                assert_eq!(mode, 0o700, "{}", pool.display());
            }
        }
        // Nobody says --resume to a job that was only prepared.
        let with = scores.drive(settings);
        scores.check(&with, [2; 3]);
        for (with, without) in with.iter().zip(&without) {
            let (with, without) = (sent(with), sent(without));
            assert!(with.iter().zip(&without).all(|(with, without)| *with < fewer(*without)), "{with:?} {without:?}");
        }
    }
}

/// By another protocol or maker than that of the preparing a shard takes what it finds, and makes what it lacks.
#[test]
fn a_job_may_be_computed_by_another_protocol_than_it_was_prepared_for() {
    for (prepared, settings) in [
        (GMW, "--protocol yao --correlations softspoken2"),
        (YAO, GMW),
        ("--protocol gmw --assume-link lan", "--protocol auto --assume-link internet"),
    ] {
        let scores = Scores::new();
        scores.prepare(prepared).iter().for_each(succeeded);
        scores.check(&scores.drive(settings), [2; 3]);
    }
}

/// Both do without, and the half that is left is erased.
#[test]
fn a_party_that_has_lost_its_pools_costs_the_pools_alone() {
    let scores = Scores::new();
    let without = sent(&scores.drive(GMW)[0]);
    scores.0.forget();
    scores.prepare(GMW).iter().for_each(succeeded);
    let place = &scores.0.place;
    fs::remove_dir_all(place.path("bob.state/pools")).unwrap();
    let done = scores.drive(GMW);
    scores.check(&done, [2; 3]);
    assert!(sent(&done[0]).iter().zip(&without).all(|(with, without)| 2 * with > *without), "they were made anew");
}

/// A pool in the place of another one, and one that is damaged: nothing is taken from them, and the job goes on.
#[test]
fn a_pool_of_another_shard_is_refused() {
    let scores = Scores::new();
    scores.prepare(GMW).iter().for_each(succeeded);
    let [first, second, third] = pools(&scores.0, "alice").try_into().unwrap();
    let aside = scores.0.place.path("aside");
    for (from, to) in [(&first, &aside), (&second, &first), (&aside, &second)] {
        fs::rename(from, to).unwrap();
    }
    fs::write(third.join("header"), b"duo-stor").unwrap();
    let done = scores.drive(GMW);
    scores.check(&done, [3, 3, 2]);
    for shard in [0, 1] {
        let why = format!("shard {shard}, attempt 2 failed on the side of alice: ");
        assert!(done.iter().all(|done| done.stderr.contains(&why)), "{}", done[0].stderr);
        assert!(done[0].stderr.contains(&format!("was made in shard {}, attempt 1 of job ", 1 - shard)));
    }
}

#[test]
fn whoever_prepares_and_whoever_computes_are_told_so() {
    let scores = Scores::new();
    let hers = format!("job prepare {SCORES} --size people={PEOPLE} {GMW}");
    let his = format!("job drive {SCORES} {GMW} --yes --input his=his.csv --input places=places.csv");
    for done in both(&scores.0, [&hers, &his]) {
        done.failed(4, &["what workers do with the shards", "make pools (job prepare)", "compute (job drive)"]);
    }
    let other = hers.replace(GMW, YAO);
    for done in both(&scores.0, [&hers, &other]) {
        done.failed(4, &["the protocol of the shards: ours is", "yao", "gmw"]);
    }
}

#[test]
fn what_cannot_be_prepared_is_refused_before_anybody_is_met() {
    let scores = Scores::new();
    let place = &scores.0.place;
    let mut told = Program::new("told");
    let lanes = told.size("lanes", 1..=100);
    let hers = told.input("hers", Party::Alice, uint(8), lanes);
    told.output("hers", Party::Bob, hers);
    place.write("told.duo", told.to_bytes().unwrap());
    let common = format!("--as alice --state alice.state {}", scores.0.keys[0]);
    for (words, code, said) in [
        ("scores.duo --shards 3 --size people=101", 2, &["--protocol is missing", "hint: "][..]),
        ("scores.duo --shards 3 --size people=101 --protocol auto", 2, &["--protocol is missing"]),
        ("scores.duo --shards 3 --protocol gmw", 1, &["the size 'people'"]),
        ("told.duo --shards 2 --size lanes=10 --protocol gmw", 1, &["nothing to make: no shard of 'told'", "hint: "]),
    ] {
        place.run(&format!("job prepare {words} {common}")).failed(code, said);
        assert!(!place.path("alice.state").exists(), "{words}");
    }
    scores.prepare(GMW).iter().for_each(succeeded);
    place
        .run(&format!("job prepare {SCORES} --size people={PEOPLE} {GMW} {common}"))
        .failed(1, &["alice.state has a job", "hint: --resume goes on with it"]);
    place.run("job merge alice.state").failed(1, &["3 shards of the job in alice.state are not finished"]);
    assert_eq!(names(&scores.0, "alice"), ["0.1", "1.1", "2.1"]);
}

/// Products, of which each shard takes seconds over a slow line: something can be killed within it.
struct Slow {
    couple: Couple,
    expected: Vec<u64>,
}

const LANES: u64 = 3000;
const PRODUCTS: &str = "block:multiply_low:32 --shards 3 --protocol gmw --correlations softspoken4";
const LINE: &str = "--link 50ms,10Mbit";

impl Slow {
    fn new() -> Slow {
        let couple = Couple::new();
        let numbers: Vec<u64> = (0..LANES).map(|lane| lane * 77_777 % 65_521).collect();
        couple.place.write("n.csv", lines(&numbers));
        Slow { couple, expected: numbers.iter().map(|number| number * number % (1 << 32)).collect() }
    }

    fn start(&self, [hers, his]: [&str; 2]) -> [Running; 2] {
        let (bob, address) = bob(&self.couple, his);
        [alice(&self.couple, hers, &address), bob]
    }

    /// Both make pools.
    fn prepare(&self, words: &str) -> [Running; 2] {
        let words = format!("job prepare {PRODUCTS} --size lanes={LANES} {words}");
        self.start([&words, &words])
    }

    fn prepared() -> Slow {
        let slow = Slow::new();
        slow.prepare("").map(Running::end).iter().for_each(succeeded);
        slow
    }

    fn drive(&self, words: &str) -> [Running; 2] {
        let words = format!("job drive {PRODUCTS} --yes {words}");
        self.start([&format!("{words} --input a=n.csv"), &format!("{words} --input b=n.csv")])
    }

    fn check(&self, parties: &[Done; 2], expected: [u64; 3]) {
        for done in parties {
            assert!(values(done, "out") == self.expected);
            assert_eq!(attempts(done), expected);
        }
        nothing_left(&self.couple);
    }
}

#[test]
fn a_worker_that_is_killed_while_it_makes_a_pool_costs_an_attempt() {
    let slow = Slow::new();
    let [mut alice, mut bob] = slow.prepare(LINE);
    let worker = worker_process(&mut bob, 1);
    alice.until("shard 1, attempt 1: the workers meet");
    kill(worker);
    for done in [alice.end(), bob.end()] {
        assert_eq!(attempts(&done), [1, 2, 1]);
    }
    for party in ["alice", "bob"] {
        assert_eq!(names(&slow.couple, party), ["0.1", "1.2", "2.1"], "what is left of the first attempt is erased");
    }
    let done = slow.drive("").map(Running::end);
    slow.check(&done, [2, 3, 2]);
    assert!(sent(&done[0])[1] < 2 * sent(&done[0])[0], "{:?}", sent(&done[0]));
}

/// What the killed worker had of its pool is used by nobody: the next attempt makes correlations of its own.
#[test]
fn a_worker_that_is_killed_while_it_uses_a_pool_costs_the_pool() {
    let slow = Slow::prepared();
    let [mut alice, mut bob] = slow.drive(LINE);
    let worker = worker_process(&mut bob, 1);
    alice.until("shard 1, attempt 2: the workers meet");
    kill(worker);
    let done = [alice.end(), bob.end()];
    slow.check(&done, [2, 3, 2]);
    for done in &done {
        let sent = sent(done);
        assert!(sent[1] > 2 * sent[0] && sent[1] > 2 * sent[2], "{sent:?}");
    }
}

/// Pools that were copied before they were used, and come back when an attempt has touched them: no attempt takes them.
#[test]
fn a_pool_that_comes_back_is_used_by_nobody() {
    let slow = Slow::prepared();
    let place = &slow.couple.place;
    for party in ["alice", "bob"] {
        copy(&place.path(&format!("{party}.state/pools")), &place.path(&format!("{party}.pools")));
    }
    let [mut alice, mut bob] = slow.drive(LINE);
    bob.until("shard 0, attempt 2: done");
    alice.until("shard 0, attempt 2: done");
    alice.until("shard 1, attempt 2: the workers meet");
    alice.kill();
    bob.end().failed(5, &["the peer", "hint: "]);
    for party in ["alice", "bob"] {
        let used = pools(&slow.couple, party).len();
        assert!(used < 3, "the pool of a finished shard is erased");
        fs::remove_dir_all(place.path(&format!("{party}.state/pools"))).unwrap();
        copy(&place.path(&format!("{party}.pools")), &place.path(&format!("{party}.state/pools")));
    }
    let done = slow.drive("--resume").map(Running::end);
    slow.check(&done, [2, 3, 2]);
    let sent = sent(&done[0]);
    assert!(sent[1] > 2 * sent[2], "shard 2 has its pool, shard 1 none: {sent:?}");
}

/// A driver that is lost while pools are made, and the preparing that goes on.
#[test]
fn preparing_goes_on_where_a_killed_driver_stopped() {
    let slow = Slow::new();
    let [mut alice, mut bob] = slow.prepare(LINE);
    bob.until("shard 0, attempt 1: done");
    alice.until("shard 0, attempt 1: done");
    alice.until("shard 1, attempt 1: the workers meet");
    alice.kill();
    bob.end().failed(5, &["the peer", "hint: "]);
    let done = slow.prepare("--resume").map(Running::end);
    for (done, party) in done.iter().zip(["alice", "bob"]) {
        assert_eq!(attempts(done), [1, 2, 1]);
        assert_eq!(names(&slow.couple, party), ["0.1", "1.2", "2.1"]);
    }
    slow.check(&slow.drive("").map(Running::end), [2, 3, 2]);
}
