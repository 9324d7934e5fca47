//! Reading.

use super::{Dialect, Names};
use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::graph::{Bit, Circuit, bits};

/// Wires that a file may have beyond its length in bytes: inputs that no gate reads are written nowhere.
const UNWRITTEN: u64 = 1 << 20;

/// Reads a file in whichever format it is: in the old one, the third line is a gate.
pub fn read(file: &[u8], names: &Names) -> Result<Circuit> {
    let mut lines = file.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let third = lines.by_ref().filter(|line| !line.is_empty()).nth(2).unwrap_or_default();
    let gate = third.last().is_some_and(u8::is_ascii_alphabetic);
    read_as(file, if gate { Dialect::Old } else { Dialect::Fashion }, names)
}

/// Reads a file in this format.
pub fn read_as(file: &[u8], dialect: Dialect, names: &Names) -> Result<Circuit> {
    let mut reader = BristolReader { tokens: Tokens::new(file, dialect), names, c: Builder::new(names.circuit) };
    let header = reader.header(file.len() as u64)?;
    let mut wires = reader.inputs(&header)?;
    for gate in 0..header.gates {
        reader.gate(&mut wires).map_err(|error| in_gate(error, gate, header.gates))?;
    }
    reader.tokens.end()?;
    reader.outputs(&header, &wires)?;
    reader.c.try_finish()
}

/// The numbers before the gates.
struct Header {
    gates: u32,
    wires: u32,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
}

struct BristolReader<'a> {
    tokens: Tokens<'a>,
    names: &'a Names<'a>,
    c: Builder,
}

/// The value of every wire assigned so far.
type Wires = Vec<Option<Bit>>;

impl BristolReader<'_> {
    fn header(&mut self, length: u64) -> Result<Header> {
        let (gates, wires) = (self.tokens.number("gates")?, self.tokens.number("wires")?);
        let (inputs, outputs) = match self.tokens.dialect {
            Dialect::Fashion => (self.widths("input")?, self.widths("output")?),
            Dialect::Old => self.old_widths()?,
        };
        if u64::from(wires) > length + UNWRITTEN {
            return Err(self.tokens.wrong(format!("{wires} wires do not fit in {length} bytes")));
        }
        for (side, widths) in [("input", &inputs), ("output", &outputs)] {
            let total: u64 = widths.iter().map(|&width| u64::from(width)).sum();
            if total > wires.into() {
                return Err(self.tokens.wrong(format!("{total} {side} bits, but {wires} wires")));
            }
        }
        Ok(Header { gates, wires, inputs, outputs })
    }

    fn widths(&mut self, side: &str) -> Result<Vec<u32>> {
        let count = self.tokens.number("values")?;
        let mut widths = Vec::new();
        for value in 0..count {
            match self.tokens.number("bits")? {
                0 => {
                    return Err(self.tokens.wrong(format!("{side} value {value} has no bits")));
                }
                width => widths.push(width),
            }
        }
        Ok(widths)
    }

    /// Two inputs and an output; an input of no bits is none.
    fn old_widths(&mut self) -> Result<(Vec<u32>, Vec<u32>)> {
        let mut widths = [0; 3];
        for width in &mut widths {
            *width = self.tokens.number("bits")?;
        }
        let [first, second, output] = widths;
        let some = |widths: &[u32]| widths.iter().copied().filter(|&width| width > 0).collect();
        Ok((some(&[first, second]), some(&[output])))
    }

    fn inputs(&mut self, header: &Header) -> Result<Wires> {
        let mut wires = Wires::new();
        for (value, &width) in header.inputs.iter().enumerate() {
            let name = self.name("input", self.names.inputs, header.inputs.len(), value)?;
            wires.extend(self.c.input(name, bits(width)).into_iter().map(Some));
        }
        wires.resize(header.wires as usize, None);
        Ok(wires)
    }

    fn outputs(&mut self, header: &Header, wires: &Wires) -> Result<()> {
        if let Some(wire) = wires.iter().position(Option::is_none) {
            return Err(self.tokens.wrong(format!("wire {wire} is never assigned")));
        }
        let total: usize = header.outputs.iter().map(|&width| width as usize).sum();
        let mut rest = wires[wires.len() - total..].iter().copied().flatten();
        for (value, &width) in header.outputs.iter().enumerate() {
            let name = self.name("output", self.names.outputs, header.outputs.len(), value)?;
            let word: Vec<Bit> = rest.by_ref().take(width as usize).collect();
            self.c.output_as(name, bits(width), &word);
        }
        Ok(())
    }

    fn name(&self, side: &str, names: &[&str], count: usize, value: usize) -> Result<String> {
        if names.len() > count {
            return Err(Error::usage(format!("{} {side} names for {count} values", names.len())));
        }
        let default = || format!("{}{value}", if side == "input" { "in" } else { "out" });
        Ok(names.get(value).map_or_else(default, |&name| name.into()))
    }

    fn gate(&mut self, wires: &mut Wires) -> Result<()> {
        let (count_in, count_out) = (self.tokens.number("inputs")?, self.tokens.number("outputs")?);
        let inputs = self.tokens.numbers(count_in)?;
        let outputs = self.tokens.numbers(count_out)?;
        let name = self.tokens.next("a gate name")?;
        let values = self.values(name, &inputs, count_out, wires)?;
        for (&wire, value) in outputs.iter().zip(values) {
            self.assign(wires, wire, value)?;
        }
        Ok(())
    }

    /// The bits that a gate puts out.
    fn values(&mut self, name: &[u8], inputs: &[u32], outputs: u32, wires: &Wires) -> Result<Vec<Bit>> {
        let fashion = self.tokens.dialect == Dialect::Fashion;
        match (name, inputs, outputs) {
            (b"XOR", &[a, b], 1) => {
                let (a, b) = (self.value(wires, a)?, self.value(wires, b)?);
                Ok(vec![self.c.xor(a, b)])
            }
            (b"AND", &[a, b], 1) => {
                let (a, b) = (self.value(wires, a)?, self.value(wires, b)?);
                Ok(vec![self.c.and(a, b)])
            }
            (b"INV" | b"NOT", &[a], 1) => Ok(vec![!self.value(wires, a)?]),
            (b"EQW", &[a], 1) if fashion => Ok(vec![self.value(wires, a)?]),
            (b"EQ", &[constant @ (0 | 1)], 1) if fashion => Ok(vec![Bit::constant(constant == 1)]),
            (b"MAND", _, _) if fashion && inputs.len() as u64 == 2 * u64::from(outputs) => {
                let (left, right) = inputs.split_at(inputs.len() / 2);
                left.iter()
                    .zip(right)
                    .map(|(&a, &b)| {
                        let (a, b) = (self.value(wires, a)?, self.value(wires, b)?);
                        Ok(self.c.and(a, b))
                    })
                    .collect()
            }
            _ => Err(self.tokens.wrong(format!(
                "no gate {} with {} inputs and {outputs} outputs, or not on these",
                printable(name),
                inputs.len()
            ))),
        }
    }

    fn value(&self, wires: &Wires, wire: u32) -> Result<Bit> {
        match wires.get(wire as usize) {
            Some(&Some(bit)) => Ok(bit),
            Some(None) => Err(self.tokens.wrong(format!("wire {wire} is read before it is assigned"))),
            None => Err(self.tokens.wrong(format!("wire {wire} of {}", wires.len()))),
        }
    }

    fn assign(&self, wires: &mut Wires, wire: u32, bit: Bit) -> Result<()> {
        let count = wires.len();
        match wires.get_mut(wire as usize) {
            Some(place @ None) => *place = Some(bit),
            Some(_) => return Err(self.tokens.wrong(format!("wire {wire} is assigned twice"))),
            None => return Err(self.tokens.wrong(format!("wire {wire} of {count}"))),
        }
        Ok(())
    }
}

