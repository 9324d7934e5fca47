//! AES-128 (FIPS 197) under one key, many blocks at once.

use crate::backend::{Backend, Cpu};
use crate::tree::Patch;
use crate::wide::{Counter, Encrypt, Expand, Grow, Local, RoundKeys, Seal, Table, Tree};
use crate::{Block, portable, work};

/// AES-128 under one key; the scheduled keys are zeroised on drop.
pub struct Aes128(Schedule);

enum Schedule {
    Wide(Cpu, RoundKeys),
    Portable(Box<portable::Cipher>),
}

impl Aes128 {
    /// Schedules a key for the fastest backend.
    pub fn new(key: Block) -> Self {
        Self::with_backend(key, Backend::detect())
    }

    /// Schedules a key for one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(key: Block, backend: Backend) -> Self {
        Aes128(match backend.cpu() {
            Some(cpu) => Schedule::Wide(cpu, cpu.run(Expand(key))),
            None => Schedule::Portable(Box::new(portable::cipher(key))),
        })
    }

    /// Encrypts every block in place.
    pub fn encrypt(&self, blocks: &mut [Block]) {
        work::count(blocks.len());
        match &self.0 {
            Schedule::Wide(cpu, keys) => cpu.run(Encrypt { keys, blocks }),
            Schedule::Portable(cipher) => portable::encrypt(cipher, blocks),
        }
    }

    /// Key stream of counter mode (SP 800-38A, initial counter block `first` as a big-endian number).
    pub(crate) fn counter(&self, first: u64, out: &mut [[u8; 16]]) {
        work::count(out.len());
        match &self.0 {
            Schedule::Wide(cpu, keys) => cpu.run(Counter { keys, first, out }),
            Schedule::Portable(cipher) => portable::counter(cipher, first, out),
        }
    }

    /// π(σ(x)) ⊕ σ(x) of every block.
    pub(crate) fn tree(&self, input: &[Block], output: &mut [Block]) {
        work::count(input.len());
        match &self.0 {
            Schedule::Wide(cpu, keys) => cpu.run(Tree { keys, input, output }),
            Schedule::Portable(cipher) => portable::tree(cipher, input, output),
        }
    }

    /// [`TreeHash::grow`](crate::hash::TreeHash::grow).
    pub(crate) fn grow(&self, parents: &[Block], patch: Patch, children: &mut [Block]) -> Block {
        work::count(parents.len());
        match &self.0 {
            Schedule::Wide(cpu, keys) => cpu.run(Grow { keys, parents, patch, children }),
            Schedule::Portable(cipher) => portable::grow(cipher, parents, patch, children),
        }
    }

    /// [`TreeHash::seal`](crate::hash::TreeHash::seal).
    pub(crate) fn seal(&self, leaves: &mut [Block], patches: [Patch; 2]) {
        match &self.0 {
            Schedule::Wide(cpu, _) => cpu.run(Seal { leaves, patches }),
            Schedule::Portable(_) => portable::seal(leaves, patches),
        }
    }

    /// [`LocalCode::add`](crate::local::LocalCode::add), the outputs counted from an even one.
    pub(crate) fn local(&self, first: u64, table: Table, out: &mut [Block]) {
        work::count(out.len().div_ceil(2) * 3);
        match &self.0 {
            Schedule::Wide(cpu, keys) => cpu.run(Local { keys, first, table, out }),
            Schedule::Portable(cipher) => portable::local(cipher, first, table.blocks(), out),
        }
    }
}
