//! Arithmetic that is recognised among gates, and built anew by our blocks.
//!
//! Nodes that are one function become one (`merge.rs`), dividers and square roots become our blocks (`dividers.rs`), and
//! carries that look ahead ripple (`carries.rs`). Full and half adders are found by cuts of three leaves (`cells.rs`), as after
//! Yu, Ciesielski and Mishchenko, *Fast algebraic rewriting based on and-inverter graphs*, TCAD 2018. The circuit is covered
//! with them from its outputs down (`cover.rs`), and those whose outputs only join them make a group (`groups.rs`). A group has
//! an exact identity: digits of different weights are equal to a sum of terms modulo a power of two (`sums.rs`). It is built as
//! one sum of columns, which takes as many ANDs as bits disappear, and the products that it has (`products.rs`) as products of
//! signed digits, whose partial products are free.
//! Words of outputs that are such sums of inputs and their products are found by their values, whatever their gates are
//! (`forms/`).

mod associate;
mod block;
mod build;
mod carries;
#[cfg(test)]
mod carry_tests;
mod cells;
mod cone;
mod cover;
mod diagrams;
#[cfg(test)]
mod divider_tests;
mod dividers;
mod exchange;
mod forms;
mod groups;
mod merge;
mod operands;
mod potentials;
mod products;
mod recurrences;
mod squares;
mod sums;
mod terms;
#[cfg(test)]
mod tests;

use super::network::Network;
use crate::blocks::Goal;
use crate::graph::Circuit;
use cells::Cells;
use cover::Cover;
use groups::Groups;
use products::{Recognised, recognise};

/// Attempts, in each of which XORs that spoil a sum are left out of it.
const ATTEMPTS: usize = 4;

/// The circuit with its sums and products built for this goal, if it has any.
pub fn rebuild(circuit: &Circuit, goal: Goal) -> Option<Circuit> {
    let merged = merge::merged(circuit)?;
    let divided = if goal == Goal::Size { dividers::rebuilt(&merged) } else { None };
    let merged = divided.unwrap_or(merged);
    let formed = forms::rebuilt(&merged, goal);
    let again = formed.as_ref().and_then(merge::merged);
    let others = [Some(merged), again].into_iter().flatten().flat_map(|merged| by_adders(&merged, goal));
    others.chain(formed).min_by_key(Circuit::and_count)
}

/// The circuit with the sums of its adders built, as it is and with carries that ripple.
fn by_adders(merged: &Circuit, goal: Goal) -> Vec<Circuit> {
    let plain = built(merged, goal);
    // A carry that ripples comes later, and may be one that no adder of the circuit has.
    let rippled = if goal == Goal::Size { carries::rippled(merged) } else { None };
    let rippled = rippled.and_then(|circuit| built(&merge::merged(&circuit)?, goal));
    [plain, rippled].into_iter().flatten().collect()
}

fn built(circuit: &Circuit, goal: Goal) -> Option<Circuit> {
    let network = Network::read(circuit);
    build::build(circuit, &network, &find(&network), goal)
}

/// The sums of a network.
fn find(network: &Network<'_>) -> Vec<Recognised> {
    let cells = Cells::of(network);
    let cover = Cover::of(network, &cells);
    let mut loose = vec![false; cover.adders.len()];
    for attempt in 1.. {
        let groups = Groups::of(network, &cover, &loose);
        let (sums, others) = sums::sums(&cover, &groups);
        let ends: Vec<u32> =
            others.into_iter().flatten().filter(|&adder| cover.adders[adder as usize].carry.is_none()).collect();
        if ends.is_empty() || attempt == ATTEMPTS {
            return sums.into_iter().map(|sum| recognise(network, sum)).collect();
        }
        ends.iter().for_each(|&adder| loose[adder as usize] = true);
    }
    unreachable!("the loop ends")
}
