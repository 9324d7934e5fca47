//! `duologue bench correlations`: every maker of correlated OTs and triples, between two processes.
//!
//! A figure is measured in a session of its own, between two processes of this command that stay on a core each, over
//! TCP on this machine or, with `--as`, between two machines. It is set beside the AES blocks of `openssl speed`, which
//! runs in between while nothing else does.

mod book;
mod figures;
mod machine;
mod meeting;
mod party;
mod plot;
mod report;
mod times;

use self::figures::{Figure, Plan};
use self::meeting::{Door, Pair};
use self::party::Measured;
use self::report::Report;
use crate::args::BenchCorrelations;
use crate::failure::Failure;
use crate::report::Console;

/// Runs for the base OTs, which take milliseconds.
const BASE_RUNS: u32 = 15;

pub fn run(args: &BenchCorrelations, console: &Console) -> Result<(), Failure> {
    let plan = Plan::new(&args.only)?;
    match args.party {
        Some(party) => {
            let mut door = Door::open(args, party, console)?;
            if args.raw {
                let [figure] = plan.figures[..] else { return Err(Failure::input("--raw is for one figure")) };
                return console.show_json(&door.measure(figure)?);
            }
            console.show(&survey(args, &plan, console, |figure| door.measure(figure))?)
        }
        None => {
            let pair = Pair::new(args, machine::cores())?;
            let report = survey(args, &plan, console, |figure| pair.measure(figure, args.link))?;
            if let Some(folder) = &args.book {
                book::write(folder, &report, |figure, link| pair.spot(figure, link))?;
            }
            console.show(&report)
        }
    }
}

/// Measures all figures, with openssl before, after, and whenever the maker changes.
fn survey(
    args: &BenchCorrelations,
    plan: &Plan,
    console: &Console,
    mut measure: impl FnMut(Figure) -> Result<Measured, Failure>,
) -> Result<Report, Failure> {
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
    let core = args.core.or(machine::cores().map(|[core, _]| core));
    let base = if plan.base { Some(machine::base_ots(BASE_RUNS.min(3 * args.runs), core)?) } else { None };
    blocks.push(machine::openssl());
    let blocks: Option<Vec<f64>> = blocks.into_iter().collect();
    Ok(Report::new(args, plan, measured, base, blocks.map(machine::median)))
}
