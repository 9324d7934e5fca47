//! Two clocks compared over a channel, as NTP does it (RFC 5905, section 8).
//!
//! Who connects asks first, then the other, eight times each. The answer that took least time counts: the offset is as sure
//! as half of that round trip. The peer's times are its own words, and nothing hangs on them.

use crate::failure::Failure;
use crate::io::console::seconds;
use duologue::channel::Channel;
use std::fmt;
use std::time::{Instant, SystemTime};

const QUESTIONS: usize = 8;

/// Nanoseconds since 1970, by a clock that nobody sets meanwhile.
pub struct Clock {
    base: u64,
    start: Instant,
}

impl Clock {
    pub fn new() -> Clock {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Clock { base: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX), start: Instant::now() }
    }

    fn now(&self) -> u64 {
        self.base.saturating_add(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

/// One question and its answer, each at both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    asked: u64,
    heard: u64,
    answered: u64,
    back: u64,
}

impl Sample {
    /// How far the peer's clock is ahead of ours, in seconds.
    fn ahead(&self) -> f64 {
        let Sample { asked, heard, answered, back } = self;
        let there = i128::from(*heard) - i128::from(*asked);
        let here = i128::from(*answered) - i128::from(*back);
        (there + here) as f64 / 2e9
    }

    /// The time on the line, both ways, in seconds.
    fn round_trip(&self) -> f64 {
        let all = self.back.saturating_sub(self.asked);
        all.saturating_sub(self.answered.saturating_sub(self.heard)) as f64 / 1e9
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ahead = self.ahead();
        let word = if ahead < 0.0 { "behind" } else { "ahead of" };
        let (offset, trip) = (seconds(ahead.abs()), seconds(self.round_trip()));
        write!(f, "its clock {offset} {word} ours, a round trip takes {trip}")
    }
}

/// What both parties do: each asks, and each answers.
pub fn compare(channel: &mut Channel, clock: &Clock, we_ask_first: bool) -> Result<Sample, Failure> {
    if we_ask_first {
        let best = ask(channel, clock)?;
        answer(channel, clock)?;
        return Ok(best);
    }
    answer(channel, clock)?;
    ask(channel, clock)
}

fn ask(channel: &mut Channel, clock: &Clock) -> Result<Sample, Failure> {
    let samples = (0..QUESTIONS).map(|_| question(channel, clock)).collect::<Result<Vec<_>, _>>()?;
    Ok(best(&samples))
}

fn question(channel: &mut Channel, clock: &Clock) -> Result<Sample, Failure> {
    let asked = clock.now();
    channel.send(&[1])?;
    let (mut heard, mut answered) = ([0; 8], [0; 8]);
    channel.recv_into(&mut heard)?;
    channel.recv_into(&mut answered)?;
    Ok(Sample { asked, heard: u64::from_le_bytes(heard), answered: u64::from_le_bytes(answered), back: clock.now() })
}

fn answer(channel: &mut Channel, clock: &Clock) -> Result<(), Failure> {
    for _ in 0..QUESTIONS {
        channel.recv(1)?;
        let heard = clock.now();
        channel.send(&[heard.to_le_bytes(), clock.now().to_le_bytes()].concat())?;
        channel.flush()?;
    }
    Ok(())
}

/// The sample of the shortest round trip.
fn best(samples: &[Sample]) -> Sample {
    let shortest = samples.iter().min_by(|a, b| a.round_trip().total_cmp(&b.round_trip()));
    shortest.copied().unwrap_or(Sample { asked: 0, heard: 0, answered: 0, back: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::thread;

    /// An answer over a line whose ways take these times, from a clock that is so far ahead.
    fn sample(there: u64, work: u64, here: u64, ahead: i64) -> Sample {
        let asked = 1_000_000_000_000;
        let theirs = |time: u64| time.checked_add_signed(ahead).unwrap();
        let (heard, answered) = (theirs(asked + there), theirs(asked + there + work));
        Sample { asked, heard, answered, back: asked + there + work + here }
    }

    #[test]
    fn a_line_alike_both_ways_gives_the_offset_exactly() {
        let one = sample(745_000, 9_000_000, 745_000, 701_000);
        assert_eq!(one.to_string(), "its clock 701 µs ahead of ours, a round trip takes 1.49 ms");
        let one = sample(10_000_000, 0, 10_000_000, -3_600_000_000_000_i64 / 10);
        assert_eq!(one.to_string(), "its clock 360 s behind ours, a round trip takes 20.0 ms");
    }

    #[test]
    fn the_shortest_round_trip_counts() {
        let samples = [sample(5_000, 1, 900_000, 77), sample(4_000, 1, 4_000, 77), sample(1, 1, 90_000, 77)];
        assert_eq!(best(&samples), samples[1]);
    }

    #[test]
    fn both_parties_learn_of_each_others_clock() {
        let (mut a, mut b) = Channel::pair();
        let (early, late) =
            (Clock::new(), Clock { base: Clock::new().base + 3_600_000_000_000, start: Instant::now() });
        let other = thread::spawn(move || compare(&mut b, &late, false).unwrap().ahead());
        let ahead = compare(&mut a, &early, true).unwrap().ahead();
        // An hour, up to half of a round trip in this process.
        assert!((3_500.0..3_700.0).contains(&ahead), "{ahead}");
        assert!((-3_700.0..-3_500.0).contains(&other.join().unwrap()));
    }

    proptest! {
        #[test]
        fn times_of_any_peer_are_shown(asked: u64, heard: u64, answered: u64, back: u64) {
            let shown = Sample { asked, heard, answered, back }.to_string();
            prop_assert!(shown.starts_with("its clock "));
        }
    }
}
