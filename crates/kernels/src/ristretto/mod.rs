//! ristretto255 (RFC 9496): batches of points, eight side by side.
//!
//! A batch is computed on AVX-512 IFMA, with numbers modulo 2²⁵⁵ − 19 in five limbs of 51 bits and a register for one limb
//! of eight numbers (`field.rs`), on the curve in extended coordinates (`edwards.rs`). Elsewhere curve25519-dalek computes
//! one point after the other. Both give the same encodings; a batch holds other representatives of the same points.
//!
//! Constant time in points and scalars: time and addresses depend on lengths, on places that are picked and on which
//! encodings are refused only. Points are erased when dropped, as far as they are in memory that this module owns: what
//! the compiler spills to the stack is not.

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod constants;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod doubles;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod edwards;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod field;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod group;
mod multiples;
mod points;
mod singles;

#[cfg(test)]
mod tests;

use std::fmt;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::RistrettoBasepointTable;

use crate::Backend;
use crate::backend::Multiplier;

pub use curve25519_dalek::Scalar;
use points::neutral_group;

pub use points::Points;
pub use singles::{Singles, Term};

/// Bytes that encode a point.
pub type Encoding = [u8; 32];

/// The group, on the instructions that were found.
#[derive(Clone, Copy)]
pub struct Ristretto(Option<Multiplier>);

impl Ristretto {
    /// On what this process uses.
    pub fn detect() -> Self {
        Self::with_backend(Backend::detect())
    }

    /// On one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(backend: Backend) -> Self {
        Ristretto(backend.multiplier())
    }

    /// Decodes points (RFC 9496, section 4.3.1). The neutral point, which is encoded as zeros, is one too.
    ///
    /// # Errors
    /// If one of them is not how a point is encoded.
    pub fn decode(self, encodings: &[Encoding]) -> Result<Points, Refused> {
        Points::decode(self.0, encodings)
    }

    /// Hashes uniform bytes to points (RFC 9496, section 4.3.4).
    pub fn map(self, uniform: &[[u8; 64]]) -> Points {
        Points::map(self.0, uniform)
    }

    /// The neutral point, as often as wanted.
    pub fn neutral(self, count: usize) -> Points {
        Points::neutral(self.0, count)
    }

    /// The generator of the group: a batch of one point.
    pub fn generator(self) -> Points {
        let encoding = curve25519_dalek::constants::RISTRETTO_BASEPOINT_COMPRESSED.to_bytes();
        self.decode(&[encoding]).expect("a point of the library")
    }
}

/// Encodings that are no points: not below p, odd, or of nothing on the curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Where they are in the batch, at least one.
    pub places: Vec<usize>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let first = self.places.first().copied().unwrap_or(0);
        write!(f, "encoding number {first} is no point of ristretto255 ({} in the batch are none)", self.places.len())
    }
}

impl std::error::Error for Refused {}

/// A table of multiples of one public point, of about 100 kB, by which it is multiplied by secret scalars.
pub struct FixedBase(Table);

enum Table {
    Wide(Multiplier, Vec<multiples::Row>),
    Plain(Box<RistrettoBasepointTable>),
}

impl FixedBase {
    /// The table of a batch of one point.
    ///
    /// # Panics
    /// If it is not one.
    pub fn new(point: &Points) -> Self {
        assert_eq!(point.len(), 1, "a table is of one point");
        FixedBase(match point.batch() {
            points::Batch::Wide(cpu, groups) => Table::Wide(*cpu, multiples::table(*cpu, &groups[0])),
            points::Batch::Plain(points) => Table::Plain(Box::new(RistrettoBasepointTable::create(&points[0]))),
        })
    }

    /// The point times each of the scalars, which are secret.
    pub fn multiply(&self, scalars: &[Scalar]) -> Points {
        match &self.0 {
            Table::Wide(cpu, table) => Points::wide(*cpu, scalars.len(), |groups| {
                multiples::multiply_fixed(*cpu, table, scalars, groups);
            }),
            Table::Plain(table) => {
                Points::plain(scalars.iter().map(|scalar| scalar * &**table).collect::<Vec<RistrettoPoint>>())
            }
        }
    }
}
