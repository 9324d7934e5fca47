//! SCiFI: does a face match one of many, by the Hamming distance of their feature vectors?
//!
//! Schneider and Zohner, "GMW vs Yao? Efficient secure two-party computation with low depth circuits" (FC 2013),
//! §5.2.2, after Osadchy, Pinkas, Jarrous and Moskovich, "SCiFI" (S&P 2010). Every face of the gallery has a threshold
//! of its own; it matches if it differs from the query in fewer bits.

use duologue::circuit::blocks::{Goal, hamming_distance, less};
use duologue::circuit::{Bits, Builder, Circuit, Party, Program, bits, uint};

/// One face: inputs `query`, `face` (`bits` each) and `limit`; output `hit`, one exactly if they differ in fewer bits
/// than `limit` says.
///
/// The limit has the ⌊log₂ `bits`⌋ + 1 bits of the largest distance. Boyar and Peralta's counter takes `bits` minus the
/// ones of `bits` ANDs, the comparison one for each bit of the limit: 906 for 900 bits, as in the paper. The comparison
/// starts at the lowest bit, which the counter finishes first, so it follows one layer behind: depth 10 for 900 bits
/// where the paper has 11.
///
/// # Panics
/// If `bits` is zero.
pub fn scifi_match(bits: u32) -> Circuit {
    let mut c = Builder::new("scifi_match");
    let (query, face) = (c.bits("query", bits), c.bits("face", bits));
    let limit = c.uint("limit", bits.ilog2() + 1);
    let distance = hamming_distance(&mut c, &query, &face);
    let hit = less(&mut c, &distance, &limit, Goal::Size);
    c.output("hit", &Bits::from(hit));
    c.finish()
}

/// The whole search: Alice holds the query, Bob the gallery of `faces` faces (a public size) with a limit each, and
/// Alice learns which of them match.
///
/// # Panics
/// If `width` is zero.
pub fn scifi(width: u32) -> Program {
    let mut p = Program::new("scifi");
    let faces = p.size("faces", 1..=1 << 24);
    let query = p.input("query", Party::Alice, bits(width), 1);
    let gallery = p.input("gallery", Party::Bob, bits(width), faces);
    let limits = p.input("limits", Party::Bob, uint(width.ilog2() + 1), faces);
    let query = p.repeat(query, faces);
    let hit = p.map(&scifi_match(width), &[query, gallery, limits]);
    p.output("hit", Party::Alice, hit);
    p
}

#[cfg(test)]
mod tests {
    use super::scifi_match;
    use proptest::prelude::*;

    fn hit(query: &[bool], face: &[bool], limit: u32) -> bool {
        let bits = query.len() as u32;
        let limit = (0..bits.ilog2() + 1).map(|i| limit >> i & 1 == 1).collect();
        scifi_match(bits).evaluate(&[query.to_vec(), face.to_vec(), limit].concat())[0]
    }

    #[test]
    fn costs_what_the_paper_says() {
        let circuit = scifi_match(900);
        assert_eq!((circuit.and_count(), circuit.depth()), (906, 10));
        assert_eq!((circuit.input_width(), circuit.output_width()), (1810, 1));
    }

    #[test]
    fn every_limit_of_small_faces() {
        for bits in 1..=9usize {
            for distance in 0..=bits {
                let face: Vec<bool> = (0..bits).map(|i| i < distance).collect();
                for limit in 0..1 << (bits.ilog2() + 1) {
                    assert_eq!(hit(&vec![false; bits], &face, limit), distance < limit as usize);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn faces_of_the_paper(
            query in prop::collection::vec(any::<bool>(), 900),
            flips in prop::collection::vec(any::<prop::sample::Index>(), 0..900),
            near in -2i32..=2,
        ) {
            let mut face = query.clone();
            flips.iter().for_each(|flip| { let i = flip.index(900); face[i] = !face[i]; });
            let distance = query.iter().zip(&face).filter(|(q, f)| q != f).count() as i32;
            let limit = (distance + near).clamp(0, 1023);
            prop_assert_eq!(hit(&query, &face, limit as u32), distance < limit);
        }
    }
}
