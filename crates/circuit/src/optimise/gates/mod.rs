//! Circuits that come as gates, with fewer ANDs.
//!
//! XOR and NOT are free, so that what counts are the ANDs alone: cut rewriting by the least number of ANDs (Testa, Soeken,
//! Amaru, De Micheli, *Reducing the multiplicative complexity in logic networks for cryptography and security
//! applications*, DAC 2019) and resubstitution (Testa, Soeken, Riener, Amaru, De Micheli, *A logic synthesis toolbox for
//! reducing the multiplicative complexity in logic networks*, DATE 2020), with these differences. Nodes are known by
//! fingerprints that respect XOR (`prints.rs`), so that neither the order of XORs nor the polarity of operands hides that an
//! AND is there already. Recipes are not read from a file but made: 48 classes of up to five inputs (`affine/`), and splits of
//! six. Resubstitution is linear algebra (`resubstitute.rs`) over all nodes of a window at once, where they matter to what
//! the window is read for. Large cones are built anew by hyperplanes on which they are affine (`refactor.rs`). Values that
//! nodes never take together are found on samples and proved by a solver of satisfiability (`sampled.rs`, `proof/`). Sums,
//! products, quotients and roots are recognised, and built by our blocks (`arithmetic/`). At the end the XORs are built anew
//! (`linear/`).
//!
//! Each replacement is proved by truth tables over a cut or a window, by the solver, by decision diagrams, by an identity of
//! integers or by all values of up to 24 inputs, and nodes are one where their fingerprints are: of 2^20 nodes any two
//! different ones agree with probability below 2^-87, and then 64 lanes of the network must agree too. Besides, a whole circuit
//! is compared with what it came from before it is given out: on all inputs up to 24 bits, else on 2^20 lanes. Everything is
//! deterministic.

pub(crate) mod affine;
mod arithmetic;
mod check;
mod cuts;
mod linear;
mod network;
mod prints;
mod proof;
mod refactor;
mod resubstitute;
mod rewrite;
mod sampled;
mod samples;
mod window;

use crate::blocks::Goal;
use crate::error::{Error, Result};
use crate::graph::Circuit;
use affine::Synthesis;
use network::Network;
use samples::Patterns;

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
    /// The most nodes of a proof that a replacement found on samples holds; zero for none.
    pub proof: usize,
    /// Whether large cones are built anew.
    pub refactor: bool,
    /// The most ANDs of a circuit that is optimised in all of `WAYS`, of which the best is taken.
    pub most_in_all_ways: u64,
    /// The whole has no more layers of ANDs than before; an output may come later.
    pub keep_depth: bool,
}

/// An order in which things are tried. None is the best for all circuits.
#[derive(Clone, Copy)]
struct Way {
    /// Large cones come before small cuts too.
    large_first: bool,
    /// In every so manieth round large cones are built anew for as many ANDs too; zero for never.
    sideways: u32,
}

const WAYS: [Way; 5] = [
    Way { large_first: false, sideways: 2 },
    Way { large_first: true, sideways: 2 },
    Way { large_first: true, sideways: 1 },
    Way { large_first: false, sideways: 1 },
    Way { large_first: false, sideways: 0 },
];

/// Rounds differ in the words of the tables of a window, and in whether it is looked at where a node matters.
const WINDOWS: [(usize, bool); 6] = [(4, false), (4, false), (16, true), (16, false), (4, true), (1, true)];

/// Words of samples.
const SAMPLED: usize = 32;
/// Nodes above a node that are looked at to see where it matters on the samples.
const ABOVE: usize = 100;
/// Refuted replacements of a node in a round.
const TRIES: usize = 8;
/// ANDs of a circuit that is large.
const LARGE: u64 = 3_000;
/// Conflicts of a proof.
const CONFLICTS: usize = 300;

