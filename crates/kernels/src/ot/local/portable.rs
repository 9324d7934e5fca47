//! The local code in plain code.

use crate::Block;
use crate::cipher::portable::{Cipher, counter};

pub(crate) fn local(cipher: &Cipher, first: u64, table: &[Block], out: &mut [Block]) {
    let mut stream = vec![[0; 16]; out.len().div_ceil(2) * 3];
    counter(cipher, first / 2 * 3, &mut stream);
    let (words, _) = bytemuck::cast_slice::<_, u64>(&stream).as_chunks::<3>();
    for (out, words) in out.iter_mut().zip(words) {
        let tenth = words.iter().fold(0, |tenth, word| tenth << 7 | word >> 57);
        let others = words.iter().flat_map(|word| [0, 19, 38].map(|shift| word >> shift));
        others.chain([tenth]).for_each(|index| *out ^= table[index as usize % table.len()]);
    }
}
