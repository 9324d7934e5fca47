//! Alice's side: blindings, and answers of ciphertexts that she chose.

use kernels::Block;
use kernels::generator::Generator;

use super::coding::{read, write_small};
use super::masks::{Masks, SEED};
use super::noise::{error, flooding, ternary};
use super::ring::{Poly, Q, Transformed, add_shifted, lift, reduced, switched_down, zeros};
use super::secret::add_labels;
use super::{LABEL_BITS, LABELS, PUBLIC_KEY};
use crate::error::CiphertextFault;

/// A public key: a ciphertext of zeros. With it come the masks of the ciphertexts to come.
pub struct PublicKey {
    zero: [Transformed; 2],
    masks: Masks,
    /// The mask of the next ciphertext.
    pub(super) next: u64,
}

/// Blindings, encrypted and flooded: what an answer is made of before anybody knows of which labels.
pub struct Blinding {
    pub(super) c0: Poly,
    pub(super) c1: Poly,
}

impl PublicKey {
    /// Reads one.
    ///
    /// # Errors
    /// If a residue is too large.
    pub fn from_bytes(bytes: &[u8; PUBLIC_KEY]) -> Result<Self, CiphertextFault> {
        let (seed, zero) = bytes.split_at(SEED);
        let masks = Masks::new(std::array::from_fn(|i| seed[i]));
        let zero = [Transformed::new(&read(zero)?), Transformed::new(&masks.get(0))];
        Ok(PublicKey { zero, masks, next: 1 })
    }

    /// Encrypts blindings for at most [`LABELS`] labels, with all that hides those from the key's owner.
    pub fn blind(&self, blindings: &[Block], rng: &mut Generator) -> Blinding {
        let flooding = flooding(rng);
        self.flooded(blindings, &flooding, rng)
    }

    /// The same with this flooding.
    pub(super) fn flooded(&self, blindings: &[Block], flooding: &[i64], rng: &mut Generator) -> Blinding {
        assert!(blindings.len() <= LABELS, "at most {LABELS} labels");
        let u = Transformed::of_signed(&ternary(rng));
        let [mut c0, c1] = [0, 1].map(|half| {
            let mut c = self.zero[half].times(&u);
            c.iter_mut().zip(error(rng).iter()).for_each(|(c, &e)| *c += lift(e, Q));
            c
        });
        add_labels(&mut c0, blindings);
        c0.iter_mut().zip(flooding).for_each(|(c, &f)| *c += lift(f, Q));
        Blinding { c0, c1 }
    }

    /// The mask of the ciphertext of this number.
    pub(super) fn mask(&self, number: u64) -> Vec<u64> {
        self.masks.get(number)
    }
}

impl Blinding {
    /// Adds a ciphertext, whose mask this is, for the label at this place of the answer.
    pub(super) fn add(&mut self, place: usize, c0: &[u64], mask: &[u64]) {
        for (sums, x) in [(&mut self.c0, c0), (&mut self.c1, mask)] {
            add_shifted(sums, x, LABEL_BITS * place);
        }
    }

    /// Both halves modulo q.
    pub(super) fn reduced(mut self) -> [Poly; 2] {
        [&mut self.c0, &mut self.c1].into_iter().flat_map(|c| c.iter_mut()).for_each(|c| *c = reduced::<Q>(*c));
        [self.c0, self.c1]
    }

    /// Appends the answer, of [`ANSWER`](super::ANSWER) bytes.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let mut small = zeros();
        for c in self.reduced() {
            small.iter_mut().zip(c.iter()).for_each(|(small, &c)| *small = switched_down(c));
            write_small(out, &small);
        }
    }
}
