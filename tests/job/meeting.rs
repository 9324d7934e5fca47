//! How drivers and workers meet: where workers listen, who is turned away, what keeps drivers apart.

use super::failures::SILENCE;
use super::impostor::Impostor;
use super::{Couple, attempts, lines, signal, values, worker_process};
use serde_json::json;
use std::net::TcpListener;

const ADD: &str = "block:add:8 --shards 3";

fn couple() -> Couple {
    let couple = Couple::new();
    couple.place.write("n.csv", lines(&[1; 10]));
    couple
}

/// A driver that listens everywhere, and workers that listen where the other party's are told: at that address, or everywhere.
#[test]
fn workers_listen_under_the_name_that_the_others_hear() {
    let couple = couple();
    let words = |host: &str| {
        let common = format!("{ADD} --input b=n.csv --yes --json --as bob --state bob.state {}", couple.keys[1]);
        format!("job drive {common} --listen 0.0.0.0:0 {host}")
    };
    couple.place.run(&words("")).failed(2, &["--host is missing: 0.0.0.0:0", "hint: --host NAME"]);
    for host in ["127.0.0.2", "localhost"] {
        let mut bob = couple.place.start(&words(&format!("--host {host}")));
        let address = bob.until("listening on ").replace("0.0.0.0", "127.0.0.1");
        let words = format!("{ADD} --input a=n.csv --yes --json --as alice --state alice.state {}", couple.keys[0]);
        let alice = couple.place.run(&format!("job drive {words} --connect {address}"));
        for done in [alice, bob.end()] {
            assert_eq!(values(&done, "out"), [2; 10]);
        }
        couple.forget();
    }
}

#[test]
fn a_host_is_a_name_without_a_port() {
    let couple = couple();
    for host in ["node7:7100", "[::1]", "a/b"] {
        let words = format!("job drive {ADD} --as bob --state s --host {host} {}", couple.keys[1]);
        couple.place.run(&words).failed(2, &["without brackets and without a port"]);
    }
}

#[test]
fn drivers_that_both_connect_are_told_so() {
    let couple = couple();
    let [alices, bobs] = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string());
    let words = format!("{ADD} --input b=n.csv --yes --as bob --state bob.state {}", couple.keys[1]);
    let bob = couple.place.start(&format!("job drive {words} --listen {bobs} --connect {alices}"));
    let alice = couple.alice(&format!("{ADD} --input a=n.csv --listen {alices}"), &bobs);
    for done in [alice.end(), bob.end()] {
        assert!(matches!(done.code, Some(4 | 5)), "{:?}: {}", done.code, done.stderr);
        assert!(done.stderr.contains("one of the two drivers leaves out --connect"), "{}", done.stderr);
    }
}

#[test]
fn patience_must_be_equal() {
    let couple = couple();
    let [alice, bob] = couple.both(ADD, "--input a=n.csv --silence 70", "--input b=n.csv --silence 90");
    for done in [alice, bob] {
        done.failed(4, &["how long a party may be silent", "70 s", "90 s"]);
    }
}

/// A worker of another version, and one that does not find the folder: each is refused alone, the job goes on with others.
#[test]
fn workers_that_cannot_take_the_job_do_not_end_it() {
    let couple = couple();
    let place = &couple.place;
    place.run("keys new --key w.key").succeeded();
    let (mut bob, address) = couple.bob(&format!("{ADD} --input b=n.csv --launch wait --worker-key w.key"));
    let said = bob.until("workers: duologue ");
    let alice = couple.alice(&format!("{ADD} --input a=n.csv"), &address);
    bob.until("the other driver is there");
    let mut old = Impostor::come(place, &said);
    old.say(json!({ "is": "hello", "build": "0.0.0", "process": 1 }));
    bob.until("a worker (process 1) is duologue 0.0.0, its driver duologue ");
    let refused = old.hear().to_string();
    assert!(refused.contains("refused") && refused.contains("0.0.0"), "{refused}");
    let [plan, hidden] = ["bob.state/plan.job", "hidden"].map(|name| place.path(name));
    std::fs::rename(&plan, &hidden).unwrap();
    place.run(&said).failed(1, &["has no job: plan.job is not there"]);
    bob.until("worker 2 (process ");
    std::fs::rename(&hidden, &plan).unwrap();
    let worker = place.start(&said);
    for done in [alice.end(), bob.end()] {
        assert_eq!(values(&done, "out"), [2; 10]);
    }
    worker.end().succeeded();
}

/// A worker that lives and does not answer is killed, and another one started.
#[test]
fn a_worker_that_is_stopped_is_replaced() {
    let couple = couple();
    let words = |input: &str| format!("{ADD} --input {input}=n.csv --silence {SILENCE}");
    couple.place.run("keys new --key w.key").succeeded();
    let (mut bob, address) = couple.bob(&format!("{} --launch wait --worker-key w.key", words("b")));
    let said = bob.until("workers: duologue ");
    let mut alice = couple.alice(&words("a"), &address);
    let worker = worker_process(&mut alice, 1);
    signal(worker, "STOP");
    // It is stopped before there is anybody whom it could meet.
    let bobs = couple.place.start(&said);
    alice.until("worker 2 (process ");
    for done in [alice.end(), bob.end()] {
        assert_eq!(values(&done, "out"), [2; 10]);
        assert!(attempts(&done)[0] > 1);
    }
    bobs.end().succeeded();
}
