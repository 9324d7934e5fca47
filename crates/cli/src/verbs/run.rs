//! `duologue run`: one party of a run with a peer.

use crate::args::{self, Meeting, Run};
use crate::consent::{Given, Proposal};
use crate::failure::Failure;
use crate::output::Destinations;
use crate::report::{self, Console, bytes, hex, seconds, thousands};
use crate::{input, lane, paths, program, progress, sizes};
use circuit::{BitMatrix, Type};
use duologue::channel::{Channel, Identity, Limits, Listener, Security};
use duologue::session::PhaseReport;
use duologue::{Options, Outcome, Session};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What the listening party says on standard error before its address.
pub const LISTENING: &str = "listening on ";

pub fn run(args: &Run, console: &Console) -> Result<(), Failure> {
    let program = program::load(&args.program, &[])?;
    let given = input::read(&program, args.party, &args.input)?;
    let binding = sizes::bind(&program, &args.size, &given)?;
    let inputs = input::complete(&binding, args.party, given)?;
    let destinations = Destinations::new(&binding, args.party, &args.output)?;
    if console.json() && destinations.use_stdout() {
        let why = "--json prints outputs itself: '-' cannot be where one goes";
        return Err(Failure::input(why));
    }
    let security = security(&args.security)?;
    let proposal = Proposal {
        digest: hex(&program.digest()?),
        binding: &binding,
        party: args.party,
        scheme: args.protocol,
        peer: args.security.peer_key.map(|key| key.to_string()),
    };
    proposal.obtain(&consent(args), console)?;

    let mut session = Session::connect(meet(args, &security, console)?, args.party)?;
    if !console.quiet() {
        session.observe(Some(progress::bar(format!("{}, {}", program.name(), args.protocol))));
    }
    let outcome = session.run(&binding, &options(args), &inputs)?;
    session.close()?;
    destinations.write(&outcome.outputs)?;
    let report = Report::new(&proposal, &outcome, &destinations);
    if !console.json() {
        console.note(report.summary());
    }
    console.show(&report)
}

fn options(args: &Run) -> Options {
    Options { garbler: args.garbler, timing: args.timing, tile: args.tile, ..Options::new(args.protocol) }
}

fn consent(args: &Run) -> Given<'_> {
    match &args.expect_digest {
        Some(digest) => Given::Digest(digest),
        None if args.yes => Given::Yes,
        None => Given::Ask,
    }
}

fn security(args: &args::Security) -> Result<Security, Failure> {
    let Some(peer) = args.peer_key else {
        return Ok(Security::PlaintextForBenchmarks);
    };
    let key = args.key.clone().map_or_else(paths::key, Ok)?;
    let identity = Identity::load(&key).map_err(|why| {
        let failure = Failure::from(why);
        match key.exists() {
            true => failure,
            false => failure.hint("`duologue keys new` makes a key"),
        }
    })?;
    let identity = Arc::new(identity);
    Ok(Security::Tls { identity, peer })
}

/// Finds the peer.
fn meet(args: &Run, security: &Security, console: &Console) -> Result<Channel, Failure> {
    let limits = limits(&args.meeting);
    let channel = match (&args.meeting.listen, &args.meeting.connect) {
        (Some(address), _) => listen(address, security, &limits, console)?,
        (None, address) => Channel::connect(address.as_deref().unwrap_or_default(), security, &limits)?,
    };
    match args.link {
        Some(link) => Ok(channel.shaped(link)?),
        None => Ok(channel),
    }
}

fn listen(address: &str, security: &Security, limits: &Limits, console: &Console) -> Result<Channel, Failure> {
    let mut listener = Listener::bind(address)?;
    let here = format!("{LISTENING}{}", listener.local_addr()?);
    // A port that the system chose is a result: nobody finds us without it.
    match address.ends_with(":0") {
        true => console.tell(here),
        false => console.note(here),
    }
    let channel = listener.accept(security, limits)?;
    console.note("connected");
    Ok(channel)
}

fn limits(args: &Meeting) -> Limits {
    let usual = Limits::default();
    let silence = Duration::from_secs(args.silence.max(1));
    Limits { meet: Duration::from_secs(args.wait), silence, progress: usual.progress.max(silence), ..usual }
}

/// What a run delivered and took, as this party saw it.
#[derive(Serialize, Deserialize)]
pub struct Report {
    pub program: String,
    pub digest: String,
    pub party: String,
    /// The peer's public key; nothing without encryption.
    pub peer: Option<String>,
    pub protocol: String,
    pub garbler: String,
    /// Whether setup ran before inputs were used.
    pub ahead: bool,
    pub tile: u64,
    pub sizes: BTreeMap<String, u64>,
    pub ands: u64,
    pub setup: Phase,
    pub online: Phase,
    /// Bytes of memory that the process had at most, where the system tells.
    pub peak_memory: Option<u64>,
    pub outputs: BTreeMap<String, Output>,
}

