//! The exact bytes that makers send, and how long these and the computing take over a line.

use super::figures::Kind;
use super::party::Measured;
use super::report::speed;
use duologue::channel::Link;
use duologue::correlation::Demand;
use duologue::cost::{Correlating, Traffic};
use duologue::ot::Extension;
use std::time::Duration;

/// The lines of the book's page.
pub const LINES: [(&str, Link); 3] = [
    ("LAN: 1 Gbit/s, 0.2 ms", Link::LAN),
    ("100 Mbit/s, 10 ms", Link { round_trip: Duration::from_millis(10), bits_per_second: Some(100_000_000) }),
    ("10 Mbit/s, 100 ms", Link { round_trip: Duration::from_millis(100), bits_per_second: Some(10_000_000) }),
];

/// Triples of the book's page.
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

/// Bytes of Alice for so many triples of a new session.
pub fn sent(maker: Extension, triples: u64) -> u64 {
    Correlating::new(maker).correlate(Demand::of_triples(triples)).traffic().alice_to_bob
}

/// Seconds of a new session for triples, demanded one number after another: the exact messages on the line one after
/// another, and the computing as it was measured without a line.
pub fn seconds(maker: Extension, measured: &Measured, triples: &[u64], line: &Link) -> f64 {
    let mut session = Correlating::new(maker);
    // Both greetings pass each other.
    let (mut travel, mut made) = (line.round_trip / 2, 0);
    for &triples in triples {
        let supply = session.correlate(Demand::of_triples(triples));
        travel += supply.time(line);
        made += supply.made.triples;
    }
    travel.as_secs_f64() + measured.setup + made.saturating_sub(measured.first) as f64 / speed(&measured.runs)
}
