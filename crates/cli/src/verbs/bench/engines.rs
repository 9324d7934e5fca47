//! `duologue bench`: the engines, alone and end to end, and any circuits under any protocol over any line.
//!
//! A case is measured in a session of its own: between two threads of this process, between two processes of this
//! command over TCP or TLS, or, with `--as`, between two machines; alone without a session. Each party stays on a core.
//! Every output is compared with the one computed in the clear.

pub(crate) mod case;
mod figures;
mod matrix;
mod party;
mod report;

use super::machine::{self, Machine};
use super::meeting::{self, Door, Pair};
use crate::args::BenchEngines;
use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::peer::shaped;
use case::{Case, Task, all_inputs, check};
use duologue::channel::Channel;
use duologue::circuit::program::Binding;
use duologue::correlation::Demand;
use duologue::{Party, bench};
use figures::{Over, Plan};
use party::{Measured, Run};
use report::{EngineReport, Taken};
use std::cell::OnceCell;
use std::thread;
use std::time::Duration;

pub fn run(args: &BenchEngines, console: &Console) -> Result<(), Failure> {
    match args.peer.party {
        Some(party) => {
            let mut door = Door::open(&args.peer, console)?;
            if let Some(case) = &args.case {
                let case = serde_json::from_str(case).map_err(|why| Failure::malformed("--case", why))?;
                return console.show_json(&at(&mut door, party, &case, args, console)?);
            }
            survey(args, console, |_, case| at(&mut door, party, case, args, console))
        }
        None => {
            let places = Places::default();
            survey(args, console, |over, case| places.measure(over, case))
        }
    }
}

/// Measures what was asked for, and shows it.
fn survey(
    args: &BenchEngines,
    console: &Console,
    mut measure: impl FnMut(Over, &Case) -> Result<Measured, Failure>,
) -> Result<(), Failure> {
    if !args.circuits.is_empty() {
        let over = if args.tls { Over::Tls } else { Over::Tcp };
        let asked = matrix::Asked::of(args);
        return console.show(&matrix::measure(&asked, args.runs, console, |case| measure(over, case))?);
    }
    let plan = Plan::new(args)?;
    console.show(&figures(&plan, args, console, &mut measure)?)
}

/// Measures the jobs of all figures, with openssl before and after each.
fn figures(
    plan: &Plan,
    args: &BenchEngines,
    console: &Console,
    measure: &mut impl FnMut(Over, &Case) -> Result<Measured, Failure>,
) -> Result<EngineReport, Failure> {
    let mut blocks = vec![machine::openssl()];
    let mut taken = Taken::new();
    for job in &plan.jobs {
        console.note(job.name);
        taken.insert(job.name, measure(job.over, &job.case)?);
        blocks.push(machine::openssl());
    }
    Ok(EngineReport::new(plan, &taken, Machine::new(blocks), args.quick))
}

/// One party of a case, the other one being elsewhere.
fn at(door: &mut Door, party: Party, case: &Case, args: &BenchEngines, console: &Console) -> Result<Measured, Failure> {
    if case.threads == 1 {
        meeting::stay(&args.peer, console);
    }
    let link = case.link()?;
    match case.task {
        Task::Start | Task::First => party::from_connecting(|| door.meet(link), party, case),
        _ => party::measure(door.meet(link)?, party, case),
    }
}

/// Where both parties of a case are on this machine.
#[derive(Default)]
struct Places {
    tcp: OnceCell<Pair>,
    tls: OnceCell<Pair>,
}

impl Places {
    fn measure(&self, over: Over, case: &Case) -> Result<Measured, Failure> {
        match over {
            Over::Nothing => on(machine::cores().filter(|_| case.threads == 1).map(|[core, _]| core), || alone(case)),
            Over::Records => on(machine::cores().filter(|_| case.threads == 1).map(|[core, _]| core), || cold(case)),
            Over::Mover => moving(case),
            Over::Memory => in_memory(case),
            Over::Tcp => as_processes(&self.tcp, false, case),
            Over::Tls => as_processes(&self.tls, true, case),
        }
    }
}

fn as_processes(pair: &OnceCell<Pair>, tls: bool, case: &Case) -> Result<Measured, Failure> {
    let pair = match pair.get() {
        Some(pair) => pair,
        None => {
            let made = Pair::new(tls)?;
            pair.get_or_init(|| made)
        }
    };
    let case = serde_json::to_string(case).map_err(|why| Failure::new(Exit::Machine, why))?;
    Ok(Measured::both(pair.run(&["--case", &case])?))
}

