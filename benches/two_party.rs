//! The two-party benchmark: two processes, a real socket, full programs, every output checked against plain.
//!
//! `cargo bench -p duologue-apps --bench two_party [-- CASE…]` prints a table; each figure is the median of the runs of
//! one session, beside `openssl speed -evp aes-128-ctr` measured in between. The processes are this program again.

use apps::scifi::scifi;
use circuit::blocks::{self, Goal};
use circuit::program::{Binding, Owner, Party};
use circuit::{BitMatrix, Builder, Program, bits};
use duologue::channel::{Channel, Identity, Limits, Listener, Security};
use duologue::{Inputs, Options, Report, Scheme, Session, Timing, plain};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// A program at one size under one protocol, run several times in one session.
struct Case {
    name: &'static str,
    program: fn() -> Program,
    sizes: &'static [(&'static str, u64)],
    options: Options,
    runs: usize,
    tls: bool,
}

fn cases() -> Vec<Case> {
    let streamed = Options { timing: Timing::Streamed, ..Options::new(Scheme::Yao) };
    let yao = Options::new(Scheme::Yao);
    let gmw = Options::new(Scheme::Gmw);
    let case = |name, program, sizes, options, runs, tls| Case { name, program, sizes, options, runs, tls };
    vec![
        case("yao_aes_1000", aes, &[("lanes", 1000)], streamed, 7, false),
        case("yao_aes_1000_tls", aes, &[("lanes", 1000)], streamed, 7, true),
        case("gmw_aes_10000", aes, &[("lanes", 10_000)], gmw, 5, false),
        case("gmw_aes_10000_tls", aes, &[("lanes", 10_000)], gmw, 5, true),
        case("yao_10m_ands_one_lane", sha_chain, &[("cycles", 450)], yao, 3, false),
        case("gmw_10m_ands", aes, &[("lanes", 1563)], gmw, 3, false),
        case("yao_scifi_100", faces, &[("faces", 100)], yao, 7, false),
        case("gmw_scifi_100", faces, &[("faces", 100)], gmw, 7, false),
        case("yao_scifi_50000", faces, &[("faces", 50_000)], yao, 3, false),
        case("gmw_scifi_50000", faces, &[("faces", 50_000)], gmw, 3, false),
    ]
}

fn aes() -> Program {
    let aes = blocks::find("aes128").and_then(|block| block.circuit(&[], Goal::Size)).expect("a block");
    Program::of_circuit(&aes, &[Owner::Party(Party::Alice), Owner::Party(Party::Bob)])
}

fn faces() -> Program {
    scifi(900)
}

/// SHA-256 compressions one after another: the state is Alice's, the messages are Bob's.
fn sha_chain() -> Program {
    let mut c = Builder::new("compress");
    let (state, message) = (c.bits("state", 256), c.bits("message", 512));
    let next = blocks::sha2::compress(&mut c, &blocks::sha2::SHA256, &state, &message, Goal::Size);
    c.output("next", &next);
    let mut p = Program::new("sha256 chain");
    let cycles = p.size("cycles", 1..=1 << 20);
    let state = p.input("state", Party::Alice, bits(256), 1);
    let messages = p.input("messages", Party::Bob, bits(512), cycles);
    let last = p.iterate(&c.finish(), cycles, &[state], &[messages]);
    p.output("digest", Party::Alice, last[0]);
    p
}

fn array<T, const N: usize>(words: Vec<T>) -> [T; N] {
    words.try_into().unwrap_or_else(|_| panic!("{N} words"))
}

/// The same inputs for every process: what is measured does not depend on them.
fn all_inputs(binding: &Binding) -> Inputs {
    let mut state = 1u64;
    let mut inputs = Inputs::new();
    for port in binding.inputs() {
        let mut matrix = BitMatrix::zeros(port.ty.width as usize, port.lanes as usize);
        for word in matrix.words_mut() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *word = state ^ state >> 29;
        }
        matrix.clear_padding();
        inputs.set(&port.name, matrix);
    }
    inputs
}

fn own_inputs(binding: &Binding, party: Party) -> Inputs {
    let all = all_inputs(binding);
    let own = binding.inputs().iter().filter(|port| port.who == Owner::Party(party));
    own.fold(Inputs::new(), |inputs, port| {
        inputs.with(&port.name, all.get(&port.name).expect("every port has one").clone())
    })
}

/// One party: runs the case and prints a line a run.
fn party(name: &str, party: Party, address: &str) {
    let case = cases().into_iter().find(|case| case.name == name).expect("a case");
    let binding = (case.program)().bind(case.sizes).expect("the sizes fit");
    let inputs = own_inputs(&binding, party);
    let channel = meet(&case, party, address);
    let mut session = Session::connect(channel, party).expect("a peer");
    for _ in 0..case.runs {
        let outcome = session.run(&binding, &case.options, &inputs).expect("a result");
        let Report { setup, online, .. } = outcome.report;
        let (setup_s, online_s) = (setup.time.as_secs_f64(), online.time.as_secs_f64());
        let bytes = [setup.sent, setup.received, online.sent, online.received];
        println!("run {setup_s} {online_s} {} {} {} {} {}", bytes[0], bytes[1], bytes[2], bytes[3], online.rounds);
        if party == Party::Alice {
            println!("digest {}", digest(outcome.outputs.iter().map(|(_, value)| value)));
        }
    }
    println!("peak {}", peak_kib());
    session.close().expect("a good end");
}

fn digest<'a>(outputs: impl Iterator<Item = &'a BitMatrix>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for word in outputs.flat_map(|value| value.words()) {
        hasher.update(&word.to_le_bytes());
    }
    hasher.finalize()
}

