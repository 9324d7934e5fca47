//! What made a program, behind the digest of its file: a program is the same program whoever made it.
//!
//! Layout, behind the digest: a list of pairs of texts (what, and which), its length in bytes as two bytes, little-endian,
//! and the eight bytes `made by` and the version 1. A file of a program alone ends in a digest instead, which ends in these
//! eight bytes by a chance of 2⁻⁶⁴.

use super::{Code, DuoReader, DuoWriter};
use crate::error::{Error, Result};

const END: &[u8; 8] = b"made by\x01";
/// The most pairs.
const MOST_PAIRS: usize = 16;
/// The longest text.
const MOST_BYTES: usize = 255;

/// What made a program: tools and their versions. It has no part in the digest.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Provenance {
    pairs: Vec<(String, String)>,
}

impl Provenance {
    /// Adds a pair. Characters that no terminal should be sent stand as `?`, and what is longer than 255 bytes is cut.
    pub fn add(&mut self, what: &str, which: &str) {
        let plain = |text: &str| {
            let printed = text.chars().map(|letter| if is_printed(letter) { letter } else { '?' });
            printed.take(MOST_BYTES).collect()
        };
        if self.pairs.len() < MOST_PAIRS {
            self.pairs.push((plain(what), plain(which)));
        }
    }

    /// The pairs in their order.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// A program's file with this behind it, in place of what was there.
    ///
    /// # Errors
    /// If what was there is malformed.
    pub fn put_behind(&self, file: &[u8]) -> Result<Vec<u8>> {
        Ok([split(file)?.0, &self.encoded()].concat())
    }

    fn encoded(&self) -> Vec<u8> {
        if self.pairs.is_empty() {
            return Vec::new();
        }
        let mut out = DuoWriter::keeping();
        out.list(&self.pairs);
        let mut bytes = out.finish().1;
        bytes.extend((bytes.len() as u16).to_le_bytes());
        bytes.extend(END);
        bytes
    }

    /// What a file says about who made its program; nothing if it does not say it. The program itself is not read.
    ///
    /// # Errors
    /// If that part of the file is malformed.
    pub fn of(file: &[u8]) -> Result<Provenance> {
        Ok(split(file)?.1)
    }
}

fn is_printed(letter: char) -> bool {
    matches!(letter, ' '..='~')
}

/// The file of the program alone, and what made it.
pub(super) fn split(file: &[u8]) -> Result<(&[u8], Provenance)> {
    let Some(rest) = file.strip_suffix(END) else { return Ok((file, Provenance::default())) };
    let refuse = |why: &str| Error::invalid("program file, behind the digest", why);
    let (rest, length) = rest.split_last_chunk::<2>().ok_or_else(|| refuse("cut off"))?;
    let begin = rest.len().checked_sub(u16::from_le_bytes(*length).into()).ok_or_else(|| refuse("cut off"))?;
    let (program, bytes) = rest.split_at(begin);
    let mut from = DuoReader { bytes, at: 0 };
    let pairs = Vec::<(String, String)>::read(&mut from).map_err(|_| refuse("no list of texts"))?;
    let provenance = Provenance { pairs };
    let texts = || provenance.pairs.iter().flat_map(|(what, which)| [what, which]);
    let plain = texts().all(|text| text.len() <= MOST_BYTES && text.chars().all(is_printed));
    if !plain || provenance.pairs.len() > MOST_PAIRS || provenance.pairs.is_empty() {
        return Err(refuse("at most 16 pairs of texts of at most 255 printed characters of ASCII stand there"));
    }
    match provenance.encoded() == file[begin..] && !program.ends_with(END) {
        true => Ok((program, provenance)),
        false => Err(refuse("not in the canonical encoding")),
    }
}

impl Code for (String, String) {
    fn write(&self, out: &mut DuoWriter) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(from: &mut DuoReader<'_>) -> Result<Self> {
        Ok((String::read(from)?, String::read(from)?))
    }
}
