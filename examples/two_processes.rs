//! Two processes over TCP and TLS, each with a key of its own. The program starts itself again as
//! Bob.
//!
//! Between two machines it is the same: each side runs its half, and the public keys travel
//! beforehand by a way that both trust (a phone call, a signed mail), as with SSH.
//!
//! ```text
//! cargo run --release --example two_processes
//! ```

use duologue::channel::{Channel, Identity, Limits, Listener, PublicKey, Security};
use duologue::circuit::{Binding, Program, blocks, uint};
use duologue::{Inputs, Options, Party, Scheme, Session, data};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Alice has some numbers, Bob as many; she learns their sums.
fn sums(count: u64) -> Result<Binding> {
    let mut p = Program::new("sums");
    let numbers = p.size("numbers", 1..=1 << 20);
    let hers = p.input("alice", Party::Alice, uint(16), numbers);
    let his = p.input("bob", Party::Bob, uint(16), numbers);
    let add = blocks::find("add")?.circuit(&[16], blocks::Goal::Size)?;
    let sum = p.map(&add, &[hers, his]);
    p.output("sum", Party::Alice, sum);
    Ok(p.bind(&[("numbers", count)])?)
}

/// Listens, starts Bob, and trusts the key that he shows on his standard output.
fn alice() -> Result<()> {
    let identity = Arc::new(Identity::generate()?);
    let mut listener = Listener::bind("localhost:0")?;
    let mut bob = Command::new(std::env::current_exe()?)
        .args(["bob", &listener.local_addr()?.to_string(), &identity.public().to_string()])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut key = String::new();
    BufReader::new(bob.stdout.take().expect("a pipe")).read_line(&mut key)?;
    let security = Security::Tls { identity, peer: key.parse()? };

    let channel = listener.accept(&security, &Limits::default())?;
    let mut session = Session::connect(channel, Party::Alice)?;
    let inputs = Inputs::new().with("alice", data::uints(16, &[1, 2, 3])?);
    let outcome = session.run(&sums(3)?, &Options::new(Scheme::Yao), &inputs)?;
    session.close()?;

    let sums = data::to_uints(outcome.outputs.get("sum").expect("Alice's output"))?;
    assert_eq!(sums, [101, 202, 303]);
    assert!(bob.wait()?.success());
    println!("alice learned {sums:?}; bob learned nothing");
    Ok(())
}

/// Shows a new key, connects to Alice and expects hers.
fn bob(address: &str, peer: PublicKey) -> Result<()> {
    let identity = Arc::new(Identity::generate()?);
    println!("{}", identity.public());
    let security = Security::Tls { identity, peer };

    let channel = Channel::connect(address, &security, &Limits::default())?;
    let mut session = Session::connect(channel, Party::Bob)?;
    let inputs = Inputs::new().with("bob", data::uints(16, &[100, 200, 300])?);
    let outcome = session.run(&sums(3)?, &Options::new(Scheme::Yao), &inputs)?;
    session.close()?;
    assert!(outcome.outputs.get("sum").is_none());
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["bob", address, key] => bob(address, key.parse()?),
        _ => alice(),
    }
}
