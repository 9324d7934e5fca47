//! The meaning of a program, step by step over all lanes at once: no tiles, no plans, no cleverness.
//!
//! Everything that schedules is tested against this.

use super::{Binding, Step, Value, View};
use crate::matrix::BitMatrix;
use std::collections::BTreeMap;

/// All lanes of a value, each least significant bit first.
pub type Table = Vec<Vec<bool>>;

/// The outputs of a bound program on inputs given by port; a shared input is given as its value.
///
/// # Panics
/// If an input is missing or has not its port's shape.
pub fn evaluate(binding: &Binding, inputs: &BTreeMap<String, Table>) -> BTreeMap<String, Table> {
    let mut values: Vec<Table> = Vec::new();
    let mut outputs = BTreeMap::new();
    for step in binding.program().steps() {
        if let Step::Output { name, value, .. } = step {
            outputs.insert(name.clone(), values[value.0 as usize].clone());
        }
        let made = make(binding, step, &values, inputs);
        values.extend(made);
    }
    outputs
}

fn make(binding: &Binding, step: &Step, values: &[Table], inputs: &BTreeMap<String, Table>) -> Vec<Table> {
    let count = |lanes: &super::Lanes| lanes.count(binding.sizes()).expect("counted when bound") as usize;
    let get = |args: &[Value]| args.iter().map(|arg| values[arg.0 as usize].clone()).collect::<Vec<_>>();
    match step {
        Step::Input { name, ty, lanes, .. } => {
            let table = inputs[name].clone();
            assert_eq!(table.len(), count(lanes), "lanes of '{name}'");
            assert!(table.iter().all(|lane| lane.len() == ty.width as usize), "bits of '{name}'");
            vec![table]
        }
        Step::Constant { lanes, bits, .. } => vec![vec![bits.clone(); count(lanes)]],
        Step::Map { circuit, args } => apply(binding, *circuit, &get(args)),
        Step::Reduce { circuit, args } => reduce(binding, *circuit, get(args)),
        Step::Iterate { circuit, cycles, state, inputs } => {
            iterate(binding, *circuit, count(cycles), get(state), &get(inputs))
        }
        Step::View { view, args } => vec![rearrange(view, &get(args), count)],
        Step::Call { name, version, parameters, args } => {
            let functionality = binding.program().functionalities().find(name, *version).expect("known when bound");
            let args: Vec<BitMatrix> = args
                .iter()
                .map(|&arg| BitMatrix::from_lanes(binding.program().type_of(arg).width as usize, &values[arg.number()]))
                .collect();
            functionality.evaluate(parameters, &args).iter().map(BitMatrix::to_lanes).collect()
        }
        Step::Output { .. } => Vec::new(),
    }
}

fn apply(binding: &Binding, circuit: u32, args: &[Table]) -> Vec<Table> {
    let circuit = &binding.program().circuits()[circuit as usize];
    let mut results = vec![Table::new(); circuit.outputs().len()];
    for lane in 0..args[0].len() {
        let bits: Vec<bool> = args.iter().flat_map(|arg| arg[lane].iter().copied()).collect();
        let mut rest = &circuit.evaluate(&bits)[..];
        for (port, result) in circuit.outputs().iter().zip(&mut results) {
            let (word, after) = rest.split_at(port.ty.width as usize);
            result.push(word.to_vec());
            rest = after;
        }
    }
    results
}

fn reduce(binding: &Binding, circuit: u32, mut args: Vec<Table>) -> Vec<Table> {
    while args[0].len() > 1 {
        let pairs = args[0].len() / 2;
        let side = |odd: usize| args.iter().map(move |arg| (0..pairs).map(|i| arg[2 * i + odd].clone()).collect());
        let mut folded = apply(binding, circuit, &side(0).chain(side(1)).collect::<Vec<Table>>());
        for (result, arg) in folded.iter_mut().zip(&args) {
            result.extend(arg[2 * pairs..].iter().cloned());
        }
        args = folded;
    }
    args
}

fn iterate(binding: &Binding, circuit: u32, cycles: usize, mut state: Vec<Table>, inputs: &[Table]) -> Vec<Table> {
    let lanes = state[0].len();
    let outputs = binding.program().circuits()[circuit as usize].outputs().len();
    let mut put_out = vec![Table::new(); outputs - state.len()];
    for cycle in 0..cycles {
        let now = inputs.iter().map(|input| input[cycle * lanes..(cycle + 1) * lanes].to_vec());
        let args: Vec<Table> = state.iter().cloned().chain(now).collect();
        let mut results = apply(binding, circuit, &args);
        for (all, now) in put_out.iter_mut().zip(results.split_off(state.len())) {
            all.extend(now);
        }
        state = results;
    }
    state.extend(put_out);
    state
}

fn rearrange(view: &View, args: &[Table], count: impl Fn(&super::Lanes) -> usize) -> Table {
    let first = &args[0];
    match view {
        View::Bits(bits) => first.iter().map(|lane| bits.iter().map(|&bit| lane[bit as usize]).collect()).collect(),
        View::Join => (0..first.len()).map(|l| args.iter().flat_map(|arg| arg[l].clone()).collect()).collect(),
        View::Repeat(times) => (0..count(times)).flat_map(|_| first.clone()).collect(),
        View::Slice { start, step, count: lanes } => {
            (0..count(lanes)).map(|i| first[*start as usize + i * *step as usize].clone()).collect()
        }
        View::Chain => args.concat(),
        View::Lanes(lanes) => lanes.iter().map(|&lane| first[lane as usize].clone()).collect(),
        View::Split(parts) => first
            .iter()
            .flat_map(|lane| (0..*parts as usize).map(|p| part(lane, p, *parts as usize)).collect::<Vec<_>>())
            .collect(),
        View::Merge(parts) => first.chunks(*parts as usize).map(|lanes| lanes.concat()).collect(),
    }
}

fn part(lane: &[bool], part: usize, parts: usize) -> Vec<bool> {
    let width = lane.len() / parts;
    lane[part * width..(part + 1) * width].to_vec()
}