/// Both parties as threads, each on a core.
fn in_memory(case: &Case) -> Result<Measured, Failure> {
    let (to_bob, to_alice) = Channel::pair();
    let cores = machine::cores().filter(|_| case.threads == 1);
    let link = case.link()?;
    let party = |party: Party, channel| {
        on(cores.map(|cores| cores[party as usize]), || party::measure(shaped(channel, link)?, party, case))
    };
    let (alice, bob) = thread::scope(|scope| {
        let bob = scope.spawn(|| party(Party::Bob, to_alice));
        (party(Party::Alice, to_bob), joined(bob))
    });
    Ok(Measured { memory: None, ..Measured::both([alice?, bob?]) })
}

/// Runs in a thread that stays on a core.
fn on<T: Send>(core: Option<usize>, work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    thread::scope(|scope| {
        joined(scope.spawn(|| {
            machine::stay_on(core);
            work()
        }))
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T, Failure>>) -> Result<T, Failure> {
    thread.join().unwrap_or_else(|_| Err(Failure::new(Exit::Machine, "a measuring thread ended")))
}

/// In turns, without a channel.
fn alone(case: &Case) -> Result<Measured, Failure> {
    let binding = case.bind()?;
    let inputs = all_inputs(&binding);
    let run = |_| bench::alone(&binding, &case.options(), &inputs, workers(case));
    counted(&binding, (0..case.runs).map(run).collect::<Result<_, _>>()?)
}

/// Each party by itself, on memory that is in no cache.
fn cold(case: &Case) -> Result<Measured, Failure> {
    if let Task::Correlate { count, triples } = case.task {
        return correlate(case, count, triples);
    }
    let binding = case.bind()?;
    let inputs = all_inputs(&binding);
    counted(&binding, bench::cold(&binding, &case.options(), &inputs, workers(case), case.runs as usize)?)
}

/// Correlations that are made and forgotten at once.
const BLOCK: u64 = 1 << 19;

/// Makers of correlations by themselves, in turns.
fn correlate(case: &Case, count: u64, triples: bool) -> Result<Measured, Failure> {
    let block = count.min(BLOCK);
    let each_way = Demand::of_cots(Party::Alice, block) + Demand::of_cots(Party::Bob, block);
    let (demand, blocks) = (if triples { Demand::of_triples(block) } else { each_way }, count.div_ceil(block) as usize);
    let runs = bench::correlating(case.program.parse()?, demand, blocks, workers(case), case.runs as usize)?;
    let run = |run: &bench::Correlated| Run { online: run.time.as_secs_f64(), ..Run::default() };
    let made = runs.last().map_or(0, |run| run.made);
    Ok(Measured { ands: made, runs: runs.iter().map(run).collect(), ..Measured::default() })
}

/// Each party by itself over a socket, or the socket alone.
fn moving(case: &Case) -> Result<Measured, Failure> {
    if let Task::Stream { bytes } | Task::Replay { bytes } = case.task {
        let recorded = matches!(case.task, Task::Replay { .. });
        let times = bench::bare(bytes as usize, recorded, workers(case), case.runs as usize)?;
        let run = |time: &Duration| Run { online: time.as_secs_f64(), online_bytes: [0, bytes], ..Run::default() };
        return Ok(Measured { runs: times.iter().map(run).collect(), ..Measured::default() });
    }
    let binding = case.bind()?;
    let inputs = all_inputs(&binding);
    counted(&binding, bench::moving(&binding, &case.options(), &inputs, workers(case), case.runs as usize)?)
}

/// Each thread has a core of its own, as far as there are some.
fn workers(case: &Case) -> bench::Workers {
    let place = |thread| {
        machine::stay_on(machine::core_of(thread));
    };
    bench::Workers { count: case.threads as usize, place }
}

/// Of Yao the garbler's time stands as setup and the evaluator's as online, of GMW the slower party's.
fn counted(binding: &Binding, runs: Vec<bench::Alone>) -> Result<Measured, Failure> {
    let mut measured = Measured::default();
    for run in &runs {
        let times = run.times.map(|time| time.as_secs_f64());
        let (garbler, evaluator) = (times[run.garbler as usize], times[run.garbler.peer() as usize]);
        let (setup, online) = if run.garbles { (garbler, evaluator) } else { (0.0, garbler.max(evaluator)) };
        measured.runs.push(Run { setup, online, ..Run::default() });
        measured.ands = run.ands;
    }
    check(binding, runs.iter().flat_map(|run| &run.outputs))?;
    Ok(measured)
}
