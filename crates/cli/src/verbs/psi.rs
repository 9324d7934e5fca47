//! `duologue psi`: which rows of two parties' tables have a key in common.

mod table;

use super::run::peak_memory;
use super::run::report::Phase;
use crate::args::Psi;
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::io::console::{self, Console, bytes, count, seconds, thousands};
use crate::io::output::Sink;
use crate::io::progress;
use crate::{interrupt, peer};
use apps::psi::{Learns, MOST_WIDTH, Proposal, output_of, psi};
use duologue::channel::{Channel, Counters};
use duologue::circuit::{BitMatrix, Party};
use duologue::ot::Extension;
use duologue::{Inputs, Options, Outcome, Precomputation, Scheme, Session};
use serde::Serialize;
use std::fmt;
use std::time::Instant;
use table::Table;

pub fn run(args: &Psi, config: &Config, console: &Console) -> Result<(), Failure> {
    let table = Table::new(&args.input)?;
    let sink = sink(args, &table, console)?;
    let begin = Instant::now();
    let strings = table.keys()?;
    let read = begin.elapsed().as_secs_f64();
    let security = peer::security(&args.peer, config)?;
    let ahead = Precomputation::new()?;
    let mut channel = peer::meet(&args.peer.meeting, args.peer.link, &security, config, console)?;
    let begin = Instant::now();
    let theirs = Proposal { learns: args.learns, strings: strings.len() as u64 }.trade(&mut channel)?;
    console.note(announcement(args, theirs));
    let (outcome, counters) = intersect(args, (channel, ahead), &strings, theirs, console)?;
    let spent = begin.elapsed().as_secs_f64();
    let found = outcome.outputs.get(output_of(args.peer.party));
    if let (Some(sink), Some(found)) = (&sink, found) {
        sink.write(|to| table.keep(found, to))?;
    }
    let report = Report {
        party: args.peer.party.to_string(),
        peer: peer::its_key(&security).map(|key| key.to_string()),
        learns: args.learns.to_string(),
        rows: strings.len() as u64,
        peer_rows: theirs,
        in_both: found.map(ones),
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
    let Some(output) = &args.output else { return Ok(None) };
    if !args.learns.includes(args.peer.party) {
        let why =
            format!("--output is for who learns, and by --learns {} that is not {}", args.learns, args.peer.party);
        return Err(Failure::new(Exit::CommandLine, why));
    }
    if output == "-" && console.json() {
        return Err(Failure::input("--json prints a report: '-' cannot be where the rows go"));
    }
    table.check_format_of(output)?;
    let sink = Sink::new(output)?;
    sink.spare(table.file())?;
    Ok(Some(sink))
}

fn announcement(args: &Psi, theirs: u64) -> String {
    let (us, peer) = (args.peer.party, args.peer.party.peer());
    let who = match args.learns {
        Learns::Both => "both learn which of their rows have a key that the other has too".into(),
        Learns::Only(party) => {
            let other = party.peer();
            format!("{party} learns which rows have a key that {other} has too, and {other} nothing")
        }
    };
    format!("{peer} has {}, and hears how many {us} has; {who}", count(theirs, "row"))
}

fn intersect(
    args: &Psi,
    (channel, ahead): (Channel, Precomputation),
    strings: &[[u8; 16]],
    theirs: u64,
    console: &Console,
) -> Result<(Outcome, Counters), Failure> {
    let (us, ours) = (args.peer.party, strings.len() as u64);
    let mut session = Session::connect_with(channel, us, ahead)?;
    session.register_all(&apps::calls());
    session.set_threads(args.peer.threads.into());
    if !console.quiet() {
        session.observe(progress::bar("psi".into()));
    }
    let [a, b] = if us == Party::Alice { [ours, theirs] } else { [theirs, ours] };
    let binding = psi(MOST_WIDTH, args.learns).bind(&[("as", a), ("bs", b)])?;
    let own = BitMatrix::from_byte_rows(MOST_WIDTH as usize, strings.as_flattened())?;
    let inputs = Inputs::new().with(if us == Party::Alice { "a" } else { "b" }, own);
    // A few thousand OTs, whatever the sizes: there is nothing to choose.
    let options = Options::new(Scheme::Gmw).extension(Some(Extension::SoftSpoken { k: 8 }));
    let outcome = session.run(&binding, &options, &inputs)?;
    let counters = session.counters();
    session.close()?;
    interrupt::settle()?;
    Ok((outcome, counters))
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
    rows: u64,
    peer_rows: u64,
    /// How many rows have a key that the peer has too; nothing if the party does not learn.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_both: Option<u64>,
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
        let Some(found) = self.in_both else { return writeln!(f, "{} learns nothing", self.party) };
        write!(f, "{} of {} in both", thousands(found), count(self.rows, "row"))?;
        match self.output.as_deref() {
            Some(file) if file != "-" => writeln!(f, ": {}", crate::io::shown::line(file)),
            _ => writeln!(f),
        }
    }
}
