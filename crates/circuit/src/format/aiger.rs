//! AIGER files, ASCII (`aag`) and binary (`aig`), read: circuits of ANDs and complements.
//!
//! Format: Biere, *The AIGER And-Inverter Graph (AIG) Format* (2007), and of its version 1.9 the header. Circuits alone: a
//! file with latches, or with properties to prove, is refused. Inputs and outputs are single bits there; those that the
//! symbol table calls `a[0]`, `a[1]`, … in this order become one port `a`, and bits in a row that it does not name become
//! one as well. Reading is total, and its memory is bounded by the length of the file.

use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::graph::{Bit, Circuit, bits, check_name};
use std::collections::HashSet;

/// Inputs that a binary file may have beyond its length in bytes: they are written nowhere.
const UNWRITTEN: u64 = 1 << 20;

/// Reads a file of either kind; `name` is the circuit's.
pub fn read(file: &[u8], name: &str) -> Result<Circuit> {
    let mut reader = Reader { rest: file, line: 1 };
    let header = reader.header(file.len() as u64)?;
    let inputs = reader.inputs(&header)?;
    let outputs: Vec<u32> = (0..header.outputs).map(|_| reader.literal("an output", &header)).collect::<Result<_>>()?;
    let ands: Vec<And> = (0..header.ands).map(|i| reader.and(i, &header)).collect::<Result<_>>()?;
    let [input_names, output_names] = reader.symbols(&header)?;
    let mut made = Maker { c: Builder::new(name), bits: vec![None; header.variables as usize + 1] };
    made.bits[0] = Some(Bit::FALSE);
    made.inputs(&inputs, &words(&input_names, "in"))?;
    made.ands(&ands)?;
    made.outputs(&outputs, &words(&output_names, "out"))?;
    made.c.try_finish()
}

/// The numbers of the first line.
struct Header {
    binary: bool,
    variables: u32,
    inputs: u32,
    outputs: u32,
    ands: u32,
}

/// An AND by its literals, and the line or the number by which people find it.
struct And {
    output: u32,
    operands: [u32; 2],
    place: usize,
}

/// The names of inputs or of outputs.
type Names = Vec<Option<String>>;