/// What a phase took.
#[derive(Serialize, Deserialize)]
pub struct Phase {
    pub seconds: f64,
    pub sent: u64,
    pub received: u64,
    pub rounds: u64,
}

/// An output: its values, unless they went to a file.
#[derive(Serialize, Deserialize)]
pub struct Output {
    #[serde(rename = "type")]
    pub ty: String,
    pub lanes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<serde_json::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl Report {
    fn new(proposal: &Proposal, outcome: &Outcome, destinations: &Destinations) -> Report {
        let (binding, measured) = (proposal.binding, &outcome.report);
        let outputs = binding.outputs().iter().filter_map(|port| {
            let value = outcome.outputs.get(&port.name)?;
            Some((port.name.clone(), Output::new(value, port.ty, destinations.of(&port.name))))
        });
        Report {
            program: binding.program().name().to_string(),
            digest: proposal.digest.clone(),
            party: proposal.party.to_string(),
            peer: proposal.peer.clone(),
            protocol: measured.terms.scheme.to_string(),
            garbler: measured.terms.garbler.to_string(),
            ahead: measured.terms.ahead,
            tile: measured.tile as u64,
            sizes: sizes::map(binding),
            ands: measured.ands,
            setup: Phase::new(&measured.setup),
            online: Phase::new(&measured.online),
            peak_memory: peak_memory(),
            outputs: outputs.collect(),
        }
    }

    /// What it took, in a few lines.
    fn summary(&self) -> String {
        let phase = |name: &str, phase: &Phase| {
            vec![
                name.into(),
                seconds(phase.seconds),
                format!("{} sent", bytes(phase.sent)),
                format!("{} received", bytes(phase.received)),
                format!("{} rounds", thousands(phase.rounds)),
            ]
        };
        let rows = [phase("setup", &self.setup), phase("online", &self.online)];
        let (name, protocol) = (&self.program, &self.protocol);
        let ands = thousands(self.ands);
        format!("{name}, {ands} ANDs by {protocol}\n{}", report::table("lrrrr", &rows))
    }
}

impl Phase {
    fn new(phase: &PhaseReport) -> Phase {
        Phase { seconds: phase.time.as_secs_f64(), sent: phase.sent, received: phase.received, rounds: phase.rounds }
    }
}

impl Output {
    fn new(value: &BitMatrix, ty: Type, file: Option<String>) -> Output {
        let values = || (0..value.lanes()).map(|lane| lane::json(value, lane, ty)).collect();
        Output { ty: ty.to_string(), lanes: value.lanes() as u64, values: file.is_none().then(values), file }
    }
}

/// Outputs, which are the result; what goes to a file is only named.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.outputs.is_empty() {
            writeln!(f, "{} learns nothing", self.party)?;
        }
        for (name, output) in &self.outputs {
            match (&output.file, &output.values) {
                (Some(file), _) if file == "-" => {}
                (Some(file), _) => writeln!(f, "{name}: {} in {file}", report::lanes(output.lanes))?,
                (None, values) => show(f, name, &output.ty, values.as_deref().unwrap_or_default())?,
            }
        }
        Ok(())
    }
}

/// Lanes shown where nothing else is asked for.
const SHOWN: usize = 20;

fn show(f: &mut fmt::Formatter<'_>, name: &str, ty: &str, values: &[serde_json::Value]) -> fmt::Result {
    if ty == "bits(1)" && values.len() > 1 {
        return show_set(f, name, values);
    }
    for (lane, value) in values.iter().enumerate().take(SHOWN) {
        let text = value.as_str().map_or(value.to_string(), String::from);
        match values.len() {
            1 => writeln!(f, "{name} = {text}")?,
            _ => writeln!(f, "{name}[{lane}] = {text}")?,
        }
    }
    match values.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(f, "{name}: {} more; all with --output {name}=FILE", report::lanes(more as u64)),
    }
}

/// Of many single bits, those that are one.
fn show_set(f: &mut fmt::Formatter<'_>, name: &str, values: &[serde_json::Value]) -> fmt::Result {
    let ones: Vec<usize> = (0..values.len()).filter(|&lane| values[lane] == 1).collect();
    let shown: Vec<String> = ones.iter().take(SHOWN).map(usize::to_string).collect();
    let more = if ones.len() > SHOWN { ", …" } else { "" };
    let colon = if ones.is_empty() { "" } else { ": " };
    let (count, all) = (thousands(ones.len() as u64), report::lanes(values.len() as u64));
    writeln!(f, "{name} is 1 in {count} of {all}{colon}{}{more}", shown.join(", "))
}

/// The most memory that this process had (Linux).
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
