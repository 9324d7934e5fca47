//! The streams of leaves and their sums in plain code.

use super::Ends;
use crate::Block;
use crate::cipher::portable::{Cipher, encrypt};

pub(crate) fn planes(keys: &[Cipher], first: u64, len: usize, rows: &mut [Block], stride: usize, mut ends: Ends) {
    const PIECE: usize = 16;
    let k = keys.len().trailing_zeros() as usize;
    for at in (0..len).step_by(PIECE) {
        let place = at..at + PIECE.min(len - at);
        rows.chunks_mut(stride).take(k).for_each(|row| row[place.clone()].fill(Block::ZERO));
        if let Ends::Sum(sum) = &mut ends {
            sum[place.clone()].fill(Block::ZERO);
        }
        let skipped = usize::from(matches!(ends, Ends::Correct { .. }));
        for (x, key) in keys.iter().enumerate().skip(skipped) {
            let mut stream: [Block; PIECE] =
                std::array::from_fn(|i| Block::new(first.wrapping_add((at + i) as u64).into()));
            encrypt(key, &mut stream);
            for j in (0..k).filter(|j| x >> j & 1 == 1) {
                xor_into(&mut rows[j * stride..][place.clone()], &stream);
            }
            if let Ends::Sum(sum) = &mut ends {
                xor_into(&mut sum[place.clone()], &stream);
            }
        }
        if let Ends::Correct { bits, values: Some(values) } = &ends {
            for j in 0..k {
                let mask = Block::mask(bits >> j & 1 == 1);
                let row = rows[j * stride..][place.clone()].iter_mut();
                row.zip(&values[place.clone()]).for_each(|(row, &value)| *row ^= value & mask);
            }
        }
    }
}

fn xor_into(to: &mut [Block], from: &[Block]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to ^= from);
}
