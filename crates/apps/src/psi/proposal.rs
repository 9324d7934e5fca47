//! What both parties say before they have a session: who learns what, and how many strings each has.
//!
//! ```text
//! both   32 bytes: magic `duo-psi.`, version (2), the numbers of who learns (1) and of what (1), bits of a value that the party
//!        gives for each string (1), zeros (3), strings (8), threshold (8)
//! ```

use super::{Learns, MOST, shares};
use duologue::channel::Channel;
use duologue::{Error, Result};
use std::fmt;
use std::str::FromStr;

const MAGIC: [u8; 8] = *b"duo-psi.";
const VERSION: u16 = 2;

/// Bytes of a message.
const LEN: usize = 32;

/// What is learnt of the strings that both have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reveal {
    /// Which of the own strings they are.
    Rows,
    /// How many they are.
    Size,
    /// The sum of values that one party gives for its strings, and not how many they are.
    Sum,
    /// Whether they are at least so many.
    Threshold,
}

impl Reveal {
    /// All there are, by their numbers.
    pub const ALL: [Reveal; 4] = [Reveal::Rows, Reveal::Size, Reveal::Sum, Reveal::Threshold];

    /// Its name.
    pub fn name(self) -> &'static str {
        ["rows", "size", "sum", "threshold"][self as usize]
    }

    /// The most strings of a party.
    pub fn most(self) -> u64 {
        if self == Reveal::Rows { MOST } else { shares::MOST }
    }
}

impl fmt::Display for Reveal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Reveal {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Reveal::ALL.into_iter().find(|reveal| reveal.name() == text);
        found.ok_or_else(|| "rows, size, sum or threshold".into())
    }
}

/// What a party proposes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// Who learns, both alike.
    pub learns: Learns,
    /// What it learns, both alike.
    pub reveal: Reveal,
    /// How many strings are enough, both alike; 0 if that is not asked.
    pub threshold: u64,
    /// How many strings the party has.
    pub strings: u64,
    /// Bits of the values that the party gives, one for each string; 0 if it gives none. For a sum one party gives some.
    pub value_bits: u8,
}

impl Proposal {
    /// Trades proposals with the peer, before there is a session; what the peer proposes.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are too many strings, before anything is sent; [`Error::Incompatible`] if another party is to
    /// learn, or something else, or not one party alone gives values, or the version is another; [`Error::Peer`] if the peer proposes nothing.
    pub fn trade(&self, channel: &mut Channel) -> Result<Proposal> {
        self.meet(channel).inspect_err(|error| channel.abort_after(error))
    }

    fn meet(&self, channel: &mut Channel) -> Result<Proposal> {
        let most = self.reveal.most();
        if self.strings > most {
            let why = format!("{} strings, and of {} there may be {most}", self.strings, self.reveal);
            return Err(Error::usage(why));
        }
        channel.send(&self.to_bytes())?;
        channel.flush()?;
        let theirs = Proposal::from_bytes(&channel.recv(LEN)?)?;
        let gives = |proposal: &Proposal| if proposal.value_bits > 0 { "values" } else { "none" };
        match () {
            () if theirs.learns != self.learns => differ("who learns", &self.learns, &theirs.learns),
            () if theirs.reveal != self.reveal => differ("what is learnt", &self.reveal, &theirs.reveal),
            () if theirs.threshold != self.threshold => differ("the threshold", &self.threshold, &theirs.threshold),
            () if self.reveal == Reveal::Sum && gives(self) == gives(&theirs) => {
                differ("what one party alone gives for a sum", &gives(self), &gives(&theirs))
            }
            () => Ok(theirs),
        }
    }

