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

/// Bytes of a probe that a party may claim, four times as many as any has.
const PROBES: RangeInclusive<u64> = 0..=1 << 18;

/// What a probe takes longer than its bytes on a line, where nothing went wrong: waking up and reading.
const READING: Duration = Duration::from_micros(200);

/// Bytes a second of a line that neither party could measure, unless the probes went faster: 1 Gbit/s.
const UNKNOWN: u64 = 125_000_000;

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
    /// From the first byte of the own probe to the last one of the peer's: of both parties together a round trip and the time
    /// of both probes on the line, or more.
    pub probes: Duration,
    /// Bytes of a probe.
    pub length: u32,
    /// Bytes a second that came from the peer.
    pub received: u64,
    /// The peer's bytes had come before they were read: `received` is how fast they were read, and the line may be slower.
    pub late: bool,
    /// AES blocks a second of all threads that share the work.
    pub speed: u64,
}

impl Findings {
    /// Bytes of the findings as they travel: both turns and the time of the probes in microseconds, 4 bytes each; the length of a
    /// probe, 4 bytes; what was received, whose highest bit says that it was read late; speed.
    pub const LEN: usize = 32;

    /// The findings as they travel.
    pub fn encode(&self) -> [u8; Self::LEN] {
        let Findings { turns: [first, second], probes, length, received, late, speed } = self.bounded();
        let times = [first, second, probes].map(|time| time.as_micros() as u32);
        let short = [times[0], times[1], times[2], length].map(u32::to_le_bytes);
        let long = [received | u64::from(late) << 63, speed].map(u64::to_le_bytes);
        let bytes = [short.as_flattened(), long.as_flattened()].concat();
        bytes.try_into().expect("as many")
    }

