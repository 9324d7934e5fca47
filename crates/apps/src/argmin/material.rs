//! What setup stored, read row by row when it is used: no copy of it is made for a level.

use super::layout::{Layout, Section};
use super::rows::Rows;
use duologue::call::Zeroizing;
use duologue::circuit::Party;
use std::sync::Arc;

/// All that setup stored, section by section.
pub struct Stored {
    bytes: Arc<Zeroizing<Vec<u8>>>,
    sections: Vec<Section>,
    places: Vec<usize>,
}

impl Stored {
    pub fn new(layout: &Layout, party: Party, bytes: Zeroizing<Vec<u8>>) -> Stored {
        let (sections, places) = layout.places(party);
        Stored { bytes: Arc::new(bytes), sections, places }
    }

    /// A section with its rows.
    pub fn section(&self, number: usize) -> (Section, Material) {
        let section = self.sections[number];
        (section, Material { bytes: self.bytes.clone(), from: self.places[number], lanes: section.lanes })
    }
}

/// The rows of a section.
pub struct Material {
    bytes: Arc<Zeroizing<Vec<u8>>>,
    from: usize,
    lanes: usize,
}

impl Material {
    /// Some of the rows.
    pub fn slice(&self, from: usize, count: usize) -> Rows {
        let mut rows = Rows::zeros(count, self.lanes);
        let size = 8 * self.lanes.div_ceil(64);
        let stored = self.bytes[self.from + from * size..][..count * size].chunks_exact(size.max(1));
        for (row, bytes) in stored.enumerate() {
            let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
            rows.row_mut(row).iter_mut().zip(words).for_each(|(to, word)| *to = word);
        }
        rows
    }

    /// Rows that were made otherwise.
    #[cfg(test)]
    pub fn holding(rows: &Rows) -> Material {
        let words = (0..rows.rows()).flat_map(|row| rows.row(row)).flat_map(|word| word.to_le_bytes());
        Material { bytes: Arc::new(Zeroizing::new(words.collect())), from: 0, lanes: rows.lanes() }
    }
}
