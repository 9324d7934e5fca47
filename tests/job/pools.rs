//! Pools that are made for the shards of a job: each serves one attempt, whatever is killed or lost, and none is left.

use super::between::{BOB, Between, Line, Said};
use super::results::{in_the_clear, inputs, scores};
use super::{Couple, attempts, kill, lines, values, worker_process};
use crate::process::{Done, Running};
use duologue::circuit::{Party, Program, uint};
use duologue::job::control::{Attempt, Message, Offer};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

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

/// What a run was predicted to take that makes its correlations is not what one takes that has them.
#[test]
fn nothing_is_predicted_of_a_shard_that_has_a_pool() {
    let job = Scores::new();
    job.prepare(GMW).iter().for_each(|done| drop(done.json()));
    for done in job.drive(&format!("{GMW} --assume-link 1s,1Mbit")) {
        let json = done.json();
        assert!(json["shards"].as_array().unwrap().iter().all(|shard| shard["predicted"].is_null()), "{json}");
        assert!(json["last"]["predicted"].is_number(), "it has no pool: {json}");
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
        match entry.is_dir() {
            true => copy(&entry, &to),
            false => assert!(fs::copy(&entry, &to).is_ok()),
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
        // Workers' keys are those of an attempt: a pool is bound to the parties', and to the attempt that made it.
        let shown = scores.0.place.run(&format!("pool {} --json", pools(&scores.0, "alice")[1].display())).json();
        let peer = scores.0.keys[0].rsplit(' ').next().unwrap();
        assert_eq!(shown["peer_key"], peer);
        assert!(shown["part"].as_str().unwrap().starts_with("shard 1, attempt 1 of job "), "{shown}");
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

/// Products, whose shards are held and killed.
struct Products {
    couple: Couple,
    expected: Vec<u64>,
}

const LANES: u64 = 900;
const PRODUCTS: &str = "block:multiply_low:32 --shards 3 --protocol gmw --correlations softspoken4";

/// What passes between two workers of an attempt that is held: more than they say before the first correlation, and less than they say in
/// all, whether they make a pool or take from one.
const HALF: u64 = 50_000;

impl Products {
    fn new() -> Products {
        let couple = Couple::new();
        let numbers: Vec<u64> = (0..LANES).map(|lane| lane * 77_777 % 65_521).collect();
        couple.place.write("n.csv", lines(&numbers));
        Products { couple, expected: numbers.iter().map(|number| number * number % (1 << 32)).collect() }
    }

    fn prepared() -> Products {
        let products = Products::new();
        products.both(Products::prepare("")).iter().for_each(succeeded);
        products
    }

    /// The words of both drivers that make pools.
    fn prepare(words: &str) -> [String; 2] {
        let words = format!("job prepare {PRODUCTS} --size lanes={LANES} {words}");
        [words.clone(), words]
    }

    /// The words of both drivers that compute.
    fn drive(words: &str) -> [String; 2] {
        ["a", "b"].map(|input| format!("job drive {PRODUCTS} --yes {words} --input {input}=n.csv"))
    }

    /// Runs both drivers to their ends.
    fn both(&self, words: [String; 2]) -> [Done; 2] {
        both(&self.couple, [&words[0], &words[1]])
    }

    /// Starts both drivers, and waits until the workers of this attempt have said half of what they have to say: the rest does not pass.
    fn held(&self, [hers, his]: [String; 2], held: Attempt) -> [Running; 2] {
        let (bob, address) = bob(&self.couple, &his);
        let (tell, stuck) = mpsc::channel();
        let between = Between::new(&self.couple, &address, false, move |from, mut said| {
            if let Said::Message(Message::Ready(attempt, Offer { address, .. })) = &mut said
                && (from, *attempt) == (BOB, held)
            {
                *address = Line::new(address, HALF, tell.clone()).address;
            }
            vec![said]
        });
        let alice = alice(&self.couple, &hers, &between.address);
        while stuck.recv_timeout(Duration::from_millis(20)).is_err() {
            assert!(!between.is_over(), "the job is over, and nothing was held");
        }
        [alice, bob]
    }

    fn check(&self, parties: &[Done; 2], expected: [u64; 3]) {
        for done in parties {
            assert!(values(done, "out") == self.expected);
            assert_eq!(attempts(done), expected);
        }
        nothing_left(&self.couple);
    }
}

/// The attempt at the shard in the middle that is held.
fn middle(number: u32) -> Attempt {
    Attempt { shard: 1, number }
}

#[test]
fn a_worker_that_is_killed_while_it_makes_a_pool_costs_an_attempt() {
    let products = Products::new();
    let [alice, mut bob] = products.held(Products::prepare(""), middle(1));
    kill(worker_process(&mut bob, 1));
    for done in [alice.end(), bob.end()] {
        assert_eq!(attempts(&done), [1, 2, 1]);
    }
    for party in ["alice", "bob"] {
        assert_eq!(
            names(&products.couple, party),
            ["0.1", "1.2", "2.1"],
            "what is left of the first attempt is erased"
        );
    }
    let done = products.both(Products::drive(""));
    products.check(&done, [2, 3, 2]);
    assert!(sent(&done[0])[1] < 2 * sent(&done[0])[0], "{:?}", sent(&done[0]));
}

/// What the killed worker had of its pool is used by nobody: the next attempt makes correlations of its own.
#[test]
fn a_worker_that_is_killed_while_it_uses_a_pool_costs_the_pool() {
    let products = Products::prepared();
    let [alice, mut bob] = products.held(Products::drive(""), middle(2));
    kill(worker_process(&mut bob, 1));
    let done = [alice.end(), bob.end()];
    products.check(&done, [2, 3, 2]);
    for done in &done {
        let sent = sent(done);
        assert!(sent[1] > 2 * sent[0] && sent[1] > 2 * sent[2], "{sent:?}");
    }
}

/// Pools that were copied before they were used, and come back when an attempt has touched them: no attempt takes them.
#[test]
fn a_pool_that_comes_back_is_used_by_nobody() {
    let products = Products::prepared();
    let place = &products.couple.place;
    for party in ["alice", "bob"] {
        copy(&place.path(&format!("{party}.state/pools")), &place.path(&format!("{party}.pools")));
    }
    lose_alice(products.held(Products::drive(""), middle(2)));
    for party in ["alice", "bob"] {
        let used = pools(&products.couple, party).len();
        assert!(used < 3, "the pool of a finished shard is erased");
        fs::remove_dir_all(place.path(&format!("{party}.state/pools"))).unwrap();
        copy(&place.path(&format!("{party}.pools")), &place.path(&format!("{party}.state/pools")));
    }
    let done = products.both(Products::drive("--resume"));
    products.check(&done, [2, 3, 2]);
    let sent = sent(&done[0]);
    assert!(sent[1] > 2 * sent[2], "shard 2 has its pool, shard 1 none: {sent:?}");
}

/// Alice's machine is lost with her driver and its worker, and Bob's driver ends.
fn lose_alice([mut alice, bob]: [Running; 2]) {
    let worker = worker_process(&mut alice, 1);
    // A driver that found its worker gone would begin another attempt; a worker without its driver would erase what it has.
    alice.signal("STOP");
    kill(worker);
    alice.kill();
    bob.end().failed(5, &["the peer", "hint: "]);
}

/// A driver that is lost while pools are made, and the preparing that goes on.
#[test]
fn preparing_goes_on_where_a_killed_driver_stopped() {
    let products = Products::new();
    lose_alice(products.held(Products::prepare(""), middle(1)));
    let done = products.both(Products::prepare("--resume"));
    for (done, party) in done.iter().zip(["alice", "bob"]) {
        assert_eq!(attempts(done), [1, 2, 1]);
        assert_eq!(names(&products.couple, party), ["0.1", "1.2", "2.1"]);
    }
    products.check(&products.both(Products::drive("")), [2, 3, 2]);
}

/// A batch of correlations in which a bit has changed: what was taken from its pool is used by nobody, and the job goes on.
#[test]
fn a_damaged_batch_costs_an_attempt() {
    let products = Products::prepared();
    for (party, shard) in [("alice", 0), ("bob", 1)] {
        let batch = batch(&pools(&products.couple, party)[shard]);
        let mut bytes = fs::read(&batch).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&batch, bytes).unwrap();
    }
    let done = products.both(Products::drive(""));
    products.check(&done, [3, 3, 2]);
    for done in &done {
        let sent = sent(done);
        assert!(sent[0] > 2 * sent[2] && sent[1] > 2 * sent[2], "{sent:?}");
    }
}

/// The first batch of triples in a pool.
fn batch(pool: &Path) -> PathBuf {
    let mut files = fs::read_dir(pool).unwrap().map(|entry| entry.unwrap().path());
    files.find(|file| file.file_name().unwrap().to_str().unwrap().starts_with("triples-")).expect("triples")
}
