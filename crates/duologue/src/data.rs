//! Inputs and outputs by the names of their ports.

use crate::executor::Feeds;
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::{Binding, BoundPort, Owner};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Values by port: wires × lanes, bit 0 of a word in row 0.
///
/// Each party gives its own ports, both give the public ones, and each gives its XOR share of a shared one.
/// Its `Debug` shows names and shapes, and no value.
#[derive(Clone, Default)]
#[must_use = "inputs are nothing until a session runs on them"]
pub struct Inputs(BTreeMap<String, Arc<BitMatrix>>);

/// The outputs of a run that this party gets, by port; of a shared output its XOR share.
/// Its `Debug` shows names and shapes, and no value.
#[derive(Clone, Default)]
pub struct Outputs(BTreeMap<String, BitMatrix>);

impl fmt::Debug for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Inputs {
    /// An empty set of inputs.
    pub fn new() -> Inputs {
        Inputs::default()
    }

    /// Sets a port and returns the inputs. The value is a [`BitMatrix`], or one that is shared: no run copies it.
    pub fn with(mut self, name: &str, value: impl Into<Arc<BitMatrix>>) -> Inputs {
        self.set(name, value);
        self
    }

    /// Sets a port.
    pub fn set(&mut self, name: &str, value: impl Into<Arc<BitMatrix>>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// The value of a port, if it is set.
    pub fn get(&self, name: &str) -> Option<&BitMatrix> {
        self.0.get(name).map(Arc::as_ref)
    }

    /// The value of a port as it is shared, if it is set.
    pub(crate) fn shared(&self, name: &str) -> Option<Arc<BitMatrix>> {
        self.0.get(name).cloned()
    }

    /// The values of the wanted ports in the program's order, after checking names and shapes.
    pub(crate) fn feeds(&self, binding: &Binding, wanted: impl Fn(Owner) -> bool) -> Result<Feeds> {
        if let Some(name) = self.0.keys().find(|name| binding.input(name).is_none()) {
            return Err(Error::usage(format!("the program has no input '{name}'")));
        }
        binding.inputs().iter().map(|port| self.feed(port, wanted(port.who))).collect()
    }

    fn feed(&self, port: &BoundPort<Owner>, wanted: bool) -> Result<Option<Arc<BitMatrix>>> {
        match self.0.get(&port.name) {
            _ if !wanted => Ok(None),
            None if port.lanes == 0 => Ok(Some(BitMatrix::zeros(port.ty.width as usize, 0).into())),
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
        named.filter_map(|(port, value)| Some((port.name.clone(), value?))).collect()
    }

    /// The value of a port; none if it is not for this party.
    pub fn get(&self, name: &str) -> Option<&BitMatrix> {
        self.0.get(name)
    }

    /// Takes the value of a port out; none if it is not for this party, or was taken.
    pub fn take(&mut self, name: &str) -> Option<BitMatrix> {
        self.0.remove(name)
    }

    /// All ports with their names, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BitMatrix)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl FromIterator<(String, BitMatrix)> for Outputs {
    fn from_iter<I: IntoIterator<Item = (String, BitMatrix)>>(named: I) -> Outputs {
        Outputs(named.into_iter().collect())
    }
}

/// Lanes of unsigned numbers of `width` bits. Numbers of other types, and of up to 128 bits, make
/// [`BitMatrix::from_numbers`].
///
/// # Errors
/// [`Error::Usage`] that names the first lane whose number does not fit: nothing is cut off.
pub fn uints(width: usize, lanes: &[u64]) -> Result<BitMatrix> {
    Ok(BitMatrix::from_numbers(width, lanes)?)
}

/// The lanes of a matrix as unsigned numbers.
///
/// # Errors
/// [`Error::Usage`] if they have more than 64 bits: [`BitMatrix::to_numbers`] reads up to 128, [`to_bytes`] any number.
pub fn to_uints(matrix: &BitMatrix) -> Result<Vec<u64>> {
    Ok(matrix.to_numbers()?)
}

/// Lanes of numbers in two's complement of `width` bits.
///
/// # Errors
/// As [`uints`].
pub fn ints(width: usize, lanes: &[i64]) -> Result<BitMatrix> {
    Ok(BitMatrix::from_numbers(width, lanes)?)
}

/// The lanes of a matrix as numbers in two's complement, the uppermost bit being the sign.
///
/// # Errors
/// As [`to_uints`].
pub fn to_ints(matrix: &BitMatrix) -> Result<Vec<i64>> {
    Ok(matrix.to_numbers()?)
}

/// Lanes of byte strings: bit `i` of byte `k` is in row `8k + i`. [`BitMatrix::from_byte_rows`] takes them one after
/// another, which is quicker, and lanes that are no whole bytes.
///
/// # Errors
/// [`Error::Usage`] if their lengths differ.
pub fn bytes(lanes: &[impl AsRef<[u8]>]) -> Result<BitMatrix> {
    let length = lanes.first().map_or(0, |lane| lane.as_ref().len());
    if let Some(lane) = lanes.iter().position(|lane| lane.as_ref().len() != length) {
        let came = lanes[lane].as_ref().len();
        return Err(Error::usage(format!("lane {lane} has {came} bytes, and the first one {length}")));
    }
    if length == 0 {
        return Ok(BitMatrix::zeros(0, lanes.len()));
    }
    Ok(BitMatrix::from_byte_rows(8 * length, &lanes.iter().map(AsRef::as_ref).collect::<Vec<_>>().concat())?)
}

/// The lanes of a matrix as byte strings.
pub fn to_bytes(matrix: &BitMatrix) -> Vec<Vec<u8>> {
    match matrix.rows().div_ceil(8) {
        0 => vec![Vec::new(); matrix.lanes()],
        length => matrix.to_byte_rows().chunks(length).map(<[u8]>::to_vec).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use circuit::{Program, uint};

    fn sum() -> Binding {
        let mut p = Program::new("sum");
        let a = p.input("a", Party::Alice, uint(16), 3);
        p.output("a", Party::Bob, a);
        p.bind(&[]).unwrap()
    }

    #[test]
    fn a_run_takes_inputs_as_they_lie() {
        let given = Arc::new(uints(16, &[1, 2, 3]).unwrap());
        let inputs = Inputs::new().with("a", given.clone());
        let feeds = inputs.feeds(&sum(), |_| true).unwrap();
        assert!(feeds[0].as_ref().is_some_and(|feed| Arc::ptr_eq(feed, &given)), "copied");
    }

    #[test]
    fn inputs_and_outputs_print_no_value() {
        let value = || uints(16, &[0xdead, 57005, 1]).unwrap();
        let inputs = format!("{:?}", Inputs::new().with("a", value()));
        assert_eq!(inputs, r#"{"a": BitMatrix(16 bits × 3 lanes)}"#);
        assert_eq!(inputs, format!("{:?}", Outputs::new(&sum(), vec![Some(value())])));
    }

    #[test]
    fn nothing_is_cut_off() {
        for error in [
            uints(8, &[255, 256]).map(drop),
            ints(8, &[-128, -129]).map(drop),
            to_uints(&BitMatrix::zeros(65, 1)).map(drop),
            to_ints(&BitMatrix::zeros(65, 1)).map(drop),
            bytes(&[&[1u8, 2][..], &[3]]).map(drop),
        ] {
            assert!(matches!(error, Err(Error::Usage(_))), "{error:?}");
        }
        assert_eq!(to_ints(&ints(8, &[-128, 127]).unwrap()).unwrap(), [-128, 127]);
        assert_eq!(to_bytes(&bytes(&["ab", "cd"]).unwrap()), [b"ab", b"cd"]);
        assert_eq!(to_bytes(&bytes(&["", ""]).unwrap()), [b"", b""]);
    }
}
