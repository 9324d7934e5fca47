//! `duologue private`: a function that is one party's secret, on data that is the other's.

use super::export;
use super::private_parties::{DataHolder, FunctionHolder};
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
use he::bfv::Bfv;
use he::djn::Djn;
use he::elgamal::ElGamal;
use pfe::linear::{self, Linear, Netlist};
use pfe::{Alice, Bob, Method, Offer, Padding, Sizes, Wired};
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
    let held = match args.peer.party {
        Party::Alice => Some(Held::read(args)?),
        Party::Bob => None,
    };
    // Now: what cannot be written must not cost a run.
    let to = args.output.as_deref().map(Place::new).transpose()?;
    let security = peer::security(&args.peer, config)?;
    let meet = || peer::meet(&args.peer.meeting, args.peer.link, &security, config, console);
    match (held, args.method) {
        (Some(Held::Wired(wired)), _) => wired_function(args, wired, meet()?, console),
        (Some(Held::Netlist(netlist)), PrivateMethod::Elgamal) => {
            function_of::<ElGamal>(args, &netlist, meet()?, console)
        }
        (Some(Held::Netlist(netlist)), PrivateMethod::Bfv) => function_of::<Bfv>(args, &netlist, meet()?, console),
        (Some(Held::Netlist(netlist)), _) => function_of::<Djn>(args, &netlist, meet()?, console),
        (None, PrivateMethod::Auto | PrivateMethod::Dh) => hold_data(args, to, Bob::connect(meet()?, None)?, console),
        (None, PrivateMethod::Elgamal) => data_of::<ElGamal>(args, to, meet()?, console),
        (None, PrivateMethod::Bfv) => data_of::<Bfv>(args, to, meet()?, console),
        (None, PrivateMethod::Djn) => data_of::<Djn>(args, to, meet()?, console),
    }
}

/// What the method is called.
fn method(args: &Private) -> Method {
    match args.method {
        PrivateMethod::Auto | PrivateMethod::Dh => Method::Dh,
        PrivateMethod::Elgamal => Method::ElGamal,
        PrivateMethod::Bfv => Method::Bfv,
        PrivateMethod::Djn => Method::Djn,
    }
}

/// Refuses flags of the other party, and threads that there are not.
fn check(args: &Private) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::new(Exit::CommandLine, why));
    let for_alice = args.function.is_some() || args.gates.is_some() || args.additions.is_some();
    match args.peer.party {
        _ if args.peer.threads > 1 => refuse("private functions are evaluated by one thread a party"),
        Party::Alice if args.input.is_some() || args.output.is_some() => refuse("--input and --output are bob's"),
        Party::Alice if args.function.is_none() => refuse("--function is missing: what does alice hold?"),
        Party::Bob if args.output.as_deref() == Some("-") => {
            refuse("--output is a file: without it the result is shown")
        }
        Party::Alice if method(args) != Method::Dh && args.form == Some(Gates::Thresholds) => {
            refuse("--form thresholds is for --method dh: the others take NANDs")
        }
        Party::Alice if method(args) != Method::Dh && args.additions.is_some() => {
            refuse("--additions is for --method dh: NANDs have none")
        }
        Party::Bob if for_alice => refuse("--function, --gates and --additions are alice's"),
        Party::Bob if args.input.is_none() => refuse("--input x=SOURCE is missing: what does bob hold?"),
        _ => Ok(()),
    }
}

/// The function as its method takes it.
enum Held {
    Wired(Box<Wired>),
    Netlist(Netlist),
}

impl Held {
    fn read(args: &Private) -> Result<Held, Failure> {
        let circuit = read(args.function.as_deref().unwrap_or_default())?;
        if method(args) != Method::Dh {
            return Ok(Held::Netlist(Netlist::new(&nands(&circuit)?, args.gates)?));
        }
        let function: Function = match args.form {
            None | Some(Gates::Thresholds) => thresholds(&circuit)?,
            Some(Gates::Nands) => nands(&circuit)?,
        };
        Ok(Held::Wired(Box::new(Wired::new(function, Padding { gates: args.gates, additions: args.additions })?)))
    }
}

