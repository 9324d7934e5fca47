//! Instances that are blocks of the library or circuits of files: what stands for a module is not its body.
//!
//! The synthetic library of "Automated synthesis" (§3): an operator that a tool does not know is an instance that it does not
//! look into. A module says which block it is by its attribute, `(* duologue_block = "fp_add_{MODE}:{EXPONENT}x{FRACTION}" *)`:
//! a name of the registry and a size, with the module's parameters in braces. [`LIBRARY`] has such modules for all designs.

use crate::cells::Inputs;
use crate::error::{Error, Result};
use crate::netlist::{Cell, Parameter, Signal};
use circuit::blocks::{self, Goal};
use circuit::error::counted;
use circuit::{Bit, Builder, Circuit, Port};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The attribute that names a block.
pub(crate) const BLOCK: &str = "duologue_block";

/// The attribute that says what an operator or a block is made for.
pub(crate) const GOAL: &str = "duologue_goal";

/// What an instance becomes that names a block but has a body in the netlist all the same.
pub(crate) const INNER: &str = "duologue_inner_block";

/// The modules that every design can use, each with a model for simulators.
pub const LIBRARY: &str = include_str!("../data/duologue_blocks.v");

/// The modules of a source that name a block before their declaration.
pub(crate) fn modules(source: &str) -> Vec<String> {
    let after = source.split(BLOCK).skip(1).filter_map(|rest| rest.split_once("*)"));
    after.filter_map(|(_, rest)| declared(rest)).map(String::from).collect()
}

/// The module that is declared here, behind attributes and comments.
fn declared(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start();
        let end = [("(*", "*)"), ("/*", "*/"), ("//", "\n")].into_iter().find(|(begin, _)| text.starts_with(begin));
        let Some((_, end)) = end else { break };
        text = text.split_once(end)?.1;
    }
    let name = text.strip_prefix("module")?.trim_start();
    let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && !"_$".contains(letter));
    Some(&name[..end.unwrap_or(name.len())]).filter(|name| !name.is_empty())
}

/// A circuit that stands for the modules of a name.
#[derive(Clone, Debug)]
pub struct Given {
    /// The name of the module.
    pub module: String,
    /// Its circuit, whose ports are those of the module.
    pub circuit: Rc<Circuit>,
}

/// What is built for an instance.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// A block of the registry: `name`, or `name:size`.
    Named(String),
    /// The circuit of a file.
    Given(Given),
}

