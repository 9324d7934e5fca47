//! What is written, by the end of the file's name: a program, or a circuit in one of the formats that others read.

use super::export;
use crate::failure::Failure;
use duologue::circuit::format::ports::Parties;
use duologue::circuit::format::{aiger, blif, bristol, shdl, verilog};
use duologue::circuit::program::{Owner, Recipient, Step};
use duologue::circuit::{Circuit, Party, Program};
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Program,
    Circuit(CircuitForm),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CircuitForm {
    Bristol,
    Shdl,
    Blif,
    AigerText,
    Aiger,
    Verilog,
}

impl Form {
    pub fn of(path: &Path) -> Result<Form, Failure> {
        Ok(match path.extension().and_then(|extension| extension.to_str()) {
            Some("duo") => Form::Program,
            Some("bristol" | "txt") => Form::Circuit(CircuitForm::Bristol),
            Some("shdl") => Form::Circuit(CircuitForm::Shdl),
            Some("blif") => Form::Circuit(CircuitForm::Blif),
            Some("aag") => Form::Circuit(CircuitForm::AigerText),
            Some("aig") => Form::Circuit(CircuitForm::Aiger),
            Some("v") => Form::Circuit(CircuitForm::Verilog),
            _ => {
                let why = format!("{}: the end of a file's name says its format", path.display());
                let hint = "name it FILE.duo (a program), FILE.bristol or FILE.txt (a circuit in Bristol Fashion), or \
                    FILE.shdl, FILE.blif, FILE.aag, FILE.aig or FILE.v";
                return Err(Failure::input(why).hint(hint));
            }
        })
    }

    /// The file of a program, which must be a circuit alone if a circuit is asked for.
    pub fn bytes(self, program: &Program) -> Result<Vec<u8>, Failure> {
        match self {
            Form::Program => Ok(program.to_bytes()?),
            Form::Circuit(form) => form.bytes(export::circuit(program)?, &parties(program)),
        }
    }
}

impl CircuitForm {
    /// Whether such a file says who supplies what.
    pub fn has_parties(self) -> bool {
        matches!(self, CircuitForm::Shdl | CircuitForm::Verilog)
    }

    pub fn name(self) -> &'static str {
        match self {
            CircuitForm::Bristol => "Bristol Fashion",
            CircuitForm::Shdl => "SHDL",
            CircuitForm::Blif => "BLIF",
            CircuitForm::AigerText | CircuitForm::Aiger => "AIGER",
            CircuitForm::Verilog => "Verilog",
        }
    }

    pub fn bytes(self, circuit: &Circuit, parties: &Parties) -> Result<Vec<u8>, Failure> {
        Ok(match self {
            CircuitForm::Bristol => bristol::write(circuit).into_bytes(),
            CircuitForm::Shdl => shdl::write(circuit, parties).into_bytes(),
            CircuitForm::Blif => blif::write(circuit).into_bytes(),
            CircuitForm::AigerText => aiger::write_ascii(circuit)?,
            CircuitForm::Aiger => aiger::write(circuit)?,
            CircuitForm::Verilog => verilog::write(circuit, parties).into_bytes(),
        })
    }
}

/// Who supplies the inputs of a program and who learns its outputs, in their order.
pub fn parties(program: &Program) -> Parties {
    let supplier = |step: &Step| match step {
        Step::Input { owner: Owner::Party(party), .. } => Some(Some(*party)),
        Step::Input { .. } => Some(None),
        _ => None,
    };
    let learner = |step: &Step| -> Option<Option<Party>> {
        match step {
            Step::Output { recipient: Recipient::Party(party), .. } => Some(Some(*party)),
            Step::Output { .. } => Some(None),
            _ => None,
        }
    };
    let steps = program.steps();
    Parties { inputs: steps.iter().filter_map(supplier).collect(), outputs: steps.iter().filter_map(learner).collect() }
}
