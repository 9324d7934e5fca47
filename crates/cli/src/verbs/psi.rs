//! `duologue psi`: which rows of two parties' tables have a key in common, or only how many, or a sum over them.

mod joined;
pub(super) mod table;

use super::run::peak_memory;
use super::run::report::Phase;
use crate::args::Psi;
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::io::console::{self, Console, bytes, count, seconds, thousands};
use crate::io::output::Sink;
use crate::io::progress;
use crate::{interrupt, peer};
use apps::psi::shares::{self, COUNT_WIDTH, Terms};
use apps::psi::{Learns, MOST_WIDTH, PROBE, Proposal, Reveal, is_measured, output_of, psi, silent_for};
use duologue::channel::{Channel, Counters};
use duologue::circuit::{Binding, BitMatrix, Party};
use duologue::cost::cost_with;
use duologue::ot::Extension;
use duologue::{Conditions, Inputs, Options, Outcome, Precomputation, Scheme, Session, session};
use joined::Joined;
use serde::Serialize;
use std::fmt;
use std::time::Instant;
use table::Table;

pub fn run(args: &Psi, config: &Config, console: &Console) -> Result<(), Failure> {
    joined::check(args)?;
    let table = Table::new(&args.input)?;
    let sink = sink(args, &table, console)?;
    let begin = Instant::now();
    let ours = joined::read(args, &table)?;
    let read = begin.elapsed().as_secs_f64();
    let security = peer::security(&args.peer, config)?;
    let ahead = Precomputation::new()?;
    let mut channel = peer::meet(&args.peer.meeting, args.peer.link, &security, config, console)?;
    let begin = Instant::now();
    let proposal = proposal(args, &ours);
    let theirs = proposal.trade(&mut channel)?;
    console.note(announcement(args, &theirs));
    let line = line(args, &mut channel, [&proposal, &theirs])?;
    let task = Task::new(args.peer.party, [&proposal, &theirs], line)?;
    let (outcome, counters) = task.run(args, (channel, ahead), &ours, console)?;
    let spent = begin.elapsed().as_secs_f64();
    let found = outcome.outputs.get(output_of(args.peer.party));
    if let (Some(sink), Some(found)) = (&sink, found) {
        sink.write(|to| table.keep(found, to))?;
    }
    let first = |name: &str| Some(outcome.outputs.get(name)?.lane(0));
    let report = Report {
        party: args.peer.party.to_string(),
        peer: peer::its_key(&security).map(|key| key.to_string()),
        learns: args.learns.to_string(),
        reveal: args.reveal.to_string(),
        rows: ours.rows,
        keys: ours.strings.len() as u64,
        peer_rows: theirs.strings,
        in_both: found.map(ones).or(first("size").map(|bits| number(&bits) as u64)),
        sum: first("sum").map(|bits| number(&bits)),
        reached: first("reached").map(|bits| number(&bits) == 1),
        output: args.output.clone().filter(|_| found.is_some()),
        read,
        seconds: spent,
        setup: Phase::new(&outcome.report.setup),
        online: Phase::new(&outcome.report.online),
        sent: counters.bytes_sent,
        received: counters.bytes_received,
        peak_memory: peak_memory(),
    };
    report.show(console)
}

/// Where the rows go, if they go anywhere; checked before the run.
fn sink(args: &Psi, table: &Table, console: &Console) -> Result<Option<Sink>, Failure> {
    let Some(output) = output(args.output.as_deref(), (args.learns, args.peer.party), "rows", console)? else {
        return Ok(None);
    };
    table.check_format_of(output)?;
    let sink = Sink::new(output)?;
    sink.spare(table.file())?;
    Ok(Some(sink))
}

