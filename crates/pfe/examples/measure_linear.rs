//! Measures both parties of Katz and Malka's protocol on random NANDs over TCP on this machine, in two processes:
//! `cargo run --release -p duologue-pfe --example measure_linear -- elgamal|bfv|djn GATES [random|chain]`.

mod common;

use common::{INPUTS, data, used};
use duologue::channel::{Channel, Limits, Listener, Security};
use duologue::circuit::Bit;
use duologue::circuit::private::{Function, Node};
use he::bfv::Bfv;
use he::djn::Djn;
use he::elgamal::ElGamal;
use kernels::Block;
use kernels::generator::Generator;
use pfe::linear::{Alice, Bob, Linear, Netlist};
use std::error::Error;
use std::process::{Command, Stdio};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// NANDs of two wires: uniform among all earlier ones, or the last one and one of those before. The last 32 are the outputs.
fn netlist(gates: usize, chain: bool) -> Result<Netlist> {
    let mut rng = Generator::from_seed(Block::new(20));
    let mut nodes = vec![Node::False];
    nodes.extend([Node::Input; INPUTS]);
    let bit = |node: usize| Bit::new(node as u32, node > INPUTS);
    for number in 0..gates {
        let mut draw = [0; 2];
        rng.words(&mut draw);
        let earlier = number.min(gates - 32) + INPUTS;
        let before = |word: u64| bit(1 + (word % earlier as u64) as usize);
        let x = if chain { bit(earlier) } else { before(draw[0]) };
        nodes.push(Node::Majority([Bit::FALSE, x, before(draw[1])]));
    }
    let outputs = (nodes.len() - 32..nodes.len()).map(bit).collect();
    Ok(Netlist::new(&Function::new(nodes, outputs)?, None)?)
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("elgamal") => both::<ElGamal>(&args),
        Some("bfv") => both::<Bfv>(&args),
        Some("djn") => both::<Djn>(&args),
        _ => Err("elgamal, bfv or djn".into()),
    }
}

fn both<S: Linear>(args: &[String]) -> Result<()> {
    let gates: usize = args.get(1).map_or(Ok(1000), |gates| gates.parse())?;
    let shape = args.get(2).map_or("random", String::as_str);
    let netlist = netlist(gates, shape == "chain")?;
    match args.get(3) {
        Some(address) => bob::<S>(address, &netlist),
        None => alice::<S>(args, shape, &netlist),
    }
}

fn alice<S: Linear>(args: &[String], shape: &str, netlist: &Netlist) -> Result<()> {
    println!("{} gates", netlist.sizes().gates);
    let mut listener = Listener::bind("127.0.0.1:0")?;
    let words = [&args[0], &args[1], shape, &listener.local_addr()?.to_string()];
    let mut other = Command::new(std::env::current_exe()?).args(words).stdin(Stdio::null()).spawn()?;
    let channel = listener.accept(&Security::PlaintextForBenchmarks, &Limits::default())?;
    let mut alice = Alice::<S>::connect(channel, netlist, 2)?;
    while alice.serve()? {}
    alice.close()?;
    other.wait()?;
    println!("alice: {}", used());
    Ok(())
}

fn bob<S: Linear>(address: &str, netlist: &Netlist) -> Result<()> {
    let channel = Channel::connect(address, &Security::PlaintextForBenchmarks, &Limits::default())?;
    let mut bob = Bob::<S>::connect(channel, INPUTS as u32)?;
    let begin = Instant::now();
    bob.make_key()?;
    println!("key {:.3?}", begin.elapsed());
    let x = data();
    let begin = Instant::now();
    let result = bob.run(&x)?;
    println!("at once {:.3?}", begin.elapsed());
    assert_eq!(result, netlist.evaluate(&x), "the function on plain bits");
    let begin = Instant::now();
    let mut prepared = bob.prepare()?;
    println!("setup {:.3?}", begin.elapsed());
    let begin = Instant::now();
    let result = prepared.run(&x)?;
    println!("online {:.3?}", begin.elapsed());
    assert_eq!(result, netlist.evaluate(&x), "the function on plain bits");
    drop(prepared);
    let (sent, received) = {
        let counters = bob.close()?;
        (counters.bytes_sent, counters.bytes_received)
    };
    let gates = netlist.sizes().gates as f64;
    println!(
        "bob, two runs: {sent} bytes sent, {received} received; {:.1} a gate",
        (sent + received) as f64 / gates / 2.0
    );
    println!("bob: {}", used());
    Ok(())
}
