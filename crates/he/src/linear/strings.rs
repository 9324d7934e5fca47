//! Strings of 128 bits under XOR.

use kernels::Block;
use kernels::generator::Generator;
use zeroize::Zeroizing;

use super::Labels;

/// Labels that are strings of 128 bits, with XOR as their sum. Bit 0 of an offset is set, as half-gates ask.
#[derive(Clone)]
pub struct Strings(Zeroizing<Vec<Block>>);

impl Strings {
    /// These.
    pub fn new(blocks: Zeroizing<Vec<Block>>) -> Self {
        Strings(blocks)
    }

    /// The strings.
    pub fn blocks(&self) -> &[Block] {
        &self.0
    }
}

impl Labels for Strings {
    const BYTES: usize = 16;

    fn random(count: usize, rng: &mut Generator) -> Self {
        let mut blocks = Zeroizing::new(vec![Block::ZERO; count]);
        rng.fill_blocks(&mut blocks);
        Strings(blocks)
    }

    fn offset(rng: &mut Generator) -> Self {
        Strings(Zeroizing::new(vec![rng.block().with_lsb(true)]))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn add(&self, other: &Self) -> Self {
        assert_eq!(self.len(), other.len(), "as many labels as labels");
        Strings(Zeroizing::new(self.0.iter().zip(&*other.0).map(|(&a, &b)| a ^ b).collect()))
    }

    fn pick(&self, places: impl ExactSizeIterator<Item = usize>) -> Self {
        Strings(Zeroizing::new(places.map(|place| self.0[place]).collect()))
    }

    fn append(&mut self, other: &Self) {
        super::append(&mut self.0, &other.0);
    }

    fn encode(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.iter().flat_map(|label| label.to_bytes()).collect())
    }

    fn decode(bytes: &[u8]) -> (Self, bool) {
        let (labels, rest) = bytes.as_chunks();
        (Strings(Zeroizing::new(labels.iter().map(|&label| Block::from_bytes(label)).collect())), rest.is_empty())
    }
}
