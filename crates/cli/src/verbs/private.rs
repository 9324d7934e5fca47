//! `duologue private`: a function that is one party's secret, on data that is the other's.

mod agree;
mod choice;
pub mod embedded;
pub mod kept;
mod own;
mod parties;
mod universal;

use super::export;
use super::run::peak_memory;
use super::run::report::{Output, lanes};
use crate::args::{Gates, Private, PrivateVerb, PrivateWhat};
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::io::console::{self, Console, bytes, count, seconds, thousands};
use crate::io::output::Target;
use crate::io::{consent, input, progress};
use crate::{interrupt, peer, program};
use agree::{Terms, agree, methods, propose};
use apps::private_function;
use duologue::channel::{AbortCode, Channel, Counters};
use duologue::circuit::format::bristol::{self, Names};
use duologue::circuit::private::{Function, nands, thresholds};
use duologue::circuit::universal::Nodes;
use duologue::circuit::{BitMatrix, Circuit, Program, bits};
use duologue::{Error, Party, Precomputation};
use he::bfv::Bfv;
use he::djn::Djn;
use he::elgamal::ElGamal;
use parties::{DataHolder, FunctionHolder};
use pfe::linear::{self, Linear, Netlist, traffic};
use pfe::{Alice, Announced, Bob, Counts, Method, Padding, Purpose, Sizes, Threads, Wired};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::time::Instant;

/// What neither party's screen leaves out, of linear methods and of others.
const LINEAR: &str = "both parties must follow the protocol: an Alice who does not learns all data, unseen, and a Bob who \
                      does not learns parts of the function";
const GARBLED: &str = "both parties follow the protocol: an Alice who does not can make the result wrong, and learns at most \
                       whether Bob stops";

/// Bytes that are kept of each gate and output by `dh` while another run follows.
const POINT: u64 = 32;

fn security(method: Method) -> &'static str {
    if method.is_linear() { LINEAR } else { GARBLED }
}

pub fn run(args: &PrivateVerb, config: &Config, console: &Console) -> Result<(), Failure> {
    match (&args.what, &args.run) {
        (Some(PrivateWhat::Prepare(args)), _) => {
            let run = args.as_run();
            check(&run, true)?;
            kept::prepare(&run, &args.to, config, console)
        }
        (None, Some(args)) => {
            check(args, false)?;
            match &args.prepared {
                Some(folder) => kept::run(args, folder, config, console),
                None => run_now(args, config, console),
            }
        }
        (None, None) => Err(Failure::input("no run is asked for")),
    }
}

fn run_now(args: &Private, config: &Config, console: &Console) -> Result<(), Failure> {
    let party = args.peer.party;
    let held = if party == Party::Alice { Some(Held::new(args)?) } else { None };
    let threads = Threads::new(args.peer.threads.into())?;
    // Now: what cannot be written must not cost a run.
    let place = target(args)?;
    let security = peer::security(&args.peer, config)?;
    let (ours, ahead) = (propose(args, held.as_ref(), &threads, Purpose::Now)?, Precomputation::new()?);
    let mut channel = peer::meet(&args.peer.meeting, args.peer.link, &security, config, console)?;
    let terms = agree(&mut channel, party, &ours, console)?;
    match held {
        Some(held) => hold_function((held, &threads), &terms, channel, ahead, console),
        None => hold_data((args, &threads), place, &terms, channel, ahead, console),
    }
}

/// Where the result goes, if it is not shown.
fn target(args: &Private) -> Result<Option<Target>, Failure> {
    let place = args.output.as_deref().map(|output| Target::new(output, "y")).transpose()?;
    place.iter().try_for_each(|place| place.spare(&args.input))?;
    Ok(place)
}

