//! What is wrong is said before a worker starts, or by whom it is said, and to both.

use super::{Couple, lines};
use crate::process::Place;
use serde_json::Value;
use std::process::Stdio;

#[test]
fn what_cannot_be_driven_is_refused_before_anybody_is_met() {
    let couple = Couple::new();
    let place = &couple.place;
    place.write("five.csv", lines(&[1, 2, 3, 4, 5]));
    place.write("ten.csv", lines(&[1; 10]));
    place.write("odd.csv", format!("n\n{}", lines(&[1, 2, 3, 4, 5])));
    let alice = format!("--as alice --state s --yes {}", couple.keys[0]);
    for (words, code, said) in [
        ("block:add:8 --shards 6 --input a=five.csv", 1, &["6 shards, but the size 'lanes' counts 5 lanes"][..]),
        ("block:add:8 --input a=five.csv", 2, &["--shards is missing"]),
        ("block:add:8 --shards 2", 1, &["the size 'lanes' of ", "hint: "]),
        ("block:add:8 --shards 2 --size lanes=5", 1, &["the input 'a' is not given"]),
        ("block:add:8 --shards 2 --size lanes=10 --input a=five.csv", 1, &["the input 'a' has 5 lanes: expected 10"]),
        (
            "block:add:16 --shards 2 --input a=odd.csv:n:uint(8)",
            1,
            &["column 'n' has 5 rows: expected a multiple of 2"],
        ),
        ("block:add:8 --shards 2 --input a=-", 1, &["standard input has no rows"]),
        ("block:add:8 --shards 2 --by lines --input a=five.csv", 1, &["'lines'"]),
        ("app:psi:32 --shards 2 --size as=10 --size bs=10 --input a=ten.csv", 1, &["psi"]),
        ("block:add:8 --shards 2 --input a=five.csv --output out=five.csv", 1, &["five.csv is read as an input"]),
        ("block:add:8 --shards 2 --input a=five.csv --worker-key alice.key", 1, &["is the key of a party"]),
        ("block:add:8 --shards 2 --input a=five.csv --listen 127.0.0.1:99999", 1, &["above 65535"]),
    ] {
        let done = place.run(&format!("job drive {words} {alice}"));
        done.failed(code, said);
        let _ = std::fs::remove_dir_all(place.path("s"));
    }
    place.write("cut.job", b"duojob\n\0 and more");
    place.run(&format!("job drive cut.job {alice}")).failed(7, &["cut.job"]);
    place.run("job merge nowhere").failed(1, &["nowhere has no job"]);
}

#[test]
fn plans_and_settings_that_differ_are_named_on_both_sides() {
    let couple = Couple::new();
    couple.place.write("n.csv", lines(&[1; 10]));
    let common = "block:add:8 --shards 2";
    for (alice, bob, what) in [
        ("block:add:8 --shards 3", common, "how many shards"),
        ("block:add:16 --shards 2", common, "the program"),
        ("block:add:8 --shards 2 --deadline 7", common, "the deadline of an attempt"),
        ("block:add:8 --shards 2 --garbling three-halves", common, "how ANDs are garbled"),
    ] {
        for done in couple.both("", &format!("{alice} --input a=n.csv"), &format!("{bob} --input b=n.csv")) {
            // A folder of drivers that did not come together is as good as new.
            done.failed(4, &[what, "ours is", "theirs is"]);
        }
    }
}

/// Nothing of the user's is replaced or removed.
#[test]
fn a_folder_that_has_something_else_is_refused() {
    let couple = Couple::new();
    let place = &couple.place;
    place.write("n.csv", lines(&[1; 10]));
    let drive = format!("job drive block:add:8 --shards 2 --input a=n.csv --as alice --yes {}", couple.keys[0]);
    place
        .run(&format!("{drive} --state ."))
        .failed(1, &[". is not empty: it has ", "hint: a job needs a folder of its own"]);
    assert!(!place.path("plan.job").exists() && !place.path("lock").exists());
}

