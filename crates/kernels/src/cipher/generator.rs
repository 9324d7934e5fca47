//! A random generator: AES-128 in counter mode, with children that can be derived anywhere.
//!
//! Construction, for a 128-bit seed s:
//!
//! ```text
//! K_stream = AES_s(0)      K_child = AES_s(1)
//! output block i of the generator      = AES_K_stream(i)            i a big-endian number, from 0
//! seed of the child (label, index)     = AES_K_child(index ‖ label)
//! ```
//!
//! s keys nothing else, and its two keys are distinct because AES_s is a permutation: output and
//! children come from two independent pseudo-random functions. Under one parent, two different pairs
//! (label, index) are two different blocks, so their seeds differ: no two children collide, by
//! construction. A child does not depend on how much its parent has given out, so threads and
//! tiles derive theirs in any order and never copy a generator (there is no `Clone`).
//!
//! Security: with AES a pseudo-random permutation, q blocks of output differ from uniform by at most
//! q²/2¹²⁹ (a permutation never repeats a block): 2⁻⁴⁹ after 2⁴⁰ blocks, 16 TiB. Derive a child
//! for each tile and the bound counts each child's blocks alone. Keys are zeroised on drop.

use zeroize::Zeroize;

use crate::cipher::aes::Aes128;
use crate::{Backend, Block};

/// Why the operating system gave no randomness.
pub use getrandom::Error as OsError;

/// A stream of random bytes. The construction is in the [module's](self) documentation.
pub struct Generator {
    backend: Backend,
    stream: Aes128,
    children: Aes128,
    next: u64,
}

/// The purpose of a child: eight bytes, as a number or as text (`b"triples."`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(u64);

impl From<u64> for Label {
    fn from(label: u64) -> Self {
        Label(label)
    }
}

impl From<&[u8; 8]> for Label {
    fn from(label: &[u8; 8]) -> Self {
        Label(u64::from_le_bytes(*label))
    }
}

impl Generator {
    /// Seeds from the operating system, the only source of fresh randomness.
    ///
    /// On `wasm32-unknown-unknown` there is no operating system: the feature `wasm_js`
    /// takes the randomness of the JavaScript engine.
    ///
    /// # Errors
    /// The message of the operating system.
    pub fn from_os() -> Result<Self, OsError> {
        let mut seed = [0; 16];
        getrandom::fill(&mut seed)?;
        let generator = Self::from_seed(Block::from_bytes(seed));
        seed.zeroize();
        Ok(generator)
    }

    /// A generator with a known seed: one agreed with the peer, or a test's.
    pub fn from_seed(seed: Block) -> Self {
        Self::with_backend(seed, Backend::detect())
    }

    /// A generator with a known seed on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(seed: Block, backend: Backend) -> Self {
        let mut keys = [Block::new(0), Block::new(1)];
        Aes128::with_backend(seed, backend).encrypt(&mut keys);
        let [stream, children] = keys.map(|key| Aes128::with_backend(key, backend));
        keys.zeroize();
        Generator { backend, stream, children, next: 0 }
    }

    /// The child for (label, index): the same at any time, different from every other child.
    pub fn derive(&self, label: impl Into<Label>, index: u64) -> Generator {
        let label = u128::from(label.into().0);
        let mut seed = [Block::new(u128::from(index) << 64 | label)];
        self.children.encrypt(&mut seed);
        let child = Self::with_backend(seed[0], self.backend);
        seed.zeroize();
        child
    }

    /// Fills with random bytes. Every call starts at a whole block of the stream; what is left of the
    /// last block of a length that is no multiple of 16 is thrown away.
    pub fn fill(&mut self, out: &mut [u8]) {
        let (whole, rest) = out.as_chunks_mut();
        self.stream(whole);
        if !rest.is_empty() {
            let mut last = [[0; 16]];
            self.stream(&mut last);
            rest.copy_from_slice(&last[0][..rest.len()]);
            last.zeroize();
        }
    }

    /// Fills with random blocks.
    pub fn fill_blocks(&mut self, out: &mut [Block]) {
        self.stream(bytemuck::cast_slice_mut(out));
    }

    /// One random block.
    pub fn block(&mut self) -> Block {
        let mut block = [Block::ZERO];
        self.fill_blocks(&mut block);
        block[0]
    }

    /// Fills with random words; an odd number throws half a block away.
    pub fn words(&mut self, out: &mut [u64]) {
        self.fill(bytemuck::cast_slice_mut(out));
    }

    fn stream(&mut self, out: &mut [[u8; 16]]) {
        self.stream.counter(self.next, out);
        self.next += out.len() as u64;
    }
}