/// The file for what is learnt, if there is one: of who learns, and beside a report that goes elsewhere.
pub(super) fn output<'a>(
    output: Option<&'a str>,
    (learns, party): (Learns, Party),
    what: &str,
    console: &Console,
) -> Result<Option<&'a str>, Failure> {
    if output.is_some() && !learns.includes(party) {
        let why = format!("--output is for who learns, and by --learns {learns} that is not {party}");
        return Err(Failure::new(Exit::CommandLine, why));
    }
    if output == Some("-") && console.json() {
        return Err(Failure::input(format!("--json prints a report: '-' cannot be where the {what} go")));
    }
    Ok(output)
}

fn proposal(args: &Psi, ours: &Joined) -> Proposal {
    Proposal {
        learns: args.learns,
        reveal: args.reveal,
        threshold: args.threshold.unwrap_or(0),
        strings: ours.strings.len() as u64,
        value_bits: args.value.as_ref().map_or(0, |_| args.value_bits),
    }
}

fn announcement(args: &Psi, theirs: &Proposal) -> String {
    let (us, peer) = (args.peer.party, args.peer.party.peer());
    let what = match args.reveal {
        Reveal::Rows if args.learns == Learns::Both => "which of their rows have a key that the other has too",
        Reveal::Rows => "which rows have a key that the other has too",
        Reveal::Size => "how many keys are in both tables",
        Reveal::Sum => "the sum of one party's column over the keys in both tables",
        Reveal::Threshold => "whether the keys in both tables are as many as the threshold",
    };
    let who = match args.learns {
        Learns::Both => format!("both learn {what}"),
        Learns::Only(party) => format!("{party} learns {what}, and {} nothing", party.peer()),
    };
    format!("{peer} has {}, and hears how many {us} has; {who}", count(theirs.strings, "row"))
}

/// What the line takes, if OTs are made for it.
fn line(args: &Psi, channel: &mut Channel, both: [&Proposal; 2]) -> Result<Option<Conditions>, Failure> {
    let is_wanted = args.reveal != Reveal::Rows && is_measured(both.map(|proposal| proposal.strings));
    let line = is_wanted.then(|| session::measure(channel, args.peer.party, PROBE));
    Ok(line.transpose()?)
}

/// The program of what is learnt, bound to the numbers of strings.
struct Task {
    binding: Binding,
    options: Options,
}

impl Task {
    /// From both proposals, ours first.
    fn new(us: Party, proposals: [&Proposal; 2], line: Option<Conditions>) -> Result<Task, Failure> {
        let [alice, bob] = if us == Party::Alice { proposals } else { [proposals[1], proposals[0]] };
        let sizes = [alice.strings, bob.strings];
        let owner = if bob.value_bits > 0 { Party::Bob } else { Party::Alice };
        // Whose values are added up has them in bins, if it may.
        let terms = Terms::of_sizes(sizes, owner);
        let (learns, bits) = (alice.learns, alice.value_bits.max(bob.value_bits));
        let gmw = Options::new(Scheme::Gmw);
        let (program, options) = match alice.reveal {
            // A few thousand OTs, whatever the sizes: there is nothing to choose.
            Reveal::Rows => (psi(MOST_WIDTH, learns), gmw.extension(Some(Extension::SoftSpoken { k: 8 }))),
            Reveal::Size => (shares::size(MOST_WIDTH, terms, learns), gmw),
            Reveal::Sum => (shares::sum(MOST_WIDTH, terms, (owner, bits.into()), learns), gmw),
            Reveal::Threshold => (shares::threshold(MOST_WIDTH, terms, learns), gmw),
        };
        let binding = program.bind(&[("as", sizes[0]), ("bs", sizes[1])])?;
        if alice.reveal == Reveal::Rows {
            return Ok(Task { binding, options });
        }
        let demand = line.map(|_| cost_with(&binding, &options, &apps::calls())).transpose()?.map(|cost| cost.demand);
        let options = options.extension(silent_for(sizes, line.as_ref().zip(demand.as_ref())));
        Ok(Task { binding, options })
    }

