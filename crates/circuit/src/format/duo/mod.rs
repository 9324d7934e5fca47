//! The `.duo` file: a program in one canonical encoding, with its digest at the end.
//!
//! Layout: the ten bytes `duologue␊␀`, the version as two bytes, the program, and the 32-byte BLAKE3 digest of all before it.
//! Numbers are LEB128 without superfluous bytes, counts stand before lists, strings are UTF-8. The digest is what the
//! parties compare, so one program has exactly one encoding: a file that decodes to a program which encodes otherwise
//! is refused. Behind the digest a file may say what made the program ([`Provenance`]).

mod circuit;
mod outline;
mod primitives;
mod program;
mod provenance;

pub use outline::{Apart, Outline, Place};
pub use provenance::Provenance;

use crate::error::{Error, Result};
use crate::program::{Functionalities, Program};
use primitives::{DuoReader, DuoWriter};

const MAGIC: &[u8; 10] = b"duologue\n\0";
const VERSION: u16 = 1;
/// The version of programs with calls, all others have [`VERSION`]: what reads no calls says so by the version.
const VERSION_OF_CALLS: u16 = 2;
const DIGEST: usize = 32;

impl Program {
    /// The program as a `.duo` file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (digest, mut bytes) = self.encode(DuoWriter::keeping())?;
        bytes.extend(digest);
        Ok(bytes)
    }

    /// The digest that parties compare: BLAKE3 of the canonical encoding.
    pub fn digest(&self) -> Result<[u8; DIGEST]> {
        Ok(self.encode(DuoWriter::hashing())?.0)
    }

    /// All before the digest, and the digest.
    fn encode(&self, mut out: DuoWriter) -> Result<([u8; DIGEST], Vec<u8>)> {
        self.check()?;
        out.extend(MAGIC);
        out.extend(&if self.has_calls() { VERSION_OF_CALLS } else { VERSION }.to_le_bytes());
        self.write(&mut out);
        let (digest, bytes) = out.finish();
        Ok((digest.into(), bytes))
    }

    /// Reads a `.duo` file of a program without calls; every property of the program is checked.
    ///
    /// # Errors
    /// As [`from_bytes_with`](Self::from_bytes_with), and if the program calls anything.
    pub fn from_bytes(bytes: &[u8]) -> Result<Program> {
        Program::from_bytes_with(bytes, &Functionalities::new())
    }

    /// Reads a `.duo` file of a program that may call these functionalities; every property of the program is checked.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the byte or the step, if anything is not as it must be, or the program calls a
    /// functionality that is not among these.
    pub fn from_bytes_with(bytes: &[u8], functionalities: &Functionalities) -> Result<Program> {
        let refuse = |why: &str| Error::invalid("program file", why);
        let (bytes, _) = provenance::split(bytes)?;
        let Some((head, rest)) = bytes.split_first_chunk::<12>() else {
            return Err(refuse("too short for a program file"));
        };
        if head[..10] != *MAGIC {
            return Err(refuse("does not begin like a program file"));
        }
        let version = u16::from_le_bytes([head[10], head[11]]);
        if ![VERSION, VERSION_OF_CALLS].contains(&version) {
            let why = format!("version {version}; this program reads version {VERSION} and {VERSION_OF_CALLS}");
            return Err(refuse(&why));
        }
        let Some((body, digest)) = rest.split_last_chunk::<DIGEST>() else {
            return Err(refuse("cut off"));
        };
        if blake3::hash(&bytes[..bytes.len() - DIGEST]) != *digest {
            return Err(refuse("the digest does not fit: the file is cut off or changed"));
        }
        let mut reader = DuoReader { bytes: body, at: 0 };
        let program = Program::read_with(&mut reader, functionalities)?;
        if program.to_bytes()? != bytes {
            return Err(refuse("not in the canonical encoding"));
        }
        Ok(program)
    }
}

/// Something that has one encoding.
trait Code: Sized {
    fn write(&self, out: &mut DuoWriter);
    fn read(from: &mut DuoReader<'_>) -> Result<Self>;
}
