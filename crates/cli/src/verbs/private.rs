//! `duologue private`: a function that is one party's secret, on data that is the other's.

use super::export;
use super::run::peak_memory;
use super::run::report::{Output, lanes};
use crate::args::{Gates, Private, PrivateMethod};
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::io::console::{self, Console, bytes, count, seconds, thousands};
use crate::io::output::Place;
use crate::io::{consent, input, progress};
use crate::{interrupt, peer, program};
use duologue::circuit::format::bristol::{self, Names};
use duologue::circuit::private::{Function, nands, thresholds};
use duologue::circuit::{BitMatrix, Circuit, Program, bits};
use duologue::{Party, channel::Channel};
use pfe::{Alice, Bob, Offer, Padding, Threads, Wired};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::time::Instant;

/// What neither party's screen leaves out.
const SECURITY: &str = "both parties must follow the protocol: an Alice who does not learns all data, unseen, and a Bob who \
                        does not learns parts of the function";

/// Bytes that are kept of each gate and output while another run follows.
const POINT: u64 = 32;

pub fn run(args: &Private, config: &Config, console: &Console) -> Result<(), Failure> {
    check(args)?;
    let prepared = match args.peer.party {
        Party::Alice => Some(wire(args)?),
        Party::Bob => None,
    };
    // Now: what cannot be written must not cost a run.
    let to = args.output.as_deref().map(Place::new).transpose()?;
    let security = peer::security(&args.peer, config)?;
    let meet = || peer::meet(&args.peer.meeting, args.peer.link, &security, config, console);
    match prepared {
        Some(wired) => hold_function(args, wired, meet()?, console),
        None => hold_data(args, to, meet()?, console),
    }
}

/// Refuses flags of the other party.
fn check(args: &Private) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::new(Exit::CommandLine, why));
    let for_alice = args.function.is_some() || args.gates.is_some() || args.additions.is_some();
    match args.peer.party {
        Party::Alice if args.input.is_some() || args.output.is_some() => refuse("--input and --output are bob's"),
        Party::Alice if args.function.is_none() => refuse("--function is missing: what does alice hold?"),
        Party::Bob if args.output.as_deref() == Some("-") => {
            refuse("--output is a file: without it the result is shown")
        }
        Party::Bob if for_alice => refuse("--function, --gates and --additions are alice's"),
        Party::Bob if args.input.is_none() => refuse("--input x=SOURCE is missing: what does bob hold?"),
        _ => Ok(()),
    }
}

fn wire(args: &Private) -> Result<Wired, Failure> {
    let name = args.function.as_deref().unwrap_or_default();
    let circuit = read(name)?;
    let function: Function = match args.form {
        Gates::Thresholds => thresholds(&circuit)?,
        Gates::Nands => nands(&circuit)?,
    };
    Ok(Wired::new(function, Padding { gates: args.gates, additions: args.additions })?)
}

/// A circuit from a file of either format, or a block.
fn read(name: &str) -> Result<Circuit, Failure> {
    if name.ends_with(".duo") || name.contains(':') {
        return export::circuit(&program::load(name, &[])?).cloned();
    }
    let file = fs::read(name).map_err(Failure::io(format!("reading {name}")))?;
    bristol::read(&file, &Names::default()).map_err(|why| Failure::malformed(name, why))
}

fn hold_function(args: &Private, mut wired: Wired, channel: Channel, console: &Console) -> Result<(), Failure> {
    let begin = Instant::now();
    let sizes = *wired.sizes();
    console.note(format!("bob hears of the function that it has {}", Shown(&sizes)));
    console.note(format!("{SECURITY}; every run answers a question about the function"));
    let mut alice = Alice::connect(channel, &mut wired, args.runs)?;
    alice.compute_on(Threads::new(args.peer.threads.into())?);
    if !console.quiet() {
        alice.observe(progress::points("a private function"));
    }
    let mut runs = 0;
    while alice.serve()? {
        runs += 1;
    }
    let counters = alice.close()?;
    interrupt::settle()?;
    let (sent, received) = (counters.bytes_sent, counters.bytes_received);
    console.show(&Report::new(args.method, &sizes, runs, begin, [sent, received], BTreeMap::new()))
}

