//! Where two programs differ first.

use super::node::shown;
use crate::program::{Program, owner, recipient};
use duologue::circuit::program::Step;
use duologue::circuit::{self, Circuit};
use pyo3::prelude::*;

/// The step at which the programs differ first, the gate if it is one of a circuit of the same ports, and what either has
/// there; none if they are the same.
#[pyfunction]
pub fn first_difference(ours: &Program, theirs: &Program) -> Option<(usize, Option<u32>, String, String)> {
    let (ours, theirs) = (&ours.program, &theirs.program);
    let count = ours.steps().len().max(theirs.steps().len());
    let differ = |step: &usize| said(ours, *step) != said(theirs, *step) || of(ours, *step) != of(theirs, *step);
    if let Some(step) = (0..count).find(differ) {
        let [mine, other] = [ours, theirs].map(|program| of(program, step));
        let gate = mine.zip(other).and_then(|(mine, other)| differing_gate(mine, other));
        return Some((step, gate, shown_step(ours, step), shown_step(theirs, step)));
    }
    let sizes = [ours, theirs].map(|program| format!("the sizes {:?}", program.sizes()));
    let names = [ours, theirs].map(|program| format!("the name '{}'", program.name()));
    [sizes, names].into_iter().find(|[a, b]| a != b).map(|[a, b]| (count, None, a, b))
}

/// A step but for its circuit, whose place in a table says nothing.
fn said(program: &circuit::Program, step: usize) -> String {
    match program.steps().get(step) {
        Some(Step::Map { args, .. }) => format!("map {args:?}"),
        Some(Step::Reduce { args, .. }) => format!("reduce {args:?}"),
        Some(Step::Iterate { cycles, state, inputs, .. }) => format!("iterate {cycles:?} {state:?} {inputs:?}"),
        step => format!("{step:?}"),
    }
}

/// The circuit of a step.
fn of(program: &circuit::Program, step: usize) -> Option<&Circuit> {
    match program.steps().get(step)? {
        Step::Map { circuit, .. } | Step::Reduce { circuit, .. } | Step::Iterate { circuit, .. } => {
            program.circuits().get(*circuit as usize)
        }
        _ => None,
    }
}

/// The first gate that differs; if one circuit is the beginning of the other, the first that it does not have.
fn differing_gate(ours: &Circuit, theirs: &Circuit) -> Option<u32> {
    if ours.inputs() != theirs.inputs() {
        return None;
    }
    let differ = ours.gates().iter().zip(theirs.gates()).position(|(a, b)| a != b);
    Some(differ.unwrap_or(ours.gates().len().min(theirs.gates().len())) as u32)
}

fn shown_step(program: &circuit::Program, step: usize) -> String {
    let circuit = of(program, step).map(|circuit| {
        let ports = circuit.inputs().iter().map(|port| shown(port.ty)).collect::<Vec<_>>().join(", ");
        format!("a circuit of {} ANDs of {ports}", circuit.and_count())
    });
    match (program.steps().get(step), circuit) {
        (None, _) => "nothing: it ends before".into(),
        (Some(Step::Input { name, owner: who, ty, .. }), _) => {
            format!("the input '{name}' of {}, {}", owner(*who), shown(*ty))
        }
        (Some(Step::Output { name, recipient: who, .. }), _) => format!("the output '{name}' to {}", recipient(*who)),
        (Some(Step::Map { .. }), Some(circuit)) => format!("{circuit} on every lane"),
        (Some(Step::Reduce { .. }), Some(circuit)) => format!("a reduction by {circuit}"),
        (Some(Step::Iterate { .. }), Some(circuit)) => format!("a scan by {circuit}"),
        (Some(Step::Constant { .. }), _) => "a constant".into(),
        (Some(_), _) => "lanes or bits rearranged".into(),
    }
}
