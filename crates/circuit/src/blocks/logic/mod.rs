//! Gates on many bits, and the selection of a word: what all other blocks stand on; and the S-box
//! of AES.

pub(super) mod reduce;
pub(super) mod sbox;
pub mod select;
