//! Numbers of lanes: constants times named public sizes.

use std::ops::Mul;

/// A named public size of a program, such as the number of faces in a gallery.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Size(pub(crate) u32);

impl Size {
    /// Its place in [`Program::sizes`](super::Program::sizes).
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// A number of lanes: a factor times any number of sizes, known once the program is bound.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lanes {
    pub(crate) factor: u64,
    pub(crate) sizes: Vec<Size>,
}

impl Lanes {
    /// The constant factor of the product.
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// The sizes that are multiplied.
    pub fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    /// The number under given sizes; `None` if it does not fit.
    pub fn count(&self, sizes: &[u64]) -> Option<u64> {
        self.sizes.iter().try_fold(self.factor, |product, size| product.checked_mul(*sizes.get(size.0 as usize)?))
    }
}

impl From<u64> for Lanes {
    fn from(factor: u64) -> Self {
        Lanes { factor, sizes: Vec::new() }
    }
}

impl From<Size> for Lanes {
    fn from(size: Size) -> Self {
        Lanes { factor: 1, sizes: vec![size] }
    }
}

impl<T: Into<Lanes>> Mul<T> for Lanes {
    type Output = Lanes;
    fn mul(mut self, other: T) -> Lanes {
        let other = other.into();
        self.factor = self.factor.saturating_mul(other.factor);
        self.sizes.extend(other.sizes);
        self.sizes.sort();
        self
    }
}

impl<T: Into<Lanes>> Mul<T> for Size {
    type Output = Lanes;
    fn mul(self, other: T) -> Lanes {
        Lanes::from(self) * other
    }
}
