//! Modules that are the same under several names: read_slang makes each instance a module of its own.
//!
//! Two are the same if their ports are, and their cells in the order of their names, with the numbers in these as numbers: a
//! reader counts them on through all modules. Nets are numbered as ports and cells name them.

use super::json::{Ordered, Parameter, RawBit, RawCell, RawPort};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The most cells of a module that is compared.
const MOST_CELLS: usize = 1 << 12;

/// What a module is but for its name, and those of its cells and nets.
#[derive(Default)]
pub(super) struct Shape {
    ports: Vec<(String, RawPort)>,
    cells: Vec<(String, RawCell)>,
    is_long: bool,
}

impl Shape {
    pub fn ports(&mut self, ports: Ordered<RawPort>) {
        self.ports = ports.0;
    }

    pub fn cell(&mut self, name: String, cell: RawCell) {
        self.is_long |= self.cells.len() == MOST_CELLS;
        match self.is_long {
            true => self.cells.clear(),
            false => self.cells.push((name, cell)),
        }
    }

    /// A text that is the same for the same modules, if the module is not too long. Modules within it are named by `class`.
    pub fn text<'a>(&'a self, class: impl Fn(&'a str) -> &'a str) -> Option<String> {
        if self.is_long {
            return None;
        }
        let mut nets = FxHashMap::default();
        let mut text = String::new();
        for (name, port) in &self.ports {
            let _ = write!(text, "{name:?} {:?} {}", port.direction, port.signed);
            write_bits(&mut text, &port.bits, &mut nets);
        }
        let mut cells: Vec<&(String, RawCell)> = self.cells.iter().collect();
        cells.sort_by_cached_key(|(name, _)| parts(name));
        for (_, cell) in cells {
            let _ = write!(text, "\n{:?}", class(&cell.kind));
            write_said(&mut text, &cell.parameters);
            write_said(&mut text, &cell.attributes);
            for (port, bits) in &cell.connections.0 {
                let _ = write!(text, " {port:?}");
                write_bits(&mut text, bits, &mut nets);
            }
        }
        Some(text)
    }
}

fn write_said(text: &mut String, said: &Ordered<Parameter>) {
    // The name that an instance has in the source is no part of what it is.
    for (name, value) in said.0.iter().filter(|(name, _)| name != "hdlname") {
        let _ = write!(text, " {name:?} {value:?}");
    }
}

fn write_bits(text: &mut String, bits: &[RawBit], nets: &mut FxHashMap<u64, usize>) {
    for bit in bits {
        let next = nets.len();
        let _ = match bit {
            RawBit::Net(net) => write!(text, " {}", nets.entry(*net).or_insert(next)),
            RawBit::Constant(signal) => write!(text, " {signal:?}"),
        };
    }
    text.push(';');
}

/// A name cut into what is no number, and numbers.
fn parts(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0u64)];
    let mut in_number = false;
    for letter in name.chars() {
        if !letter.is_ascii_digit() && std::mem::replace(&mut in_number, false) {
            parts.push((String::new(), 0));
        }
        let (text, number) = parts.last_mut().expect("it begins with one");
        match letter.to_digit(10) {
            Some(digit) => (in_number, *number) = (true, number.wrapping_mul(10).wrapping_add(digit.into())),
            None => text.push(letter),
        }
    }
    parts
}
