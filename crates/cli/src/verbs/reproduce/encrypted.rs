//! Trials of the protocols over ciphertexts: Alice has them, Bob has the key.
//!
//! Lengths need no key. A run takes one that is made for it, of whatever length a paper has: keys of 1,024 bits can be broken
//! and serve for nothing else.

use super::trial::{Trial, consenting_calls};
use crate::failure::{Exit, Failure};
use apps::argmin::Direction;
use apps::argmin::encrypted::{Keys, Method, Terms, lanes_of};
use duologue::circuit::program::Functionality;
use duologue::circuit::{Binding, BitMatrix, Party, Program, bits};
use duologue::{Inputs, Options, Scheme};
use he::paillier::SecretKey;
use he::{KeySize, Plaintexts};
use kernels::generator::Generator;
use std::sync::Arc;

/// A key that was made for trials, and numbers under it, which are small enough for every width of a trial.
pub struct Encrypted {
    keys: Keys,
    id: [u8; 32],
    lanes: BitMatrix,
}

impl Encrypted {
    /// So many numbers under a key of so many bits.
    pub fn new(key_bits: u32, values: u64) -> Result<Encrypted, Failure> {
        let failed = |why: he::Error| Failure::new(Exit::Machine, format!("a key for a trial: {why}"));
        let mut random = Generator::from_os().map_err(|why| Failure::new(Exit::Machine, why.to_string()))?;
        let size = KeySize::even_if_it_can_be_broken(key_bits).map_err(failed)?;
        let secret = SecretKey::generate(size, &mut random).map_err(failed)?;
        let id = secret.public().id();
        let numbers: Vec<u128> = (0..values as u128).map(|i| i * 7919 % 4093).collect();
        let ciphertexts = secret.encrypt(&Plaintexts::new(&numbers), &mut random).map_err(failed)?;
        let lanes = lanes_of(&secret.public().write_numbers(&ciphertexts).map_err(failed)?, key_bits)?;
        Ok(Encrypted { keys: Keys::of_client(secret), id, lanes })
    }
}

/// Terms for `values` values of so many bits with arguments of as many, under a key of so many bits.
#[derive(Clone, Copy)]
pub struct Shape {
    pub method: Method,
    pub key_bits: u32,
    pub width: u32,
    pub values: u64,
}

impl Shape {
    /// A trial that can be counted.
    pub fn counted(&self) -> Result<Trial, Failure> {
        let keys = Keys::none().even_if_they_can_be_broken();
        let trial = Trial::of(self.binding(&keys, [0; 32])?, Options::new(Scheme::Gmw));
        Ok(trial.with_calls([&keys, &keys].map(consenting_calls)))
    }

    /// A trial that can be run.
    pub fn ready(&self, encrypted: &Encrypted) -> Result<Trial, Failure> {
        let keys = [Keys::none(), encrypted.keys.clone()].map(Keys::even_if_they_can_be_broken);
        let inputs =
            ["values", "arguments"].iter().fold(Inputs::new(), |all, name| all.with(name, encrypted.lanes.clone()));
        let trial = Trial::of(self.binding(&keys[1], encrypted.id)?, Options::new(Scheme::Gmw));
        Ok(trial.with_calls(keys.each_ref().map(consenting_calls)).with_inputs([inputs, Inputs::new()]))
    }

    fn binding(&self, keys: &Keys, key: [u8; 32]) -> Result<Binding, Failure> {
        let mut p = Program::new("argmin_encrypted");
        let args =
            ["values", "arguments"].map(|name| p.input(name, Party::Alice, bits(2 * self.key_bits), self.values));
        let call: Arc<dyn Functionality> = self.method.call(keys);
        let found = p.call(&call, &self.terms(key).to_bytes(), &args);
        for (&value, name) in found.iter().zip(["least", "argument"]) {
            p.output(name, Party::Alice, value);
        }
        Ok(p.bind(&[])?)
    }

    fn terms(&self, key: [u8; 32]) -> Terms {
        let terms = Terms::new(Party::Alice, (self.key_bits, key), self.width, Some(self.width));
        match self.method {
            // 40 bits of the whole run; it blinds each number with more.
            Method::Duologue => Terms { direction: Direction::One, ..terms },
            // Its consent; the paper's 40 bits of each number.
            Method::Boma => Terms { leaky: true, ..terms },
            Method::Erkin => terms,
        }
    }
}
