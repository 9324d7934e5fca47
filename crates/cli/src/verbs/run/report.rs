//! The outputs and the costs of a run, for people and for programs.

use super::auto::Chosen;
use crate::failure::Failure;
use crate::io::consent::Proposal;
use crate::io::console::{self, Console, bytes, seconds, thousands};
use crate::io::drawn::Drawn;
use crate::io::output::Destinations;
use crate::io::{shown, sizes};
use duologue::circuit::program::{BoundPort, Recipient};
use duologue::circuit::{Binding, BitMatrix, Type};
use duologue::session::PhaseReport;
use duologue::{Conditions, Outcome, Scheme};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use values::lane;

/// Prints outputs as the result and, for people, what they took as a note.
pub fn show(
    proposal: &Proposal,
    (outcome, chosen): (&Outcome, Option<Chosen>),
    drawn: &[Drawn],
    destinations: &Destinations,
    console: &Console,
) -> Result<(), Failure> {
    if console.json() {
        let report = RunReport::new(proposal, outcome, drawn, destinations);
        return console.show_json(&RunReport { chosen, ..report });
    }
    console.note(summary(proposal.binding, &outcome.report).trim_end());
    console::print(outputs(proposal, outcome, drawn, destinations).as_bytes())
}

/// The outputs and the costs of a run, as this party saw them.
#[derive(Serialize, Deserialize)]
pub struct RunReport {
    pub program: String,
    pub digest: String,
    pub party: String,
    /// The peer's public key; nothing without encryption.
    pub peer: Option<String>,
    pub protocol: String,
    /// What --protocol auto chose, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// Who garbled, and how; of a protocol without a garbler nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub garbler: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub garbling: Option<String>,
    /// Of a mixed program, the ANDs a layer from which steps were shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_from: Option<u64>,
    /// What made the session's correlations, if it made any, and the conditions for which that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlations: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Measured>,
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

/// The conditions of a session, measured or assumed: bytes a second each way, seconds of a round trip, and AES blocks a second
/// of the slower party.
#[derive(Serialize, Deserialize)]
pub struct Measured {
    pub alice_to_bob: u64,
    pub bob_to_alice: u64,
    pub round_trip: f64,
    pub speed: u64,
}

impl From<&Conditions> for Measured {
    fn from(conditions: &Conditions) -> Self {
        let &Conditions { alice_to_bob, bob_to_alice, round_trip, speed, .. } = conditions;
        Measured { alice_to_bob, bob_to_alice, round_trip: round_trip.as_secs_f64(), speed }
    }
}

/// The costs of a phase.
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

impl RunReport {
    fn new(proposal: &Proposal, outcome: &Outcome, drawn: &[Drawn], destinations: &Destinations) -> RunReport {
        let (binding, measured) = (proposal.binding, &outcome.report);
        let garbles = measured.terms.scheme.has_garbler();
        let outputs = delivered(binding, outcome, drawn)
            .map(|(name, ty, value)| (name.to_string(), Output::new(value, ty, destinations.of(name))));
        RunReport {
            program: binding.program().name().to_string(),
            digest: proposal.digest.clone(),
            party: proposal.party.to_string(),
            peer: proposal.peer.clone(),
            protocol: measured.terms.scheme.to_string(),
            chosen: None,
            garbler: garbles.then(|| measured.terms.garbler.to_string()),
            garbling: garbles.then(|| measured.terms.garbling.to_string()),
            share_from: (measured.terms.scheme == Scheme::Mixed).then_some(measured.terms.share_from),
            correlations: measured.maker.map(|maker| maker.to_string()),
            conditions: measured.conditions.as_ref().map(Measured::from),
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
}

impl Phase {
    pub(in crate::verbs) fn new(phase: &PhaseReport) -> Phase {
        Phase { seconds: phase.time.as_secs_f64(), sent: phase.sent, received: phase.received, rounds: phase.rounds }
    }
}

impl Output {
    pub(in crate::verbs) fn new(value: &BitMatrix, ty: Type, file: Option<String>) -> Output {
        let values = || (0..value.lanes()).map(|lane| lane::json(value, lane, ty)).collect();
        Output { ty: ty.to_string(), lanes: value.lanes() as u64, values: file.is_none().then(values), file }
    }
}

/// The outputs of this party with their types, and what it drew as its share of one.
fn delivered<'a>(
    binding: &'a Binding,
    outcome: &'a Outcome,
    drawn: &'a [Drawn],
) -> impl Iterator<Item = (&'a str, Type, &'a BitMatrix)> {
    let learnt = |port: &'a BoundPort<Recipient>| Some((&*port.name, port.ty, outcome.outputs.get(&port.name)?));
    let drawn = drawn.iter().map(|drawn| (&*drawn.name, drawn.ty, &drawn.value));
    binding.outputs().iter().filter_map(learnt).chain(drawn)
}

/// The costs of a run, in a few lines.
fn summary(binding: &Binding, measured: &duologue::Report) -> String {
    let phase = |name: &str, phase: &PhaseReport| {
        vec![
            name.into(),
            seconds(phase.time.as_secs_f64()),
            format!("{} sent", bytes(phase.sent)),
            format!("{} received", bytes(phase.received)),
            console::count(phase.rounds, "round"),
        ]
    };
    let rows = [phase("setup", &measured.setup), phase("online", &measured.online)];
    let (name, protocol) = (shown::name(binding.program().name()), measured.terms.scheme);
    let ands = thousands(measured.ands);
    format!("{name}, {ands} ANDs by {protocol}\n{}{}", console::table("lrrrr", &rows), maker(measured))
}

/// A line that says what was chosen, and why.
fn maker(measured: &duologue::Report) -> String {
    match (measured.maker, &measured.conditions) {
        (Some(maker), Some(conditions)) => format!("correlations by {maker}, chosen for {conditions}\n"),
        _ => String::new(),
    }
}

/// The outputs; of one in a file, its name.
fn outputs(proposal: &Proposal, outcome: &Outcome, drawn: &[Drawn], destinations: &Destinations) -> String {
    let one = |(name, ty, value): (&str, Type, &BitMatrix)| match destinations.of(name).as_deref() {
        Some("-") => String::new(),
        Some(file) => {
            let lanes = console::count(value.lanes() as u64, "lane");
            format!("{}: {lanes} in {}\n", shown::name(name), shown::line(file))
        }
        None => shown_output(&shown::name(name), value, ty),
    };
    let mut delivered = delivered(proposal.binding, outcome, drawn).peekable();
    if delivered.peek().is_none() {
        return format!("{} learns nothing\n", proposal.party);
    }
    delivered.map(one).collect()
}

/// An output as it is shown where nothing else is asked for.
pub(in crate::verbs) fn shown_output(name: &str, value: &BitMatrix, ty: Type) -> String {
    if ty.width == 1 && value.lanes() > 1 { set(name, value) } else { lanes(name, value, ty) }
}

/// Lanes shown where nothing else is asked for.
const SHOWN: usize = 20;

pub(in crate::verbs) fn lanes(name: &str, value: &BitMatrix, ty: Type) -> String {
    if value.lanes() == 1 {
        return format!("{name} = {}\n", lane::text(value, 0, ty));
    }
    let line = |lane| format!("{name}[{lane}] = {}\n", lane::text(value, lane, ty));
    let mut text: String = (0..value.lanes().min(SHOWN)).map(line).collect();
    if value.lanes() > SHOWN {
        let more = console::count((value.lanes() - SHOWN) as u64, "lane");
        text += &format!("{name}: {more} more; all with --output {name}=FILE\n");
    }
    text
}

/// The lanes whose single bit is one.
fn set(name: &str, value: &BitMatrix) -> String {
    let ones = || (0..value.lanes()).filter(|&lane| value.get(0, lane));
    let shown: Vec<String> = ones().take(SHOWN).map(|lane| lane.to_string()).collect();
    let (count, all) = (ones().count(), console::count(value.lanes() as u64, "lane"));
    let more = if count > SHOWN { ", …" } else { "" };
    let colon = if count == 0 { "" } else { ": " };
    format!("{name} is 1 in {} of {all}{colon}{}{more}\n", thousands(count as u64), shown.join(", "))
}

/// The most memory that this process had (Linux).
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
