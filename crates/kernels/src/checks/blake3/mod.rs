//! The compression of BLAKE3 (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020, §2), sixteen chunks side by side.
//!
//! Long messages are hashed where a transcript decides about the weights of a check; the leaves of BLAKE3's tree, its *chunks*
//! of 1,024 bytes, are all the work. With AVX-512 they cost a third of what they cost with AVX2.

mod wide;

use crate::backend::Backend;
use crate::backend::blake3::portable;
use wide::ChunkValues;

pub use crate::backend::blake3::CHUNK;

/// The chaining value of every whole chunk, counted from 0, of a message of more than one chunk that is hashed
/// without a key.
///
/// # Panics
/// If the message is no whole number of chunks.
pub fn chunk_values(message: &[u8]) -> Vec<[u8; 32]> {
    chunk_values_on(Backend::detect(), message)
}

fn chunk_values_on(backend: Backend, message: &[u8]) -> Vec<[u8; 32]> {
    let (chunks, rest) = message.as_chunks::<CHUNK>();
    assert!(rest.is_empty(), "whole chunks of {CHUNK} bytes");
    let mut values = vec![[0; 8]; chunks.len()];
    match backend.cpu() {
        Some(cpu) => cpu.run(ChunkValues { chunks, values: &mut values }),
        None => portable(chunks, 0, &mut values),
    }
    values.into_iter().map(bytemuck::cast).collect()
}

#[cfg(test)]
mod tests {
    use blake3::hazmat::HasherExt;

    use super::*;
    use crate::Block;
    use crate::cipher::generator::Generator;

    #[test]
    fn chaining_values_are_those_of_the_reference() {
        let mut message = vec![0; 37 * CHUNK];
        Generator::from_seed(Block::new(6)).fill(&mut message);
        for (backend, chunks) in Backend::available().into_iter().flat_map(|b| [0, 1, 15, 16, 33, 37].map(|n| (b, n))) {
            let values = chunk_values_on(backend, &message[..chunks * CHUNK]);
            assert_eq!(values.len(), chunks);
            for (i, (value, chunk)) in values.iter().zip(message.chunks(CHUNK)).enumerate() {
                let mut hasher = blake3::Hasher::new();
                hasher.set_input_offset((i * CHUNK) as u64).update(chunk);
                assert_eq!(*value, hasher.finalize_non_root(), "{backend}, chunk {i} of {chunks}");
            }
        }
    }

    #[test]
    fn a_broken_chunk_is_refused() {
        assert!(std::panic::catch_unwind(|| chunk_values(&[0; CHUNK + 1])).is_err());
    }
}
