//! Who supplies the inputs of a design, and who learns its outputs.

use crate::error::{Error, Result};
use crate::map::Made;
use crate::netlist::Port;
use circuit::program::{Owner, Party, Recipient, Value};
use circuit::{Builder, Circuit, Program, Type, bits};

/// What is said outside of the design; it outweighs the attributes.
#[derive(Default, Debug)]
pub struct Said {
    /// Inputs and who supplies them.
    pub inputs: Vec<(String, Owner)>,
    /// Outputs and who learns them.
    pub outputs: Vec<(String, Recipient)>,
}

/// The program that applies a circuit to as many lanes as the public size `lanes` says.
///
/// Inputs belong to whom `said` names, or the attribute `party` of the port (`alice`, `bob`, `public`); outputs go to whom
/// `said` names, or the attribute `reveal` (`alice`, `bob`, `both`), or to both.
///
/// # Errors
/// If an input belongs to nobody, or a name is no port's or no party's.
pub fn program(made: &Made, said: &Said) -> Result<Program> {
    known(said.inputs.iter().map(|(name, _)| name), &made.inputs, "input")?;
    known(said.outputs.iter().map(|(name, _)| name), &made.outputs, "output")?;
    let mut p = Program::new(made.circuit.name());
    let lanes = p.size("lanes", 0..=1 << 32);
    let mut args: Vec<Value> = Vec::new();
    for (port, input) in made.inputs.iter().zip(made.circuit.inputs()) {
        args.push(p.input(&port.name, supplier(port, said)?, input.ty, lanes));
    }
    let results = p.map_all(&made.circuit, &args);
    for (port, value) in made.outputs.iter().zip(results) {
        p.output(&port.name, learner(port, said)?, value);
    }
    Ok(p)
}

/// The circuit that gives its input a type.
pub(crate) fn typed(name: &str, ty: Type) -> Result<Circuit> {
    let mut c = Builder::new(name);
    let word = c.input("word", bits(ty.width));
    c.output_as("word", ty, &word);
    Ok(c.try_finish()?)
}

/// Who supplies an input, by name.
///
/// # Errors
/// If it is nobody's name.
pub fn owner(name: &str) -> Result<Owner> {
    match name {
        "alice" => Ok(Owner::Party(Party::Alice)),
        "bob" => Ok(Owner::Party(Party::Bob)),
        "public" => Ok(Owner::Public),
        _ => Err(Error::usage(format!("'{name}' supplies no input"), "write alice, bob or public")),
    }
}

/// Who learns an output, by name.
///
/// # Errors
/// If it is nobody's name.
pub fn recipient(name: &str) -> Result<Recipient> {
    match name {
        "alice" => Ok(Recipient::Party(Party::Alice)),
        "bob" => Ok(Recipient::Party(Party::Bob)),
        "both" => Ok(Recipient::Both),
        _ => Err(Error::usage(format!("'{name}' learns no output"), "write alice, bob or both")),
    }
}

pub(crate) fn supplier(port: &Port, said: &Said) -> Result<Owner> {
    if let Some((_, owner)) = said.inputs.iter().find(|(name, _)| *name == port.name) {
        return Ok(*owner);
    }
    let Some(name) = &port.party else {
        let why = format!("nobody supplies the input '{}'", port.name);
        let hint = format!(r#"write (* party = "alice" *) before it, or give --inputs {}=alice"#, port.name);
        return Err(Error::design(&port.place, why, hint));
    };
    owner(name).map_err(|why| at(port, "party", why))
}

pub(crate) fn learner(port: &Port, said: &Said) -> Result<Recipient> {
    match (said.outputs.iter().find(|(name, _)| *name == port.name), &port.reveal) {
        (Some((_, recipient)), _) => Ok(*recipient),
        (None, Some(name)) => recipient(name).map_err(|why| at(port, "reveal", why)),
        (None, None) => Ok(Recipient::Both),
    }
}

/// An attribute that names nobody, with its place.
fn at(port: &Port, attribute: &str, why: Error) -> Error {
    let hint = why.hint().unwrap_or_default().to_string();
    Error::design(&port.place, format!("{attribute} of '{}': {why}", port.name), hint)
}

pub(crate) fn known<'a>(names: impl Iterator<Item = &'a String>, ports: &[&Port], what: &str) -> Result<()> {
    for name in names {
        if !ports.iter().any(|port| port.name == *name) {
            let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
            let why = format!("the design has no {what} '{name}'");
            return Err(Error::usage(why, format!("it has {}", names.join(", "))));
        }
    }
    Ok(())
}