/// Workers that come when a file was changed do not compute on it.
#[test]
fn an_input_that_changes_is_noticed_by_workers() {
    let couple = Couple::new();
    let place = &couple.place;
    place.write("a.csv", lines(&[1; 10]));
    place.write("b.csv", lines(&[1; 10]));
    let common = "block:add:8 --shards 2 --launch wait";
    let (mut bob, address) = couple.bob(&format!("{common} --input b=b.csv"));
    let bobs = bob.until("workers: duologue ");
    let mut alice = couple.alice(&format!("{common} --input a=a.csv"), &address);
    let alices = alice.until("workers: duologue ");
    place.write("a.csv", lines(&[12; 10]));
    let workers = [place.start(&alices), place.start(&bobs)];
    alice.end().failed(1, &["shard 0, attempt 1: the input 'a' has changed since the job was begun"]);
    bob.end().failed(5, &["shard 0, attempt 1 failed on the side of alice: an input of it cannot be used"]);
    workers.into_iter().for_each(|worker| drop(worker.end()));
}

/// Somebody who drives a job meets somebody who runs a program.
#[test]
fn a_driver_and_a_run_tell_each_other_what_they_do() {
    let couple = Couple::new();
    couple.place.write("n.csv", lines(&[1; 10]));
    let (bob, address) = couple.bob("block:add:8 --shards 2 --input b=n.csv");
    let run = format!("run block:add:8 --yes --input a=n.csv --as alice {} --connect {address}", couple.keys[0]);
    couple.place.run(&run).failed(4, &["what to do", "to drive a job"]);
    bob.end().failed(4, &["what to do", "to run a program"]);
}

/// An input that turns out to be wrong in a shard ends the job at once, and only its owner hears more.
#[test]
fn a_value_that_is_none_is_told_to_its_owner_alone() {
    let couple = Couple::new();
    couple.place.write("n.csv", lines(&[1; 10]));
    couple.place.write("wrong.csv", lines(&[1; 9]) + "secret\n");
    let [alice, bob] = couple.both("block:add:8 --shards 2", "--input a=wrong.csv", "--input b=n.csv");
    alice.failed(1, &["shard 1, attempt 1: the input 'a': ", "wrong.csv, line 10", "expected a number of 0 to 255"]);
    bob.failed(5, &["shard 1, attempt 1 failed on the side of alice: an input of it cannot be used"]);
    for text in [&alice.stderr, &bob.stderr] {
        assert!(!text.contains("secret"), "{text}");
    }
    assert!(!bob.stderr.contains("wrong.csv"), "{}", bob.stderr);
}

