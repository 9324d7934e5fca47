//! `duologue join`: counts, sums and means over the rows that two parties' tables have in common.

mod columns;
mod condition;
mod own;
mod report;

use super::psi::{self, table::Table};
use super::run::peak_memory;
use super::run::report::Phase;
use crate::args::Join;
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::io::console::{Console, count};
use crate::io::output::Sink;
use crate::io::progress;
use crate::{interrupt, peer};
use apps::join::{self, Figure, Groups, Query, What};
use apps::psi::Learns;
use columns::Columns;
use duologue::circuit::Party;
use duologue::{Error, Precomputation, Session};
use report::{Report, Shown};
use std::time::Instant;

pub fn run(args: &Join, config: &Config, console: &Console) -> Result<(), Failure> {
    let columns = Columns::new(args)?;
    let query = query(args, &columns)?;
    query.check().map_err(|why| Failure::new(Exit::CommandLine, why))?;
    let table = Table::new(&args.input)?;
    let sink = sink(args, &table, console)?;
    let begin = Instant::now();
    let (mut own, rows) = own::read(args, &table, &query, &columns)?;
    let keys = own.strings.len() as u64;
    if let Some(rows) = args.pad {
        own.pad(rows)?;
    }
    own.check(&query, args.peer.party)?;
    let read = begin.elapsed().as_secs_f64();
    let security = peer::security(&args.peer, config)?;
    let ahead = Precomputation::new()?;
    let channel = peer::meet(&args.peer.meeting, args.peer.link, &security, config, console)?;
    let mut session = Session::connect_with(channel, args.peer.party, ahead)?;
    session.register_all(&apps::calls());
    session.set_threads(args.peer.threads.into());
    let begin = Instant::now();
    console.note(announcement(args, &query));
    if !console.quiet() {
        session.observe(progress::bar("join".into()));
    }
    let (outcome, sizes) = join::run(&mut session, &query, own).map_err(|why| failed(why, &query))?;
    let counters = session.counters();
    session.close()?;
    interrupt::settle()?;
    let answers = query.answers(&outcome.outputs)?;
    let shown = answers.map(|answers| Shown::new(&query, &columns, written_groups(args), &answers));
    if let (Some(sink), Some(shown)) = (&sink, &shown) {
        sink.write(|to| shown.write(to))?;
    }
    let report = Report {
        party: args.peer.party.to_string(),
        peer: peer::its_key(&security).map(|key| key.to_string()),
        query: query.text(),
        rows,
        keys,
        told_rows: sizes[args.peer.party as usize],
        peer_rows: sizes[args.peer.party.peer() as usize],
        figures: shown.as_ref().map(Shown::figures),
        output: args.output.clone().filter(|_| shown.is_some()),
        read,
        seconds: begin.elapsed().as_secs_f64(),
        setup: Phase::new(&outcome.report.setup),
        online: Phase::new(&outcome.report.online),
        sent: counters.bytes_sent,
        received: counters.bytes_received,
        peak_memory: peak_memory(),
    };
    report.show(shown.as_ref(), console)
}

/// Where the figures go, if they go anywhere; checked before the run.
fn sink(args: &Join, table: &Table, console: &Console) -> Result<Option<Sink>, Failure> {
    let who = (args.learns, args.peer.party);
    let Some(output) = psi::output(args.output.as_deref(), who, "figures", console)? else { return Ok(None) };
    let sink = Sink::new(output)?;
    sink.spare(table.file())?;
    Ok(Some(sink))
}

/// The query of a command line.
fn query(args: &Join, columns: &Columns) -> Result<Query, Failure> {
    let of = args.of.as_ref().map(|text| condition::read(text, columns)).transpose()?;
    let by = args.by.as_ref().map(|text| groups(text, columns)).transpose()?;
    let mut figures = Vec::new();
    let mut add = |name: String, what| {
        figures.push(Figure { name, what, of: of.clone(), by: by.clone(), minimum: args.minimum });
    };
    if args.count {
        add("count".into(), What::Count);
    }
    for name in &args.sum {
        add(format!("sum {name}"), What::Sum(columns.number(name)?));
    }
    for name in &args.mean {
        add(format!("mean {name}"), What::Mean(columns.number(name)?));
    }
    if figures.is_empty() {
        return Err(Failure::new(Exit::CommandLine, "nothing is asked: give --count, --sum COLUMN or --mean COLUMN"));
    }
    if let Some(by) = by.as_ref().filter(|by| figures.iter().any(|figure| figure.name == by.column.name)) {
        let why = format!("the column of the groups and a figure are both named '{}'", by.column.name);
        return Err(Failure::new(Exit::CommandLine, why).hint("give the column another name in its table"));
    }
    let form = args.normalise.unwrap_or_default();
    let keys = [Party::Alice, Party::Bob].map(|party| format!("{form}, repeated: {}", args.repeated_of(party)));
    Ok(Query { learns: args.learns, keys, figures })
}

/// `COLUMN=VALUE,…`
fn groups(text: &str, columns: &Columns) -> Result<Groups, Failure> {
    let (name, values) = text.split_once('=').ok_or_else(|| {
        Failure::new(Exit::CommandLine, format!("--by {text}: the groups are missing"))
            .hint("write --by COLUMN=VALUE,VALUE")
    })?;
    let declared = columns.find(name)?;
    let values = values.split(',').map(|value| declared.constant(value)).collect::<Result<_, _>>()?;
    Ok(Groups { column: declared.column.clone(), values })
}

/// The groups as they stand in the command line.
fn written_groups(args: &Join) -> Option<Vec<String>> {
    let (_, values) = args.by.as_ref()?.split_once('=')?;
    Some(values.split(',').map(str::to_owned).collect())
}

fn announcement(args: &Join, query: &Query) -> String {
    let who = match args.learns {
        Learns::Both => "both learn these figures".into(),
        Learns::Only(party) => format!("{party} learns these figures, and {} nothing", party.peer()),
    };
    let also = "both hear how many rows the other has";
    let also = if args.pad.is_some() { format!("{also}, or fills its table up to") } else { also.into() };
    let figures: String = query.figures.iter().map(|figure| format!("\n  {figure}")).collect();
    format!("{who}, and {also}; of {}:{figures}", count(query.figures.len() as u64, "figure"))
}

/// With the query, if the parties do not have the same.
fn failed(why: Error, query: &Query) -> Failure {
    let differ = matches!(why, Error::Incompatible { what: "the program", .. });
    let failure = Failure::from(why);
    if !differ {
        return failure;
    }
    failure.hint(format!("the parties do not ask the same. This one asks:\n{}", query.text().trim_end()))
}
