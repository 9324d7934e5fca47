//! Files of ciphertexts, as `duologue he` reads and writes them, as inputs and outputs of a run.

use crate::failure::Failure;
use apps::argmin::encrypted::{lanes_of, numbers_of};
use duologue::circuit::{BitMatrix, Type};
use he::Head;
use std::fs::File;
use std::io::{self, Read, Write};

/// How the name of such a file ends.
pub const EXTENSION: &str = ".enc";

/// Most bytes of a file.
const MOST: u64 = 1 << 30;

/// A key's digest and the bits of its modulus.
pub type KeyOf = ([u8; 32], u32);

/// Whose ciphertexts are in a file, by its head and its length.
pub fn key_of(path: &str) -> Result<KeyOf, Failure> {
    let reading = || Failure::io(format!("reading {path}"));
    let file = File::open(path).map_err(reading())?;
    let length = file.metadata().map_err(reading())?.len();
    if length > MOST {
        return Err(too_long(path));
    }
    let mut bytes = Vec::new();
    file.take(Head::BYTES as u64).read_to_end(&mut bytes).map_err(reading())?;
    let (head, _) = Head::read(&bytes).map_err(|why| Failure::malformed(path, why))?;
    let each = length.saturating_sub(Head::BYTES as u64).checked_div(head.count.into()).unwrap_or(0);
    Ok((head.key, 4 * each as u32))
}

/// The ciphertexts in a file as lanes of an input.
pub fn read(path: &str, ty: Type) -> Result<BitMatrix, Failure> {
    let (head, numbers) = load(path)?;
    if head.count == 0 || numbers.len() as u64 * 8 != u64::from(head.count) * u64::from(ty.width) {
        let why = format!("{path}: {} bytes are not {} ciphertexts of {} bits", numbers.len(), head.count, ty.width);
        return Err(Failure::input(why));
    }
    Ok(lanes_of(&numbers, ty.width / 2)?)
}

/// Writes lanes as ciphertexts of a key.
pub fn write(lanes: &BitMatrix, key: [u8; 32], to: &mut dyn Write) -> io::Result<()> {
    to.write_all(&Head { key, count: lanes.lanes() as u32 }.to_bytes())?;
    to.write_all(&numbers_of(lanes))
}

fn load(path: &str) -> Result<(Head, Vec<u8>), Failure> {
    let reading = || Failure::io(format!("reading {path}"));
    let mut bytes = Vec::new();
    File::open(path).map_err(reading())?.take(MOST + 1).read_to_end(&mut bytes).map_err(reading())?;
    if bytes.len() as u64 > MOST {
        return Err(too_long(path));
    }
    let (head, numbers) = Head::read(&bytes).map_err(|why| Failure::malformed(path, why))?;
    Ok((head, numbers.to_vec()))
}

fn too_long(path: &str) -> Failure {
    Failure::input(format!("{path} has more than {MOST} bytes"))
}