/// Refuses flags of the other party or of other methods.
fn check(args: &Private, prepares: bool) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::new(Exit::CommandLine, why));
    let padded = args.gates.is_some() || args.additions.is_some();
    let for_alice = args.function.is_some() || padded || args.runs.is_some() || args.form.is_some();
    let methods = methods(args);
    match args.peer.party {
        _ if prepares && methods != [Method::Dh] => refuse("runs are prepared by --method dh alone"),
        _ if args.prepared.is_some() && methods != [Method::Dh] => {
            refuse("prepared runs are by dh: --method dh, or none with --prepared")
        }
        _ if args.peer.threads > 1 && !methods.contains(&Method::Dh) => {
            refuse("--threads is for --method dh, or --allow-linear: other methods take one thread")
        }
        _ if args.assume_link.is_some() && methods.len() < 2 => {
            refuse("--assume-link is for a choice between methods: --method auto with --allow-linear")
        }
        Party::Alice if args.output.is_some() => refuse("--output is bob's"),
        Party::Alice if args.yes => refuse("--yes is bob's: alice is asked nothing"),
        Party::Alice if args.function.is_none() => refuse("--function is missing: what does alice hold?"),
        Party::Alice if args.additions.is_some() && !methods.contains(&Method::Dh) => {
            refuse("--additions is for --method dh, or --allow-linear: other functions have none")
        }
        Party::Alice if args.form.is_some() && methods == [Method::Universal] => {
            refuse("--form is for --method dh, or --allow-linear: a universal circuit takes all gates of two bits")
        }
        Party::Alice if args.form == Some(Gates::Thresholds) && !methods.contains(&Method::Dh) => {
            refuse("--form thresholds is for --method dh: elgamal, bfv and djn take NANDs")
        }
        Party::Bob if args.output.as_deref() == Some("-") => {
            refuse("--output is a file: without it the result is shown")
        }
        Party::Bob if for_alice => refuse("--function, --gates, --additions, --form, --runs and --times are alice's"),
        Party::Bob if prepares && !args.input.is_empty() => refuse("--input is alice's here: bob's data come later"),
        Party::Bob if args.input.len() != 1 && !prepares => {
            refuse("--input x=SOURCE is missing, or is not the only one: what does bob hold?")
        }
        _ => Ok(()),
    }
}

/// Alice's function, as each method takes it that she allows.
struct Held {
    function: Announced,
    wired: Option<Wired>,
    nodes: Option<Nodes>,
    netlist: Option<Netlist>,
}

impl Held {
    fn new(args: &Private) -> Result<Held, Failure> {
        Held::of(&Given::read(args)?, args)
    }

    fn of(given: &Given, args: &Private) -> Result<Held, Failure> {
        let methods = methods(args);
        let wired = methods.contains(&Method::Dh).then(|| given.wired(args)).transpose()?;
        let nodes = methods.contains(&Method::Universal).then(|| given.nodes(args.gates)).transpose()?;
        let takes_nands = methods.iter().any(|&method| matches!(method, Method::ElGamal | Method::Bfv | Method::Djn));
        let netlist = takes_nands.then(|| given.netlist(args.gates)).transpose()?;
        let [inputs, outputs] = [given.inputs(), given.circuit.output_bits().len()].map(|bits| bits as u32);
        let mut function = Announced::new(inputs, outputs, args.runs.unwrap_or(1));
        if let Some(wired) = &wired {
            let pfe::Sizes { gates, additions, .. } = *wired.sizes();
            function = function.with(Method::Dh, Counts { gates, additions });
        }
        if let Some(nodes) = &nodes {
            let gates = nodes.size().gates.into();
            function = function.with(Method::Universal, Counts { gates, additions: 0 });
        }
        if let Some(netlist) = &netlist {
            let counts = Counts { gates: netlist.sizes().gates, additions: 0 };
            function = methods.iter().fold(function, |function, &method| function.with(method, counts));
        }
        Ok(Held { function, wired, nodes, netlist })
    }
}

/// A function as Alice gives it.
struct Given {
    circuit: Circuit,
    /// Which of its inputs are hers, if any is.
    own: Option<own::Bits>,
}

