//! Whatever is killed, lost or stopped: the outputs are right, or both parties hear why there are none.

use super::{Couple, attempts, kill, lines, values, worker_process};
use crate::process::{Done, Running};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A job over a slow line, so that something can be killed within a shard: 3 shards of about two seconds.
struct Slow {
    couple: Couple,
    expected: Vec<u64>,
}

const LANES: u64 = 3000;
const SLOW: &str = "block:multiply_low:32 --shards 3 --link 20ms,10Mbit";

impl Slow {
    fn new() -> Slow {
        let couple = Couple::new();
        let numbers: Vec<u64> = (0..LANES).map(|lane| lane * 77_777 % 65_521).collect();
        couple.place.write("n.csv", lines(&numbers));
        Slow { couple, expected: numbers.iter().map(|number| number * number % (1 << 32)).collect() }
    }

    fn bob(&self, words: &str) -> (Running, String) {
        self.couple.bob(&format!("{SLOW} --input b=n.csv {words}"))
    }

    fn alice(&self, words: &str, address: &str) -> Running {
        self.couple.alice(&format!("{SLOW} --input a=n.csv {words}"), address)
    }

    fn check(&self, parties: &[Done]) {
        parties.iter().for_each(|done| assert!(values(done, "out") == self.expected));
    }
}

#[test]
fn a_killed_worker_costs_an_attempt_at_its_shard() {
    let slow = Slow::new();
    let (mut bob, address) = slow.bob("");
    let alice = slow.alice("", &address);
    let worker = worker_process(&mut bob, 1);
    bob.until("shard 1, attempt 1: the workers meet");
    kill(worker);
    bob.until("shard 1, attempt 1 failed on the side of ");
    let parties = [alice.end(), bob.end()];
    slow.check(&parties);
    for done in &parties {
        assert_eq!(attempts(done), [1, 2, 1]);
    }
}

/// Both parties' workers are killed at once: they agree on one next attempt.
#[test]
fn both_parties_try_again_at_once() {
    let slow = Slow::new();
    let (mut bob, address) = slow.bob("");
    let mut alice = slow.alice("", &address);
    let workers = [worker_process(&mut alice, 1), worker_process(&mut bob, 1)];
    alice.until("shard 1, attempt 1: the workers meet");
    workers.into_iter().for_each(kill);
    let parties = [alice.end(), bob.end()];
    slow.check(&parties);
    assert_eq!(attempts(&parties[0]), attempts(&parties[1]));
    assert_eq!(attempts(&parties[0]), [1, 2, 1]);
}

/// Whoever is left says why, and what is finished is not computed again.
#[test]
fn a_job_goes_on_where_a_killed_driver_stopped() {
    let slow = Slow::new();
    let (mut bob, address) = slow.bob("");
    let mut alice = slow.alice("", &address);
    bob.until("shard 0, attempt 1: done");
    alice.until("shard 1, attempt 1: the workers meet");
    alice.kill();
    bob.end().failed(5, &["the peer", "hint: "]);
    let refused = slow.bob_again("");
    refused.failed(1, &["bob.state has a job", "hint: --resume goes on with it"]);
    let (bob, address) = slow.bob("--resume");
    let parties = [slow.alice("--resume", &address).end(), bob.end()];
    slow.check(&parties);
    let [alice, bob] = [attempts(&parties[0]), attempts(&parties[1])];
    assert_eq!((alice[0], &alice), (1, &bob), "shard 0 was finished before");
    assert!(alice.iter().sum::<u64>() > 3 && alice.iter().all(|attempts| *attempts <= 2), "{alice:?}");
}

impl Slow {
    fn bob_again(&self, words: &str) -> Done {
        let words = format!("{SLOW} --input b=n.csv {words}");
        let words = format!("job drive {words} --yes {} --as bob --state bob.state", self.couple.keys[1]);
        self.couple.place.run(&words)
    }
}

#[test]
fn whoever_is_interrupted_ends_the_job_of_both() {
    let slow = Slow::new();
    let (mut bob, address) = slow.bob("");
    let mut alice = slow.alice("", &address);
    let workers = [worker_process(&mut alice, 1), worker_process(&mut bob, 1)];
    alice.until("shard 0, attempt 1: done");
    bob.signal("INT");
    bob.end().failed(130, &["error: cancelled"]);
    alice.end().failed(5, &["the peer stopped: it was cancelled"]);
    for worker in workers {
        let there = std::process::Command::new("sh").args(["-c", &format!("kill -s 0 {worker}")]).output().unwrap();
        assert!(!there.status.success(), "a worker outlived its driver");
    }
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

/// A line between the drivers that holds bytes for a while loses nothing; one that holds them longer ends the job, and it goes on.
#[test]
fn a_partition_of_the_drivers_is_survived_or_told() {
    for (silence, held, ends) in [(120, Duration::from_millis(1500), false), (5, Duration::ZERO, true)] {
        let slow = Slow::new();
        let (mut bob, address) = slow.bob(&format!("--silence {silence}"));
        let proxy = Proxy::to(&address);
        let mut alice = slow.alice(&format!("--silence {silence}"), &proxy.address);
        alice.until("shard 0, attempt 1: done");
        bob.until("shard 0, attempt 1: done");
        proxy.hold.store(true, Ordering::Relaxed);
        if ends {
            for done in [alice.end(), bob.end()] {
                done.failed(6, &["from the peer for 5 s"]);
            }
            continue;
        }
        thread::sleep(held);
        proxy.hold.store(false, Ordering::Relaxed);
        slow.check(&[alice.end(), bob.end()]);
    }
}

/// Relays one connection, and holds its bytes while it is told to.
struct Proxy {
    address: String,
    hold: Arc<AtomicBool>,
}

impl Proxy {
    fn to(far: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, hold) = (listener.local_addr().unwrap().to_string(), Arc::new(AtomicBool::new(false)));
        let (far, held) = (far.to_string(), hold.clone());
        thread::spawn(move || {
            let near = listener.accept().unwrap().0;
            let far = TcpStream::connect(far).unwrap();
            for (from, to) in [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)] {
                let held = held.clone();
                thread::spawn(move || relay(from, to, &held));
            }
        });
        Proxy { address, hold }
    }
}

fn relay(mut from: TcpStream, mut to: TcpStream, held: &AtomicBool) {
    let mut buffer = [0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        while held.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(10));
        }
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}
