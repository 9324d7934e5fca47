//! Base OTs on one core.

use crate::failure::Failure;
use crate::verbs::bench::machine::{median, stay_on};
use duologue::Party;
use duologue::ot::{BaseOtSetup, Directions, base};
use std::thread;
use std::time::Instant;

/// Milliseconds of one party for 128 base OTs, the slower of both; and for the set-up of a session, 128 in each
/// direction, likewise. Medians.
pub fn measure(runs: u32, core: Option<usize>) -> Result<[f64; 2], Failure> {
    let measured = thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            stay_on(core);
            let samples = (0..runs).map(|_| sample()).collect::<duologue::Result<Vec<_>>>()?;
            Ok([0, 1].map(|which| median(samples.iter().map(|sample| sample[which]).collect())))
        });
        measuring.join().unwrap_or_else(|_| Err(duologue::Error::usage("the measuring thread failed")))
    });
    Ok(measured?)
}

fn sample() -> duologue::Result<[f64; 2]> {
    const SESSION: [u8; 32] = [7; 32];
    let choices: Vec<_> = (0..128).map(|i| (i % 3 % 2).into()).collect();
    let (started, (sender, from_sender)) = timed(|| base::Sender::start(&SESSION, 128))?;
    let (chosen, (receiver, from_receiver)) = timed(|| base::Receiver::start(&SESSION, &choices))?;
    let (sent, (dealt, answer)) = timed(|| sender.answer(&from_receiver))?;
    let (received, taken) = timed(|| receiver.finish(&from_sender, &answer))?;
    let (proven, ()) = timed(|| dealt.proof.check(taken.proof.as_bytes()))?;
    let start = |party| timed(move || BaseOtSetup::start(party, &SESSION, Directions::Both));
    let (alice_begun, (alice, from_alice)) = start(Party::Alice)?;
    let (bob_begun, (bob, from_bob)) = start(Party::Bob)?;
    let (alice_answered, (alice, _)) = timed(|| alice.answer(&from_bob))?;
    let (bob_answered, (_, answer)) = timed(|| bob.answer(&from_alice))?;
    let (ended, _) = timed(|| alice.finish(&answer))?;
    Ok([
        (started + sent + proven).max(chosen + received),
        (alice_begun + alice_answered + ended).max(bob_begun + bob_answered),
    ])
}

/// Milliseconds, and what was made in them.
fn timed<T>(work: impl FnOnce() -> duologue::Result<T>) -> duologue::Result<(f64, T)> {
    let start = Instant::now();
    let made = work()?;
    Ok((start.elapsed().as_secs_f64() * 1e3, made))
}