/// A circuit from a file of either format, or a block.
fn read(name: &str) -> Result<Circuit, Failure> {
    if name.ends_with(".duo") || name.contains(':') {
        return export::circuit(&program::load(name, &[])?).cloned();
    }
    let file = fs::read(name).map_err(Failure::io(format!("reading {name}")))?;
    bristol::read(&file, &Names::default()).map_err(|why| Failure::malformed(name, why))
}

fn wired_function(args: &Private, mut wired: Box<Wired>, channel: Channel, to: &Console) -> Result<(), Failure> {
    let sizes = *wired.sizes();
    announce(&sizes, to);
    hold_function(args, sizes, Alice::connect(channel, &mut wired, args.runs)?, to)
}

fn function_of<S: Linear>(args: &Private, netlist: &Netlist, channel: Channel, to: &Console) -> Result<(), Failure> {
    announce(netlist.sizes(), to);
    let alice = linear::Alice::<S>::connect(channel, netlist, args.runs)?;
    hold_function(args, *netlist.sizes(), alice, to)
}

fn data_of<S: Linear>(args: &Private, place: Option<Place>, channel: Channel, to: &Console) -> Result<(), Failure> {
    hold_data(args, place, linear::Bob::<S>::connect(channel, None)?, to)
}

fn announce(sizes: &Sizes, console: &Console) {
    console.note(format!("bob hears of the function that it has {}", Shown(sizes)));
    console.note(format!("{SECURITY}; every run answers a question about the function"));
}

fn hold_function(
    args: &Private,
    sizes: Sizes,
    mut alice: impl FunctionHolder,
    console: &Console,
) -> Result<(), Failure> {
    let begin = Instant::now();
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
    console.show(&Report::new(method(args), &sizes, runs, begin, [sent, received], BTreeMap::new()))
}

fn hold_data(args: &Private, place: Option<Place>, mut bob: impl DataHolder, to: &Console) -> Result<(), Failure> {
    let offer = bob.offer().clone();
    let x = data(args, &offer)?;
    consent::obtain(&Consent { method: method(args), offer: &offer, runs: x.lanes() }, args.yes)?;
    bob.limit(x.lanes() as u32);
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
    let report = Report::new(method(args), &offer.sizes, x.lanes(), begin, [sent, received], outputs);
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
    method: Method,
    offer: &'a Offer,
    runs: usize,
}

impl fmt::Display for Consent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Consent { method, offer, runs } = self;
        let by = match method {
            Method::Dh => "by Diffie-Hellman labels",
            Method::ElGamal => "by Katz and Malka's protocol with ElGamal",
            Method::Bfv => "by Katz and Malka's protocol with BFV",
            Method::Djn => "by Katz and Malka's protocol with Paillier's system",
        };
        writeln!(f, "a private function of alice's, {by}: {}", Shown(&offer.sizes))?;
        writeln!(f, "the result goes to you alone")?;
        writeln!(f, "runs      {} of {} that alice allows", thousands(*runs as u64), thousands(offer.runs.into()))?;
        if *runs > 1 && *method == Method::Dh {
            writeln!(f, "memory    {} from the first run to the last", bytes(POINT * offer.sizes.queries()))?;
        }
        writeln!(f, "security  {SECURITY}")
    }
}

struct Shown<'a>(&'a Sizes);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sizes { inputs, outputs, gates, additions } = self.0;
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
        method: Method,
        sizes: &Sizes,
        runs: usize,
        begin: Instant,
        [sent, received]: [u64; 2],
        outputs: BTreeMap<String, Output>,
    ) -> Report {
        let Sizes { inputs: input_bits, outputs: output_bits, gates, additions } = *sizes;
        let (seconds, peak_memory) = (begin.elapsed().as_secs_f64(), peak_memory());
        Report {
            method: method.name(),
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