impl Given {
    fn read(args: &Private) -> Result<Given, Failure> {
        let circuit = read(args.function.as_deref().unwrap_or_default())?;
        let own = if args.input.is_empty() { None } else { Some(own::bits(&circuit, &args.input)?) };
        Ok(Given { circuit, own })
    }

    /// The bits that are left for Bob.
    fn inputs(&self) -> usize {
        let own = self.own.as_ref().map_or(0, |bits| bits.iter().flatten().count());
        self.circuit.input_width() - own
    }

    /// Gates of the function, her data among them. They are made before that, so that none depends on it.
    fn with_data(&self, function: Function) -> Result<Function, Failure> {
        Ok(self.own.as_ref().map_or(Ok(function.clone()), |bits| function.restricted(bits))?)
    }

    /// The function as `dh` takes it.
    fn gates(&self, form: Option<Gates>) -> Result<Function, Failure> {
        self.with_data(match form {
            None | Some(Gates::Thresholds) => thresholds(&self.circuit)?,
            Some(Gates::Nands) => nands(&self.circuit)?,
        })
    }

    fn wired(&self, args: &Private) -> Result<Wired, Failure> {
        Ok(Wired::new(self.gates(args.form)?, Padding { gates: args.gates, additions: args.additions })?)
    }

    fn netlist(&self, gates: Option<u64>) -> Result<Netlist, Failure> {
        Ok(Netlist::new(&self.with_data(nands(&self.circuit)?)?, gates)?)
    }

    fn nodes(&self, gates: Option<u64>) -> Result<Nodes, Failure> {
        let nodes = Nodes::of_circuit(&self.circuit)?;
        let nodes = self.own.as_ref().map_or(Ok(nodes.clone()), |bits| nodes.restricted(bits))?;
        let Some(gates) = gates else { return Ok(nodes) };
        Ok(nodes.padded(u32::try_from(gates).unwrap_or(u32::MAX))?)
    }
}

/// A circuit from a file of either format, a block, or an application's file.
fn read(name: &str) -> Result<Circuit, Failure> {
    if let Some(name) = name.strip_prefix("app:") {
        let read = |file: &str| fs::read_to_string(file).map_err(Failure::io(format!("reading {file}")));
        return private_function::find(name, read);
    }
    if name.ends_with(".duo") || name.contains(':') {
        return export::circuit(&program::load(name, &[])?).cloned();
    }
    let file = fs::read(name).map_err(Failure::io(format!("reading {name}")))?;
    bristol::read(&file, &Names::default()).map_err(|why| Failure::malformed(name, why))
}

fn hold_function(
    (mut held, threads): (Held, &Threads),
    terms: &Terms,
    channel: Channel,
    ahead: Precomputation,
    console: &Console,
) -> Result<(), Failure> {
    let begin = Instant::now();
    warn_alice(terms, console);
    let (runs, counters) = served((&mut held, threads), terms, channel, ahead, console)?;
    interrupt::settle()?;
    console.show(&Report::new(terms, runs, begin, &counters, BTreeMap::new()))
}

/// How many runs there were, and what travelled.
fn served(
    (held, threads): (&mut Held, &Threads),
    terms: &Terms,
    channel: Channel,
    ahead: Precomputation,
    console: &Console,
) -> Result<(usize, Counters), Failure> {
    match terms.method {
        Method::Universal => universal::hold_function(held, channel, ahead, console),
        Method::Dh => wired(held, threads, channel, console),
        Method::ElGamal => encrypted::<ElGamal>(held, channel, console),
        Method::Bfv => encrypted::<Bfv>(held, channel, console),
        Method::Djn => encrypted::<Djn>(held, channel, console),
    }
}

