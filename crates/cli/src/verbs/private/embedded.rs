//! Private functions for a program in which the command is embedded: function, data and result in memory, and no screen.

use super::{Given, Held, Terms, agree, declined, learned, own, propose, read, served};
use crate::args::Private;
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::input;
use crate::verbs::export;
use clap::Parser;
use duologue::channel::{Channel, Counters};
use duologue::circuit::program::Step;
use duologue::circuit::{Bit, BitMatrix, Builder, Circuit, Program};
use duologue::{Error, Party, Precomputation};
use pfe::{Method, Purpose, Threads};
use std::time::Instant;

/// What was agreed on of a private function, and what its runs took.
pub struct PrivateRuns {
    pub method: &'static str,
    pub gates: u64,
    /// Additions outside gates, which functions by `dh` have.
    pub additions: u64,
    pub runs: usize,
    /// From when the parties had agreed.
    pub seconds: f64,
    pub sent: u64,
    pub received: u64,
}

fn additions(terms: &Terms) -> u64 {
    if terms.method == Method::Dh { terms.counts().additions } else { 0 }
}

impl PrivateRuns {
    fn new(terms: &Terms, runs: usize, begin: Instant, counters: &Counters) -> Self {
        let counts = terms.counts();
        PrivateRuns {
            method: terms.method.name(),
            gates: counts.gates,
            additions: additions(terms),
            runs,
            seconds: begin.elapsed().as_secs_f64(),
            sent: counters.bytes_sent,
            received: counters.bytes_received,
        }
    }
}

/// Flags of `duologue private`, the meeting aside.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    private: Private,
}

const QUIET: Console = Console::new(true, false);

fn parsed(party: Party, words: &[String]) -> Result<Private, Failure> {
    let party = party.to_string();
    let meeting = ["--as", &party, "--connect", "-", "--insecure-plaintext"].map(str::to_owned);
    let line = Line::try_parse_from(meeting.iter().chain(words));
    line.map(|line| line.private).map_err(|why| {
        let text = why.to_string();
        let mut said = text.lines().map(str::trim);
        let what = by_argument(said.next().unwrap_or_default().trim_start_matches("error: "));
        Failure::input(format!("{what} {}", said.next().unwrap_or_default()).trim_end().to_owned())
    })
}

/// What is wrong with a flag, by the name of the argument that it comes from.
fn by_argument(why: &str) -> String {
    let found = why.rsplit_once(" for '--").and_then(|(what, flag)| Some((what, flag.split_once('\'')?)));
    found.map_or(why.to_owned(), |(what, (flag, rest))| {
        let name = flag.split(' ').next().unwrap_or_default().replace('-', "_");
        format!("{what} for {name}{rest}")
    })
}

/// What Bob hears of a function before he gives data.
pub struct Told {
    /// Bits.
    pub inputs: u64,
    pub gates: u64,
    /// Additions outside gates, which functions by `dh` have.
    pub additions: u64,
    /// How many Alice allows.
    pub runs: u64,
}

/// The results of the runs that there were, what they took, and what ended them before their time.
pub type Learned = (BitMatrix, PrivateRuns, Option<Failure>);

/// A private function as Alice holds it, until she meets Bob.
pub struct PrivateFunction {
    held: Held,
    args: Private,
}

impl PrivateFunction {
    /// A function by the name that `--function` takes or by its program, with Alice's own data by the names of inputs, and the flags of
    /// `duologue private`.
    pub fn new(
        function: Result<&Program, &str>,
        own: Vec<(String, BitMatrix)>,
        words: &[String],
    ) -> Result<Self, Failure> {
        let args = parsed(Party::Alice, words)?;
        let circuit = match function {
            Ok(program) => whole(program)?,
            Err(name) => read(name)?,
        };
        let given: Vec<_> = own.into_iter().map(|(name, value)| input::Given { name, value }).collect();
        let own = if given.is_empty() { None } else { Some(own::of(&circuit, &given)?) };
        let held = Held::of(&Given { circuit, own }, &args)?;
        Ok(PrivateFunction { held, args })
    }

