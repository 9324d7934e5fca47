//! The properties of a simulated link, as people write them: `10ms,100Mbit`.
//!
//! The named ones are those of *GMW vs. Yao? Efficient Secure Two-Party Computation with Low Depth
//! Circuits* (Schneider and Zohner, Financial Cryptography 2013), sections 4 and 5.1: two machines on
//! Gigabit LAN with a ping of 0.2 ms; 10 ms stand for the internet within a country and 100 ms for
//! the one across the Atlantic, both imposed on that network with `tc`, whose rate they keep.

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
/// after what it sent before, and whoever reads waits for it. Of each exchange, Alice's first, the bytes that a party sends
/// and reads; of the lines, the one that Alice's messages take first.
pub(crate) fn travel(links: [&Link; 2], exchanges: impl Iterator<Item = [(usize, usize); 2]>) -> Duration {
    let mut now = [Duration::ZERO; 2];
    let mut free = [Duration::ZERO; 2];
    for each in exchanges {
        let arrivals = [0, 1].map(|from| {
            free[from] = free[from].max(now[from]) + links[from].transmission(each[from].0);
            free[from] + links[from].round_trip / 2
        });
        for party in [0, 1] {
            let reads = each[party].1 > 0;
            now[party] = if reads { now[party].max(arrivals[1 - party]) } else { now[party] };
        }
    }
    now[0].max(now[1])
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

    #[test]
    fn transmission_takes_its_time() {
        let link: Link = "100Mbit".parse().unwrap();
        assert_eq!(link.transmission(10_000_000), Duration::from_millis(800));
        assert_eq!(Link { bits_per_second: None, ..link }.transmission(usize::MAX), Duration::ZERO);
    }
}
