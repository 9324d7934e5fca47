//! Measures both parties of a private function of random gates over TCP on this machine, in two processes:
//! `cargo run --release -p duologue-pfe --example measure_private -- GATES [random|chain] [RUNS]`.

use duologue::channel::{Channel, Limits, Listener, Security};
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node};
use kernels::Block;
use kernels::generator::Generator;
use pfe::{Alice, Bob, Padding, Wired};
use std::error::Error;
use std::process::{Command, Stdio};
use std::time::Instant;

const INPUTS: usize = 64;

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

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let gates: usize = args.first().map_or(Ok(10_000), |gates| gates.parse())?;
    let chain = args.get(1).is_some_and(|shape| shape == "chain");
    let runs: u32 = args.get(2).map_or(Ok(2), |runs| runs.parse())?;
    match args.get(3) {
        Some(address) => bob(address, &function(gates, chain)?, runs),
        None => alice(&args, gates, chain, runs),
    }
}

fn alice(args: &[String], gates: usize, chain: bool, runs: u32) -> Result<()> {
    let (begin, function) = (Instant::now(), function(gates, chain)?);
    println!("{gates} gates in {} layers, made in {:.2?}", function.layers().len(), begin.elapsed());
    let mut wired = Wired::new(function, Padding::default())?;
    let mut listener = Listener::bind("127.0.0.1:0")?;
    let shape = args.get(1).map_or("random", String::as_str);
    let words = [gates.to_string(), shape.to_owned(), runs.to_string(), listener.local_addr()?.to_string()];
    let mut other = Command::new(std::env::current_exe()?).args(words).stdin(Stdio::null()).spawn()?;
    let channel = listener.accept(&Security::PlaintextForBenchmarks, &Limits::default())?;
    let mut alice = Alice::connect(channel, &mut wired, runs)?;
    while alice.serve()? {}
    alice.close()?;
    other.wait()?;
    println!("alice: {}", used());
    Ok(())
}

fn bob(address: &str, function: &Function, runs: u32) -> Result<()> {
    let channel = Channel::connect(address, &Security::PlaintextForBenchmarks, &Limits::default())?;
    let mut bob = Bob::connect(channel, INPUTS as u32)?;
    let x: Vec<bool> = (0..INPUTS).map(|bit| 0x9e37_79b9_7f4a_7c15u64 >> bit & 1 == 1).collect();
    for run in 0..runs {
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
    }
    let counters = bob.close()?;
    println!("bob sent {} bytes and received {}", counters.bytes_sent, counters.bytes_received);
    println!("bob: {}", used());
    Ok(())
}

/// Time and memory of this process, where the system tells.
fn used() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0) / 100.0;
    format!("{:.2} s of processor, {peak}", ticks(11) + ticks(12))
}
