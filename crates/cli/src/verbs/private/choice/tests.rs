//! The choice over sizes, lines and threads.

use super::*;
use duologue::channel::Link;
use pfe::Counts;

/// Random ANDs, of whose nodes 0.89 a gate are copies.
fn function(gates: u64) -> Announced {
    Announced::new(64, 32, 1)
        .with(Method::Dh, Counts { gates, additions: 6 * gates })
        .with(Method::Universal, Counts { gates: gates * 189 / 100, additions: 0 })
}

fn case(gates: u64, link: &str, speed: u64) -> Case {
    let link: Link = link.parse().unwrap();
    Case { function: function(gates), speeds: [speed; 2], conditions: Conditions::of(&link) }
}

const BOTH: [Method; 2] = [Method::Universal, Method::Dh];

/// Gates a second of one thread: portable, and by the wide kernel.
const RATES: [u64; 2] = [12_500, 50_000];

/// n = 10² … 10⁶, 10 Mbit to 10 Gbit, 1 and 100 ms, one and two threads, of either kernel.
fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for gates in [100, 1_000, 10_000, 100_000, 1_000_000] {
        for rate in ["10Mbit", "30Mbit", "100Mbit", "300Mbit", "1Gbit", "3Gbit", "10Gbit"] {
            for time in ["1ms", "100ms"] {
                for speed in [1, 2].into_iter().flat_map(|threads| RATES.map(|rate| threads * rate)) {
                    cases.push(case(gates, &format!("{time},{rate}"), speed));
                }
            }
        }
    }
    cases
}

/// What was measured wrong by a third still leads to the better method in nine of ten cases, by predicted times.
#[test]
fn the_better_method_is_taken_despite_errors_of_measuring() {
    let (mut right, mut count) = (0, 0);
    for case in all() {
        let better = BOTH.into_iter().min_by_key(|&method| predict(method, &case)).unwrap();
        for (line, speed) in [(4, 4), (4, 2), (2, 4), (3, 2), (2, 3)] {
            let mut found = case;
            found.conditions.alice_to_bob = found.conditions.alice_to_bob / 3 * line;
            found.conditions.bob_to_alice = found.conditions.bob_to_alice / 3 * line;
            found.speeds = found.speeds.map(|rate| rate / 3 * speed);
            right += u32::from(choose(&BOTH, &found) == better);
            count += 1;
        }
    }
    assert!(10 * right >= 9 * count, "{right} of {count}");
}

/// Either method is the better one somewhere: the choice is one.
#[test]
fn fast_lines_take_universal_circuits_and_slow_ones_labels() {
    for gates in [1_000, 10_000, 100_000, 1_000_000] {
        assert_eq!(choose(&BOTH, &case(gates, "1ms,10Gbit", RATES[0])), Method::Universal, "{gates}");
    }
    for gates in [10_000, 100_000, 1_000_000] {
        assert_eq!(choose(&BOTH, &case(gates, "100ms,10Mbit", RATES[1])), Method::Dh, "{gates}");
    }
}

/// Whatever a peer claims there is a time.
#[test]
fn no_claim_breaks_the_arithmetic() {
    for gates in [0, 1, 1 << 28] {
        for speed in [0, 1, u64::MAX] {
            let mut case = case(gates, "0ms", speed);
            case.conditions = case.conditions.with_speed(speed);
            assert!(BOTH.iter().all(|&method| predict(method, &case) > Duration::ZERO));
            assert!(probe(&case.function) <= 64 << 10);
        }
    }
}
