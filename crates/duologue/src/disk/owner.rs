//! Whose a file is, and what files say in fields of fixed size.

use data_encoding::HEXLOWER;

use crate::Party;
use crate::channel::PublicKey;

/// Numbers that nobody reaches; sums of two stay far from overflow.
pub(crate) const LIMIT: u64 = 1 << 47;

/// The half of a pool or shelf that a file belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner {
    pub identity: [u8; 32],
    pub party: Party,
}

impl Owner {
    /// Whether a file with this owner belongs to that of `ours`.
    pub(crate) fn check(&self, ours: &Owner) -> Result<(), String> {
        if self.identity != ours.identity {
            return Err(format!("it belongs to {}, not to {}", self.name(), ours.name()));
        }
        if self.party != ours.party {
            return Err(format!("it is {}'s half, not {}'s", self.party, ours.party));
        }
        Ok(())
    }

    /// Enough of the identity for people to tell folders apart.
    pub(crate) fn name(&self) -> String {
        HEXLOWER.encode(&self.identity[..8])
    }
}

/// Reads fields of fixed size; bytes that are missing or too many are an error.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (field, rest) = self.0.split_first_chunk().ok_or("it is too short")?;
        self.0 = rest;
        Ok(*field)
    }

    pub(crate) fn number(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn party(&mut self) -> Result<Party, String> {
        match self.take()? {
            [0] => Ok(Party::Alice),
            [1] => Ok(Party::Bob),
            [other] => Err(format!("there is no party {other}")),
        }
    }

    /// Public keys of Alice and Bob, or zeros.
    pub(crate) fn keys(&mut self, bound: bool) -> Result<Option<[PublicKey; 2]>, String> {
        let mut key = || PublicKey::from_bytes(self.take()?).map_err(|error| error.to_string());
        match bound {
            true => Ok(Some([key()?, key()?])),
            false => self.take::<64>().map(|_| None),
        }
    }

    pub(crate) fn zeros<const N: usize>(&mut self) -> Result<(), String> {
        if self.take::<N>()? == [0; N] { Ok(()) } else { Err("unused bytes are not zero".into()) }
    }

    pub(crate) fn end(&self) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err("it is too long".into()) }
    }
}
