//! Who of many users is near and shares the most interests? A mobile social network without a trusted server.
//!
//! Alice knows where she is and what she likes, Bob knows his users. She learns the number of one user, he learns
//! nothing.
//!
//! ```text
//! cargo run --release --example nearby_friends
//! ```

use apps::social::social;
use duologue::channel::Channel;
use duologue::circuit::Binding;
use duologue::circuit::blocks::Goal;
use duologue::{Inputs, Options, Party, Result, Scheme, Session, data};

/// Interests, a bit each: climbing, films, chess, cooking, music.
const INTERESTS: usize = 5;

/// Users by their coordinates in metres and their interests.
const USERS: [(u64, u64, u64); 4] =
    [(1_200, 3_400, 0b11111), (500, 720, 0b00110), (480, 650, 0b10110), (510, 690, 0b01110)];

fn alice() -> Result<Inputs> {
    Ok(Inputs::new()
        .with("x", data::uints(16, &[500])?)
        .with("y", data::uints(16, &[700])?)
        .with("interests", data::uints(INTERESTS, &[0b01110])?)
        .with("limit", data::uints(17, &[100])?))
}

fn bob() -> Result<Inputs> {
    Ok(Inputs::new()
        .with("user_x", data::uints(16, &USERS.map(|user| user.0))?)
        .with("user_y", data::uints(16, &USERS.map(|user| user.1))?)
        .with("user_interests", data::uints(INTERESTS, &USERS.map(|user| user.2))?))
}

/// The user whom a party learns of.
fn play(channel: Channel, party: Party, job: &Binding, inputs: &Inputs) -> Result<Option<u64>> {
    let mut session = Session::connect(channel, party)?;
    let outcome = session.run(job, &Options::new(Scheme::Gmw), inputs)?;
    session.close()?;
    let learnt = |name| outcome.outputs.get(name).map(data::to_uints).transpose();
    let (found, user) = (learnt("found")?, learnt("user")?);
    Ok(user.filter(|_| found == Some(vec![1])).map(|user| user[0]))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let job = social(INTERESTS as u32, 16, Goal::Depth).bind(&[("users", USERS.len() as u64)])?;
    let (to_bob, to_alice) = Channel::pair();
    let (hers, his) = (alice()?, bob()?);
    let (friend, nobody) = std::thread::scope(|scope| {
        let bob = scope.spawn(|| play(to_alice, Party::Bob, &job, &his));
        let friend = play(to_bob, Party::Alice, &job, &hers);
        (friend, bob.join().expect("no panic"))
    });
    // The first user shares more, but is far away.
    assert_eq!(friend?, Some(3));
    assert_eq!(nobody?, None, "Bob learns nothing");
    println!("alice should meet user 3");
    Ok(())
}
