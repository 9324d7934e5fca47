//! The protection of a sealed file's pieces: encryption for secrets, sums for bulk.
//!
//! Both are under keys that hang on the entry's own key and on the file's head, and with it on folder, party, kind,
//! number, length and batch. The place of a piece and whether it is the last go into its tag. So a piece is refused in
//! another place, file or folder, and a file that was cut off or went on is refused.
//!
//! **Secrets** are sealed with ChaCha20-Poly1305. The nonce is the number of the piece in 8 bytes, 3 zeros, and 1 for the
//! last piece, else 0 (as in STREAM: Hoang, Reyhanitabar, Rogaway, Vizár 2015).
//!
//! **Bulk** is not secret: garbled tables without labels are random strings, and whoever could read them on an open
//! channel has seen them. Its tag is Σ weightᵢ·blockᵢ in GF(2¹²⁸), with zeros after the end of the piece, plus a mask
//! that no other piece has (Carter and Wegman, 1981). Weights and masks come from a [`Generator`]; a change goes
//! unnoticed with a chance of 2⁻¹²⁸. The book's page on storage has the bound, and why this is no library's.

use chacha20poly1305::aead::{AeadInOut, KeyInit, inout::InOutBuf};
use chacha20poly1305::{ChaCha20Poly1305, Nonce, Tag};
use kernels::Block;
use kernels::field::Fold;
use kernels::generator::Generator;
use zeroize::Zeroizing;

use super::seal::{KEY, TAG};

/// Bytes of content in a piece.
pub(super) const PIECE: usize = 1 << 16;

/// Where a piece is in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub number: u64,
    pub last: bool,
}

/// The protection of one file's pieces.
pub(super) enum Cover {
    Sealed(Box<ChaCha20Poly1305>),
    Summed { weights: Zeroizing<Vec<Block>>, masks: Box<Generator> },
}

impl Cover {
    /// For a file with this head under an entry's key.
    pub(super) fn new(secret: bool, key: &[u8; KEY], head: &[u8]) -> Cover {
        let context = if secret { "duologue 2 storage: key of secrets" } else { "duologue 2 storage: key of bulk" };
        let mut hasher = blake3::Hasher::new_derive_key(context);
        let key = Zeroizing::new(*hasher.update(key).update(head).finalize().as_bytes());
        if secret {
            return Cover::Sealed(Box::new(ChaCha20Poly1305::new((&*key).into())));
        }
        let generator = Generator::from_seed(Block::from_bytes(*key.first_chunk().expect("16 of 32 bytes")));
        let mut weights = Zeroizing::new(vec![Block::ZERO; PIECE / 16]);
        generator.derive(b"weights ", 0).fill_blocks(&mut weights);
        Cover::Summed { weights, masks: Box::new(generator) }
    }

    /// The tag of a piece, which is sealed in place if it is secret.
    pub(super) fn close(&self, at: Position, text: &mut [u8]) -> [u8; TAG] {
        match self {
            Cover::Sealed(cipher) => {
                let tag = cipher.encrypt_inout_detached(&nonce(at), b"", InOutBuf::from(text));
                tag.expect("less than 256 GiB at a time").into()
            }
            Cover::Summed { weights, masks } => sum(weights, masks, at, text).to_bytes(),
        }
    }

    /// The content of a piece, in place; `None` if it is not what was written.
    pub(super) fn open(&self, at: Position, text: &mut [u8], came: [u8; TAG]) -> Option<()> {
        match self {
            Cover::Sealed(cipher) => {
                cipher.decrypt_inout_detached(&nonce(at), b"", InOutBuf::from(text), &Tag::from(came)).ok()
            }
            Cover::Summed { weights, masks } => {
                (sum(weights, masks, at, text) ^ Block::from_bytes(came) == Block::ZERO).then_some(())
            }
        }
    }
}

fn nonce(at: Position) -> Nonce {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&at.number.to_le_bytes());
    nonce[11] = at.last.into();
    nonce.into()
}

/// The sum of a piece of bulk, under the mask of its place.
fn sum(weights: &[Block], masks: &Generator, at: Position, text: &[u8]) -> Block {
    let mut sum = Fold::new();
    match bytemuck::try_cast_slice::<u8, Block>(text) {
        Ok(blocks) => sum.add(&weights[..blocks.len()], blocks),
        Err(_) => {
            let mut blocks = vec![Block::ZERO; text.len().div_ceil(16)];
            bytemuck::cast_slice_mut(&mut blocks)[..text.len()].copy_from_slice(text);
            sum.add(&weights[..blocks.len()], &blocks);
        }
    }
    let label = if at.last { b"last    " } else { b"piece   " };
    sum.finish() ^ masks.derive(label, at.number).block()
}