impl Block {
    /// The block that an attribute names, with parameters in place of their names in braces.
    pub fn named(text: &str, parameter: impl Fn(&str) -> Option<Parameter>, place: &str) -> Result<Block> {
        let (mut name, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let Some((inner, after)) = after.split_once('}') else {
                let why = format!("{BLOCK} = \"{text}\" opens a brace that it does not close");
                return Err(Error::design(place, why, r#"write a parameter as in "multiply:{WIDTH}""#));
            };
            let value = parameter(inner).ok_or_else(|| {
                let why = format!("{BLOCK} = \"{text}\" names '{inner}', which is no parameter of the module");
                Error::design(place, why, "declare it with the module: #(parameter WIDTH = 32)")
            })?;
            name += before;
            // A number is in binary; a text stands for itself, and has a space behind it if it looks like one.
            name += &value.number().map_or_else(|| value.text(), |number| number.to_string());
            rest = after;
        }
        Ok(Block::Named(name + rest))
    }

    /// As a message calls it.
    fn name(&self) -> String {
        match self {
            Block::Named(name) => format!("the block '{name}'"),
            Block::Given(given) => format!("the circuit of '{}'", given.module),
        }
    }

    fn circuit(&self, goal: Goal, place: &str) -> Result<Rc<Circuit>> {
        let name = match self {
            Block::Named(name) => name,
            Block::Given(given) => return Ok(given.circuit.clone()),
        };
        let (name, size) = name.split_once(':').map_or((&name[..], None), |(name, size)| (name, Some(size)));
        let refused = |why: circuit::Error| {
            let hint = "`duologue blocks` lists all blocks, `duologue blocks NAME` the sizes of one";
            Error::design(place, why.to_string(), hint)
        };
        let block = blocks::find(name).map_err(refused)?;
        let size = size.map_or(Ok(Vec::new()), |size| block.size(size)).map_err(refused)?;
        Ok(Rc::new(block.circuit(&size, goal).map_err(refused)?))
    }
}

/// What an operator or a block is made for, if its attribute says so.
pub(crate) fn goal(value: Option<&Parameter>, place: &str) -> Result<Option<Goal>> {
    match value.map(Parameter::text).as_deref() {
        None => Ok(None),
        Some("size") => Ok(Some(Goal::Size)),
        Some("depth") => Ok(Some(Goal::Depth)),
        Some(other) => {
            let why = format!("{GOAL} = \"{other}\"");
            Err(Error::design(place, why, r#"write "size" (fewest ANDs) or "depth" (fewest layers)"#))
        }
    }
}

/// The blocks that were built, each once for a goal.
#[derive(Default)]
pub(crate) struct Built {
    named: FxHashMap<(String, Goal), Rc<Circuit>>,
}

impl Built {
    /// The outputs of an instance, by port.
    pub fn instance<'a>(
        &mut self,
        c: &mut Builder,
        block: &Block,
        inputs: &Inputs<'a>,
    ) -> Result<Vec<(&'a str, Vec<Bit>)>> {
        let cell = inputs.cell;
        let circuit = self.circuit(block, inputs.goal, &cell.place)?;
        let bits = operands(block, &circuit, inputs)?;
        known(cell, block, &cell.outputs, &outputs(&circuit), "output")?;
        let made = c.append(&circuit, &bits);
        Ok(results(cell, &circuit, &made))
    }

    fn circuit(&mut self, block: &Block, goal: Goal, place: &str) -> Result<Rc<Circuit>> {
        let Block::Named(name) = block else { return block.circuit(goal, place) };
        if let Some(circuit) = self.named.get(&(name.clone(), goal)) {
            return Ok(circuit.clone());
        }
        let circuit = block.circuit(goal, place)?;
        self.named.insert((name.clone(), goal), circuit.clone());
        Ok(circuit)
    }
}

/// The bits of the circuit's inputs, from the ports of an instance.
fn operands(block: &Block, circuit: &Circuit, inputs: &Inputs) -> Result<Vec<Bit>> {
    let ports = circuit.inputs().iter().map(|port| (port.name.clone(), port.ty.width as usize));
    known(inputs.cell, block, &inputs.cell.inputs, &ports.collect::<Vec<_>>(), "input")?;
    let mut bits = Vec::new();
    for port in circuit.inputs() {
        let found = inputs.cell.inputs.iter().zip(inputs.values).find(|((name, _), _)| *name == port.name);
        let Some((_, value)) = found.filter(|(_, value)| !value.is_empty()) else {
            let why = format!("the input '{}' of {} is not connected", port.name, block.name());
            return Err(Error::design(&inputs.cell.place, why, format!("connect it: .{}(…)", port.name)));
        };
        bits.extend(value);
    }
    Ok(bits)
}

/// What the ports of an instance are, of the bits of the circuit's outputs; those that are not connected have no bits.
fn results<'a>(cell: &'a Cell, circuit: &Circuit, bits: &[Bit]) -> Vec<(&'a str, Vec<Bit>)> {
    let mut from = 0;
    let ports = outputs(circuit).into_iter().map(|(name, width)| {
        from += width;
        (name, from - width..from)
    });
    let ranges: FxHashMap<String, _> = ports.collect();
    let word = |(name, signals): &'a (String, Vec<Signal>)| {
        let word = if signals.is_empty() { Vec::new() } else { bits[ranges[name].clone()].to_vec() };
        (name.as_str(), word)
    };
    cell.outputs.iter().map(word).collect()
}

/// The outputs that an instance has, and their widths.
fn outputs(circuit: &Circuit) -> Vec<(String, usize)> {
    circuit.outputs().iter().map(|port| (port_name(circuit, port), port.ty.width as usize)).collect()
}

/// The name that an output has in Verilog, where an input of the same name takes it away.
pub(crate) fn port_name(circuit: &Circuit, output: &Port) -> String {
    let taken = circuit.inputs().iter().any(|input| input.name == output.name);
    if taken { format!("{}_out", output.name) } else { output.name.clone() }
}

/// Whether each connected port of an instance is one of the circuit's, and as wide.
fn known<T>(cell: &Cell, block: &Block, ports: &[(String, Vec<T>)], of: &[(String, usize)], what: &str) -> Result<()> {
    for (name, bits) in ports.iter().filter(|(_, bits)| !bits.is_empty()) {
        let Some((_, width)) = of.iter().find(|(known, _)| known == name) else {
            let names: Vec<&str> = of.iter().map(|(name, _)| name.as_str()).collect();
            let why = format!("{} has no {what} '{name}'", block.name());
            return Err(Error::design(&cell.place, why, format!("it has {}", names.join(", "))));
        };
        if *width != bits.len() {
            let why = format!(
                "the {what} '{name}' has {}, that of {} {width}",
                counted(bits.len() as u64, "bit"),
                block.name()
            );
            return Err(Error::design(&cell.place, why, "give the port of the module the width that the block has"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_that_name_blocks_are_found() {
        let source = r#"(* duologue_block = "a" *) module first(input x);
            (* duologue_block = "b" *) other u(); endmodule
            (* duologue_block = "c" *) (* keep *) // a comment
            /* another */ module second;
            module third; (* duologue_block = "d" *)"#;
        assert_eq!(modules(source), ["first", "second"]);
        assert!(modules(LIBRARY).contains(&"duologue_fp_add".to_string()));
    }
}
