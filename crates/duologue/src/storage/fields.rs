//! Whose a file is, and fields of fixed size as files have them.

use data_encoding::HEXLOWER;

use crate::Party;

/// The half of a folder that a file belongs to: 34 bytes in every file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner {
    pub identity: [u8; 32],
    pub party: Party,
    /// The code of what the folder holds.
    pub content: u8,
}

impl Owner {
    pub(super) fn encode(&self) -> [u8; 34] {
        let mut bytes = [0; 34];
        bytes[..32].copy_from_slice(&self.identity);
        bytes[32..].copy_from_slice(&[self.party as u8, self.content]);
        bytes
    }

    /// Whether a file with this owner belongs to that of `ours`.
    pub(super) fn check(&self, ours: &Owner) -> Result<(), String> {
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
pub(crate) struct FieldReader<'a>(pub &'a [u8]);

impl FieldReader<'_> {
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

    /// Whose the file is, which must be of a folder with this content.
    pub(super) fn owner(&mut self, content: u8) -> Result<Owner, String> {
        let owner = Owner { identity: self.take()?, party: self.party()?, content: self.take::<1>()?[0] };
        match owner.content == content || content == u8::MAX {
            true => Ok(owner),
            false => Err("it is a file of another kind of folder".into()),
        }
    }

    pub(super) fn zeros<const N: usize>(&mut self) -> Result<(), String> {
        if self.take::<N>()? == [0; N] { Ok(()) } else { Err("unused bytes are not zero".into()) }
    }

    pub(crate) fn end(&self) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err("it is too long".into()) }
    }
}