/// Rounds after which a large circuit is compared with what it would be without samples.
const TRIED: u32 = 2;
/// The most ANDs of a circuit that is begun twice and looked at again.
const MOST_STARTED_TWICE: u64 = 100_000;

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
        let proof = match effort {
            0..4 => 0,
            4 => 500,
            _ => 1_500,
        };
        let most_in_all_ways = match effort {
            0..5 => 0,
            5 => 3_000,
            6 => 10_000,
            _ => u64::MAX,
        };
        Settings {
            rounds,
            inputs,
            cuts,
            divisors,
            proof,
            refactor: effort > 3,
            most_in_all_ways,
            keep_depth: goal == Goal::Depth,
        }
    }
}

/// A circuit of the same function and ports with fewer ANDs, or as many and fewer XORs, and, if the goal is depth, no more
/// layers of them; or the circuit itself.
///
/// # Errors
/// If the result differs from the circuit: a fault of the optimiser.
pub fn optimise(circuit: &Circuit, settings: Settings) -> Result<Circuit> {
    let mut first = Best::new(circuit, settings, 0);
    first.offer(Network::read(circuit).write());
    let starts = starts(first, settings);
    let ways = if starts[0].and_count() <= settings.most_in_all_ways { &WAYS[..] } else { &WAYS[..1] };
    let mut synthesis = Synthesis::new();
    let measure = |circuit: &Circuit| (circuit.and_count(), circuit.gates().len());
    let tries = starts.iter().flat_map(|start| ways.iter().map(move |&way| (start, way)));
    let results = tries.map(|(start, way)| in_one_way(start, &mut synthesis, settings, way));
    let best = results.min_by_key(measure).expect("a way");
    if measure(&best) >= measure(circuit) {
        return Ok(circuit.clone());
    }
    if check::agree(circuit, &best) {
        return Ok(best);
    }
    let why = "differs from what was optimised: a fault of the optimiser, which we ask you to report";
    Err(Error::invalid(format!("circuit '{}', optimised", circuit.name()), why))
}

/// The circuit with its arithmetic built anew, and as it is unless that was most of it: what is recognised in part may hide
/// from the passes what they would find.
fn starts(plain: Best, settings: Settings) -> Vec<Circuit> {
    let mut best = Best::new(&plain.circuit, settings, 0);
    if settings.rounds > 0 {
        best.arithmetic();
    }
    let [before, after] = [&plain, &best].map(|best| best.circuit.and_count());
    let same = after == before;
    let most = 4 * after < before;
    let plain = (!same && !most && before <= MOST_STARTED_TWICE).then_some(plain.circuit);
    [best.circuit].into_iter().chain(plain).collect()
}

/// Rounds until they bring nothing, nor is any more arithmetic recognised then; and the XORs of what that leaves anew.
fn in_one_way(circuit: &Circuit, synthesis: &mut Synthesis, settings: Settings, way: Way) -> Circuit {
    if settings.rounds == 0 {
        return circuit.clone();
    }
    let mut best = begun(circuit, synthesis, settings, way);
    loop {
        best.rounds(synthesis, settings, way);
        let before = best.circuit.and_count();
        best.arithmetic();
        if best.circuit.and_count() == before || before > MOST_STARTED_TWICE {
            return linear::extract(&best.circuit);
        }
    }
}

/// The circuit; where it is optimised in one way alone, after some rounds: without samples until that brings nothing, or,
/// where they bring much, with them. What samples find first may hide what the other passes would find.
fn begun(circuit: &Circuit, synthesis: &mut Synthesis, settings: Settings, way: Way) -> Best {
    let new = || Best::new(circuit, settings, circuit.input_width());
    if settings.proof == 0 || circuit.and_count() <= settings.most_in_all_ways {
        return new();
    }
    let without = Settings { proof: 0, ..settings };
    let [sampled, mut plain] = [settings, without].map(|settings| {
        let mut best = new();
        best.rounds(synthesis, Settings { rounds: TRIED.min(settings.rounds), ..settings }, way);
        best
    });
    if 4 * sampled.circuit.and_count() < 3 * plain.circuit.and_count() {
        return sampled;
    }
    plain.rounds(synthesis, without, way);
    plain
}

