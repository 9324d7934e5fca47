//! Copies to memory that nothing reads soon.

mod wide;

use crate::{Backend, Block};
use wide::StoreNontemporal;

/// Copies blocks past the caches where the processor can: they keep what they have, and what is overwritten is not read.
///
/// # Panics
/// If the lengths differ.
pub fn store_nontemporal(from: &[Block], to: &mut [Block]) {
    store_on(Backend::detect(), from, to);
}

fn store_on(backend: Backend, from: &[Block], to: &mut [Block]) {
    assert_eq!(from.len(), to.len(), "a place for each block");
    match backend.cpu() {
        Some(cpu) => cpu.run(StoreNontemporal { from, to }),
        None => to.copy_from_slice(from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_copies_every_length_to_every_alignment() {
        let from: Vec<_> = (1..=70).map(Block::new).collect();
        for backend in Backend::available() {
            for (at, len) in (0..5).flat_map(|at| [0, 1, 2, 3, 4, 5, 8, 63, 64, 65].map(|len| (at, len))) {
                let mut to = [Block::ZERO; 80];
                store_on(backend, &from[..len], &mut to[at..at + len]);
                let before = to[..at].iter().chain(&to[at + len..]).all(|&block| block == Block::ZERO);
                assert!(before && to[at..at + len] == from[..len], "{backend}, {len} to {at}");
            }
        }
    }
}
