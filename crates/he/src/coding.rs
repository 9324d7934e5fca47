//! Reading of fields one after the other, and writing.

use crate::error::KeyFault;
use crate::number::{self, Words};

/// What is left to read.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        bytes.try_into().ok().map(u32::from_le_bytes)
    }

    /// A number of this many bits at most, in whole bytes.
    pub(crate) fn number(&mut self, bits: u32) -> Option<Words> {
        let words = number::from_bytes(self.take(bits.div_ceil(8) as usize)?, bits.div_ceil(64) as usize);
        (number::bits(&words) <= bits).then_some(words)
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), KeyFault> {
        if self.0.is_empty() { Ok(()) } else { Err(KeyFault::Form) }
    }
}

pub(crate) fn put_number(out: &mut Vec<u8>, x: &[u64], bits: u32) {
    out.extend_from_slice(&number::to_bytes(x, bits.div_ceil(8) as usize));
}