/// What Alice sees before her first run.
fn warn_alice(terms: &Terms, console: &Console) {
    console.note(format!("bob hears of the function that it has {}, by {}", Shown(terms), terms.method));
    console.note(format!("{}; every run answers a question about the function", security(terms.method)));
    if terms.method == Method::Bfv {
        let [_, received] = terms.sent(1, Purpose::Now).map(bytes);
        let folder = std::env::temp_dir();
        let what = format!("a run's {received} lie in {} if they are many; TMPDIR moves them", folder.display());
        console.note(what);
    }
}

/// Alice by Diffie-Hellman labels: how many runs there were, and what travelled.
fn wired(
    held: &mut Held,
    threads: &Threads,
    channel: Channel,
    console: &Console,
) -> Result<(usize, Counters), Failure> {
    let wired = held.wired.as_mut().ok_or_else(|| Error::usage("the function was not wired"))?;
    let mut alice = Alice::connect(channel, wired, held.function.runs)?;
    alice.compute_on(threads.clone());
    all_runs(alice, console)
}

/// Alice by Katz and Malka's protocol.
fn encrypted<S: Linear>(held: &Held, channel: Channel, console: &Console) -> Result<(usize, Counters), Failure> {
    let netlist = held.netlist.as_ref().ok_or_else(|| Error::usage("no NANDs were made of the function"))?;
    all_runs(linear::Alice::<S>::connect(channel, netlist, held.function.runs)?, console)
}

fn all_runs(mut alice: impl FunctionHolder, console: &Console) -> Result<(usize, Counters), Failure> {
    if !console.quiet() {
        alice.observe(progress::points("a private function"));
    }
    let mut runs = 0;
    while alice.serve()? {
        runs += 1;
    }
    Ok((runs, alice.close()?))
}

fn hold_data(
    (args, threads): (&Private, &Threads),
    place: Option<Target>,
    terms: &Terms,
    mut channel: Channel,
    ahead: Precomputation,
    to: &Console,
) -> Result<(), Failure> {
    let x = declined(&mut channel, asked((args, place.as_ref()), terms, Purpose::Now))?;
    let begin = Instant::now();
    let (results, end) = learned((&x, threads), terms, channel, ahead, to);
    show_what_came((args, place), terms, begin, (&results, end), to)
}

/// The results of all runs, or of those before one that failed, and what travelled.
fn learned(
    (x, threads): (&BitMatrix, &Threads),
    terms: &Terms,
    channel: Channel,
    ahead: Precomputation,
    to: &Console,
) -> (Vec<Vec<bool>>, Result<Counters, Failure>) {
    let lanes = lanes_of(x);
    match terms.method {
        Method::Universal => universal::hold_data(&lanes, terms, channel, ahead, to),
        Method::Dh => labelled(&lanes, dh_holder(terms, channel, threads), to),
        Method::ElGamal => labelled(&lanes, data_holder::<ElGamal>(terms, channel), to),
        Method::Bfv => labelled(&lanes, data_holder::<Bfv>(terms, channel), to),
        Method::Djn => labelled(&lanes, data_holder::<Djn>(terms, channel), to),
    }
}

/// The results that there are, none of which comes back, and then what ended the runs before their time.
fn show_what_came(
    (args, place): (&Private, Option<Target>),
    terms: &Terms,
    begin: Instant,
    (results, end): (&[Vec<bool>], Result<Counters, Failure>),
    to: &Console,
) -> Result<(), Failure> {
    let counters = match &end {
        Ok(counters) => *counters,
        Err(_) if results.is_empty() => return end.map(drop),
        Err(_) => Counters::default(),
    };
    if end.is_ok() {
        interrupt::settle()?;
    }
    show(args, place, terms, Report::new(terms, results.len(), begin, &counters, BTreeMap::new()), results, to)?;
    end.map(drop)
}

/// The data, which Bob consents to use. A result that could not be written must not cost a run.
fn asked((args, place): (&Private, Option<&Target>), terms: &Terms, purpose: Purpose) -> Result<BitMatrix, Failure> {
    place.map_or(Ok(()), |place| place.check(bits(terms.function.outputs)))?;
    let x = data(args, &terms.function)?;
    consent::obtain(&Consent { terms, runs: x.lanes(), purpose }, args.yes)?;
    Ok(x)
}

