//! Who is richer? Two parties in one process, each in a thread of its own.
//!
//! ```text
//! cargo run --release --example millionaires
//! ```

use duologue::channel::Channel;
use duologue::circuit::{Binding, Program, blocks, uint};
use duologue::{Inputs, Options, Party, Result, Scheme, Session, data};

/// Alice and Bob have a number of 32 bits each; both learn whether hers is greater, nothing else.
fn millionaires() -> std::result::Result<Binding, duologue::circuit::Error> {
    let mut p = Program::new("millionaires");
    let hers = p.input("alice", Party::Alice, uint(32), 1);
    let his = p.input("bob", Party::Bob, uint(32), 1);
    let greater = blocks::find("greater")?.circuit(&[32], blocks::Goal::Depth)?;
    let richer = p.map(&greater, &[hers, his]);
    p.output("alice is richer", duologue::circuit::program::Recipient::Both, richer);
    p.bind(&[])
}

/// What one party does: it knows the program, its own fortune and a channel to the other.
fn play(channel: Channel, party: Party, fortune: u64, job: &Binding) -> Result<[bool; 2]> {
    let mut session = Session::connect(channel, party)?;
    let inputs = Inputs::new().with(&party.to_string(), data::uints(32, &[fortune])?);
    let mut richer = |scheme| -> Result<bool> {
        let outcome = session.run(job, &Options::new(scheme), &inputs)?;
        let (ands, online) = (outcome.report.ands, outcome.report.online);
        println!("{party} by {scheme}: {ands} ANDs, {} bytes sent and {} rounds online", online.sent, online.rounds);
        let output = outcome.outputs.get("alice is richer").expect("an output for both");
        Ok(data::to_uints(output)? == [1])
    };
    Ok([richer(Scheme::Yao)?, richer(Scheme::Gmw)?])
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let job = millionaires()?;
    let (to_bob, to_alice) = Channel::pair();
    let (alice, bob) = std::thread::scope(|scope| {
        let bob = scope.spawn(|| play(to_alice, Party::Bob, 1_000_000, &job));
        let alice = play(to_bob, Party::Alice, 2_000_000, &job);
        (alice, bob.join().expect("no panic"))
    });
    assert_eq!(alice?, [true; 2]);
    assert_eq!(bob?, [true; 2]);
    println!("alice is richer");
    Ok(())
}
