//! Reading.

use super::FORMAT;
use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::format::nets::Nets;
use crate::format::ports::{Names, grouped};
use crate::graph::{Bit, Circuit, Port};

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
    let mut made = Maker { c: Builder::new(name), nets: Nets::new(FORMAT, header.variables as usize + 1) };
    made.nets.set(0, Bit::FALSE);
    made.inputs(&inputs, &grouped(&input_names, "in"))?;
    made.ands(&ands, header.variables)?;
    made.outputs(&outputs, &grouped(&output_names, "out"))?;
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
    Error::Syntax { format: FORMAT, line, why: why.into() }
}

/// The circuit under construction, and the nets of its variables.
struct Maker {
    c: Builder,
    nets: Nets<Function>,
}

/// What an AND is, alone or with the two below it.
enum Function {
    And,
    Xor,
}

/// The operands of a ⊕ b, written as ¬(a ∧ b) ∧ ¬(¬a ∧ ¬b).
fn as_xor(and: &And, ands: &[And], of_variable: &[u32]) -> Option<[u32; 2]> {
    let [x, y] = and.operands;
    let below = |literal: u32| ands.get(of_variable[literal as usize / 2].checked_sub(1)? as usize);
    if x % 2 == 0 || y % 2 == 0 {
        return None;
    }
    let ([a, b], [c, d]) = (below(x)?.operands, below(y)?.operands);
    ([a, b] == [c ^ 1, d ^ 1] || [a, b] == [d ^ 1, c ^ 1]).then_some([a, b])
}

impl Maker {
    /// The variable of a literal that is to be defined.
    fn variable(&self, one: &And) -> Result<u32> {
        match one.output % 2 == 1 || self.nets.is_driven(one.output / 2) {
            true => Err(wrong(one.place, format!("literal {} is complemented or defined twice", one.output))),
            false => Ok(one.output / 2),
        }
    }

    fn inputs(&mut self, inputs: &[And], ports: &[Port]) -> Result<()> {
        let mut rest = inputs.iter();
        for port in ports {
            for (bit, input) in self.c.input(port.name.clone(), port.ty).into_iter().zip(rest.by_ref()) {
                let variable = self.variable(input)?;
                self.nets.set(variable, bit);
            }
        }
        Ok(())
    }

    /// ANDs in whatever order they are written.
    fn ands(&mut self, ands: &[And], variables: u32) -> Result<()> {
        // Counted from one.
        let mut of_variable = vec![0; variables as usize + 1];
        for (and, number) in ands.iter().zip(1..) {
            of_variable[and.output as usize / 2] = number;
        }
        for and in ands {
            let variable = self.variable(and)?;
            match as_xor(and, ands, &of_variable) {
                Some(operands) => self.nets.gate(variable, operands, Function::Xor, and.place),
                None => self.nets.gate(variable, and.operands, Function::And, and.place),
            }
        }
        let name = |variable| format!("literal {}", 2 * variable);
        self.nets.build(&mut self.c, name, |c, function, operands| match function {
            Function::And => c.and(operands[0], operands[1]),
            Function::Xor => c.xor(operands[0], operands[1]),
        })
    }

    fn outputs(&mut self, outputs: &[u32], ports: &[Port]) -> Result<()> {
        let bit = |&literal: &u32| self.nets.value(literal).ok_or(literal);
        let bits: std::result::Result<Vec<Bit>, u32> = outputs.iter().map(bit).collect();
        let bits =
            bits.map_err(|literal| wrong(1, format!("an output is literal {literal}, which is never defined")))?;
        self.c.outputs(ports, &bits);
        Ok(())
    }
}
