//! Measures both parties of a private function of random gates over TCP on this machine, in two processes:
//! `cargo run --release -p duologue-pfe --example measure_private -- GATES [random|chain] [RUNS] [THREADS] [LINK]`. The first
//! run is one at once, of each other one setup comes ahead.

mod common;

use common::{INPUTS, data, used};
use duologue::channel::{Channel, Limits, Link, Listener, Security};
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node};
use kernels::Block;
use kernels::generator::Generator;
use pfe::{Alice, Bob, Padding, Threads, Wired};
use std::error::Error;
use std::process::{Command, Stdio};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// ANDs of two bits: uniform among all earlier ones, or the last one and one of those before.
fn function(gates: usize, chain: bool) -> Result<Function> {
    let mut rng = Generator::from_seed(Block::new(20));
    let mut nodes = vec![Node::False];
    nodes.extend([Node::Input; INPUTS]);
    for _ in 0..gates {
        let mut draw = [0; 3];
        rng.words(&mut draw);
        let before = |word: u64| Bit::new(1 + (word % (nodes.len() as u64 - 1)) as u32, word >> 63 == 1);
        let last = Bit::new(nodes.len() as u32 - 1, false);
        let (x, y) = (if chain { last } else { before(draw[0]) }, before(draw[1]));
        nodes.push(Node::Majority([Bit::constant(draw[2] & 1 == 1), x, y]));
    }
    let outputs = (nodes.len() - 32..nodes.len()).map(|node| Bit::new(node as u32, false)).collect();
    Ok(Function::new(nodes, outputs)?)
}

/// What is measured; Bob is told the same, and where Alice listens.
struct Measured {
    words: Vec<String>,
    gates: usize,
    chain: bool,
    runs: u32,
    threads: usize,
    link: Option<Link>,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, default: &'static str| words.get(at).map_or(default, String::as_str);
    let measured = Measured {
        gates: word(0, "10000").parse()?,
        chain: word(1, "random") == "chain",
        runs: word(2, "2").parse()?,
        threads: word(3, "1").parse()?,
        link: (word(4, "none") != "none").then(|| word(4, "none").parse()).transpose()?,
        words: [word(0, "10000"), word(1, "random"), word(2, "2"), word(3, "1"), word(4, "none")]
            .map(Into::into)
            .into(),
    };
    match words.get(5) {
        Some(address) => bob(address, &measured),
        None => alice(&measured),
    }
}

fn over(channel: Channel, link: &Option<Link>) -> Result<Channel> {
    Ok(match link {
        Some(link) => channel.shaped(*link)?,
        None => channel,
    })
}

fn alice(measured: &Measured) -> Result<()> {
    let (begin, function) = (Instant::now(), function(measured.gates, measured.chain)?);
    println!("{} gates in {} layers, made in {:.2?}", measured.gates, function.layers().len(), begin.elapsed());
    println!("alice, before the run: {}", used());
    let mut wired = Wired::new(function, Padding::default())?;
    let mut listener = Listener::bind("127.0.0.1:0")?;
    let mut other = Command::new(std::env::current_exe()?)
        .args(&measured.words)
        .arg(listener.local_addr()?.to_string())
        .stdin(Stdio::null())
        .spawn()?;
    let channel = listener.accept(&Security::PlaintextForBenchmarks, &Limits::default())?;
    let mut alice = Alice::connect(over(channel, &measured.link)?, &mut wired, measured.runs)?;
    alice.compute_on(Threads::new(measured.threads)?);
    while alice.serve()? {
        println!("alice, so far: {}", used());
    }
    alice.close()?;
    other.wait()?;
    Ok(())
}

fn bob(address: &str, measured: &Measured) -> Result<()> {
    let function = function(measured.gates, measured.chain)?;
    let channel = Channel::connect(address, &Security::PlaintextForBenchmarks, &Limits::default())?;
    println!("bob, before the run: {}", used());
    let mut bob = Bob::connect(over(channel, &measured.link)?, INPUTS as u32)?;
    bob.limit(measured.runs);
    bob.compute_on(Threads::new(measured.threads)?);
    let x = data();
    for run in 0..measured.runs {
        let begin = Instant::now();
        let result = if run == 0 {
            bob.run(&x)?
        } else {
            let mut prepared = bob.prepare()?;
            println!("run {run}, setup {:.3?}", begin.elapsed());
            let begin = Instant::now();
            let result = prepared.run(&x)?;
            println!("run {run}, online {:.3?}", begin.elapsed());
            result
        };
        assert_eq!(result, function.evaluate(&x), "the function on plain bits");
        println!("run {run}, in all {:.3?}", begin.elapsed());
        println!("bob, so far: {}", used());
    }
    let counters = bob.close()?;
    println!("bob sent {} bytes and received {}", counters.bytes_sent, counters.bytes_received);
    Ok(())
}
