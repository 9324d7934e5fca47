//! AES-128 (FIPS 197) under one key, many blocks at once.

use crate::backend::{Backend, Cpu};
use crate::cipher::portable;
use crate::cipher::wide::{Counter, Encrypt, Expand, RoundKeys, Tree};
use crate::{Block, work};

/// AES-128 under one key; the scheduled keys are zeroised on drop.
pub struct Aes128(Schedule);

pub(crate) enum Schedule {
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

    /// The scheduled key, for loops that do more than encrypt.
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.0
    }
}
