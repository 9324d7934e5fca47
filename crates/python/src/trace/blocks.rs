//! The blocks of the library by name, of the size that their operands say.

use super::node::{Callee, shown};
use super::{Trace, Word};
use crate::errors::of_program;
use duologue::circuit::blocks::{self, Block};
use duologue::circuit::{Circuit, Kind, Type};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;

/// An operand's type, and how many words it is made of if that was said; of a plain number nothing is known.
type Shape = Option<(Type, Option<u32>)>;

impl Trace {
    /// The results of a block. An operand is a word, or several that are one port; `sizes` is as the command writes it.
    pub fn add_block(
        slf: &Bound<'_, Self>,
        name: &str,
        operands: &[Bound<'_, PyAny>],
        size: Option<&str>,
    ) -> PyResult<Vec<Word>> {
        let trace = slf.get();
        let site = trace.sites.here(slf.py())?;
        let mut shapes = Vec::new();
        let mut args = Vec::new();
        for operand in operands {
            let (arg, shape) = Trace::block_operand(slf, operand, site)?;
            args.push(arg);
            shapes.push(shape);
        }
        let block = blocks::find(name).map_err(of_program)?;
        let circuit = trace.block_circuit(slf.py(), &block, &shapes, size).map_err(|why| trace.refuse(site, why))?;
        let mut found = Vec::new();
        for ((port, arg), operand) in circuit.inputs().iter().zip(args).zip(operands) {
            let node = match arg {
                Some(node) => Some(node),
                None => Trace::typed(slf, operand, port.ty, site)?,
            };
            found.push(node.ok_or_else(|| trace.refuse(site, format!("'{}' of {name}: expected a word", port.name)))?);
        }
        let types: Vec<Type> = circuit.outputs().iter().map(|port| port.ty).collect();
        Trace::record_at(slf, site, |recording, site| recording.call(Callee::Circuit(circuit), &found, &types, site))
    }
}

/// The names of all blocks.
#[pyfunction]
pub fn block_names() -> Vec<&'static str> {
    blocks::registry().iter().map(|block| block.name).collect()
}

/// What a block is, its sizes, its ports at its usual size.
#[pyfunction]
pub fn about_block(name: &str) -> PyResult<String> {
    let block = blocks::find(name).map_err(of_program)?;
    let circuit = block.circuit(&block.usual(), block.goals[0]).map_err(of_program)?;
    let ports = |ports: &[duologue::circuit::Port]| {
        ports.iter().map(|port| format!("{}: {}", port.name, shown(port.ty))).collect::<Vec<_>>().join(", ")
    };
    let (inputs, outputs) = (ports(circuit.inputs()), ports(circuit.outputs()));
    let (label, about) = (block.label(&block.usual()), block.about);
    Ok(format!("{about}.\n\nSize: {}. At {label}: ({inputs}) -> ({outputs}).", block.describe()))
}

impl Trace {
    fn block_operand(slf: &Bound<'_, Self>, operand: &Bound<'_, PyAny>, site: u32) -> PyResult<(Option<u32>, Shape)> {
        let ty = |node: u32| slf.get().ty(node);
        if let Ok(list) = operand.cast::<PyList>() {
            let words = list.extract::<Vec<Py<Word>>>();
            let words =
                words.map_err(|_| slf.get().refuse(site, "a list that is an operand: expected words".into()))?;
            let Some(first) = words.first() else {
                return Err(slf.get().refuse(site, "a list that is an operand: expected one word or more".into()));
            };
            let element = ty(first.get().of(slf).map_err(|why| slf.get().refuse(site, why))?)?;
            let all = Trace::concat(slf, words.iter().map(|word| word.clone_ref(slf.py())).collect())?;
            let node = all.of(slf).map_err(|why| slf.get().refuse(site, why))?;
            return Ok((Some(node), Some((element, Some(words.len() as u32)))));
        }
        let node = Trace::word(slf, operand, site)?;
        Ok((node, node.map(|node| ty(node).map(|ty| (ty, None))).transpose()?))
    }

    fn block_circuit(
        &self,
        py: Python<'_>,
        block: &Block,
        shapes: &[Shape],
        size: Option<&str>,
    ) -> Result<Arc<Circuit>, String> {
        let given = size.map(|size| block.size(size).map_err(|why| why.to_string())).transpose()?;
        if let Some(size) = given {
            let circuit = self.built(py, block, &size)?;
            return fits(&circuit, shapes).map(|()| circuit);
        }
        let found = candidates(block, shapes).into_iter().filter_map(|size| self.built(py, block, &size).ok());
        let found = found.into_iter().find(|circuit| fits(circuit, shapes).is_ok());
        found.ok_or_else(|| {
            let (name, usual) = (block.name, block.label(&block.usual()));
            format!(
                "the size of {name} does not follow from its operands: size=\"{usual}\" or another, {}",
                block.describe()
            )
        })
    }

    fn built(&self, py: Python<'_>, block: &Block, size: &[u32]) -> Result<Arc<Circuit>, String> {
        let key = (block.name.to_owned(), size.to_vec());
        let blocks = || self.blocks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let known = blocks().get(&key).cloned();
        if let Some(circuit) = known {
            return Ok(circuit);
        }
        let goal = if block.goals.contains(&self.goal) { self.goal } else { block.goals[0] };
        // Other threads of Python go on meanwhile, so that no lock of the trace is held.
        let circuit = Arc::new(py.detach(|| block.circuit(size, goal)).map_err(|why| why.to_string())?);
        blocks().insert(key, circuit.clone());
        Ok(circuit)
    }
}

/// Sizes that come into question: widths and formats of the first word, behind how many there are of it.
fn candidates(block: &Block, shapes: &[Shape]) -> Vec<Vec<u32>> {
    let Some(&(ty, count)) = shapes.iter().flatten().next() else { return vec![vec![]] };
    let format = match ty.kind {
        Kind::Float { exponent } => vec![exponent, ty.width - 1 - exponent],
        Kind::Fixed { fraction } => vec![ty.width - fraction, fraction],
        _ => vec![ty.width],
    };
    let counted = [count.into_iter().collect(), format.clone()].concat();
    let sizes = [vec![], format, counted.clone(), [counted, vec![0]].concat()];
    sizes.into_iter().filter(|size: &Vec<u32>| size.len() == block.parameters.len()).collect()
}

/// Whether the operands are those of the circuit: bits go for everything, and everything for bits.
fn fits(circuit: &Circuit, shapes: &[Shape]) -> Result<(), String> {
    let (name, ports) = (circuit.name(), circuit.inputs());
    if ports.len() != shapes.len() {
        let names = ports.iter().map(|port| format!("{}: {}", port.name, shown(port.ty))).collect::<Vec<_>>();
        return Err(format!("{name} has the operands {}, not {}", names.join(", "), shapes.len()));
    }
    for (port, shape) in ports.iter().zip(shapes) {
        let Some((ty, count)) = shape else { continue };
        let width = ty.width * count.unwrap_or(1);
        let is_kind = ty.kind == port.ty.kind || [ty.kind, port.ty.kind].contains(&Kind::Bits);
        if width != port.ty.width || !is_kind {
            let (port, expected, came) = (&port.name, shown(port.ty), shown(*ty));
            return Err(format!("'{port}' of {name}: expected {expected}, came {came}"));
        }
    }
    Ok(())
}
