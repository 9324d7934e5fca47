//! Inputs and outputs by the names of their ports.

use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Binding, BoundPort, Owner};
use std::collections::BTreeMap;

/// Values by port: wires × lanes, bit 0 of a word in row 0.
///
/// Each party gives its own ports, both give the public ones, and each gives its XOR share of a shared one.
#[derive(Clone, Default)]
pub struct Inputs(BTreeMap<String, BitMatrix>);

/// The outputs of a run that this party gets, by port; of a shared output its XOR share.
#[derive(Clone, Default)]
pub struct Outputs(BTreeMap<String, BitMatrix>);

impl Inputs {
    /// An empty set of inputs.
    pub fn new() -> Inputs {
        Inputs::default()
    }

    /// Sets a port and returns the inputs.
    pub fn with(mut self, name: &str, value: BitMatrix) -> Inputs {
        self.set(name, value);
        self
    }

    /// Sets a port.
    pub fn set(&mut self, name: &str, value: BitMatrix) {
        self.0.insert(name.to_owned(), value);
    }

    /// The value of a port, if it is set.
    pub fn get(&self, name: &str) -> Option<&BitMatrix> {
        self.0.get(name)
    }

    /// The values of the wanted ports in the program's order, after checking names and shapes.
    pub(crate) fn feeds(&self, binding: &Binding, wanted: impl Fn(Owner) -> bool) -> Result<Vec<Option<BitMatrix>>> {
        if let Some(name) = self.0.keys().find(|name| binding.input(name).is_none()) {
            return Err(Error::usage(format!("the program has no input '{name}'")));
        }
        binding.inputs().iter().map(|port| self.feed(port, wanted(port.who))).collect()
    }

    fn feed(&self, port: &BoundPort<Owner>, wanted: bool) -> Result<Option<BitMatrix>> {
        match self.0.get(&port.name) {
            _ if !wanted => Ok(None),
            None if port.lanes == 0 => Ok(Some(BitMatrix::zeros(port.ty.width as usize, 0))),
            None => Err(Error::usage(format!("the input '{}' ({} × {}) is missing", port.name, port.lanes, port.ty))),
            Some(value) if (value.rows(), value.lanes() as u64) == (port.ty.width as usize, port.lanes) => {
                Ok(Some(value.clone()))
            }
            Some(value) => Err(Error::usage(format!(
                "the input '{}' must have {} lanes of {} bits, but has {} of {}",
                port.name,
                port.lanes,
                port.ty.width,
                value.lanes(),
                value.rows()
            ))),
        }
    }

    /// Refuses inputs that only the peer may supply.
    pub(crate) fn check_owner(&self, binding: &Binding, party: Party) -> Result<()> {
        let theirs =
            |port: &&BoundPort<Owner>| port.who == Owner::Party(party.peer()) && self.0.contains_key(&port.name);
        match binding.inputs().iter().find(theirs) {
            Some(port) => {
                Err(Error::usage(format!("the input '{}' belongs to {}, not to {party}", port.name, party.peer())))
            }
            None => Ok(()),
        }
    }
}

impl Outputs {
    pub(crate) fn new(binding: &Binding, delivered: Vec<Option<BitMatrix>>) -> Outputs {
        let named = binding.outputs().iter().zip(delivered);
        Outputs(named.filter_map(|(port, value)| Some((port.name.clone(), value?))).collect())
    }

    /// The value of a port; none if it is not for this party.
    pub fn get(&self, name: &str) -> Option<&BitMatrix> {
        self.0.get(name)
    }

    /// All ports with their names, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BitMatrix)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// Lanes of unsigned numbers of `width` bits; higher bits of a number are cut off.
pub fn uints(width: usize, lanes: &[u64]) -> BitMatrix {
    let mut matrix = BitMatrix::zeros(width, lanes.len());
    for (lane, &number) in lanes.iter().enumerate() {
        (0..width.min(64)).for_each(|bit| matrix.set(bit, lane, number >> bit & 1 == 1));
    }
    matrix
}

/// The lanes of a matrix as unsigned numbers of at most 64 bits; higher bits are cut off.
pub fn to_uints(matrix: &BitMatrix) -> Vec<u64> {
    let number = |lane| (0..matrix.rows().min(64)).fold(0, |n, bit| n | u64::from(matrix.get(bit, lane)) << bit);
    (0..matrix.lanes()).map(number).collect()
}

/// Lanes of byte strings of equal length: bit `i` of byte `k` is in row `8k + i`.
pub fn bytes(lanes: &[&[u8]]) -> BitMatrix {
    let length = lanes.first().map_or(0, |lane| lane.len());
    let mut matrix = BitMatrix::zeros(8 * length, lanes.len());
    for (lane, bytes) in lanes.iter().enumerate() {
        (0..8 * length).for_each(|bit| matrix.set(bit, lane, bytes[bit / 8] >> (bit % 8) & 1 == 1));
    }
    matrix
}

/// The lanes of a matrix as byte strings.
pub fn to_bytes(matrix: &BitMatrix) -> Vec<Vec<u8>> {
    let byte = |lane, k: usize| {
        (8 * k..matrix.rows().min(8 * k + 8)).fold(0, |byte, bit| byte | u8::from(matrix.get(bit, lane)) << (bit % 8))
    };
    (0..matrix.lanes()).map(|lane| (0..matrix.rows().div_ceil(8)).map(|k| byte(lane, k)).collect()).collect()
}
