//! The conditions of a session: what its line carries, how long a round trip takes, and how fast both parties compute.
//!
//! Choices that decide what is sent are made by them, so both parties must have the same. Each measures its own
//! [`Findings`] and sends them; from both findings both compute the [`Conditions`]. Every value is an integer within
//! stated bounds, whatever a peer says, and everything is computed in integers.
//!
//! A peer that lies can make a session slow, as it could by being slow, and can bring about any candidate over any line.
//! All have the same security by the project's own estimates, but the wide sets of silent OT rest on learning parity with
//! noise in addition, and take more memory, up to what `docs/correlations-measured.md` shows. Who wants none of that names a
//! maker.

use crate::Party;
use crate::channel::Link;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

/// AES blocks a second of one core of the machine on which the costs of makers were measured, which is assumed where
/// nothing was measured.
pub(crate) const REFERENCE_SPEED: u64 = 619_100_000;

/// Bytes a second: 8 kbit/s to 1 Tbit/s.
const BANDWIDTHS: RangeInclusive<u64> = 1_000..=125_000_000_000;

/// AES blocks a second: from a processor for watches to thousands of cores.
const SPEEDS: RangeInclusive<u64> = 100_000..=1_000_000_000_000;

/// The longest part of a round trip that a party may claim: a minute.
const LONGEST: Duration = Duration::from_secs(60);

/// What a line carries, how long a round trip takes, and how fast the slower party computes; the same at both parties.
///
/// ```
/// use duologue::{Conditions, channel::Link};
/// let conditions = Conditions::of(&Link::INTERNET);
/// assert_eq!(conditions.alice_to_bob, 125_000_000);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Conditions {
    /// Bytes a second from Alice to Bob, from 1,000 to 125,000,000,000.
    pub alice_to_bob: u64,
    /// Bytes a second from Bob to Alice, likewise.
    pub bob_to_alice: u64,
    /// From one party to the other and back, in whole microseconds, at most two minutes.
    pub round_trip: Duration,
    /// AES-128 blocks a second of all threads of the slower party, from 100,000 to 1,000,000,000,000.
    pub speed: u64,
}

impl Conditions {
    /// This line, alike in both directions, between two processors of the reference machine, a core each.
    pub fn of(link: &Link) -> Conditions {
        let bandwidth = link.bits_per_second.map_or(u64::MAX, |bits| bits / 8);
        let (alice_to_bob, bob_to_alice) = (bandwidth, bandwidth);
        Conditions { alice_to_bob, bob_to_alice, round_trip: link.round_trip, speed: REFERENCE_SPEED }.bounded()
    }

    /// The same with another speed, in AES blocks a second.
    pub fn with_speed(self, speed: u64) -> Conditions {
        Conditions { speed, ..self }.bounded()
    }

    /// Every value within its bounds: who fills in the fields may have left them.
    pub(crate) fn bounded(self) -> Conditions {
        Conditions {
            alice_to_bob: within(self.alice_to_bob, BANDWIDTHS),
            bob_to_alice: within(self.bob_to_alice, BANDWIDTHS),
            round_trip: microseconds(self.round_trip.min(2 * LONGEST)),
            speed: within(self.speed, SPEEDS),
        }
    }

    /// The lines that Alice's and Bob's messages take.
    pub(crate) fn links(&self) -> [Link; 2] {
        [self.alice_to_bob, self.bob_to_alice]
            .map(|bytes| Link { round_trip: self.round_trip, bits_per_second: Some(8 * bytes) })
    }

    /// The same lines without an end of their rate: what is left is waiting.
    pub(crate) fn endless_links(&self) -> [Link; 2] {
        self.links().map(|link| Link { bits_per_second: None, ..link })
    }

    /// How long the slower party computes for so many AES blocks.
    pub(crate) fn computing(&self, blocks: u128) -> Duration {
        let nanoseconds = blocks * 1_000_000_000 / u128::from(self.speed);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mbit = |bytes: u64| significant(bytes as f64 * 8e-6);
        write!(f, "{} Mbit/s from alice, {} from bob", mbit(self.alice_to_bob), mbit(self.bob_to_alice))?;
        let (milliseconds, blocks) = (self.round_trip.as_secs_f64() * 1e3, self.speed as f64 * 1e-6);
        write!(f, ", {} ms, {} million AES blocks a second", significant(milliseconds), significant(blocks))
    }
}