    /// Serves Bob's runs over a channel.
    pub fn serve(mut self, meet: impl FnOnce() -> Result<Channel, Error>) -> Result<PrivateRuns, Failure> {
        let threads = Threads::new(self.args.peer.threads.into())?;
        let ours = propose(&self.args, Some(&self.held), &threads, Purpose::Now)?;
        let ahead = Precomputation::new()?;
        let mut channel = meet()?;
        let terms = agree(&mut channel, Party::Alice, &ours, &QUIET)?;
        let begin = Instant::now();
        let (runs, counters) = served((&mut self.held, &threads), &terms, channel, ahead, &QUIET)?;
        Ok(PrivateRuns::new(&terms, runs, begin, &counters))
    }
}

/// The circuit of a program that computes every lane by itself: a lane is a run.
fn whole(program: &Program) -> Result<Circuit, Failure> {
    if let Ok(circuit) = export::circuit(program) {
        return Ok(circuit.clone());
    }
    let mut c = Builder::new(program.name());
    let mut values: Vec<Vec<Bit>> = Vec::new();
    for step in program.steps() {
        match step {
            Step::Input { name, ty, .. } => values.push(c.input(name, *ty)),
            Step::Constant { bits, .. } => values.push(bits.iter().map(|&bit| Bit::constant(bit)).collect()),
            Step::Map { circuit, args } => {
                let circuit = &program.circuits()[*circuit as usize];
                let given: Vec<Bit> = args.iter().flat_map(|arg| values[arg.number()].clone()).collect();
                let mut results = c.append(circuit, &given).into_iter();
                let ports = circuit.outputs().iter().map(|port| port.ty.width as usize);
                values.extend(ports.map(|width| results.by_ref().take(width).collect::<Vec<_>>()));
            }
            Step::Output { name, value, .. } => c.output_as(name, program.type_of(*value), &values[value.number()]),
            _ => {
                let why = "the program is more than a circuit on every lane: a private function has none of what goes over lanes";
                return Err(Failure::input(format!("'{}': {why}", program.name())));
            }
        }
    }
    Ok(c.try_finish()?)
}

/// Bob's flags.
pub struct PrivateData(Private);

impl PrivateData {
    /// The flags of `duologue private`.
    pub fn new(words: &[String]) -> Result<Self, Failure> {
        parsed(Party::Bob, words).map(PrivateData)
    }

    /// The results on data that `data` gives, a lane for each run, when it hears what is told of the function. The peer hears if
    /// it refuses.
    pub fn ask(
        self,
        data: impl FnOnce(Told) -> Result<BitMatrix, Error>,
        meet: impl FnOnce() -> Result<Channel, Error>,
    ) -> Result<Learned, Failure> {
        let threads = Threads::new(self.0.peer.threads.into())?;
        let ours = propose(&self.0, None, &threads, Purpose::Now)?;
        let ahead = Precomputation::new()?;
        let mut channel = meet()?;
        let terms = agree(&mut channel, Party::Bob, &ours, &QUIET)?;
        let function = &terms.function;
        let (gates, additions) = (terms.counts().gates, additions(&terms));
        let told = Told { inputs: function.inputs.into(), gates, additions, runs: function.runs.into() };
        let x = declined(&mut channel, data(told).map_err(Failure::from))?;
        let begin = Instant::now();
        let (results, end) = learned((&x, &threads), &terms, channel, ahead, &QUIET);
        let (counters, why) = match end {
            Ok(counters) => (counters, None),
            // None of the results comes back.
            Err(why) if !results.is_empty() => (Counters::default(), Some(why)),
            Err(why) => return Err(why),
        };
        let y = BitMatrix::from_lanes(function.outputs as usize, &results);
        Ok((y, PrivateRuns::new(&terms, results.len(), begin, &counters), why))
    }
}
