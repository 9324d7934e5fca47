//! `duologue cost`: what a program will take by each protocol, without running it.
//!
//! Bytes and rounds are exact. Times are predicted: the line's share follows from them, the processor's from a small
//! run of both parties on this machine.

mod cores;

use crate::args::Cost;
use crate::failure::Failure;
use crate::io::console::{Console, bytes, seconds, table, thousands};
use crate::io::{shown, sizes};
use crate::program;
use duologue::channel::{Channel, Link};
use duologue::circuit::{Binding, BitMatrix};
use duologue::correlation::Demand;
use duologue::cost::{self, Speed};
use duologue::ot::Extension;
use duologue::{Inputs, Options, Party, Scheme, Session, Timing};
use serde::Serialize;
use std::collections::BTreeMap;
use std::{fmt, thread};

pub fn run(args: &Cost, console: &Console) -> Result<(), Failure> {
    let supply = program::Supply { maker: args.correlations.0, pool: false };
    let program::Chosen { program, scheme, garbled, .. } =
        program::load_with(&args.program, &[], &args.least, &args.size, supply, &program::Ours::default())?;
    let binding = sizes::bind(&program, &args.size, &[])?;
    if !args.grain.cores.is_empty() {
        return console.show(&cores::CoresReport::new(&binding, &args.grain)?);
    }
    let (maker, strands) = (args.correlations.0, args.strands.into());
    let garbled = garbled.filter(|_| !args.garbling_is_given).unwrap_or((args.garbling, Timing::Auto));
    let options = |scheme| Options::new(scheme).garbling(garbled.0).timing(garbled.1).extension(maker).strands(strands);
    let schemes = Scheme::ALL.into_iter().filter(|&any| scheme.is_none_or(|scheme| scheme == any));
    let costs = schemes.map(|scheme| Protocol::new(&binding, &options(scheme), &args.link));
    console.show(&CostReport {
        program: program.name().to_string(),
        sizes: sizes::map(&binding),
        link: args.link.to_string(),
        protocols: costs.collect::<Result<_, _>>()?,
    })
}

#[derive(Serialize)]
struct CostReport {
    program: String,
    sizes: BTreeMap<String, u64>,
    link: String,
    protocols: Vec<Protocol>,
}

/// The cost by one protocol.
#[derive(Serialize)]
struct Protocol {
    protocol: String,
    /// Who garbles, and how; of a protocol without a garbler nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    garbler: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    garbling: Option<String>,
    /// How many tiles take turns on the wire, if not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    strands: Option<usize>,
    /// What makes its correlations; of a program that draws none nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    correlations: Option<String>,
    /// Whether setup runs before inputs are used.
    ahead: bool,
    tile: u64,
    ands: u64,
    depth: u32,
    setup: Phase,
    online: Phase,
    /// Bytes of the party that needs more, beyond its inputs.
    memory: u64,
    work: [u64; 5],
    making: u64,
}

#[derive(Serialize)]
struct Phase {
    /// Predicted.
    seconds: f64,
    alice_to_bob: u64,
    bob_to_alice: u64,
    /// How often each party turns from sending to receiving, as its own report says after a run.
    alice_rounds: u64,
    bob_rounds: u64,
}

impl Phase {
    /// `10`, or `10, 9` where Alice and Bob differ.
    fn rounds(&self) -> String {
        match (self.alice_rounds, self.bob_rounds) {
            (alice, bob) if alice == bob => thousands(alice),
            (alice, bob) => format!("{}, {}", thousands(alice), thousands(bob)),
        }
    }
}

impl Protocol {
    fn new(binding: &Binding, options: &Options, link: &Link) -> Result<Protocol, Failure> {
        let (scheme, garbling) = (options.scheme, options.garbling);
        let cost = cost::cost_over(binding, options, &apps::calls(), link)?;
        let speed = measure(options, cost.terms.ahead)?;
        let (setup, online) = cost.time(link, &speed);
        let phase = |traffic: &cost::Traffic, seconds| Phase {
            seconds,
            alice_to_bob: traffic.alice_to_bob,
            bob_to_alice: traffic.bob_to_alice,
            alice_rounds: traffic.alice_rounds,
            bob_rounds: traffic.bob_rounds,
        };
        Ok(Protocol {
            protocol: scheme.to_string(),
            garbler: scheme.has_garbler().then(|| cost.terms.garbler.to_string()),
            garbling: scheme.has_garbler().then(|| garbling.to_string()),
            strands: Some(cost.terms.strands).filter(|&strands| strands > 1),
            correlations: (cost.demand != Demand::NONE).then(|| cost.maker.to_string()),
            ahead: cost.terms.ahead,
            tile: cost.tile as u64,
            ands: cost.ands,
            depth: cost.depth,
            setup: phase(&cost.setup, setup.as_secs_f64()),
            online: phase(&cost.online, online.as_secs_f64()),
            memory: cost.memory,
            work: [cost.work.gates, cost.work.ands, cost.work.xors, cost.work.moved, cost.work.inputs],
            making: cost.making,
        })
    }