    /// Whatever a peer sent, within its bounds: every text of this length is one.
    pub fn decode(bytes: &[u8; Self::LEN]) -> Findings {
        let number = |at: usize, len: usize| {
            bytes[at..at + len].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        let [first, second, probes] = [0, 4, 8].map(|at| Duration::from_micros(number(at, 4)));
        let (length, received, speed) = (number(12, 4) as u32, number(16, 8), number(24, 8));
        let (received, late) = (received & (u64::MAX >> 1), received >> 63 == 1);
        Findings { turns: [first, second], probes, length, received, late, speed }.bounded()
    }

    /// The conditions that follow for both parties from what each has found, as it has sent it.
    pub fn merge(alice: &Findings, bob: &Findings) -> Conditions {
        let [alice, bob] = [alice, bob].map(Findings::bounded);
        let turns = [0, 1].map(|i| alice.turns[i] + bob.turns[i]);
        let round_trip = turns[0].min(turns[1]);
        let [alice_to_bob, bob_to_alice] = match [bob.late, alice.late] {
            [false, false] => [bob.received, alice.received],
            // Nobody knows how fast the bytes came that were read late: the line counts as symmetric.
            [true, false] => [alice.received; 2],
            [false, true] => [bob.received; 2],
            [true, true] => {
                let most = most(alice.length.min(bob.length), (alice.probes + bob.probes).saturating_sub(round_trip));
                [bob.received, alice.received].map(|rate| rate.min(most))
            }
        };
        Conditions { alice_to_bob, bob_to_alice, round_trip, speed: alice.speed.min(bob.speed) }.bounded()
    }

    /// The same, but too late to tell the rate, if it was.
    pub(crate) fn or_late(self, late: bool) -> Findings {
        Findings { late: self.late || late, ..self }
    }

    fn bounded(&self) -> Findings {
        Findings {
            turns: self.turns.map(|turn| microseconds(turn.min(LONGEST))),
            probes: microseconds(self.probes.min(LONGEST)),
            length: within(self.length.into(), PROBES) as u32,
            received: within(self.received, BANDWIDTHS),
            late: self.late,
            speed: within(self.speed, SPEEDS),
        }
    }
}

/// Bytes a second, at most, of a line on which both probes, of so many bytes, took so long, if neither was read as it came. Either
/// party may have been busy meanwhile, and a transport that has just begun pauses: so what is slow says little.
fn most(length: u32, both: Duration) -> u64 {
    per_second(2 * u128::from(length), both.saturating_sub(READING)).max(UNKNOWN)
}

/// How many in a second, of so many in a time: the most that there is in no time.
pub(crate) fn per_second(count: u128, time: Duration) -> u64 {
    let rate = (count * 1_000_000_000).checked_div(time.as_nanos());
    rate.and_then(|rate| u64::try_from(rate).ok()).unwrap_or(u64::MAX)
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
            probes: Duration::from_micros(0x0403),
            length: 0x0605,
            received: 125_000_000,
            late: true,
            speed: 0x0908_0706,
        };
        let mut bytes = vec![2, 1, 0, 0, 3, 0, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0];
        bytes.extend((125_000_000 + (1u64 << 63)).to_le_bytes());
        bytes.extend([6, 7, 8, 9, 0, 0, 0, 0]);
        assert_eq!(ours.encode()[..], bytes[..]);
        let theirs = Findings::decode(&ours.encode());
        assert_eq!(theirs, Findings { turns: [ours.turns[0], Duration::from_micros(3)], ..ours });
    }

    #[test]
    fn what_is_out_of_bounds_is_brought_within_them() {
        let (most, late) = (125_000_000_000, true);
        let expected = Findings {
            turns: [LONGEST; 2],
            probes: LONGEST,
            length: 1 << 18,
            received: most,
            late,
            speed: 1_000_000_000_000,
        };
        assert_eq!(Findings::decode(&[0xff; Findings::LEN]), expected);
        let (none, late) = (Duration::ZERO, false);
        let expected = Findings { turns: [none; 2], probes: none, length: 0, received: 1_000, late, speed: 100_000 };
        assert_eq!(Findings::decode(&[0; Findings::LEN]), expected);
    }

    /// Found on a line of 5 ms on which 64 kB come within so many microseconds after the first byte.
    fn found(received: u64, late: bool, microseconds: u64) -> Findings {
        let half = Duration::from_micros(2_500);
        let probes = half + Duration::from_micros(microseconds);
        Findings { turns: [half; 2], probes, length: 64_000, received, late, speed: 200_000 }
    }

    /// Of a direction that nobody could measure the other one is assumed.
    #[test]
    fn who_reads_late_does_not_count() {
        let late =
            Findings { turns: [Duration::from_millis(9), Duration::from_millis(7)], ..found(6_000_000_000, true, 0) };
        let conditions = Findings::merge(&found(5_000, false, 0), &late);
        assert_eq!((conditions.alice_to_bob, conditions.bob_to_alice), (5_000, 5_000));
        let conditions = Findings::merge(&late, &found(5_000, false, 0));
        assert_eq!((conditions.alice_to_bob, conditions.bob_to_alice), (5_000, 5_000));
        assert_eq!(conditions.round_trip, Duration::from_micros(9_500));
    }

    /// If neither could measure, what both probes took bounds the rate, but for what waking up takes, and pauses.
    #[test]
    fn of_two_that_read_late_the_probes_tell() {
        let rate = |microseconds| {
            let late = found(6_000_000_000, true, microseconds);
            Findings::merge(&late, &late).alice_to_bob
        };
        // Nothing took long: as fast as it was read.
        assert_eq!(rate(100), 6_000_000_000);
        // 128 kB in 400 − 200 µs, and in 1,200 − 200, which is less than is assumed.
        assert_eq!(rate(200), 640_000_000);
        assert_eq!(rate(600), 128_000_000);
        assert_eq!([800, 50_000].map(rate), [UNKNOWN; 2]);
    }

    #[test]
    fn conditions_are_shown_with_three_digits() {
        let shown = Conditions::of(&"10ms,12.3456Mbit".parse().unwrap()).to_string();
        assert_eq!(shown, "12.3 Mbit/s from alice, 12.3 from bob, 10 ms, 619 million AES blocks a second");
    }
}