fn hold_data(args: &Private, place: Option<Place>, channel: Channel, to: &Console) -> Result<(), Failure> {
    let mut bob = Bob::connect(channel, None)?;
    let offer = bob.offer().clone();
    let x = data(args, &offer)?;
    consent::obtain(&Consent { offer: &offer, runs: x.lanes() }, args.yes)?;
    bob.limit(x.lanes() as u32);
    bob.compute_on(Threads::new(args.peer.threads.into())?);
    let begin = Instant::now();
    if !to.quiet() {
        bob.observe(progress::points("a private function"));
    }
    let results = (0..x.lanes()).map(|lane| bob.run(&x.lane(lane))).collect::<duologue::Result<Vec<_>>>()?;
    let counters = bob.close()?;
    interrupt::settle()?;
    let (sent, received) = (counters.bytes_sent, counters.bytes_received);
    let ty = bits(offer.sizes.outputs);
    let y = BitMatrix::from_lanes(offer.sizes.outputs as usize, &results);
    let file = args.output.clone();
    if let Some(place) = place {
        place.write(&y, ty)?;
    }
    let outputs = BTreeMap::from([("y".to_owned(), Output::new(&y, ty, file.clone()))]);
    let report = Report::new(args.method, &offer.sizes, x.lanes(), begin, [sent, received], outputs);
    if to.json() {
        return to.show_json(&report);
    }
    to.note(report.to_string().trim_end());
    match file {
        Some(file) => console::print(format!("y: {} in {file}\n", count(y.lanes() as u64, "lane")).as_bytes()),
        None => console::print(lanes("y", &y, ty).as_bytes()),
    }
}

/// The data, of as many bits as the function takes: a lane for each run.
fn data(args: &Private, offer: &Offer) -> Result<BitMatrix, Failure> {
    let mut program = Program::new("the private function");
    let runs = program.size("runs", 1..=u64::from(offer.runs.max(1)));
    program.input("x", Party::Bob, bits(offer.sizes.inputs), runs);
    let given = input::read(&program, Party::Bob, args.input.as_slice())?;
    match given.into_iter().next().map(|given| given.value) {
        Some(x) if x.lanes() as u64 > u64::from(offer.runs) => {
            let (asked, runs) = (count(x.lanes() as u64, "lane"), count(offer.runs.into(), "run"));
            Err(Failure::new(Exit::Refused, format!("x has {asked}, and alice allows {runs}")))
        }
        Some(x) => Ok(x),
        None => Err(Failure::input("no data is given")),
    }
}

/// What Bob sees before he consents.
struct Consent<'a> {
    offer: &'a Offer,
    runs: usize,
}

impl fmt::Display for Consent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Consent { offer, runs } = self;
        writeln!(f, "a private function of alice's, by Diffie-Hellman labels: {}", Shown(&offer.sizes))?;
        writeln!(f, "the result goes to you alone")?;
        writeln!(f, "runs      {} of {} that alice allows", thousands(*runs as u64), thousands(offer.runs.into()))?;
        if *runs > 1 {
            writeln!(f, "memory    {} from the first run to the last", bytes(POINT * offer.sizes.queries()))?;
        }
        writeln!(f, "security  {SECURITY}")
    }
}

struct Shown<'a>(&'a pfe::Sizes);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pfe::Sizes { inputs, outputs, gates, additions } = self.0;
        let (inputs, outputs) = (count(u64::from(*inputs), "input bit"), count(u64::from(*outputs), "output bit"));
        write!(f, "{inputs}, {outputs}, {}, {}", count(*gates, "gate"), count(*additions, "addition"))
    }
}

/// What a party's runs took together.
#[derive(Serialize)]
struct Report {
    method: &'static str,
    input_bits: u32,
    output_bits: u32,
    gates: u64,
    additions: u64,
    runs: usize,
    /// From the first message to the last.
    seconds: f64,
    sent: u64,
    received: u64,
    peak_memory: Option<u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    outputs: BTreeMap<String, Output>,
}

impl Report {
    fn new(
        method: PrivateMethod,
        sizes: &pfe::Sizes,
        runs: usize,
        begin: Instant,
        [sent, received]: [u64; 2],
        outputs: BTreeMap<String, Output>,
    ) -> Report {
        let pfe::Sizes { inputs: input_bits, outputs: output_bits, gates, additions } = *sizes;
        let (seconds, peak_memory) = (begin.elapsed().as_secs_f64(), peak_memory());
        let method = match method {
            PrivateMethod::Auto | PrivateMethod::Dh => "dh",
        };
        Report {
            method,
            input_bits,
            output_bits,
            gates,
            additions,
            runs,
            seconds,
            sent,
            received,
            peak_memory,
            outputs,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (runs, gates) = (count(self.runs as u64, "run"), count(self.gates, "gate"));
        let (sent, received) = (bytes(self.sent), bytes(self.received));
        writeln!(f, "{runs} of {gates} by {}: {}, {sent} sent, {received} received", self.method, seconds(self.seconds))
    }
}