    fn total(&self) -> f64 {
        self.setup.seconds + self.online.seconds
    }
}

/// Faces of the run that is measured: about a million ANDs.
const FACES: usize = 1000;

/// Runs a small program between two threads; the second run of a session has no base OTs.
fn measure(options: &Options, ahead: bool) -> Result<Speed, Failure> {
    let timing = if ahead { Timing::Ahead } else { Timing::Streamed };
    // Of a silent maker the second run would find all in stock.
    let options = options.timing(timing).extension(Extension::DEFAULT);
    let binding = apps::scifi::scifi(900).bind(&[("faces", FACES as u64)])?;
    let (to_bob, to_alice) = Channel::pair();
    let bob = thread::scope(|scope| {
        let bob = scope.spawn(|| party(Party::Bob, to_alice, &binding, &options));
        let alice = party(Party::Alice, to_bob, &binding, &options);
        let bob = bob.join().unwrap_or_else(|_| Err(duologue::Error::usage("the measuring thread failed")));
        alice.and(bob)
    })?;
    let rate = |time: std::time::Duration| bob.ands as f64 / time.as_secs_f64().max(1e-9);
    Ok(Speed { setup: rate(bob.setup.time), online: rate(bob.online.time) })
}

/// Two runs of one party, on zeros; what the second took.
fn party(
    party: Party,
    channel: Channel,
    binding: &Binding,
    options: &Options,
) -> duologue::Result<duologue::session::Report> {
    let inputs = binding.inputs().iter().filter(|port| port.who == party.into());
    let inputs = inputs.fold(Inputs::new(), |inputs, port| {
        inputs.with(&port.name, BitMatrix::zeros(port.ty.width as usize, port.lanes as usize))
    });
    let mut session = Session::connect(channel, party)?;
    session.run(binding, options, &inputs)?;
    let outcome = session.run(binding, options, &inputs)?;
    session.close()?;
    Ok(outcome.report)
}

impl CostReport {
    fn row(&self, name: &str, cell: impl Fn(&Protocol) -> String) -> Vec<String> {
        [name.to_string()].into_iter().chain(self.protocols.iter().map(cell)).collect()
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let when = |ahead| if ahead { "before inputs" } else { "as needed" };
        vec![
            self.row("", |p| p.protocol.clone()),
            self.row("garbled by", |p| p.garbling.clone().unwrap_or_default()),
            self.row("correlations by", |p| p.correlations.clone().unwrap_or_default()),
            self.row("AND gates", |p| thousands(p.ands)),
            self.row("depth", |p| thousands(p.depth.into())),
            self.row("setup", |p| when(p.ahead).into()),
            self.row("  time", |p| seconds(p.setup.seconds)),
            self.row("  alice to bob", |p| bytes(p.setup.alice_to_bob)),
            self.row("  bob to alice", |p| bytes(p.setup.bob_to_alice)),
            self.row("  rounds", |p| p.setup.rounds()),
            self.row("online", |_| String::new()),
            self.row("  time", |p| seconds(p.online.seconds)),
            self.row("  alice to bob", |p| bytes(p.online.alice_to_bob)),
            self.row("  bob to alice", |p| bytes(p.online.bob_to_alice)),
            self.row("  rounds", |p| p.online.rounds()),
            self.row("memory", |p| bytes(p.memory)),
        ]
    }

    fn fastest(&self, time: impl Fn(&Protocol) -> f64) -> &str {
        let fastest = self.protocols.iter().min_by(|a, b| time(a).total_cmp(&time(b)));
        fastest.map_or("", |protocol| &protocol.protocol)
    }
}

/// `scifi, faces = 100`.
fn title(program: &str, sizes: &BTreeMap<String, u64>) -> String {
    let size = |(name, size): (&String, &u64)| format!(", {} = {size}", shown::name(name));
    shown::name(program) + &sizes.iter().map(size).collect::<String>()
}

impl fmt::Display for CostReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, over {}\n", title(&self.program, &self.sizes), self.link)?;
        writeln!(f, "{}", table("lrrr", &self.rows()))?;
        let (all, online) = (self.fastest(Protocol::total), self.fastest(|p| p.online.seconds));
        writeln!(f, "Fastest in all: {all}. Fastest online: {online}.")?;
        writeln!(
            f,
            "Bytes and rounds are exact: those of both parties' reports, Alice's rounds first where they differ."
        )?;
        writeln!(f, "Times are predicted; a run chooses what makes correlations for the line that it measures.")
    }
}