/// What this party decided; the peer hears if it is against a run.
fn declined<T>(channel: &mut Channel, decided: Result<T, Failure>) -> Result<T, Failure> {
    if decided.is_err() {
        channel.abort(AbortCode::Cancelled, "");
    }
    decided
}

fn lanes_of(x: &BitMatrix) -> Vec<Vec<bool>> {
    (0..x.lanes()).map(|lane| x.lane(lane)).collect()
}

/// Shows the results to Bob, or writes them where he wants them.
fn show(
    args: &Private,
    place: Option<Target>,
    terms: &Terms,
    report: Report,
    results: &[Vec<bool>],
    to: &Console,
) -> Result<(), Failure> {
    let ty = bits(terms.function.outputs);
    let y = BitMatrix::from_lanes(terms.function.outputs as usize, results);
    let file = args.output.clone();
    if let Some(place) = place {
        place.write(&y, ty)?;
    }
    let outputs = BTreeMap::from([("y".to_owned(), Output::new(&y, ty, file.clone()))]);
    let report = Report { outputs, ..report };
    if to.json() {
        return to.show_json(&report);
    }
    to.note(report.to_string().trim_end());
    match file {
        Some(file) => console::print(format!("y: {} in {file}\n", count(y.lanes() as u64, "lane")).as_bytes()),
        None => console::print(lanes("y", &y, ty).as_bytes()),
    }
}

/// Bob by Katz and Malka's protocol.
fn data_holder<S: Linear>(terms: &Terms, channel: Channel) -> Result<linear::Bob<S>, Failure> {
    let mut bob = linear::Bob::connect(channel, None)?;
    bob.expect(&terms.sizes(), terms.function.runs)?;
    Ok(bob)
}

/// Bob by Diffie-Hellman labels.
fn dh_holder(terms: &Terms, channel: Channel, threads: &Threads) -> Result<Bob, Failure> {
    let mut bob = Bob::connect(channel, None)?;
    bob.compute_on(threads.clone());
    bob.expect(&terms.sizes(), terms.function.runs)?;
    Ok(bob)
}

/// Bob by linear methods: the results of all runs, or of those before one that failed, and what travelled.
fn labelled(
    data: &[Vec<bool>],
    bob: Result<impl DataHolder, Failure>,
    console: &Console,
) -> (Vec<Vec<bool>>, Result<Counters, Failure>) {
    let mut bob = match bob {
        Ok(bob) => bob,
        Err(why) => return (Vec::new(), Err(why)),
    };
    bob.limit(data.len() as u32);
    if !console.quiet() {
        bob.observe(progress::points("a private function"));
    }
    let mut results = Vec::with_capacity(data.len());
    for x in data {
        match bob.run(x) {
            Ok(result) => results.push(result),
            Err(why) => return (results, Err(why.into())),
        }
    }
    (results, bob.close().map_err(Failure::from))
}

/// The data, of as many bits as the function takes: a lane for each run.
fn data(args: &Private, function: &Announced) -> Result<BitMatrix, Failure> {
    let mut program = Program::new("the private function");
    let runs = program.size("runs", 1..=u64::from(function.runs));
    program.input("x", Party::Bob, bits(function.inputs), runs);
    let given = input::read(&program, Party::Bob, &args.input)?;
    match given.into_iter().next().map(|given| given.value) {
        Some(x) if x.lanes() as u64 > u64::from(function.runs) => {
            let (asked, runs) = (count(x.lanes() as u64, "lane"), count(function.runs.into(), "run"));
            Err(Failure::new(Exit::Refused, format!("x has {asked}, and alice allows {runs}")))
        }
        Some(x) => Ok(x),
        None => Err(Failure::input("no data is given")),
    }
}

/// What Bob sees before he consents.
struct Consent<'a> {
    terms: &'a Terms,
    runs: usize,
    purpose: Purpose,
}