    fn run(
        &self,
        args: &Psi,
        (channel, ahead): (Channel, Precomputation),
        ours: &Joined,
        console: &Console,
    ) -> Result<(Outcome, Counters), Failure> {
        let us = args.peer.party;
        let mut session = Session::connect_with(channel, us, ahead)?;
        session.register_all(&apps::calls());
        session.set_threads(args.peer.threads.into());
        if !console.quiet() {
            session.observe(progress::bar("psi".into()));
        }
        let outcome = session.run(&self.binding, &self.options, &inputs(args, ours)?)?;
        let counters = session.counters();
        session.close()?;
        interrupt::settle()?;
        Ok((outcome, counters))
    }
}

fn inputs(args: &Psi, ours: &Joined) -> Result<Inputs, Failure> {
    let own = BitMatrix::from_byte_rows(MOST_WIDTH as usize, ours.strings.as_flattened())?;
    let mut inputs = Inputs::new().with(if args.peer.party == Party::Alice { "a" } else { "b" }, own);
    if let Some(values) = &ours.values {
        inputs.set("values", BitMatrix::from_numbers(args.value_bits.into(), values)?);
    }
    if let Some(threshold) = args.threshold {
        inputs.set("threshold", BitMatrix::from_numbers(COUNT_WIDTH as usize, &[threshold])?);
    }
    Ok(inputs)
}

/// A number of up to 64 bits; of 64 the last one is its sign.
fn number(bits: &[bool]) -> i64 {
    bits.iter().rev().fold(0, |number, &bit| number << 1 | i64::from(bit))
}

fn ones(found: &BitMatrix) -> u64 {
    found.row(0).iter().map(|word| u64::from(word.count_ones())).sum()
}

/// What a party learnt, and what it took.
#[derive(Serialize)]
struct Report {
    party: String,
    /// The peer's public key; nothing without encryption.
    peer: Option<String>,
    learns: String,
    reveal: String,
    rows: u64,
    /// Different keys, which is what the peer hears.
    keys: u64,
    peer_rows: u64,
    /// How many keys are in both; nothing if the party does not learn it.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_both: Option<u64>,
    /// The sum over the keys in both, and whether these are enough; nothing if the party does not learn it.
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Seconds of reading and hashing the keys.
    read: f64,
    /// Seconds from the connection on, without writing rows.
    seconds: f64,
    setup: Phase,
    online: Phase,
    /// Bytes of the whole session.
    sent: u64,
    received: u64,
    peak_memory: Option<u64>,
}

impl Report {
    /// Prints it; rows that went to standard output are the result, and the rest are notes then.
    fn show(&self, console: &Console) -> Result<(), Failure> {
        if console.json() {
            return console.show_json(self);
        }
        console.note(self.costs().trim_end());
        if self.output.as_deref() == Some("-") {
            console.note(self.to_string().trim_end());
            return Ok(());
        }
        console::print(self.to_string().as_bytes())
    }

    fn costs(&self) -> String {
        let row = |name: &str, phase: &Phase| {
            let [sent, received] = [phase.sent, phase.received].map(bytes);
            vec![name.into(), seconds(phase.seconds), format!("{sent} sent"), format!("{received} received")]
        };
        let table = console::table("lrrr", &[row("setup", &self.setup), row("online", &self.online)]);
        format!("keys read in {}, then {} with the peer\n{table}", seconds(self.read), seconds(self.seconds))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.in_both, self.sum, self.reached) {
            (Some(found), ..) if self.keys == self.rows => {
                write!(f, "{} of {} in both", thousands(found), count(self.rows, "row"))?;
            }
            (Some(found), ..) => write!(f, "{} of {} in both", thousands(found), count(self.keys, "key"))?,
            (_, Some(sum), _) => write!(f, "the values in both add up to {sum}")?,
            (.., Some(true)) => write!(f, "the keys in both are as many as the threshold, or more")?,
            (.., Some(false)) => write!(f, "the keys in both are fewer than the threshold")?,
            _ => return writeln!(f, "{} learns nothing", self.party),
        }
        match self.output.as_deref() {
            Some(file) if file != "-" => writeln!(f, ": {}", crate::io::shown::line(file)),
            _ => writeln!(f),
        }
    }
}