    fn to_bytes(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10..13].copy_from_slice(&[self.learns.number(), self.reveal as u8, self.value_bits]);
        bytes[16..24].copy_from_slice(&self.strings.to_le_bytes());
        bytes[24..].copy_from_slice(&self.threshold.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Proposal> {
        let none = || Error::peer("it computes no intersection: both parties give `duologue psi`");
        let (magic, rest) = bytes.split_first_chunk::<8>().ok_or_else(none)?;
        let &[low, high, learns, reveal, value_bits, 0, 0, 0, ref numbers @ ..] = rest else {
            return Err(none());
        };
        if *magic != MAGIC {
            return Err(none());
        }
        let version = u16::from_le_bytes([low, high]);
        if version != VERSION {
            return differ("the version of psi", &VERSION, &version);
        }
        let learns = Learns::ALL.into_iter().find(|known| known.number() == learns);
        let reveal = Reveal::ALL.into_iter().find(|known| *known as u8 == reveal);
        let ([strings, threshold], []) = numbers.as_chunks() else { return Err(none()) };
        let [strings, threshold] = [strings, threshold].map(|number| u64::from_le_bytes(*number));
        match (learns, reveal) {
            (Some(learns), Some(reveal)) if reveal.allows(strings, threshold, value_bits) => {
                Ok(Proposal { learns, reveal, threshold, strings, value_bits })
            }
            _ => Err(Error::peer("its proposal of an intersection is none")),
        }
    }
}

impl Reveal {
    fn allows(self, strings: u64, threshold: u64, value_bits: u8) -> bool {
        let most = if self == Reveal::Sum { shares::MOST_VALUE_WIDTH as u8 } else { 0 };
        let least = if self == Reveal::Threshold { 1..1 << shares::COUNT_WIDTH } else { 0..1 };
        strings <= self.most() && least.contains(&threshold) && value_bits <= most
    }
}

fn differ<T>(what: &'static str, ours: &impl ToString, theirs: &impl ToString) -> Result<T> {
    Err(Error::Incompatible { what, ours: ours.to_string(), theirs: theirs.to_string(), place: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use duologue::circuit::Party;
    use proptest::prelude::*;
    use std::thread;

    fn trade(ours: Proposal, theirs: Proposal) -> [Result<Proposal>; 2] {
        let (mut alice, mut bob) = Channel::pair();
        let peer = thread::spawn(move || theirs.trade(&mut bob));
        [ours.trade(&mut alice), peer.join().unwrap()]
    }

    const ROWS: Proposal =
        Proposal { learns: Learns::Both, reveal: Reveal::Rows, threshold: 0, strings: 3, value_bits: 0 };

    #[test]
    fn parties_hear_what_the_other_has() {
        let all = [
            [ROWS, Proposal { strings: MOST, ..ROWS }],
            [3, shares::MOST].map(|strings| Proposal { reveal: Reveal::Size, strings, ..ROWS }),
            [0, 40].map(|value_bits| Proposal { reveal: Reveal::Sum, value_bits, ..ROWS }),
            [5, 6].map(|strings| Proposal { reveal: Reveal::Threshold, threshold: 1, strings, ..ROWS }),
        ];
        for [alice, bob] in all {
            let [at_alice, at_bob] = trade(alice, bob);
            assert_eq!((at_alice.unwrap(), at_bob.unwrap()), (bob, alice));
        }
    }

    #[test]
    fn what_differs_is_named() {
        let sum = Proposal { reveal: Reveal::Sum, ..ROWS };
        let least = |threshold| Proposal { reveal: Reveal::Threshold, threshold, ..ROWS };
        for (ours, theirs, differs) in [
            (ROWS, Proposal { learns: Learns::Only(Party::Alice), ..ROWS }, "who learns"),
            (ROWS, Proposal { reveal: Reveal::Size, ..ROWS }, "what is learnt"),
            (least(5), least(6), "the threshold"),
            (sum, sum, "what one party alone gives for a sum"),
            (
                Proposal { value_bits: 8, ..sum },
                Proposal { value_bits: 9, ..sum },
                "what one party alone gives for a sum",
            ),
        ] {
            let results = trade(ours, theirs).map(Result::unwrap_err);
            let named = |error: &Error| matches!(error, Error::Incompatible { what, .. } if *what == differs);
            assert!(results.iter().any(named), "{results:?}");
            assert!(results.iter().all(|error| named(error) || matches!(error, Error::Aborted(_))), "{results:?}");
        }
        for (reveal, most) in [(Reveal::Rows, MOST), (Reveal::Size, shares::MOST)] {
            let (mut channel, _peer) = Channel::pair();
            let error = Proposal { reveal, strings: most + 1, ..ROWS }.trade(&mut channel).unwrap_err();
            assert!(matches!(error, Error::Usage(_)), "{error}");
        }
    }

    proptest! {
        /// Bytes are a proposal or an error; of every proposal there is one encoding.
        #[test]
        fn any_bytes_are_read(mut bytes in prop::array::uniform32(any::<u8>()), keep in 0usize..=32, reveal in 0usize..4) {
            let threshold = u64::from(reveal == 3);
            let proposal = Proposal { reveal: Reveal::ALL[reveal], threshold, strings: 77, ..ROWS }.to_bytes();
            bytes[..keep].copy_from_slice(&proposal[..keep]);
            if let Ok(read) = Proposal::from_bytes(&bytes) {
                prop_assert_eq!(read.to_bytes(), bytes);
            }
            prop_assert!(Proposal::from_bytes(&bytes[..keep.min(31)]).is_err());
        }
    }
}