struct Reader<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Reader<'a> {
    fn wrong(&self, why: impl Into<String>) -> Error {
        wrong(self.line, why)
    }

    /// The next line without its end.
    fn next(&mut self, what: &str) -> Result<&'a [u8]> {
        if self.rest.is_empty() {
            return Err(self.wrong(format!("the file ends before {what}")));
        }
        let length = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let line = &self.rest[..length];
        self.rest = self.rest.get(length + 1..).unwrap_or_default();
        self.line += 1;
        Ok(line.trim_ascii_end())
    }

    /// The numbers of the next line, each below 2^32.
    fn numbers(&mut self, line: &[u8]) -> Result<Vec<u32>> {
        let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse().ok();
        let words = line.split(|&byte| byte == b' ');
        let numbers: Option<Vec<u32>> = words.map(number).collect();
        let shown = line[..line.len().min(40)].escape_ascii();
        numbers.ok_or_else(|| wrong(self.line - 1, format!("numbers below 2^32 were expected, not '{shown}'")))
    }

    fn header(&mut self, length: u64) -> Result<Header> {
        let line = self.next("its first line")?;
        let binary = line.starts_with(b"aig ");
        if !binary && !line.starts_with(b"aag ") {
            return Err(wrong(1, "an AIGER file begins with 'aag' or 'aig' and numbers"));
        }
        let numbers = self.numbers(&line[4..])?;
        let &[variables, inputs, latches, outputs, ands, ref properties @ ..] = &numbers[..] else {
            return Err(wrong(1, "the first line has five numbers: variables, inputs, latches, outputs, ANDs"));
        };
        if latches > 0 {
            return Err(wrong(1, format!("{latches} latches: a circuit has no state; unroll the cycles first")));
        }
        if properties.iter().any(|&number| number > 0) {
            return Err(wrong(1, "properties to prove are no part of a circuit"));
        }
        let used = u64::from(inputs) + u64::from(ands);
        let fits = variables < 1 << 30 && used <= variables.into() && (!binary || used == variables.into());
        if !fits {
            return Err(wrong(1, format!("{variables} variables for {inputs} inputs and {ands} ANDs")));
        }
        if u64::from(variables) > length + UNWRITTEN {
            return Err(wrong(1, format!("{variables} variables do not fit in {length} bytes")));
        }
        Ok(Header { binary, variables, inputs, outputs, ands })
    }

    fn literal(&mut self, what: &str, header: &Header) -> Result<u32> {
        let line = self.next(what)?;
        match self.numbers(line)?[..] {
            [literal] if literal / 2 <= header.variables => Ok(literal),
            _ => Err(wrong(self.line - 1, format!("{what} is one literal of {} variables", header.variables))),
        }
    }

    fn inputs(&mut self, header: &Header) -> Result<Vec<And>> {
        let input = |output: u32, place: usize| And { output, operands: [0; 2], place };
        if header.binary {
            return Ok((1..=header.inputs).map(|variable| input(2 * variable, 1)).collect());
        }
        (0..header.inputs)
            .map(|_| self.literal("an input", header).map(|literal| input(literal, self.line - 1)))
            .collect()
    }

    fn and(&mut self, number: u32, header: &Header) -> Result<And> {
        if header.binary {
            return self.binary_and(number, header);
        }
        let line = self.next("an AND")?;
        match self.numbers(line)?[..] {
            [output, left, right] if [output, left, right].iter().all(|literal| literal / 2 <= header.variables) => {
                Ok(And { output, operands: [left, right], place: self.line - 1 })
            }
            _ => Err(wrong(self.line - 1, format!("an AND is three literals of {} variables", header.variables))),
        }
    }

    /// Both operands as differences: 0 < first, and second not above what is left.
    fn binary_and(&mut self, number: u32, header: &Header) -> Result<And> {
        let output = 2 * (header.inputs + 1 + number);
        let (first, second) = (self.difference(number)?, self.difference(number)?);
        let left = u64::from(output).checked_sub(first).filter(|_| first > 0);
        let right = left.and_then(|left| left.checked_sub(second));
        match (left, right) {
            (Some(left), Some(right)) => Ok(And { output, operands: [left as u32, right as u32], place: self.line }),
            _ => Err(self.wrong(format!("AND {number}: operands come before it, the greater one first"))),
        }
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follows.
    fn difference(&mut self, number: u32) -> Result<u64> {
        let mut value = 0;
        for i in 0..5 {
            let Some((&byte, rest)) = self.rest.split_first() else {
                return Err(self.wrong(format!("the file ends in AND {number} of the binary part")));
            };
            self.rest = rest;
            value |= u64::from(byte & 127) << (7 * i);
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(self.wrong(format!("AND {number}: a difference of more than five bytes")))
    }

    /// The names of inputs and of outputs; a comment ends them.
    fn symbols(&mut self, header: &Header) -> Result<[Names; 2]> {
        let mut names = [vec![None; header.inputs as usize], vec![None; header.outputs as usize]];
        while !self.rest.is_empty() {
            let line = self.next("a symbol")?;
            if line == b"c" {
                break;
            }
            let symbol = std::str::from_utf8(line).ok().and_then(|line| line.split_once(' '));
            let Some((place, name)) = symbol else {
                return Err(wrong(self.line - 1, "a symbol is 'i' or 'o' with a number, and a name"));
            };
            let side = usize::from(place.starts_with('o'));
            let number = place.strip_prefix(['i', 'o']).and_then(|number| number.parse::<usize>().ok());
            match number.and_then(|number| names[side].get_mut(number)) {
                Some(entry) => *entry = Some(name.to_owned()),
                None => return Err(wrong(self.line - 1, "a symbol of no input and no output")),
            }
        }
        Ok(names)
    }
}

fn wrong(line: usize, why: impl Into<String>) -> Error {
    Error::Syntax { format: "AIGER", line, why: why.into() }
}

/// Ports: names with how many bits they have.
fn words(names: &Names, default: &str) -> Vec<(String, u32)> {
    let (mut words, mut taken, mut at) = (Vec::new(), HashSet::new(), 0);
    while at < names.len() {
        let (wanted, width) = word(&names[at..]);
        let allowed = |name: &String, taken: &HashSet<String>| check_name(name).is_ok() && !taken.contains(name);
        let mut name = wanted.unwrap_or_else(|| format!("{default}{at}"));
        if !allowed(&name, &taken) {
            name = format!("{default}{at}");
        }
        while !allowed(&name, &taken) {
            name.push('_');
        }
        taken.insert(name.clone());
        words.push((name, width as u32));
        at += width;
    }
    words
}

/// The port that the first bit of these begins.
fn word(names: &[Option<String>]) -> (Option<String>, usize) {
    let Some(first) = &names[0] else {
        return (None, names.iter().take_while(|name| name.is_none()).count());
    };
    let Some(base) = first.strip_suffix("[0]") else { return (Some(first.clone()), 1) };
    let follows = |(i, name): (usize, &Option<String>)| name.as_deref() == Some(&*format!("{base}[{i}]"));
    let width = names.iter().enumerate().take_while(|&one| follows(one)).count();
    (Some(base.to_owned()), width)
}

/// The circuit under construction, and the bit of each variable.
struct Maker {
    c: Builder,
    bits: Vec<Option<Bit>>,
}

impl Maker {
    fn define(&mut self, one: &And, bit: Bit) -> Result<()> {
        let variable = one.output as usize / 2;
        if one.output % 2 == 1 || self.bits[variable].is_some() {
            return Err(wrong(one.place, format!("literal {} is complemented or defined twice", one.output)));
        }
        self.bits[variable] = Some(bit);
        Ok(())
    }

    fn inputs(&mut self, inputs: &[And], words: &[(String, u32)]) -> Result<()> {
        let mut rest = inputs.iter();
        for (name, width) in words {
            for (bit, input) in self.c.input(name.clone(), bits(*width)).into_iter().zip(rest.by_ref()) {
                self.define(input, bit)?;
            }
        }
        Ok(())
    }

    /// ANDs in whatever order they are written.
    fn ands(&mut self, ands: &[And]) -> Result<()> {
        let mut defined: Vec<Option<u32>> = vec![None; self.bits.len()];
        for (i, and) in ands.iter().enumerate() {
            let entry = &mut defined[and.output as usize / 2];
            if entry.replace(i as u32).is_some() {
                return Err(wrong(and.place, format!("variable {} is defined twice", and.output / 2)));
            }
        }
        let mut begun = vec![false; ands.len()];
        for i in 0..ands.len() as u32 {
            let mut stack = vec![i];
            while let Some(&at) = stack.last() {
                let and = &ands[at as usize];
                if begun[at as usize] && self.bits[and.output as usize / 2].is_some() {
                    stack.pop();
                    continue;
                }
                let missing = and.operands.iter().find(|&&operand| self.bits[operand as usize / 2].is_none());
                let Some(&missing) = missing else {
                    let [a, b] = and.operands.map(|literal| self.value(literal));
                    let bit = self.c.and(a, b);
                    self.define(and, bit)?;
                    begun[at as usize] = true;
                    stack.pop();
                    continue;
                };
                match defined[missing as usize / 2] {
                    Some(below) if !begun[below as usize] => {
                        begun[at as usize] = true;
                        stack.push(below);
                    }
                    Some(_) => return Err(wrong(and.place, format!("the AND of literal {} reads itself", and.output))),
                    None => return Err(wrong(and.place, format!("literal {missing} is never defined"))),
                }
            }
        }
        Ok(())
    }

    fn value(&self, literal: u32) -> Bit {
        self.bits[literal as usize / 2].unwrap_or(Bit::FALSE).flip(literal % 2 == 1)
    }

    fn outputs(&mut self, outputs: &[u32], words: &[(String, u32)]) -> Result<()> {
        if let Some(literal) = outputs.iter().find(|&&literal| self.bits[literal as usize / 2].is_none()) {
            return Err(wrong(1, format!("an output is literal {literal}, which is never defined")));
        }
        let mut rest = outputs.iter();
        for (name, width) in words {
            let word: Vec<Bit> = rest.by_ref().take(*width as usize).map(|&literal| self.value(literal)).collect();
            self.c.output_as(name.clone(), bits(*width), &word);
        }
        Ok(())
    }
}
