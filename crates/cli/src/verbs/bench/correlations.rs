//! `duologue bench correlations`: every maker of correlated OTs and triples, between two processes.
//!
//! A figure is measured in a session of its own, between two processes of this command that stay on a core each, over
//! TCP on this machine or, with `--as`, between two machines. It is set beside the AES blocks of `openssl speed`, which
//! runs in between while nothing else does.

mod base_ots;
mod figures;
mod party;
mod report;

use super::machine::{self, Machine};
use super::meeting::{self, Door, Pair};
use crate::args::BenchCorrelations;
use crate::failure::Failure;
use crate::io::console::Console;
use figures::{Figure, Plan};
use party::{Measured, Run};
use report::CorrelationReport;

/// Runs for the base OTs, which take milliseconds.
const BASE_RUNS: u32 = 15;

pub fn run(args: &BenchCorrelations, console: &Console) -> Result<(), Failure> {
    let plan = Plan::new(&args.only)?;
    match args.peer.party {
        Some(party) => {
            let mut door = Door::open(&args.peer, console)?;
            meeting::stay(&args.peer, console);
            let mut measure = |figure| party::measure(door.meet(args.link)?, party, figure, args.count, args.runs);
            if args.raw {
                let [figure] = plan.figures[..] else { return Err(Failure::input("--raw is for one figure")) };
                return console.show_json(&measure(figure)?);
            }
            console.show(&survey(args, &plan, console, measure)?)
        }
        None => {
            let pair = Pair::new(args.tls)?;
            console.show(&survey(args, &plan, console, |figure| both(&pair, figure, args))?)
        }
    }
}

/// Two processes: of two parties, whichever took longer, and more memory; what they made is the same.
fn both(pair: &Pair, figure: Figure, args: &BenchCorrelations) -> Result<Measured, Failure> {
    let [name, count, runs] = [figure.name(), args.count.to_string(), args.runs.to_string()];
    let mut arguments = vec!["correlations", "--raw", "--only", &name, "--count", &count, "--runs", &runs];
    let link = args.link.map(|link| link.to_string());
    arguments.extend(link.iter().flat_map(|link| ["--link", link]));
    let [alice, bob]: [Measured; 2] = pair.run(&arguments)?;
    let run = |(a, b): (&Run, &Run)| Run { seconds: a.seconds.max(b.seconds), ..*a };
    Ok(Measured {
        setup: alice.setup.max(bob.setup),
        first: alice.first,
        runs: alice.runs.iter().zip(&bob.runs).map(run).collect(),
        memory: alice.memory.max(bob.memory),
    })
}

/// Measures all figures, with openssl before, after, and whenever the maker changes.
fn survey(
    args: &BenchCorrelations,
    plan: &Plan,
    console: &Console,
    mut measure: impl FnMut(Figure) -> Result<Measured, Failure>,
) -> Result<CorrelationReport, Failure> {
    let mut blocks = vec![machine::openssl()];
    let mut before: Option<Figure> = None;
    let mut measured = Vec::new();
    for &figure in &plan.figures {
        if before.is_some_and(|before| before.maker != figure.maker) {
            blocks.push(machine::openssl());
        }
        console.note(figure.name());
        measured.push((figure, measure(figure)?));
        before = Some(figure);
    }
    let core = args.peer.core.or(machine::cores().map(|[core, _]| core));
    let base = if plan.base { Some(base_ots::measure(BASE_RUNS.min(3 * args.runs), core)?) } else { None };
    blocks.push(machine::openssl());
    Ok(CorrelationReport::new(args, plan, &measured, base, Machine::new(blocks)))
}
