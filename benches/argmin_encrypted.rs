//! The least of 1,000 encrypted values of 32 bits with arguments of as many, by each method: computing of both parties, setup
//! and online together, on one core each, and bytes of both directions.
//!
//! Both parties run in one process, each in a thread of its own. Computing is the time that the system gave a thread, where
//! it says that (Linux), so that other work on the machine counts little; elsewhere the time that passed.
//!
//! Arguments are methods and bits of keys: `-- boma 3072` measures that alone.

#[path = "../crates/apps/tests/common/mod.rs"]
mod common;

use apps::argmin::encrypted::{Keys, Method, Terms};
use common::Random;
use common::encrypted::{Case, key, keys_of, terms};
use duologue::channel::Channel;
use duologue::circuit::{BitMatrix, Party};
use duologue::{Options, Scheme, Session};
use he::paillier::SecretKey;
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    println!("{:>10} {:>6} {:>10} {:>10} {:>10} {:>8}", "method", "bits", "server", "client", "both", "MiB");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |word: &str, among: &[&str]| {
        let none = !wanted.iter().any(|wanted| among.contains(&wanted.as_str()));
        none || wanted.iter().any(|wanted| wanted == word)
    };
    for bits in [1024, 2048, 3072].into_iter().filter(|bits| is_wanted(&bits.to_string(), &["1024", "2048", "3072"])) {
        let key = key(bits);
        let name = |method: &Method| format!("{method:?}").to_lowercase();
        for method in Method::ALL.into_iter().filter(|method| is_wanted(&name(method), &["duologue", "boma", "erkin"]))
        {
            let terms = Terms { leaky: method == Method::Boma, ..terms(&key, 32, Some(32)) };
            let case = Case::new(method, terms, 1000, &mut Random(7));
            let args = case.encrypted(&key, &mut Random(8));
            let runs = (0..3).map(|_| run(&case, &args, &key));
            let sum = |run: &[f64; 3]| run[0] + run[1];
            let [server, client, bytes] = runs.min_by(|a, b| sum(a).total_cmp(&sum(b))).expect("three runs");
            let times = [server, client, server + client].map(|seconds| format!("{seconds:>8.3} s")).join(" ");
            println!("{:>10} {bits:>6} {times} {:>8.4}", format!("{method:?}"), bytes / f64::from(1 << 20));
        }
    }
}

/// Computing of server and client in seconds, and bytes.
fn run(case: &Case, args: &[BitMatrix], key: &SecretKey) -> [f64; 3] {
    let (alice, bob) = Channel::pair();
    let act = |channel, party, keys: Keys| {
        let mut session = Session::connect(channel, party).expect("a peer");
        session.register(case.method.call(&keys));
        let (before, start) = (given(), Instant::now());
        let report = case.run(&mut session, args, &keys, &Options::new(Scheme::Gmw)).expect("a result").report;
        let passed = start.elapsed();
        let time = given().zip(before).map_or(passed, |(after, before)| after - before);
        (time.as_secs_f64(), (report.setup.sent + report.online.sent) as f64)
    };
    let of_server = Keys::none().even_if_they_can_be_broken();
    thread::scope(|scope| {
        let client = scope.spawn(|| act(bob, Party::Bob, keys_of(key)));
        let (server, client) = (act(alice, Party::Alice, of_server), client.join().expect("no panic"));
        [server.0, client.0, server.1 + client.1]
    })
}

/// The time that the system gave this thread.
fn given() -> Option<Duration> {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    said.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
