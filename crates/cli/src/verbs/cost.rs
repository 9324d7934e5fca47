//! `duologue cost`: what a program will take by each protocol, without running it.
//!
//! Bytes and rounds are exact. Times are predicted: the line's share follows from them, the processor's from what both
//! parties compute and from how fast this machine computes AES.

mod cores;
mod workers;

use crate::args::Cost;
use crate::failure::Failure;
use crate::io::console::{Console, bytes, seconds, table, thousands};
use crate::io::{shown, sizes};
use crate::program;
use crate::verbs::candidates::{Candidates, Predicted};
use duologue::channel::Link;
use duologue::circuit::{Binding, Program};
use duologue::correlation::Demand;
use duologue::cost;
use duologue::cost::choice::{Wish, mixes};
use duologue::{Conditions, Options, Scheme, Timing};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub fn run(args: &Cost, console: &Console) -> Result<(), Failure> {
    let supply = program::Supply { maker: args.correlations.0, pool: false };
    let program::Chosen { program, scheme, garbled, .. } =
        program::load_with(&args.program, &[], &args.least, &args.size, supply, &program::Ours::default())?;
    if let Some(most) = args.job.workers {
        return console.show(&workers::WorkersReport::new(&program, args, most)?);
    }
    let binding = program::told(&args.program, sizes::bind(&program, &args.size, &[])?);
    if !args.grain.cores.is_empty() {
        return console.show(&cores::CoresReport::new(&binding, &args.grain)?);
    }
    let (maker, strands) = (args.correlations.0, args.strands.into());
    let garbled = garbled.filter(|_| !args.garbling_is_given).unwrap_or((args.garbling, Timing::Auto));
    let options = |scheme| Options::new(scheme).garbling(garbled.0).timing(garbled.1).extension(maker).strands(strands);
    let speed = cost::blocks_per_second();
    let all = Scheme::ALL.into_iter().filter(|&any| scheme.is_none_or(|scheme| scheme == any));
    let mut protocols = Vec::new();
    for scheme in all.filter(|&scheme| scheme != Scheme::Mixed) {
        protocols.push(Protocol::new(&binding, &options(scheme), &args.link, speed)?);
    }
    if scheme.is_none() {
        let cuts = mixes(&binding, &options(Scheme::Mixed)).into_iter();
        let mixed = cuts.map(|options| Protocol::new(&binding, &options, &args.link, speed));
        // A cut into too many parts is none.
        protocols.extend(mixed.filter_map(Result::ok).min_by(|a, b| a.total().total_cmp(&b.total())));
    }
    let conditions = Conditions::of(&args.link).with_speed(speed);
    let ranked = match scheme {
        Some(_) => [Vec::new(), Vec::new()],
        None => {
            let usual = Options::new(Scheme::Yao).extension(maker).strands(strands);
            let garbling = args.garbling_is_given.then_some(args.garbling);
            let bind = |program: &Program| sizes::bind(program, &args.size, &[]);
            let named = (args.program.as_str(), &binding);
            let candidates = Candidates::new(named, bind, (&usual, garbling), &apps::calls())?;
            let ranked = |wish| -> Result<Vec<Predicted>, Failure> {
                let ranked = candidates.choices.rank(wish, &conditions)?;
                Ok(ranked.iter().map(|candidate| candidates.predicted(candidate)).collect())
            };
            [ranked(Wish::Total)?, ranked(Wish::Online)?]
        }
    };
    let [ranked, online] = ranked;
    console.show(&CostReport {
        program: program.name().to_string(),
        sizes: sizes::map(&binding),
        link: args.link.to_string(),
        protocols,
        auto: ranked.first().map(Predicted::name),
        online: online.first().map(Predicted::name),
        ranked,
    })
}

#[derive(Serialize)]
struct CostReport {
    program: String,
    sizes: BTreeMap<String, u64>,
    link: String,
    protocols: Vec<Protocol>,
    /// What `run --protocol auto` takes between two such machines over this line, and what it takes with `--wish online`;
    /// nothing where a method has its protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    auto: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    online: Option<String>,
    /// All that it chooses among, the best in all first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranked: Vec<Predicted>,
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
    /// The ANDs a layer from which steps are shared, of a mixed program, which is cut where its predicted time is least.
    #[serde(skip_serializing_if = "Option::is_none")]
    share_from: Option<u64>,
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
    /// Calls whose computing is in no predicted time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncounted: Vec<String>,
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
    fn new(binding: &Binding, options: &Options, link: &Link, speed: u64) -> Result<Protocol, Failure> {
        let (scheme, garbling) = (options.scheme, options.garbling);
        let cost = cost::cost_over(binding, options, &apps::calls(), link)?;
        let (setup, online) = cost.predict(link, speed);
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
            share_from: (scheme == Scheme::Mixed).then_some(cost.terms.share_from),
            strands: Some(cost.terms.strands).filter(|&strands| strands > 1),
            correlations: (cost.demand != Demand::NONE).then(|| cost.maker.to_string()),
            ahead: cost.terms.ahead,
            tile: cost.tile as u64,
            ands: cost.ands,
            depth: cost.depth,
            setup: phase(&cost.setup, setup.as_secs_f64()),
            online: phase(&cost.online, online.as_secs_f64()),
            memory: cost.memory,
            uncounted: cost.uncounted,
        })
    }

    fn total(&self) -> f64 {
        self.setup.seconds + self.online.seconds
    }
}

impl CostReport {
    fn row(&self, name: &str, cell: impl Fn(&Protocol) -> String) -> Vec<String> {
        [name.to_string()].into_iter().chain(self.protocols.iter().map(cell)).collect()
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let when = |ahead| if ahead { "before inputs" } else { "as needed" };
        let mut rows = vec![
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
        ];
        if self.protocols.iter().any(|p| p.share_from.is_some()) {
            let cut =
                |p: &Protocol| p.share_from.map(|ands| format!("{} a layer", thousands(ands))).unwrap_or_default();
            rows.insert(2, self.row("gmw from ANDs", cut));
        }
        rows
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
        writeln!(f, "{}", table("lrrrr", &self.rows()))?;
        if let (Some(all), Some(online)) = (&self.auto, &self.online) {
            writeln!(f, "Fastest in all, which `duologue run` takes between two such machines over this line: {all}.")?;
            writeln!(f, "Fastest online, with --wish online: {online}.")?;
        }
        writeln!(
            f,
            "Bytes and rounds are exact: those of both parties' reports, Alice's rounds first where they differ."
        )?;
        writeln!(f, "Times are predicted; a run chooses what makes correlations for the line that it measures.")?;
        let uncounted: BTreeSet<&String> = self.protocols.iter().flat_map(|p| &p.uncounted).collect();
        uncounted.into_iter().try_for_each(|call| {
            writeln!(f, "Not in the times: what the call {} computes, which was not measured.", shown::name(call))
        })
    }
}
