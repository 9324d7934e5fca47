//! Integers modulo 2¹²⁸.

use kernels::generator::Generator;
use zeroize::Zeroizing;

use super::Labels;

/// Labels that are integers modulo 2¹²⁸.
#[derive(Clone)]
pub struct Integers(Zeroizing<Vec<u128>>);

impl Integers {
    /// These.
    pub fn new(values: Zeroizing<Vec<u128>>) -> Self {
        Integers(values)
    }

    /// The integers.
    pub fn values(&self) -> &[u128] {
        &self.0
    }
}

impl Labels for Integers {
    const BYTES: usize = 16;

    fn random(count: usize, rng: &mut Generator) -> Self {
        let mut words = Zeroizing::new(vec![0; 2 * count]);
        rng.words(&mut words);
        let values = words.as_chunks().0.iter().map(|&[low, high]: &[u64; 2]| u128::from(low) | u128::from(high) << 64);
        Integers(Zeroizing::new(values.collect()))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn add(&self, other: &Self) -> Self {
        assert_eq!(self.len(), other.len(), "as many labels as labels");
        Integers(Zeroizing::new(self.0.iter().zip(&*other.0).map(|(a, b)| a.wrapping_add(*b)).collect()))
    }

    fn pick(&self, places: impl ExactSizeIterator<Item = usize>) -> Self {
        Integers(Zeroizing::new(places.map(|place| self.0[place]).collect()))
    }

    fn append(&mut self, other: &Self) {
        super::append(&mut self.0, &other.0);
    }

    fn encode(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.iter().flat_map(|label| label.to_le_bytes()).collect())
    }

    fn decode(bytes: &[u8]) -> (Self, bool) {
        let (labels, rest) = bytes.as_chunks();
        (Integers(Zeroizing::new(labels.iter().map(|&label| u128::from_le_bytes(label)).collect())), rest.is_empty())
    }
}
