//! The `.job` file: a plan as bytes, for workers that start later or elsewhere.
//!
//! Layout, little-endian: `duojob␊␀`, the version (u16), [`RULE`] (u32), the shards (u32), whether shards may be empty (u8), the name of
//! the size that is cut (u16 bytes, then UTF-8), the sizes (u16 of them, u64 each), the length of the program (u64) and its
//! [`.duo` encoding](Program::to_bytes), and the plan's digest, 32 bytes. A file that is read is planned anew, so that what is made
//! of it is what its program says, and its digest must come out again.

use super::{Cut, Plan, RULE};
use crate::{Error, Result};
use circuit::program::{Functionalities, Program};

const MAGIC: &[u8; 8] = b"duojob\n\0";
const VERSION: u16 = 1;

impl Plan {
    /// The plan as a `.job` file, with the program.
    ///
    /// # Errors
    /// [`Error::Usage`] if the program cannot be encoded.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let program = self.program().to_bytes()?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(RULE.to_le_bytes());
        bytes.extend(self.shards().to_le_bytes());
        bytes.push(self.cut.allow_empty.into());
        bytes.extend((self.by().len() as u16).to_le_bytes());
        bytes.extend(self.by().as_bytes());
        bytes.extend((self.sizes().len() as u16).to_le_bytes());
        bytes.extend(self.sizes().iter().flat_map(|size| size.to_le_bytes()));
        bytes.extend((program.len() as u64).to_le_bytes());
        bytes.extend(program);
        bytes.extend(self.digest());
        Ok(bytes)
    }

    /// Reads a `.job` file whose program calls nothing.
    ///
    /// # Errors
    /// As [`decode_with`](Self::decode_with).
    pub fn decode(bytes: &[u8]) -> Result<Plan> {
        Plan::decode_with(bytes, &Functionalities::new())
    }

    /// Reads a `.job` file whose program may call these functionalities.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bytes are no such file, are damaged, or were made by another version's rule; as
    /// [`new`](Plan::new) if that program cannot be cut.
    pub fn decode_with(bytes: &[u8], functionalities: &Functionalities) -> Result<Plan> {
        let mut from = Reader(bytes);
        let (cut, sizes) = from.head()?;
        let length = usize::try_from(from.number::<8>()?).map_err(|_| too_short())?;
        let program = Program::from_bytes_with(from.take(length)?, functionalities);
        let program = program.map_err(|why| malformed(why.to_string()))?;
        let digest = from.take(32)?;
        if !from.0.is_empty() {
            return Err(malformed(format!("{} bytes after its end", from.0.len())));
        }
        if program.sizes().len() != sizes.len() {
            return Err(malformed(format!("{} sizes of a program that has {}", sizes.len(), program.sizes().len())));
        }
        let named: Vec<(&str, u64)> = program.sizes().iter().map(|size| &size.name[..]).zip(sizes).collect();
        let plan = Plan::new(&program, &named, &cut)?;
        match plan.digest()[..] == *digest {
            true => Ok(plan),
            false => Err(malformed("its digest does not fit: it is damaged")),
        }
    }
}

/// What is left of a file.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// What comes before the program: how it is cut, and at which sizes.
    fn head(&mut self) -> Result<(Cut, Vec<u64>)> {
        if self.take(MAGIC.len())? != MAGIC {
            return Err(malformed("it does not begin like one"));
        }
        let version = self.number::<2>()?;
        if version != u64::from(VERSION) {
            return Err(malformed(format!("version {version}; this program reads version {VERSION}")));
        }
        let rule = self.number::<4>()?;
        if rule != u64::from(RULE) {
            return Err(malformed(format!("its program is cut by rule {rule}, here by rule {RULE}: plan it anew")));
        }
        let shards = self.number::<4>()? as u32;
        let allow_empty = match self.number::<1>()? {
            0 => false,
            1 => true,
            other => return Err(malformed(format!("{other} for whether shards may be empty"))),
        };
        let by = self.number::<2>()? as usize;
        let by = std::str::from_utf8(self.take(by)?).map_err(|_| malformed("the name of the size is not UTF-8"))?;
        let sizes = (0..self.number::<2>()?).map(|_| self.number::<8>()).collect::<Result<Vec<u64>>>()?;
        Ok((Cut { by: Some(by.into()), shards, allow_empty }, sizes))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(too_short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<u64> {
        let bytes = self.take(N)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }
}

fn too_short() -> Error {
    malformed("it is cut off")
}

fn malformed(why: impl Into<String>) -> Error {
    Error::Malformed { what: "job file".into(), why: why.into() }
}
