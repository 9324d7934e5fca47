//! Reading.

use super::FORMAT;
use super::variables::{Named, Ports, named};
use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::format::functions::{Functions, MOST_INPUTS};
use crate::format::ports::Parties;
use crate::graph::{Bit, Circuit};
use crate::program::Party;

/// What a file says.
#[derive(Debug)]
pub struct File {
    /// The circuit.
    pub circuit: Circuit,
    /// The parties that its comments name.
    pub parties: Parties,
}

/// Reads a file; `name` is the circuit's.
pub fn read(file: &[u8], name: &str) -> Result<File> {
    let mut reader = Reader { c: Builder::new(name), wires: Vec::new(), most: file.len(), functions: Functions::new() };
    let inputs = reader.inputs(file)?;
    let mut outputs = Vec::new();
    for (number, line) in lines(file) {
        let words = Words::of(line, number)?;
        if words.kind != Some("input") {
            outputs.extend(reader.gate(words)?);
        }
    }
    let names: Vec<Option<Named>> = outputs.iter().map(|(_, name)| name.clone()).collect();
    let Ports { ports, parties, order } = Ports::of(&names, "out");
    let bits: Vec<Bit> = order.iter().map(|&place| outputs[place].0).collect();
    reader.c.outputs(&ports, &bits);
    Ok(File { circuit: reader.c.try_finish()?, parties: Parties { inputs, outputs: parties } })
}

struct Reader {
    c: Builder,
    wires: Vec<Option<Bit>>,
    /// Wires have numbers up to the length of the file.
    most: usize,
    functions: Functions,
}

/// Lines that have something besides a comment, by their numbers.
fn lines(file: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = (1..).zip(file.split(|&byte| byte == b'\n'));
    lines.filter(|(_, line)| !line.trim_ascii().is_empty() && !line.trim_ascii_start().starts_with(b"//"))
}

/// A line in parts.
struct Words<'a> {
    number: usize,
    wire: usize,
    /// `input`, `gate` or `output`.
    kind: Option<&'a str>,
    rest: &'a str,
    comment: Option<&'a str>,
}

impl<'a> Words<'a> {
    fn of(line: &'a [u8], number: usize) -> Result<Self> {
        let text = std::str::from_utf8(line).map_err(|_| wrong(number, "no text"))?;
        let (text, comment) = match text.split_once("//") {
            Some((text, comment)) => (text, Some(comment)),
            None => (text, None),
        };
        let mut parts = text.trim().splitn(3, char::is_whitespace);
        let wire = parts.next().unwrap_or_default();
        let Ok(wire) = wire.parse() else {
            return Err(wrong(number, format!("a line begins with the number of its wire, not '{}'", shown(wire))));
        };
        Ok(Words { number, wire, kind: parts.next(), rest: parts.next().unwrap_or_default().trim(), comment })
    }

    fn wrong(&self, why: impl Into<String>) -> Error {
        wrong(self.number, why)
    }
}

impl Reader {
    /// All inputs, and who supplies each port.
    fn inputs(&mut self, file: &[u8]) -> Result<Vec<Option<Party>>> {
        let (mut wires, mut names) = (Vec::new(), Vec::new());
        for (number, line) in lines(file) {
            let words = Words::of(line, number)?;
            if words.kind == Some("input") {
                if !words.rest.is_empty() {
                    return Err(words.wrong("an input is its number, 'input', and a comment that names it"));
                }
                names.push(words.comment.and_then(|comment| named(comment, "input")));
                wires.push((words.wire, number));
            }
        }
        let Ports { ports, parties, order } = Ports::of(&names, "in");
        let mut places = order.iter();
        for port in ports {
            for (bit, &place) in self.c.input(port.name, port.ty).into_iter().zip(places.by_ref()) {
                let (wire, number) = wires[place];
                self.define(wire, number, bit)?;
            }
        }
        Ok(parties)
    }