/// Words between whitespace, and the line that we are in.
struct Tokens<'a> {
    rest: &'a [u8],
    line: usize,
    dialect: Dialect,
}

impl<'a> Tokens<'a> {
    fn new(file: &'a [u8], dialect: Dialect) -> Self {
        Tokens { rest: file, line: 1, dialect }
    }

    fn skip_space(&mut self) {
        let space = self.rest.len() - self.rest.trim_ascii_start().len();
        self.line += self.rest[..space].iter().filter(|&&byte| byte == b'\n').count();
        self.rest = &self.rest[space..];
    }

    fn next(&mut self, what: &str) -> Result<&'a [u8]> {
        self.skip_space();
        let length = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(length);
        self.rest = rest;
        if token.is_empty() { Err(self.wrong(format!("the file ends before {what}"))) } else { Ok(token) }
    }

    /// A decimal number below 2^31, the most nodes of a circuit.
    fn number(&mut self, what: &str) -> Result<u32> {
        let token = self.next(&format!("a number of {what}"))?;
        let digits = token.iter().all(u8::is_ascii_digit) && token.len() <= 10;
        let value = digits.then(|| token.iter().fold(0u64, |n, digit| 10 * n + u64::from(digit - b'0')));
        match value {
            Some(value) if value < 1 << 31 => Ok(value as u32),
            _ => Err(self.wrong(format!("a number of {what} below 2^31 was expected, not {}", printable(token)))),
        }
    }

    fn numbers(&mut self, count: u32) -> Result<Vec<u32>> {
        // Collecting results reserves nothing ahead: a claimed count costs no memory.
        (0..count).map(|_| self.number("a wire")).collect()
    }

    fn end(&mut self) -> Result<()> {
        self.skip_space();
        if self.rest.is_empty() { Ok(()) } else { Err(self.wrong("more follows after the last gate")) }
    }

    fn wrong(&self, why: impl Into<String>) -> Error {
        Error::Syntax { format: self.dialect.name(), line: self.line, why: why.into() }
    }
}

fn in_gate(error: Error, gate: u32, gates: u32) -> Error {
    match error {
        Error::Syntax { format, line, why } => {
            Error::Syntax { format, line, why: format!("gate {} of {gates}: {why}", gate + 1) }
        }
        other => other,
    }
}

/// The beginning of a word from a file, safe to print.
fn printable(token: &[u8]) -> String {
    format!("'{}'", token[..token.len().min(32)].escape_ascii())
}