/// The best circuit so far.
struct Best {
    circuit: Circuit,
    keep_depth: bool,
    patterns: Patterns<SAMPLED>,
    /// How many times replacements by samples are left out.
    rest: u32,
}

impl Best {
    /// A circuit, and samples of so many inputs.
    fn new(circuit: &Circuit, settings: Settings, sampled: usize) -> Self {
        let patterns = Patterns::new(sampled);
        Best { circuit: circuit.clone(), keep_depth: settings.keep_depth, patterns, rest: 0 }
    }

    /// Rounds until as many in a row as there are kinds of windows bring nothing.
    fn rounds(&mut self, synthesis: &mut Synthesis, settings: Settings, way: Way) {
        let mut idle = 0;
        for round in 0..settings.rounds {
            let before = self.circuit.and_count();
            self.round(synthesis, settings, way, round);
            idle = if self.circuit.and_count() < before { 0 } else { idle + 1 };
            if idle == WINDOWS.len() {
                break;
            }
        }
    }

    /// Sums and products are built by our blocks; by those of few layers too, where no layer may be added.
    fn arithmetic(&mut self) {
        self.offer(arithmetic::rebuild(&self.circuit, Goal::Size));
        if self.keep_depth {
            self.offer(arithmetic::rebuild(&self.circuit, Goal::Depth));
        }
    }

    fn round(&mut self, synthesis: &mut Synthesis, settings: Settings, way: Way, round: u32) {
        let keep_depth = settings.keep_depth;
        if round == 0 && way.large_first && settings.refactor {
            self.step(|network| {
                refactor::refactor(network, synthesis, refactor::Rules { keep_depth, sideways: false })
            });
        }
        let limits = cuts::Limits { inputs: settings.inputs, cuts: settings.cuts };
        let rules = rewrite::Rules { limits, keep_depth, sideways: round % 2 == 1 };
        self.step(|network| rewrite::rewrite(network, synthesis, rules));
        let (words, above) = WINDOWS[round as usize % WINDOWS.len()];
        let rules = resubstitute::Rules { divisors: settings.divisors, terms: 12, keep_depth, above };
        match words {
            _ if settings.divisors == 0 => {}
            1 => self.step(|network| resubstitute::resubstitute::<1>(network, rules)),
            4 => self.step(|network| resubstitute::resubstitute::<4>(network, rules)),
            _ => self.step(|network| resubstitute::resubstitute::<16>(network, rules)),
        }
        if settings.proof > 0 && round.is_multiple_of(2) && !self.rests() {
            self.by_samples(settings);
        }
        if settings.refactor {
            let sideways = way.sideways > 0 && round.is_multiple_of(way.sideways);
            self.step(|network| refactor::refactor(network, synthesis, refactor::Rules { keep_depth, sideways }));
        }
    }

    /// Whether replacements by samples are left out this time.
    fn rests(&mut self) -> bool {
        let rests = self.rest > 0;
        self.rest = self.rest.saturating_sub(1);
        rests
    }

    /// Replacements by samples; in large circuits they rest for a while if they bring little.
    fn by_samples(&mut self, settings: Settings) {
        let before = self.circuit.and_count();
        let rules = sampled::Rules {
            divisors: settings.divisors + settings.divisors / 2,
            terms: 12,
            keep_depth: settings.keep_depth,
            above: ABOVE,
            tries: TRIES,
            bounds: proof::Bounds { nodes: settings.proof, conflicts: CONFLICTS },
        };
        let mut patterns = std::mem::replace(&mut self.patterns, Patterns::new(0));
        self.step(|network| sampled::resubstitute(network, &mut patterns, rules));
        self.patterns = patterns;
        let gained = before - self.circuit.and_count();
        self.rest = if before > LARGE && gained * 1_000 < before { 2 } else { 0 };
    }

    fn step(&mut self, pass: impl FnOnce(&mut Network<'_>)) {
        let circuit = self.circuit.clone();
        let mut network = Network::read(&circuit);
        pass(&mut network);
        self.offer(network.write());
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