impl Terms {
    /// Bytes of so many runs that Alice and Bob send; of labels and universal circuits without a few dozen.
    fn sent(&self, runs: u64, purpose: Purpose) -> [u64; 2] {
        let sizes = self.sizes();
        let Sizes { inputs, outputs, gates, .. } = sizes;
        let [inputs, outputs] = [inputs, outputs].map(u64::from);
        let labels = [runs * POINT * outputs, runs * (POINT * inputs + 73)];
        match (self.method, purpose) {
            (Method::Universal, _) => match self.size() {
                Ok(size) => {
                    [runs * (16 * (size.switches() + 3 * size.tables() as u64 + inputs + 1)), runs * inputs / 8]
                }
                Err(_) => [0; 2],
            },
            (Method::Dh, Purpose::Kept(_)) => labels,
            (Method::Dh, Purpose::Keep) => [POINT * (gates + outputs), runs * (pfe::TABLE as u64 * gates + POINT)],
            (Method::Dh, Purpose::Now) => {
                [POINT * (gates + outputs) + labels[0], runs * pfe::TABLE as u64 * gates + labels[1]]
            }
            (Method::ElGamal, _) => traffic::<ElGamal>(&sizes, runs as u32),
            (Method::Bfv, _) => traffic::<Bfv>(&sizes, runs as u32),
            (Method::Djn, _) => traffic::<Djn>(&sizes, runs as u32),
        }
    }
}

impl Consent<'_> {
    /// What Bob keeps in memory, if it is much.
    fn memory(&self) -> Option<(u64, &'static str)> {
        let counts = self.terms.counts();
        match (self.terms.method, self.purpose) {
            (Method::Universal, _) => {
                let nodes = self.terms.size().ok()?.nodes() as u64;
                Some((3 * 16 * nodes.next_power_of_two(), "for labels"))
            }
            (Method::Dh, Purpose::Now | Purpose::Keep) if self.runs > 1 => {
                let queries = counts.gates + u64::from(self.terms.function.outputs);
                Some((POINT * queries, "from the first run to the last"))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Consent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Consent { terms, runs, purpose } = self;
        let by = match terms.method {
            Method::Universal => "a universal circuit",
            Method::Dh => "Diffie-Hellman labels",
            Method::ElGamal => "Katz and Malka's protocol with ElGamal",
            Method::Bfv => "Katz and Malka's protocol with BFV",
            Method::Djn => "Katz and Malka's protocol with Paillier's system",
        };
        writeln!(f, "a private function of alice's, by {by}: {}", Shown(terms))?;
        writeln!(f, "the result goes to you alone")?;
        match purpose {
            Purpose::Now => {}
            Purpose::Keep => writeln!(f, "the runs are prepared into a folder, each to be used once")?,
            Purpose::Kept(_) => writeln!(f, "the runs were prepared: each is used up, whatever happens")?,
        }
        writeln!(
            f,
            "runs      {} of {} that alice allows",
            thousands(*runs as u64),
            thousands(terms.function.runs.into())
        )?;
        let [theirs, ours] = terms.sent(*runs as u64, *purpose).map(bytes);
        writeln!(f, "bytes     about {theirs} from alice, {ours} from you")?;
        if let Some((memory, why)) = self.memory() {
            writeln!(f, "memory    {} {why}", bytes(memory))?;
        }
        writeln!(f, "security  {}", security(terms.method))
    }
}

/// What Bob learns of the function.
struct Shown<'a>(&'a Terms);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Announced { inputs, outputs, .. }, Counts { gates, additions }) = (self.0.function, self.0.counts());
        let (inputs, outputs) = (count(inputs.into(), "input bit"), count(outputs.into(), "output bit"));
        write!(f, "{inputs}, {outputs}, {}", count(gates, "gate"))?;
        if self.0.method == Method::Dh { write!(f, ", {}", count(additions, "addition")) } else { Ok(()) }
    }
}