/// Three digits, and no zeros after the point.
fn significant(value: f64) -> String {
    let digits = match value {
        _ if value >= 100.0 => 0,
        _ if value >= 10.0 => 1,
        _ if value >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

fn within(value: u64, bounds: RangeInclusive<u64>) -> u64 {
    value.clamp(*bounds.start(), *bounds.end())
}

fn microseconds(time: Duration) -> Duration {
    Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

/// What one party measured.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Findings {
    /// In two exchanges of which both parties send and read at once, the time from sending to the peer's first bytes. What
    /// both parties find for one exchange adds up to a round trip, whichever of them was earlier, or to more if one read late.
    pub turns: [Duration; 2],
    /// Bytes a second that came from the peer, unless the party read too late to tell.
    pub received: Option<u64>,
    /// AES blocks a second of all threads that share the work.
    pub speed: u64,
}

impl Findings {
    /// Bytes of the findings as they travel: both turns in microseconds, 4 bytes each; what was received, or 0; speed.
    pub const LEN: usize = 24;

    /// The findings as they travel.
    pub fn encode(&self) -> [u8; Self::LEN] {
        let Findings { turns: [first, second], received, speed } = self.bounded();
        let turn = |time: Duration| (time.as_micros() as u32).to_le_bytes();
        let numbers = [received.unwrap_or(0), speed].map(u64::to_le_bytes);
        let bytes = [&turn(first)[..], &turn(second), numbers.as_flattened()].concat();
        bytes.try_into().expect("as many")
    }

    /// Whatever a peer sent, within its bounds: every text of this length is one.
    pub fn decode(bytes: &[u8; Self::LEN]) -> Findings {
        let number = |at: usize, len: usize| {
            bytes[at..at + len].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        let turns = [number(0, 4), number(4, 4)].map(Duration::from_micros);
        let received = Some(number(8, 8)).filter(|&bytes| bytes > 0);
        Findings { turns, received, speed: number(16, 8) }.bounded()
    }

    /// The conditions that follow for both parties from what each has found, as it has sent it.
    pub fn merge(alice: &Findings, bob: &Findings) -> Conditions {
        let [alice, bob] = [alice, bob].map(Findings::bounded);
        let turns = [0, 1].map(|i| alice.turns[i] + bob.turns[i]);
        // Who read late is told by nobody how fast its peer's bytes came: the line counts as symmetric then.
        let bandwidth = |one: Option<u64>, other: Option<u64>| one.or(other).unwrap_or(*BANDWIDTHS.end());
        Conditions {
            alice_to_bob: bandwidth(bob.received, alice.received),
            bob_to_alice: bandwidth(alice.received, bob.received),
            round_trip: turns[0].min(turns[1]),
            speed: alice.speed.min(bob.speed),
        }
        .bounded()
    }

    fn bounded(&self) -> Findings {
        Findings {
            turns: self.turns.map(|turn| microseconds(turn.min(LONGEST))),
            received: self.received.map(|bytes| within(bytes, BANDWIDTHS)),
            speed: within(self.speed, SPEEDS),
        }
    }
}

/// Of two parties' findings, ours and the peer's, the conditions.
pub(crate) fn merged(us: Party, ours: &Findings, theirs: &Findings) -> Conditions {
    let (alice, bob) = if us == Party::Alice { (ours, theirs) } else { (theirs, ours) };
    Findings::merge(alice, bob)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Both parties have the same conditions, within their bounds, whatever either claims.
        #[test]
        fn both_parties_merge_alike(bytes: [[u8; Findings::LEN]; 2]) {
            let [alice, bob] = bytes.map(|bytes| Findings::decode(&bytes));
            let at_alice = merged(Party::Alice, &alice, &Findings::decode(&bob.encode()));
            let at_bob = merged(Party::Bob, &bob, &Findings::decode(&alice.encode()));
            prop_assert_eq!(at_alice, at_bob);
            prop_assert_eq!(at_alice, at_alice.bounded());
            prop_assert!(BANDWIDTHS.contains(&at_alice.alice_to_bob) && SPEEDS.contains(&at_alice.speed));
        }
    }

    /// The encoding is the one of the page on sessions.
    #[test]
    fn findings_travel_as_they_are_described() {
        let ours = Findings {
            turns: [Duration::from_micros(0x0102), Duration::from_nanos(3_999)],
            received: Some(125_000_000),
            speed: 0x0908_0706,
        };
        let mut bytes = vec![2, 1, 0, 0, 3, 0, 0, 0];
        bytes.extend(125_000_000u64.to_le_bytes());
        bytes.extend([6, 7, 8, 9, 0, 0, 0, 0]);
        assert_eq!(ours.encode()[..], bytes[..]);
        assert_eq!(Findings::decode(&ours.encode()).turns[1], Duration::from_micros(3));
    }

    #[test]
    fn what_is_out_of_bounds_is_brought_within_them() {
        let found = Findings::decode(&[0xff; Findings::LEN]);
        assert_eq!(found, Findings { turns: [LONGEST; 2], received: Some(125_000_000_000), speed: 1_000_000_000_000 });
        let found = Findings::decode(&[0; Findings::LEN]);
        assert_eq!(found, Findings { turns: [Duration::ZERO; 2], received: None, speed: 100_000 });
        let slow = Findings { received: Some(1), ..found };
        assert_eq!(Findings::decode(&slow.encode()).received, Some(1_000));
    }

    /// Of a direction that nobody could measure the other one is assumed.
    #[test]
    fn who_reads_late_does_not_count() {
        let found = Findings { turns: [Duration::from_millis(5); 2], received: Some(5_000), speed: 200_000 };
        let late = Findings { turns: [Duration::from_millis(9), Duration::ZERO], received: None, speed: 300_000 };
        let conditions = Findings::merge(&found, &late);
        assert_eq!((conditions.alice_to_bob, conditions.bob_to_alice), (5_000, 5_000));
        assert_eq!((conditions.round_trip, conditions.speed), (Duration::from_millis(5), 200_000));
        let nobody = Findings::merge(&late, &late);
        assert_eq!(nobody.alice_to_bob, *BANDWIDTHS.end());
    }

    #[test]
    fn conditions_are_shown_with_three_digits() {
        let shown = Conditions::of(&"10ms,12.3456Mbit".parse().unwrap()).to_string();
        assert_eq!(shown, "12.3 Mbit/s from alice, 12.3 from bob, 10 ms, 619 million AES blocks a second");
    }
}