    fn define(&mut self, wire: usize, number: usize, bit: Bit) -> Result<()> {
        if wire > self.most {
            return Err(wrong(number, format!("wire {wire} in a file of {} bytes", self.most)));
        }
        if wire >= self.wires.len() {
            self.wires.resize(wire + 1, None);
        }
        match self.wires[wire].replace(bit) {
            None => Ok(()),
            Some(_) => Err(wrong(number, format!("wire {wire} is defined twice"))),
        }
    }

    /// A gate, and if it is an output its bit and name.
    fn gate<'a>(&mut self, words: Words<'a>) -> Result<Option<(Bit, Option<Named<'a>>)>> {
        let (is_output, rest) = match words.kind {
            Some("gate") => (false, words.rest),
            Some("output") => match words.rest.strip_prefix("gate") {
                Some(rest) => (true, rest),
                None => return Err(words.wrong("'output' is followed by 'gate'")),
            },
            _ => return Err(words.wrong("a wire is an 'input', a 'gate' or an 'output gate'")),
        };
        let gate = Gate::of(rest).map_err(|why| words.wrong(why))?;
        let operands: Vec<Bit> = gate.inputs.iter().map(|&wire| self.value(wire, &words)).collect::<Result<_>>()?;
        let bit = self.functions.of_table(&mut self.c, gate.table, &operands);
        self.define(words.wire, words.number, bit)?;
        let name = words.comment.and_then(|comment| named(comment, "output"));
        Ok(is_output.then_some((bit, name)))
    }

    fn value(&self, wire: usize, words: &Words) -> Result<Bit> {
        let bit = self.wires.get(wire).copied().flatten();
        bit.ok_or_else(|| words.wrong(format!("wire {wire} is read before it is defined")))
    }
}

/// `arity 2 table [ 0 0 0 1 ] inputs [ 4 5 ]`.
struct Gate {
    table: u64,
    inputs: Vec<usize>,
}

impl Gate {
    fn of(text: &str) -> std::result::Result<Gate, String> {
        const FORM: &str = "a gate is 'arity N table [ BITS ] inputs [ WIRES ]'";
        let text = text.trim().strip_prefix("arity").ok_or(FORM)?;
        let (arity, text) = text.split_once("table").ok_or(FORM)?;
        let (table, inputs) = text.split_once("inputs").ok_or(FORM)?;
        let arity: usize = arity.trim().parse().map_err(|_| FORM)?;
        if arity > MOST_INPUTS {
            return Err(format!("a gate of {arity} inputs; the most are {MOST_INPUTS}"));
        }
        let (mut bits, mut places) = (0, 0);
        for word in list(table).ok_or(FORM)? {
            match word {
                "0" => {}
                "1" if places < 64 => bits |= 1 << places,
                _ => return Err(format!("a table is a list of 0 and 1; it has '{}'", shown(word))),
            }
            places += 1;
        }
        let wire = |word: &str| word.parse().map_err(|_| format!("'{}' is no number of a wire", shown(word)));
        let inputs: Vec<usize> = list(inputs).ok_or(FORM)?.map(wire).collect::<std::result::Result<_, String>>()?;
        match (places == 1 << arity, inputs.len() == arity) {
            (true, true) => Ok(Gate { table: bits, inputs }),
            (false, _) => Err(format!("a table of {places} bits for {arity} inputs, which take {}", 1 << arity)),
            (_, false) => Err(format!("{} wires for {arity} inputs", inputs.len())),
        }
    }
}

/// The words between brackets.
fn list(text: &str) -> Option<impl Iterator<Item = &str>> {
    Some(text.trim().strip_prefix('[')?.strip_suffix(']')?.split_ascii_whitespace())
}

/// The beginning of a word from a file, safe to print.
fn shown(word: &str) -> String {
    word.chars().take(40).flat_map(char::escape_default).collect()
}

fn wrong(line: usize, why: impl Into<String>) -> Error {
    Error::Syntax { format: FORMAT, line, why: why.into() }
}