/// Workers that something else starts, by flags or by the environment; a stranger and the wrong key are turned away.
#[test]
fn a_driver_waits_for_workers_of_others() {
    let couple = Couple::new();
    let place = &couple.place;
    place.write("n.csv", lines(&[1; 10]));
    let worker_key = place.run("keys new --key w.key").succeeded().stdout.trim().to_string();
    let common = "block:add:8 --shards 3 --launch wait --worker-key w.key";
    let (mut bob, address) = couple.bob(&format!("{common} --input b=n.csv"));
    let said = bob.until("workers: duologue ");
    let file = place.path("w.key").display().to_string();
    assert!(said.contains(&address) && said.contains(&format!("--key {file}")), "{said}");
    let mut alice = couple.alice(&format!("{common} --input a=n.csv"), &address);
    let alices = alice.until("workers: duologue ");
    place.run("keys new --key other.key").succeeded();
    place.run(&said.replace(&file, "other.key")).failed(4, &["our key"]);
    place
        .run(&said.replace(&format!("--key {file}"), ""))
        .failed(2, &["the key of the job's workers is missing", "hint: --key FILE"]);
    let wrong = said.replace(said.split("--driver-key ").nth(1).unwrap().split(' ').next().unwrap(), &worker_key);
    place.run(&wrong).failed(4, &["the peer's key"]);
    // Two at Alice's, one at Bob's, who gets all by the environment.
    let words: Vec<&str> = said.split_whitespace().collect();
    let mut by_environment = place.command("job worker --json --ports 20000-60000");
    by_environment.env("DUOLOGUE_DRIVER", words[3]).env("DUOLOGUE_DRIVER_KEY", words[5]);
    by_environment.env("DUOLOGUE_WORKER_KEY", std::fs::read_to_string(place.path("w.key")).unwrap());
    let bobs = by_environment.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let workers = [place.start(&alices), place.start(&alices)];
    for done in [alice.end(), bob.end()] {
        assert_eq!(super::values(&done, "out"), [2; 10]);
    }
    for worker in workers {
        assert_eq!(worker.end().succeeded().stdout, "");
    }
    let bobs = bobs.wait_with_output().unwrap();
    assert!(bobs.status.success());
    let lines = String::from_utf8(bobs.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().map(|line| line["shard"].as_u64()).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
    assert!(lines.iter().all(|line| line["attempt"] == 1 && line["sent"].as_u64() > Some(0)), "{lines:?}");
}

#[test]
fn ports_that_are_taken_are_named() {
    let couple = Couple::new();
    couple.place.write("n.csv", lines(&[1; 10]));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let [alice, bob] =
        couple.both("block:add:8 --shards 2", "--input a=n.csv", &format!("--input b=n.csv --ports {port}-{port}"));
    bob.failed(8, &["shard 0, attempt 3: ", &format!("no port from {port} to {port} is free at 127.0.0.1")]);
    alice.failed(5, &["shard 0, attempt 3 failed on the side of bob: its operating system refused"]);
}

/// Every worker of both parties meets one of the other's, and what keeps them apart is told.
#[test]
fn a_doctor_tries_the_routes_between_workers() {
    let couple = Couple::new();
    let place = &couple.place;
    let words = |party: usize| format!("job doctor --as {} {}", ["alice", "bob"][party], couple.keys[party]);
    let (bob, address) = place.listen(&format!("{} --workers 3", words(1)));
    let alice = place.run(&format!("{} --workers 3 --json --connect {address}", words(0))).json();
    let routes = alice["routes"].as_array().unwrap();
    assert_eq!(routes.len(), 3);
    for route in routes {
        assert!(route["seconds"].as_f64().is_some_and(|time| time > 0.0), "{alice}");
        assert!(route["address"].as_str().unwrap().starts_with("127.0.0.1:"), "{alice}");
    }
    let bob = bob.end();
    assert_eq!(bob.succeeded().stdout.matches("ok   a round trip takes ").count(), 3, "{}", bob.stdout);
    // Nobody listens under that name.
    let (bob, address) = place.listen(&format!("{} --wait 10 --host 255.255.255.255", words(1)));
    let alice = place.run(&format!("{} --wait 10 --connect {address}", words(0)));
    for done in [alice, bob.end()] {
        done.failed(8, &["1 route of 1 does not work", "hint: --host is the name"]);
        assert!(done.stdout.contains("FIX  shard 0, attempt 1 failed on the side of "), "{}", done.stdout);
    }
    // The numbers of workers differ, or one looks for routes and the other has a job.
    let (bob, address) = place.listen(&format!("{} --workers 2", words(1)));
    place.run(&format!("{} --connect {address}", words(0))).failed(4, &["how many workers"]);
    bob.end().failed(4, &["how many workers"]);
}

#[test]
fn a_driver_without_workers_gives_up() {
    let couple = Couple::new();
    couple.place.write("n.csv", lines(&[1; 10]));
    let common = "block:add:8 --shards 3 --launch wait";
    // The drivers have the same time to meet. A machine that is too slow for that gets more.
    let ended = [4, 16, 64, 256].into_iter().find_map(|wait| {
        couple.forget();
        let (bob, address) = couple.bob(&format!("{common} --input b=n.csv"));
        let alice = couple.alice(&format!("{common} --input a=n.csv --wait {wait}"), &address).end();
        alice.stderr.contains("the other driver is there").then(|| (wait, alice, bob.end()))
    });
    let (wait, alice, bob) = ended.expect("the drivers meet");
    let why = format!("no worker of this party came within {wait} s");
    alice.failed(6, &[&why, "hint: each is `duologue job worker`"]);
    bob.failed(5, &["the peer stopped"]);
}

#[test]
fn a_worker_says_why_it_cannot_begin() {
    let place = Place::new();
    place.run("keys new --key w.key").succeeded();
    let key = place.run("keys --key w.key").succeeded().stdout.trim().to_string();
    let worker = format!("job worker --driver-key {key} --key w.key --wait 1");
    place.run(&format!("{worker} --driver 127.0.0.1:1")).failed(8, &["no connection to 127.0.0.1:1"]);
    place.run(&format!("{worker} --driver 127.0.0.1")).failed(1, &["has no port"]);
    let bad = place.run(&format!("{worker} --driver 127.0.0.1:1 --ports 9-3"));
    assert!(bad.code == Some(2) && bad.stderr.contains("write FROM-TO"), "{}", bad.stderr);
}
