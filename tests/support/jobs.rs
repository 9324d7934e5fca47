//! Jobs in one process: all shards, then the last program, by whatever runs a program.
#![allow(dead_code)] // each test file uses its part

use duologue::circuit::program::Binding;
use duologue::job::{Merge, Plan};
use duologue::{Inputs, Outputs, plain};

/// The outputs of a party whose inputs these are; `run` runs a shard, or the last program.
pub fn run_job(plan: &Plan, whole: &Inputs, run: impl Fn(Option<u32>, &Binding, &Inputs) -> Outputs) -> Outputs {
    let mut merge: Merge<'_> = plan.merge();
    // The last shard first: the order of shards is nobody's business.
    for number in (0..plan.shards()).rev().filter(|&number| !plan.range(number).is_empty()) {
        let shard = plan.shard(number).expect("a shard of the plan");
        let inputs = shard.inputs_of(whole).expect("inputs of the whole program");
        merge.add(number, run(Some(number), &shard.binding, &inputs)).expect("outputs of a shard");
    }
    let last = plan.last().map(|last| {
        let inputs = merge.last_inputs(whole).expect("all shards are there");
        run(None, &last.binding, &inputs)
    });
    merge.finish(last).expect("outputs of all")
}

/// The same on plain bits: all inputs are there, and shares are values.
pub fn in_plain(plan: &Plan, whole: &Inputs) -> Outputs {
    run_job(plan, whole, |part, binding, inputs| {
        plain::run(binding, inputs).unwrap_or_else(|why| panic!("{part:?}: {why}"))
    })
}