fn meet(case: &Case, party: Party, address: &str) -> Channel {
    let security = security(case, party);
    let limits = Limits::default();
    if party == Party::Bob {
        return Channel::connect(address, &security, &limits).expect("a listener");
    }
    let mut listener = Listener::bind("127.0.0.1:0").expect("a free port");
    println!("listening {}", listener.local_addr().expect("an address"));
    listener.accept(&security, &limits).expect("a peer")
}

/// Keys made by the parent, given in the environment's temporary folder.
fn security(case: &Case, party: Party) -> Security {
    if !case.tls {
        return Security::PlaintextForBenchmarks;
    }
    let folder = std::env::var("DUOLOGUE_BENCH_KEYS").expect("the parent made keys");
    let load = |party: Party| Identity::load(format!("{folder}/{party}")).expect("a key");
    Security::Tls { identity: Arc::new(load(party)), peer: load(party.peer()).public() }
}

/// The most memory that this process ever held.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn spawn(name: &str, party: Party, address: &str) -> Child {
    let this = std::env::current_exe().expect("this program");
    let mut command = Command::new(this);
    command.args(["--party", name, &party.to_string(), address]).stdout(Stdio::piped());
    command.spawn().expect("a process")
}

/// What one process printed.
#[derive(Default)]
struct Printed {
    runs: Vec<[f64; 7]>,
    digests: Vec<String>,
    peak: u64,
}

fn read(lines: impl Iterator<Item = String>) -> Printed {
    let mut printed = Printed::default();
    for line in lines {
        match line.split_once(' ') {
            Some(("run", figures)) => {
                let figures = figures.split(' ').map(|figure| figure.parse().expect("a number"));
                printed.runs.push(array(figures.collect()));
            }
            Some(("digest", digest)) => printed.digests.push(digest.into()),
            Some(("peak", peak)) => printed.peak = peak.parse().expect("a number"),
            _ => {}
        }
    }
    printed
}

fn measure(case: &Case) -> String {
    let mut alice = spawn(case.name, Party::Alice, "-");
    let mut lines = BufReader::new(alice.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let address = lines.find_map(|line| line.strip_prefix("listening ").map(str::to_owned)).expect("an address");
    let mut bob = spawn(case.name, Party::Bob, &address);
    let bob_lines = BufReader::new(bob.stdout.take().expect("piped"));
    let ours = read(lines);
    let theirs = read(bob_lines.lines().map_while(Result::ok));
    assert!(alice.wait().expect("alice").success() && bob.wait().expect("bob").success(), "{} failed", case.name);
    let binding = (case.program)().bind(case.sizes).expect("the sizes fit");
    let expected = plain::run(&binding, &all_inputs(&binding)).expect("plain");
    let expected = digest(expected.iter().map(|(_, value)| value)).to_string();
    assert!(ours.digests.len() == case.runs && ours.digests.iter().all(|d| *d == expected), "{}: wrong", case.name);
    let ands = duologue::cost::cost(&binding, &case.options).expect("a cost").ands as f64;
    let median = |figure: fn(&[f64; 7]) -> f64| median(ours.runs.iter().map(figure).collect());
    let (setup, online) = (median(|run| run[0]), median(|run| run[1]));
    let total = median(|run| run[0] + run[1]);
    format!(
        "{:<24} {:>10.0} {:>9.1} {:>9.1} {:>10.1} {:>10.1} {:>8.1} {:>8.1} {:>6} {:>6} {:>6}",
        case.name,
        ands,
        setup * 1e3,
        online * 1e3,
        ands / online / 1e6,
        ands / total / 1e6,
        median(|run| run[2] + run[4]) / 1e6,
        median(|run| run[3] + run[5]) / 1e6,
        median(|run| run[6]),
        ours.peak / 1024,
        theirs.peak / 1024,
    )
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Million AES blocks a second of openssl on one core, if it is there.
fn openssl() -> Option<f64> {
    let run =
        Command::new("openssl").args(["speed", "-seconds", "1", "-bytes", "8192", "-evp", "aes-128-ctr"]).output();
    let text = String::from_utf8(run.ok()?.stdout).ok()?;
    let figure = text.lines().last()?.split_whitespace().last()?.trim_end_matches('k').parse::<f64>().ok()?;
    Some(figure * 1000.0 / 16.0 / 1e6)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [flag, name, who, address] = &arguments[..]
        && flag == "--party"
    {
        return party(name, if who == "alice" { Party::Alice } else { Party::Bob }, address);
    }
    let keys = tempfile::tempdir().expect("a folder for keys");
    for party in [Party::Alice, Party::Bob] {
        Identity::generate().and_then(|key| key.save(keys.path().join(party.to_string()))).expect("a key");
    }
    // Inherited by the processes of both parties.
    let this = std::env::current_exe().expect("this program");
    if std::env::var_os("DUOLOGUE_BENCH_KEYS").is_none() {
        let status = Command::new(this).args(&arguments).env("DUOLOGUE_BENCH_KEYS", keys.path()).status();
        std::process::exit(status.ok().and_then(|status| status.code()).unwrap_or(1));
    }
    println!("medians; Alice's times and bytes; R = openssl's AES-128-CTR, million blocks a second on one core");
    println!(
        "{:<24} {:>10} {:>9} {:>9} {:>10} {:>10} {:>8} {:>8} {:>6} {:>6} {:>6}",
        "case",
        "ANDs",
        "setup ms",
        "online ms",
        "M/s online",
        "M/s total",
        "MB sent",
        "MB recv",
        "rounds",
        "MB a",
        "MB b"
    );
    for case in cases().iter().filter(|case| arguments.is_empty() || arguments.iter().any(|a| case.name.contains(a))) {
        let r = openssl().map_or("-".into(), |r| format!("{r:.0}"));
        println!("{}   R = {r}", measure(case));
    }
}
