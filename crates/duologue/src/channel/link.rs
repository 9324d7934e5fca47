//! The properties of a simulated link, as people write them: `10ms,100Mbit`.
//!
//! The named ones are those of *GMW vs. Yao? Efficient Secure Two-Party Computation with Low Depth
//! Circuits* (Schneider and Zohner, Financial Cryptography 2013), sections 4 and 5.1: two machines on
//! Gigabit LAN with a ping of 0.2 ms; 10 ms stand for the internet within a country and 100 ms for
//! the one across the Atlantic, both imposed on that network with `tc`, whose rate they keep.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::error::{Error, Result};

const GIGABIT: Option<u64> = Some(1_000_000_000);

/// A link between two parties: how long a round trip takes, and how much it carries each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// From one party to the other and back; one message takes half of it.
    pub round_trip: Duration,
    /// The rate in each direction; `None` is as fast as the machine.
    pub bits_per_second: Option<u64>,
}

impl Link {
    /// A local network: 0.2 ms and 1 Gbit/s.
    pub const LAN: Link = Link { round_trip: Duration::from_micros(200), bits_per_second: GIGABIT };
    /// The internet within a country: 10 ms.
    pub const INTERNET: Link = Link { round_trip: Duration::from_millis(10), ..Link::LAN };
    /// The internet across the Atlantic: 100 ms.
    pub const TRANSATLANTIC: Link = Link { round_trip: Duration::from_millis(100), ..Link::LAN };
    const PRESETS: [(&'static str, Link); 3] =
        [("lan", Link::LAN), ("internet", Link::INTERNET), ("transatlantic", Link::TRANSATLANTIC)];

    /// How long `bytes` occupy the link.
    pub fn transmission(&self, bytes: usize) -> Duration {
        let nanoseconds = |rate: u64| bytes as u128 * 8_000_000_000 / u128::from(rate.max(1));
        let nanoseconds = self.bits_per_second.map_or(0, nanoseconds);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

/// When the last byte of both parties' exchanges has come, without computing: what each sends takes its place on the line
/// after what it sent before, and whoever reads waits for the last byte that it reads. Of Alice's and Bob's exchanges the
/// bytes that the party sends and then reads; of the lines, the one that Alice's messages take first.
pub(crate) fn travel(links: [&Link; 2], exchanges: [impl Iterator<Item = (usize, usize)>; 2]) -> Duration {
    let [alice, bob] = exchanges;
    let (mut alice, mut bob) = (Traveller::new(links[0], alice), Traveller::new(links[1], bob));
    while alice.advance(&mut bob.sent) | bob.advance(&mut alice.sent) {}
    alice.now.max(bob.now)
}

/// How long it takes to compute what travels: `waiting` on a line of endless rate, `all` on the line as it is. Sending, which is
/// the difference, and computing are cut into so many parts, where a part is made while the one before is sent; of a single
/// part one comes after the other.
pub(crate) fn together([waiting, all]: [Duration; 2], computing: Duration, parts: u32) -> Duration {
    let sending = all.saturating_sub(waiting);
    waiting + sending.max(computing) + sending.min(computing) / parts.max(1)
}

/// A party that sends and reads without computing.
struct Traveller<'a, I> {
    link: &'a Link,
    exchanges: I,
    now: Duration,
    /// When the line is free for its next message.
    free: Duration,
    sent: Sent,
    /// Bytes that it reads before its next exchange.
    reads: usize,
}

/// The messages of a direction that were not read.
#[derive(Default)]
struct Sent {
    /// Bytes and time of arrival.
    messages: VecDeque<(usize, Duration)>,
    bytes: usize,
}

impl<'a, I: Iterator<Item = (usize, usize)>> Traveller<'a, I> {
    fn new(link: &'a Link, exchanges: I) -> Self {
        let (now, free) = (Duration::ZERO, Duration::ZERO);
        Traveller { link, exchanges, now, free, sent: Sent::default(), reads: 0 }
    }

    /// Goes on until it waits for what the peer has not sent; whether it came any further.
    fn advance(&mut self, theirs: &mut Sent) -> bool {
        let mut advanced = false;
        while self.reads <= theirs.bytes {
            self.now = self.now.max(theirs.take(self.reads));
            let Some((sent, reads)) = self.exchanges.next() else {
                self.reads = 0;
                break;
            };
            self.send(sent);
            (self.reads, advanced) = (reads, true);
        }
        advanced
    }

    fn send(&mut self, bytes: usize) {
        if bytes > 0 {
            self.free = self.free.max(self.now) + self.link.transmission(bytes);
            self.sent.messages.push_back((bytes, self.free + self.link.round_trip / 2));
            self.sent.bytes += bytes;
        }
    }
}

impl Sent {
    /// Takes so many bytes, which are there: when the last of them comes.
    fn take(&mut self, mut bytes: usize) -> Duration {
        let mut last = Duration::ZERO;
        self.bytes -= bytes;
        while bytes > 0 {
            let Some((left, arrival)) = self.messages.front_mut() else { break };
            let taken = bytes.min(*left);
            (*left, bytes, last) = (*left - taken, bytes - taken, *arrival);
            if *left == 0 {
                self.messages.pop_front();
            }
        }
        last
    }
}

impl FromStr for Link {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some((_, link)) = Link::PRESETS.iter().find(|(name, _)| *name == text) {
            return Ok(*link);
        }
        let (mut round_trip, mut rate) = (None, None);
        for part in text.split(',') {
            match quantity(part.trim()) {
                Some(Quantity::Time(t)) if round_trip.is_none() => round_trip = Some(t),
                Some(Quantity::Rate(r)) if rate.is_none() => rate = Some(r),
                _ => return Err(malformed(text)),
            }
        }
        Ok(Link { round_trip: round_trip.unwrap_or_default(), bits_per_second: rate })
    }
}

enum Quantity {
    Time(Duration),
    Rate(u64),
}

/// A number and its unit; no link is slower than 1 bit/s or has a round trip over an hour.
fn quantity(text: &str) -> Option<Quantity> {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = text[..unit].parse().ok()?;
    let time = |seconds: f64| {
        let time = Duration::try_from_secs_f64(number * seconds).ok();
        time.filter(|t| *t <= Duration::from_secs(3600)).map(Quantity::Time)
    };
    let rate = |bits: f64| Some((number * bits) as u64).filter(|r| *r > 0).map(Quantity::Rate);
    match text[unit..].trim_start() {
        "us" | "µs" => time(1e-6),
        "ms" => time(1e-3),
        "s" => time(1.0),
        "kbit" => rate(1e3),
        "Mbit" => rate(1e6),
        "Gbit" => rate(1e9),
        _ => None,
    }
}

fn malformed(text: &str) -> Error {
    Error::Malformed {
        what: format!("link '{text}'"),
        why: "write a round trip and a rate as in '10ms,100Mbit', one of them, or lan, internet, \
              transatlantic"
            .into(),
    }
}

impl fmt::Display for Link {
    /// A form that can be read back exactly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.round_trip.as_nanos() as f64 / 1e6)?;
        match self.bits_per_second {
            Some(rate) => write!(f, ",{}Mbit", rate as f64 / 1e6),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_as_people_write_them() {
        let link = |ms: f64, rate| Link { round_trip: Duration::from_secs_f64(ms / 1e3), bits_per_second: rate };
        for (text, expected) in [
            ("100ms", link(100.0, None)),
            ("10ms,100Mbit", link(10.0, Some(100_000_000))),
            ("1.5Gbit , 200us", link(0.2, Some(1_500_000_000))),
            ("64 kbit", link(0.0, Some(64_000))),
            ("1s", link(1000.0, None)),
            ("lan", Link::LAN),
            ("internet", link(10.0, GIGABIT)),
            ("transatlantic", link(100.0, GIGABIT)),
        ] {
            assert_eq!(text.parse::<Link>().unwrap(), expected, "{text}");
            assert_eq!(expected.to_string().parse::<Link>().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "10", "ms", "10ms,20ms", "1Gbit,1Gbit", "10mbit", "-1ms", "0Mbit", "1e9s", "99999s", "1..2ms"]
        {
            assert!(matches!(text.parse::<Link>(), Err(Error::Malformed { .. })), "{text}");
        }
    }

    /// Both send before they read: a message of 10 ms on the line and 50 on its way. Whoever sends ahead of what it reads
    /// waits once, and whoever answers each message waits for each.
    #[test]
    fn messages_travel_side_by_side_and_are_read_in_order() {
        let link: Link = "100ms,8Mbit".parse().unwrap();
        let time = |alice: &[(usize, usize)], bob: &[(usize, usize)]| {
            travel([&link; 2], [alice, bob].map(|party| party.iter().copied()))
        };
        let ms = Duration::from_millis;
        let message = 10_000;
        assert_eq!(time(&[(message, message); 3], &[(message, message); 3]), ms(3 * 60));
        let ahead = [(message, 0), (message, 0), (message, message), (0, message), (0, message)];
        assert_eq!(time(&ahead, &ahead), ms(3 * 10 + 50));
        // Bob reads the first message before he goes on, Alice does not.
        let waits = [(message, message), (message, 0), (message, message), (0, message)];
        assert_eq!(time(&ahead, &waits), ms(60 + 2 * 10 + 50));
        // A message that is read in two pieces, and what is sent one way.
        assert_eq!(time(&[(2 * message, 0)], &[(0, message), (0, message)]), ms(70));
        assert_eq!(time(&[(message, 0); 5], &[(0, message); 5]), ms(100));
        // Who waits for what nobody sends waits no longer than for what was sent.
        assert_eq!(time(&[(message, 1)], &[(0, message)]), ms(60));
    }

    #[test]
    fn parts_are_made_while_others_are_sent() {
        let ms = Duration::from_millis;
        assert_eq!(together([ms(0), ms(30)], ms(20), 1), ms(50));
        assert_eq!(together([ms(0), ms(30)], ms(20), 10), ms(32));
        assert_eq!(together([ms(0), ms(20)], ms(30), u32::MAX), ms(30));
        assert_eq!(together([ms(7), ms(37)], ms(20), 10), ms(39));
    }

    #[test]
    fn transmission_takes_its_time() {
        let link: Link = "100Mbit".parse().unwrap();
        assert_eq!(link.transmission(10_000_000), Duration::from_millis(800));
        assert_eq!(Link { bits_per_second: None, ..link }.transmission(usize::MAX), Duration::ZERO);
    }
}
