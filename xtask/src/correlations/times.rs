//! The exact bytes that makers send, and how long these and the computing take over a line.

use super::Kind;
use duologue::channel::Link;
use duologue::correlation::Demand;
use duologue::cost::{Correlating, Traffic};
use duologue::ot::Extension;
use std::time::Duration;

/// The lines of the page, with the names of their plots.
pub const LINES: [(&str, &str, Link); 3] = [
    ("LAN: 1 Gbit/s, 0.2 ms", "lan", Link::LAN),
    (
        "100 Mbit/s, 10 ms",
        "100mbit",
        Link { round_trip: Duration::from_millis(10), bits_per_second: Some(100_000_000) },
    ),
    ("10 Mbit/s, 100 ms", "10mbit", Link { round_trip: Duration::from_millis(100), bits_per_second: Some(10_000_000) }),
];

/// Triples of the page.
pub const COUNTS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// Bits of a correlation in both directions together, once a session is set up.
pub fn bits(maker: Extension, kind: Kind) -> f64 {
    // Enough of the largest batches that a few terms do not count.
    const STEADY: u64 = 1 << 26;
    let mut session = Correlating::new(maker);
    session.correlate(kind.demand(1));
    let supply = session.correlate(kind.demand(STEADY));
    let Traffic { alice_to_bob, bob_to_alice, .. } = supply.traffic();
    8.0 * (alice_to_bob + bob_to_alice) as f64 / supply.made.total() as f64
}

/// Bytes for so many triples of a new session, of the party that sends more.
pub fn sent(maker: Extension, triples: u64) -> u64 {
    let Traffic { alice_to_bob, bob_to_alice, .. } =
        Correlating::new(maker).correlate(Demand::of_triples(triples)).traffic();
    alice_to_bob.max(bob_to_alice)
}

/// The triples that a new session makes for each demand of several, one after another.
pub fn made(maker: Extension, triples: &[u64]) -> Vec<u64> {
    let mut session = Correlating::new(maker);
    triples.iter().map(|&triples| session.correlate(Demand::of_triples(triples)).made.triples).collect()
}

/// A maker's computing without a line: seconds until the first batch is there, then triples a second.
#[derive(Clone, Copy)]
pub struct Computing {
    pub setup: f64,
    pub speed: f64,
}

/// Seconds of a new session for triples, demanded one number after another: the exact messages on the line, and the computing
/// that goes on while they are sent.
pub fn seconds(maker: Extension, computing: Computing, triples: &[u64], line: &Link) -> f64 {
    let mut session = Correlating::new(maker);
    // Both greetings pass each other. Setup has the base OTs and the first batch.
    let (mut time, mut free) = (line.round_trip / 2 + Duration::from_secs_f64(computing.setup), made(maker, &[1])[0]);
    for &triples in triples {
        let supply = session.correlate(Demand::of_triples(triples));
        let made = supply.made.triples.saturating_sub(free);
        free = free.saturating_sub(supply.made.triples);
        time += supply.time_with(line, Duration::from_secs_f64(made as f64 / computing.speed));
    }
    time.as_secs_f64()
}