/// What a party's runs took together.
#[derive(Serialize)]
struct Report {
    method: &'static str,
    input_bits: u32,
    output_bits: u32,
    gates: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    additions: Option<u64>,
    runs: usize,
    /// From when the parties have agreed, at Bob from his consent, to the last message.
    seconds: f64,
    sent: u64,
    received: u64,
    peak_memory: Option<u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    outputs: BTreeMap<String, Output>,
}

impl Report {
    fn new(
        terms: &Terms,
        runs: usize,
        begin: Instant,
        counters: &Counters,
        outputs: BTreeMap<String, Output>,
    ) -> Report {
        let (Announced { inputs, outputs: output_bits, .. }, counts) = (terms.function, terms.counts());
        Report {
            method: terms.method.name(),
            input_bits: inputs,
            output_bits,
            gates: counts.gates,
            additions: (terms.method == Method::Dh).then_some(counts.additions),
            runs,
            seconds: begin.elapsed().as_secs_f64(),
            sent: counters.bytes_sent,
            received: counters.bytes_received,
            peak_memory: peak_memory(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What Bob is shown is the same but for the method's security, and what a method keeps.
    #[test]
    fn consent_says_what_bob_is_asked_for() {
        let function = Announced::new(64, 1, 9)
            .with(Method::Universal, Counts { gates: 1_900, additions: 0 })
            .with(Method::Dh, Counts { gates: 1_000, additions: 6_000 });
        let shown = |method| Consent { terms: &Terms { method, function }, runs: 2, purpose: Purpose::Now }.to_string();
        let (universal, dh) = (shown(Method::Universal), shown(Method::Dh));
        for text in [&universal, &dh] {
            assert!(
                text.contains("64 input bits, 1 output bit, ") && text.contains("2 of 9 that alice allows"),
                "{text}"
            );
            assert!(text.contains("the result goes to you alone"), "{text}");
        }
        assert!(universal.contains("1,900 gates\n") && universal.contains("at most whether Bob stops"), "{universal}");
        assert!(dh.contains("1,000 gates, 6,000 additions\n") && dh.contains("learns all data, unseen"), "{dh}");
        assert!(dh.contains("from the first run to the last") && universal.contains("for labels"));
        assert!(dh.contains("bytes     about 32.1 kB from alice, 202 kB from you"), "{dh}");
        let function = function.with(Method::Bfv, Counts { gates: 10_000, additions: 0 });
        let bfv =
            Consent { terms: &Terms { method: Method::Bfv, function }, runs: 2, purpose: Purpose::Now }.to_string();
        assert!(bfv.contains("bytes     about 17.9 MB from alice, 279 MB from you"), "{bfv}");
    }

    /// The largest function that can be announced, as often as may be: Bob is shown what that takes.
    #[test]
    fn what_any_announced_function_sends_can_be_counted() {
        for method in Method::ALL {
            let gates = if method == Method::Universal { (31 << 20) - 1 } else { pfe::MOST_GATES };
            let counts = Counts { gates, additions: 64 * gates };
            let [inputs, outputs] = [pfe::MOST_BITS, if method == Method::Universal { 1 } else { pfe::MOST_BITS }];
            let function = Announced::new(inputs, outputs, pfe::MOST_RUNS).with(method, counts);
            for purpose in [Purpose::Now, Purpose::Keep, Purpose::Kept([0; 32])] {
                let (terms, runs) = (Terms { method, function }, function.runs as usize);
                assert!(method != Method::Universal || terms.size().is_ok());
                let [theirs, ours] = terms.sent(runs as u64, purpose);
                assert!(theirs >> 25 > 0 && ours >> 25 > 0, "{method} {purpose}: {theirs}, {ours}");
                let shown = Consent { terms: &terms, runs, purpose }.to_string();
                assert!(shown.contains("1,048,576 of 1,048,576") && !shown.contains("about 0 B"), "{shown}");
            }
        }
    }
}
