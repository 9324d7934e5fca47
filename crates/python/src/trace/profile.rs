//! What each line of the source costs.

use super::sites::{Site, Sites};
use crate::program::Binding;
use duologue::circuit::program::Value;
use duologue::circuit::{Builder, Circuit, Gate};
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What a line of the source costs in a circuit.
#[derive(Clone, Copy, Default, Debug)]
pub struct Line {
    pub ands: u64,
    /// ANDs on a longest path of the circuit.
    pub depth: u64,
}

/// A circuit, what each line has of it, and which line each gate is of: that of the last entry at or before it.
pub struct Made {
    pub circuit: Circuit,
    pub lines: BTreeMap<u32, Line>,
    pub gates: Vec<(u32, u32)>,
}

/// Which nodes of a builder each line made, in order: from this one on.
#[derive(Default)]
pub struct Spans(Vec<(u32, u32)>);

impl Spans {
    pub fn start(&mut self, node: u32, site: u32) {
        match self.0.last_mut() {
            Some(last) if last.0 == node => last.1 = site,
            Some(last) if last.1 == site => {}
            _ => self.0.push((node, site)),
        }
    }

    /// The finished circuit with the cost of its lines.
    pub fn finish(self, c: Builder) -> duologue::circuit::Result<Made> {
        let before = c.nodes();
        let (circuit, moved) = c.try_finish_with_nodes()?;
        let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
        let mut gates: Vec<(u32, u32)> = Vec::new();
        let ends = self.0.iter().skip(1).map(|span| span.0).chain([before]);
        for (&(from, site), end) in self.0.iter().zip(ends) {
            let kept = moved[from as usize..end as usize].iter().copied().filter(|&node| node != 0);
            let Some(first) = kept.clone().next() else { continue };
            let ands = kept.filter(|&node| matches!(circuit.gates()[node as usize], Gate::And(..))).count();
            lines.entry(site).or_default().ands += ands as u64;
            gates.push((first, site));
        }
        for node in longest_path(&circuit) {
            let span = gates.partition_point(|&(from, _)| from as usize <= node);
            lines.entry(gates[span - 1].1).or_default().depth += 1;
        }
        Ok(Made { circuit, lines, gates })
    }
}

/// The ANDs of a longest path.
fn longest_path(circuit: &Circuit) -> Vec<usize> {
    let (gates, depths) = (circuit.gates(), circuit.depths());
    let outputs = circuit.output_bits().iter().map(|bit| bit.node() as usize);
    let Some(mut node) = outputs.max_by_key(|&node| depths[node]) else { return Vec::new() };
    let mut path = Vec::new();
    while let Gate::Xor(a, b) | Gate::And(a, b) = gates[node] {
        if matches!(gates[node], Gate::And(..)) {
            path.push(node);
        }
        let [a, b] = [a, b].map(|bit| bit.node() as usize);
        node = if depths[a] >= depths[b] { a } else { b };
    }
    path
}

/// How often a circuit is applied.
pub enum Times {
    /// Once on each lane of the value.
    Lanes(Value),
    /// Between the lanes of the value.
    Between(Value),
}

/// A step of a program: the line of its first operation, and which line each gate of its circuit is of.
pub type StepLines = (u32, Vec<(u32, u32)>);

/// The lines of a step between two gates, of which either may be in another step; without gates that of its first operation.
fn lines_of((first, gates): &StepLines, ends: [(bool, Option<u32>); 2]) -> Vec<u32> {
    let span = |gate| gates.partition_point(|&(from, _)| from <= gate);
    let [begin, end] = ends.map(|(is_here, gate)| gate.filter(|_| is_here).map(span));
    let spans = begin.map_or(0, |span| span.saturating_sub(1))..end.unwrap_or(gates.len());
    let is_whole = ends.iter().all(|(_, gate)| gate.is_none());
    match gates.get(spans).unwrap_or_default() {
        spans if spans.is_empty() || is_whole => vec![*first],
        spans => spans.iter().map(|&(_, site)| site).collect(),
    }
}

/// What the lines of a program cost, for any sizes.
#[pyclass(frozen, module = "duologue._core")]
pub struct Profile {
    pub parts: Vec<(Times, BTreeMap<u32, Line>)>,
    pub steps: Vec<StepLines>,
    pub sites: Arc<Sites>,
}

#[pymethods]
impl Profile {
    /// Files and lines from one step, or gate of its circuit, to another, as they follow one another.
    fn lines_between(&self, start: (usize, Option<u32>), end: (usize, Option<u32>)) -> Vec<(String, u32)> {
        let steps = self.steps.iter().enumerate().take(end.0.saturating_add(1)).skip(start.0);
        let of = |(step, lines)| lines_of(lines, [start, end].map(|place| (place.0 == step, place.1)));
        let mut seen = HashSet::new();
        let sites = steps.flat_map(of).filter(|site| seen.insert(*site)).map(|site| self.sites.get(site));
        sites.map(|Site { file, line }| (file, line)).collect()
    }

    /// Files and lines with ANDs over all lanes, and ANDs on a longest path of a step; the most expensive first.
    fn lines(&self, binding: &Binding) -> Vec<(String, u32, u64, u64)> {
        let mut all: BTreeMap<u32, Line> = BTreeMap::new();
        for (times, lines) in &self.parts {
            let (times, layers) = match times {
                Times::Lanes(value) => (binding.binding.lanes_of(*value), 1),
                Times::Between(value) => {
                    let lanes = binding.binding.lanes_of(*value);
                    (lanes.saturating_sub(1), u64::from(lanes.next_power_of_two().ilog2()))
                }
            };
            for (&site, line) in lines {
                let sum = all.entry(site).or_default();
                sum.ands = sum.ands.saturating_add(line.ands.saturating_mul(times));
                sum.depth += line.depth * layers;
            }
        }
        let mut rows: Vec<_> = all
            .into_iter()
            .map(|(site, line)| {
                let Site { file, line: number } = self.sites.get(site);
                (file, number, line.ands, line.depth)
            })
            .collect();
        rows.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| (&a.0, a.1).cmp(&(&b.0, b.1))));
        rows
    }
}
