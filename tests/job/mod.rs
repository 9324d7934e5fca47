//! `duologue job`: two drivers and their workers as real processes on this machine, against runs in the clear.

mod between;
mod drivers;
mod failures;
mod impostor;
mod meeting;
mod pools;
mod predicted;
mod ray;
mod refused;
mod results;
mod resumed;
mod strangers;

use crate::process::{Done, Place, Running};
use serde_json::Value;
use std::process::Command;

/// Both parties' keys and a program; each party has its own state folder.
struct Couple {
    place: Place,
    keys: [String; 2],
}

/// Words of both drivers: the program and how it is cut.
const COMMON: &str = "--yes --json --protocol gmw --correlations softspoken4";

impl Couple {
    fn new() -> Couple {
        let place = Place::new();
        let keys = place.tls();
        Couple { place, keys }
    }

    /// Starts Bob's driver, which listens.
    fn bob(&self, words: &str) -> (Running, String) {
        let words = format!("job drive {words} {COMMON} {} --as bob --state bob.state", self.keys[1]);
        self.place.listen(&words)
    }

    /// Starts Alice's driver, which connects.
    fn alice(&self, words: &str, address: &str) -> Running {
        let words = format!("job drive {words} {COMMON} {} --as alice --state alice.state", self.keys[0]);
        self.place.start(&format!("{words} --connect {address}"))
    }

    /// Runs both drivers to their ends, Alice's first.
    fn both(&self, common: &str, alice: &str, bob: &str) -> [Done; 2] {
        let (bob, address) = self.bob(&format!("{common} {bob}"));
        let alice = self.alice(&format!("{common} {alice}"), &address);
        [alice.end(), bob.end()]
    }

    /// Whatever the last job left, so that another can begin.
    fn forget(&self) {
        for state in ["alice.state", "bob.state"] {
            let _ = std::fs::remove_dir_all(self.place.path(state));
        }
    }
}

/// The number of a worker's process, from the line in which its driver says that it is there.
fn worker_process(driver: &mut Running, number: u32) -> u32 {
    let line = driver.until(&format!("worker {number} (process "));
    line.split(')').next().and_then(|number| number.parse().ok()).expect("a number")
}

fn kill(process: u32) {
    signal(process, "KILL");
}

/// Sends a signal by its name to a process that is there.
fn signal(process: u32, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -s {name} {process}")]).status();
    assert!(sent.is_ok_and(|status| status.success()), "no process {process}");
}

/// The values of an output in a driver's report.
fn values(done: &Done, output: &str) -> Vec<u64> {
    let number = |value: &Value| value.as_u64().expect("a number");
    done.values(output).iter().map(number).collect()
}

/// How many attempts each shard took.
fn attempts(done: &Done) -> Vec<u64> {
    let shards = done.json()["shards"].as_array().expect("shards").clone();
    shards.iter().map(|shard| shard["attempts"].as_u64().expect("a number")).collect()
}

/// A list of values on a command line, or in the lines of a file.
fn lines(numbers: &[u64]) -> String {
    numbers.iter().map(|number| format!("{number}\n")).collect()
}
