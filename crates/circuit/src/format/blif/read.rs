//! Reading.

use super::FORMAT;
use super::cover::{Cover, Function};
use super::lines::Lines;
use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::format::cells::{self, Cell, OUTPUT};
use crate::format::functions::Functions;
use crate::format::nets::Nets;
use crate::format::ports::{Names, grouped};
use crate::graph::{Bit, Circuit};
use std::collections::HashMap;

/// Reads a file; `name` is the circuit's.
pub fn read(file: &[u8], name: &str) -> Result<Circuit> {
    let mut reader = Reader::new();
    let (mut lines, mut words) = (Lines::new(file), Vec::new());
    while let Some(line) = lines.next(&mut words)
        && !reader.ended
    {
        reader.line(line, &words)?;
    }
    reader.finish_cover();
    if !reader.begun {
        return Err(wrong(lines.last(), "a BLIF file has .inputs, .outputs and .names"));
    }
    reader.circuit(name)
}

/// What drives a net.
enum Gate<'a> {
    Cover(Function<'a>),
    Cell(&'static Cell),
    Copy,
}

struct Reader<'a> {
    nets: Nets<Gate<'a>>,
    numbers: HashMap<&'a [u8], u32>,
    names: Vec<&'a [u8]>,
    inputs: Vec<u32>,
    outputs: Vec<(u32, usize)>,
    /// The cover whose rows come, the nets that it reads, its output, and its line.
    cover: Option<(Cover<'a>, Vec<u32>, u32, usize)>,
    begun: bool,
    ended: bool,
}

impl<'a> Reader<'a> {
    fn new() -> Self {
        Reader {
            nets: Nets::new(FORMAT, 0),
            numbers: HashMap::new(),
            names: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            cover: None,
            begun: false,
            ended: false,
        }
    }

    fn line(&mut self, line: usize, words: &[&'a [u8]]) -> Result<()> {
        if words[0].first() != Some(&b'.') {
            return self.row(line, words);
        }
        self.finish_cover();
        let rest = &words[1..];
        match words[0] {
            b".model" if self.begun => {
                return Err(wrong(
                    line,
                    "a second model: make one model of all (in Yosys 'flatten', in ABC 'flatten')",
                ));
            }
            b".model" => self.begun = true,
            b".inputs" => self.inputs(line, rest)?,
            b".outputs" => self.outputs(line, rest),
            b".names" => self.names(line, rest)?,
            b".gate" => self.cell(line, rest)?,
            b".conn" => self.copy(line, rest)?,
            b".end" => self.ended = true,
            word => passed_over(line, word)?,
        }
        Ok(())
    }

    fn net(&mut self, name: &'a [u8]) -> u32 {
        if let Some(&net) = self.numbers.get(name) {
            return net;
        }
        let net = self.nets.add();
        self.numbers.insert(name, net);
        self.names.push(name);
        net
    }

    /// A net that nothing drives yet.
    fn driven(&mut self, line: usize, name: &'a [u8]) -> Result<u32> {
        let net = self.net(name);
        match self.nets.is_driven(net) {
            true => Err(wrong(line, format!("{} is defined twice", quoted(name)))),
            false => Ok(net),
        }
    }

    fn inputs(&mut self, line: usize, words: &[&'a [u8]]) -> Result<()> {
        self.begun = true;
        for name in words {
            let net = self.driven(line, name)?;
            // Until there is a builder.
            self.nets.set(net, Bit::FALSE);
            self.inputs.push(net);
        }
        Ok(())
    }

    fn outputs(&mut self, line: usize, words: &[&'a [u8]]) {
        self.begun = true;
        for name in words {
            let net = self.net(name);
            self.outputs.push((net, line));
        }
    }

    fn names(&mut self, line: usize, words: &[&'a [u8]]) -> Result<()> {
        self.begun = true;
        let Some((output, inputs)) = words.split_last() else {
            return Err(wrong(line, ".names has the name of an output"));
        };
        let output = self.driven(line, output)?;
        let inputs: Vec<u32> = inputs.iter().map(|name| self.net(name)).collect();
        self.cover = Some((Cover::new(inputs.len()), inputs, output, line));
        Ok(())
    }

    fn row(&mut self, line: usize, words: &[&'a [u8]]) -> Result<()> {
        let Some((cover, ..)) = &mut self.cover else {
            return Err(wrong(line, format!("{} is no command, and no row of a cover", quoted(words[0]))));
        };
        let added = match *words {
            [output] => cover.row(b"", output),
            [plane, output] => cover.row(plane, output),
            _ => Err("a row of a cover is two words".into()),
        };
        added.map_err(|why| wrong(line, why))
    }

    fn finish_cover(&mut self) {
        if let Some((cover, inputs, output, line)) = self.cover.take() {
            let operands = inputs.into_iter().map(|net| 2 * net);
            self.nets.gate(output, operands, Gate::Cover(cover.function()), line);
        }
    }

    /// `.gate CELL A=net B=net Y=net`, pins in any order.
    fn cell(&mut self, line: usize, words: &[&'a [u8]]) -> Result<()> {
        let Some((kind, pins)) = words.split_first() else {
            return Err(wrong(line, ".gate has the name of a cell"));
        };
        let Some(cell) = std::str::from_utf8(kind).ok().and_then(cells::find) else {
            let why = "is no cell of verilog/duologue.lib: map to that library, or write gates as .names";
            return Err(wrong(line, format!("{} {why}", quoted(kind))));
        };
        let mut operands = vec![None; cell.inputs.len()];
        let mut output = None;
        for pin in pins {
            let (name, net) = pair(pin).ok_or_else(|| wrong(line, format!("{} is not PIN=NET", quoted(pin))))?;
            let place = match cell.inputs.iter().position(|input| input.as_bytes() == name) {
                Some(place) => &mut operands[place],
                None if name == OUTPUT.as_bytes() => &mut output,
                None => return Err(wrong(line, format!("{} has no pin {}", cell.name, quoted(name)))),
            };
            if place.replace(net).is_some() {
                return Err(wrong(line, format!("the pin {} is joined twice", quoted(name))));
            }
        }
        let (Some(output), Some(operands)) = (output, operands.into_iter().collect::<Option<Vec<_>>>()) else {
            return Err(wrong(line, format!("{} has the pins {} and {OUTPUT}", cell.name, cell.inputs.join(", "))));
        };
        let output = self.driven(line, output)?;
        let operands: Vec<u32> = operands.into_iter().map(|name| 2 * self.net(name)).collect();
        self.nets.gate(output, operands, Gate::Cell(cell), line);
        Ok(())
    }

    fn copy(&mut self, line: usize, words: &[&'a [u8]]) -> Result<()> {
        let &[from, to] = words else { return Err(wrong(line, ".conn joins two nets")) };
        let (to, from) = (self.driven(line, to)?, self.net(from));
        self.nets.gate(to, [2 * from], Gate::Copy, line);
        Ok(())
    }

    fn circuit(mut self, name: &str) -> Result<Circuit> {
        let mut c = Builder::new(name);
        let named = |net: u32| String::from_utf8_lossy(self.names[net as usize]).into_owned();
        let of = |nets: &mut dyn Iterator<Item = u32>| nets.map(|net| Some(named(net))).collect::<Names>();
        let inputs = grouped(&of(&mut self.inputs.iter().copied()), "in");
        let outputs = grouped(&of(&mut self.outputs.iter().map(|&(net, _)| net)), "out");
        let mut nets = self.inputs.iter();
        for port in inputs {
            for (bit, &net) in c.input(port.name, port.ty).into_iter().zip(nets.by_ref()) {
                self.nets.set(net, bit);
            }
        }
        let mut functions = Functions::new();
        let names = &self.names;
        let name = |net: u32| quoted(names[net as usize]);
        self.nets.build(&mut c, name, |c, gate, operands| match gate {
            Gate::Cover(function) => function.build(c, &mut functions, operands),
            Gate::Cell(cell) => cell.build(c, operands),
            Gate::Copy => operands[0],
        })?;
        let value = |&(net, line): &(u32, usize)| {
            self.nets.value(2 * net).ok_or_else(|| wrong(line, format!("the output {} is never defined", name(net))))
        };
        let bits: Vec<Bit> = self.outputs.iter().map(value).collect::<Result<_>>()?;
        c.outputs(&outputs, &bits);
        c.try_finish()
    }
}

/// What the command says that nothing here follows from, or why it cannot be.
fn passed_over(line: usize, command: &[u8]) -> Result<()> {
    const NOTHING: [&[u8]; 21] = [
        b".area",
        b".delay",
        b".wire_load_slope",
        b".wire",
        b".input_arrival",
        b".default_input_arrival",
        b".output_required",
        b".default_output_required",
        b".input_drive",
        b".default_input_drive",
        b".max_input_load",
        b".default_max_input_load",
        b".output_load",
        b".default_output_load",
        b".input_required",
        b".output_arrival",
        b".attr",
        b".param",
        b".cname",
        b".cycle",
        b".clock_event",
    ];
    let hint = match command {
        b".latch" | b".mlatch" | b".clock" => {
            "a circuit has no registers: compile the design with --cycles, or unroll it"
        }
        b".subckt" => {
            "make one model of all (in Yosys 'flatten'), or map to the cells of verilog/duologue.lib as .gate"
        }
        b".exdc" | b".exec" => "leave it away: don't-cares are not read",
        _ if NOTHING.contains(&command) => return Ok(()),
        _ => "a combinational model has .inputs, .outputs, .names and .gate",
    };
    Err(wrong(line, format!("{}: {hint}", quoted(command))))
}

/// `PIN=NET`.
fn pair(pin: &[u8]) -> Option<(&[u8], &[u8])> {
    let place = pin.iter().position(|&byte| byte == b'=')?;
    Some((&pin[..place], &pin[place + 1..])).filter(|(_, net)| !net.is_empty())
}

/// The beginning of a word from a file, safe to print.
fn quoted(word: &[u8]) -> String {
    format!("'{}'", word[..word.len().min(60)].escape_ascii())
}

fn wrong(line: usize, why: impl Into<String>) -> Error {
    Error::Syntax { format: FORMAT, line, why: why.into() }
}
