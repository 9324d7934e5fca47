//! Lanes that consist of several words, each a row of a table, the first in the lowest bits.

use circuit::BitMatrix;

/// Joins every few words into a lane of `width` bits, which is a multiple of theirs; or says what is left over.
pub(crate) fn join(words: BitMatrix, width: u32) -> Result<BitMatrix, String> {
    let (width, each) = (width as usize, words.rows());
    let count = width.checked_div(each).unwrap_or(1);
    if count == 1 {
        return Ok(words);
    }
    if !words.lanes().is_multiple_of(count) {
        return Err(format!("{} rows: expected a multiple of {count}, the words of a lane", words.lanes()));
    }
    if each.is_multiple_of(8) {
        let bytes = words.to_byte_rows();
        return Ok(BitMatrix::from_byte_rows(width, &bytes).expect("whole lanes of whole bytes"));
    }
    let mut lanes = BitMatrix::zeros(width, words.lanes() / count);
    for word in 0..words.lanes() {
        for row in 0..each {
            lanes.set(word % count * each + row, word / count, words.get(row, word));
        }
    }
    Ok(lanes)
}

/// Splits lanes into words of `width` bits, a divisor of theirs.
pub(crate) fn split(lanes: &BitMatrix, width: u32) -> BitMatrix {
    let width = width as usize;
    if width.is_multiple_of(8) && width > 0 {
        let bytes = lanes.to_byte_rows();
        return BitMatrix::from_byte_rows(width, &bytes).expect("whole words of whole bytes");
    }
    let count = lanes.rows().checked_div(width).unwrap_or(1);
    let mut words = BitMatrix::zeros(width, lanes.lanes() * count);
    for word in 0..words.lanes() {
        for row in 0..width {
            words.set(row, word, lanes.get(word % count * width + row, word / count));
        }
    }
    words
}
