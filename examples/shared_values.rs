//! An account that nobody can read: what one program leaves as shares, the next one takes up.
//!
//! After each program either party holds one XOR share of the balance, which alone is noise. Shares
//! do not depend on the protocol, so that each program may run by another one.
//!
//! ```text
//! cargo run --release --example shared_values
//! ```

use duologue::channel::Channel;
use duologue::circuit::program::{Owner, Recipient};
use duologue::circuit::{Binding, BitMatrix, Program, blocks, uint};
use duologue::{Inputs, Options, Party, Result, Scheme, Session, data};

const BITS: u32 = 32;

struct Programs {
    /// shared balance + what Alice deposits -> shared balance
    deposit: Binding,
    /// shared balance > what Bob asks for -> Bob
    covers: Binding,
}

fn programs() -> std::result::Result<Programs, duologue::circuit::Error> {
    let block = |name| blocks::find(name)?.circuit(&[BITS], blocks::Goal::Depth);

    let mut p = Program::new("deposit");
    let balance = p.input("balance", Owner::Shared, uint(BITS), 1);
    let amount = p.input("amount", Party::Alice, uint(BITS), 1);
    let sum = p.map(&block("add")?, &[balance, amount]);
    p.output("balance", Recipient::Shared, sum);
    let deposit = p.bind(&[])?;

    let mut p = Program::new("covers");
    let balance = p.input("balance", Owner::Shared, uint(BITS), 1);
    let price = p.input("price", Party::Bob, uint(BITS), 1);
    let enough = p.map(&block("greater_or_equal")?, &[balance, price]);
    p.output("enough", Party::Bob, enough);
    let covers = p.bind(&[])?;

    Ok(Programs { deposit, covers })
}

fn number(value: u64) -> Result<BitMatrix> {
    data::uints(BITS as usize, &[value])
}

/// One party's whole session: its share of the balance at the end, and what Bob learned.
fn play(channel: Channel, party: Party, programs: &Programs) -> Result<(BitMatrix, Vec<Vec<u64>>)> {
    let mut session = Session::connect(channel, party)?;
    // Zero is shared as zero and zero.
    let mut balance = number(0)?;
    for (amount, scheme) in [(300, Scheme::Gmw), (45, Scheme::Yao)] {
        let mut inputs = Inputs::new().with("balance", balance);
        if party == Party::Alice {
            inputs.set("amount", number(amount)?);
        }
        let outcome = session.run(&programs.deposit, &Options::new(scheme), &inputs)?;
        balance = outcome.outputs.get("balance").expect("a share").clone();
    }

    let mut learned = Vec::new();
    for price in [345, 346] {
        let mut inputs = Inputs::new().with("balance", balance.clone());
        if party == Party::Bob {
            inputs.set("price", number(price)?);
        }
        let outcome = session.run(&programs.covers, &Options::new(Scheme::Gmw), &inputs)?;
        learned.extend(outcome.outputs.get("enough").map(data::to_uints).transpose()?);
    }
    session.close()?;
    Ok((balance, learned))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let programs = programs()?;
    let (to_bob, to_alice) = Channel::pair();
    let (alice, bob) = std::thread::scope(|scope| {
        let bob = scope.spawn(|| play(to_alice, Party::Bob, &programs));
        let alice = play(to_bob, Party::Alice, &programs);
        (alice, bob.join().expect("no panic"))
    });
    let ((hers, nothing), (his, learned)) = (alice?, bob?);
    assert_eq!(data::to_uints(&hers)?[0] ^ data::to_uints(&his)?[0], 345);
    assert_eq!((nothing, learned), (vec![], vec![vec![1], vec![0]]));
    println!("the balance covers 345, but not 346");
    Ok(())
}
