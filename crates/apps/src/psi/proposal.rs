//! What both parties say before they have a session: who learns, and how many strings each has.
//!
//! ```text
//! both   20 bytes: magic `duo-psi.`, version (2), the number of who learns (1), zero (1), strings (8)
//! ```

use super::{Learns, MOST};
use duologue::channel::Channel;
use duologue::{Error, Result};

const MAGIC: [u8; 8] = *b"duo-psi.";
const VERSION: u16 = 1;

/// Bytes of a message.
const LEN: usize = 20;

/// What a party proposes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// Who learns, both alike.
    pub learns: Learns,
    /// How many strings the party has.
    pub strings: u64,
}

impl Proposal {
    /// Trades proposals with the peer, before there is a session; how many strings the peer has.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are too many strings, before anything is sent; [`Error::Incompatible`] if another party is to
    /// learn, or the version is another; [`Error::Peer`] if the peer proposes nothing.
    pub fn trade(&self, channel: &mut Channel) -> Result<u64> {
        self.meet(channel).inspect_err(|error| channel.abort_after(error))
    }

    fn meet(&self, channel: &mut Channel) -> Result<u64> {
        if self.strings > MOST {
            return Err(Error::usage(format!("{} strings, and there may be {MOST}", self.strings)));
        }
        channel.send(&self.to_bytes())?;
        channel.flush()?;
        let theirs = Proposal::from_bytes(&channel.recv(LEN)?)?;
        match theirs.learns == self.learns {
            true => Ok(theirs.strings),
            false => differ("who learns", &self.learns, &theirs.learns),
        }
    }

    fn to_bytes(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = self.learns.number();
        bytes[12..].copy_from_slice(&self.strings.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Proposal> {
        let none = || Error::peer("it computes no intersection: both parties give `duologue psi`");
        let (magic, rest) = bytes.split_first_chunk::<8>().ok_or_else(none)?;
        let &[low, high, learns, zero, ref strings @ ..] = rest else { return Err(none()) };
        if *magic != MAGIC {
            return Err(none());
        }
        let version = u16::from_le_bytes([low, high]);
        if version != VERSION {
            return differ("the version of psi", &VERSION, &version);
        }
        let learns = Learns::ALL.into_iter().find(|known| known.number() == learns);
        let strings = strings.try_into().ok().map(u64::from_le_bytes);
        match (learns, strings) {
            (Some(learns), Some(strings)) if zero == 0 && strings <= MOST => Ok(Proposal { learns, strings }),
            _ => Err(Error::peer("its proposal of an intersection is none")),
        }
    }
}

fn differ<T>(what: &'static str, ours: &impl ToString, theirs: &impl ToString) -> Result<T> {
    Err(Error::Incompatible { what, ours: ours.to_string(), theirs: theirs.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use duologue::circuit::Party;
    use proptest::prelude::*;
    use std::thread;

    fn trade(ours: Proposal, theirs: Proposal) -> [Result<u64>; 2] {
        let (mut alice, mut bob) = Channel::pair();
        let peer = thread::spawn(move || theirs.trade(&mut bob));
        [ours.trade(&mut alice), peer.join().unwrap()]
    }

    #[test]
    fn parties_hear_how_many_strings_the_other_has() {
        let [alice, bob] = [3, MOST].map(|strings| Proposal { learns: Learns::Both, strings });
        let [at_alice, at_bob] = trade(alice, bob);
        assert_eq!((at_alice.unwrap(), at_bob.unwrap()), (MOST, 3));
    }

    #[test]
    fn what_differs_is_named() {
        let alice = Proposal { learns: Learns::Only(Party::Alice), strings: 3 };
        for result in trade(alice, Proposal { learns: Learns::Both, ..alice }) {
            let error = result.unwrap_err();
            let named = matches!(&error, Error::Incompatible { what: "who learns", .. } | Error::Aborted(_));
            assert!(named, "{error}");
        }
        let (mut channel, _peer) = Channel::pair();
        let error = Proposal { strings: MOST + 1, ..alice }.trade(&mut channel).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error}");
    }

    proptest! {
        /// Bytes are a proposal or an error; of every proposal there is one encoding.
        #[test]
        fn any_bytes_are_read(mut bytes in prop::array::uniform20(any::<u8>()), keep in 0usize..=20) {
            let proposal = Proposal { learns: Learns::Both, strings: 77 }.to_bytes();
            bytes[..keep].copy_from_slice(&proposal[..keep]);
            if let Ok(read) = Proposal::from_bytes(&bytes) {
                prop_assert_eq!(read.to_bytes(), bytes);
            }
            prop_assert!(Proposal::from_bytes(&bytes[..keep.min(19)]).is_err());
        }
    }
}
