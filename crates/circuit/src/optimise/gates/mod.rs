//! Circuits that come as gates, with fewer ANDs.
//!
//! XOR and NOT are free, so that what counts are the ANDs alone: cut rewriting by the least number of ANDs (Testa, Soeken,
//! Amaru, De Micheli, *Reducing the multiplicative complexity in logic networks for cryptography and security
//! applications*, DAC 2019) and resubstitution (Testa, Soeken, Riener, Amaru, De Micheli, *A logic synthesis toolbox for
//! reducing the multiplicative complexity in logic networks*, DATE 2020), with three differences. Nodes are known by
//! fingerprints that respect XOR (`prints.rs`), so that neither the order of XORs nor the polarity of operands hides that an
//! AND is there already. Recipes are not read from a file but made: 48 classes of up to five inputs (`affine/`), and splits of
//! six. Resubstitution is linear algebra (`resubstitute.rs`) over all nodes of a window at once.
//!
//! Each replacement is proved by truth tables over a cut or a window, and nodes are one where their fingerprints are: of 2^20
//! nodes any two different ones agree with probability below 2^-87, and then 64 lanes of the network must agree too. Besides, a whole circuit is compared with what it
//! came from before it is given out: on all inputs up to 24 bits, else on 2^20 lanes. Everything is deterministic.

mod affine;
mod check;
mod cuts;
mod network;
mod prints;
mod resubstitute;
mod rewrite;

use crate::blocks::Goal;
use crate::error::{Error, Result};
use crate::graph::Circuit;
use affine::Synthesis;
use network::Network;

/// The most effort.
pub const MOST_EFFORT: u32 = 9;

/// What an optimisation may take.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Rounds of rewriting and resubstitution; none leaves it at gates that are there twice, constant or unused.
    pub rounds: u32,
    /// The most inputs of a cut, up to six.
    pub inputs: usize,
    /// The most cuts of a node.
    pub cuts: usize,
    /// The most divisors of a window, up to 120; zero for no resubstitution.
    pub divisors: usize,
    /// The whole has no more layers of ANDs than before; an output may come later.
    pub keep_depth: bool,
}

impl Settings {
    /// What an effort means, from 0 to [`MOST_EFFORT`].
    pub fn of(effort: u32, goal: Goal) -> Settings {
        let (rounds, inputs, cuts, divisors) = match effort {
            0 => (0, 0, 0, 0),
            1 => (1, 4, 8, 0),
            2 => (2, 4, 12, 0),
            3 => (2, 5, 12, 20),
            4 => (8, 5, 32, 32),
            5 => (20, 6, 32, 32),
            6 => (40, 6, 48, 40),
            7 => (80, 6, 96, 40),
            8 => (160, 6, 128, 64),
            _ => (400, 6, 192, 120),
        };
        Settings { rounds, inputs, cuts, divisors, keep_depth: goal == Goal::Depth }
    }
}

/// A circuit of the same function and ports with fewer ANDs, or as many and fewer XORs, and, if the goal is depth, no more
/// layers of them; or the circuit itself.
///
/// # Errors
/// If the result differs from the circuit: a fault of the optimiser.
pub fn optimise(circuit: &Circuit, settings: Settings) -> Result<Circuit> {
    let mut best = Best { circuit: circuit.clone(), keep_depth: settings.keep_depth };
    best.offer(Network::read(circuit).write());
    let mut synthesis = Synthesis::new();
    let mut idle = 0;
    for round in 0..settings.rounds {
        let before = best.circuit.and_count();
        best.round(&mut synthesis, settings, round);
        // Every other round may move sideways: only where both kinds bring nothing there is no more to come.
        idle = if best.circuit.and_count() < before { 0 } else { idle + 1 };
        if idle == 2 {
            break;
        }
    }
    let measure = |circuit: &Circuit| (circuit.and_count(), circuit.gates().len());
    if measure(&best.circuit) >= measure(circuit) {
        return Ok(circuit.clone());
    }
    if check::agree(circuit, &best.circuit) {
        return Ok(best.circuit);
    }
    let why = "differs from what was optimised: a fault of the optimiser, which we ask you to report";
    Err(Error::invalid(format!("circuit '{}', optimised", circuit.name()), why))
}

/// The best circuit so far.
struct Best {
    circuit: Circuit,
    keep_depth: bool,
}

impl Best {
    fn round(&mut self, synthesis: &mut Synthesis, settings: Settings, round: u32) {
        let keep_depth = settings.keep_depth;
        let limits = cuts::Limits { inputs: settings.inputs, cuts: settings.cuts };
        let circuit = self.circuit.clone();
        let mut network = Network::read(&circuit);
        rewrite::rewrite(&mut network, synthesis, rewrite::Rules { limits, keep_depth, sideways: round % 2 == 1 });
        self.offer(network.write());
        if settings.divisors > 0 {
            let circuit = self.circuit.clone();
            let mut network = Network::read(&circuit);
            let rules = resubstitute::Rules { divisors: settings.divisors, terms: 12, keep_depth };
            resubstitute::resubstitute(&mut network, rules);
            self.offer(network.write());
        }
    }

    /// Takes a circuit that is no worse. Nothing comes of a network in which a node reads itself.
    fn offer(&mut self, circuit: Option<Circuit>) {
        let Some(circuit) = circuit else { return };
        let deeper = self.keep_depth && circuit.depth() > self.circuit.depth();
        if !deeper && circuit.and_count() <= self.circuit.and_count() {
            self.circuit = circuit;
        }
    }
}
