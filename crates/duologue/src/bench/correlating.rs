//! Makers of correlations on a stopwatch: both parties in turns, each with the threads that it is given, without a channel.

use super::Workers;
use crate::clock::Instant;
use crate::correlation::{Demand, Maker, RefillStep, Stock};
use crate::ot::{Extension, ReceiverSeeds, SenderSeeds, os_generator};
use crate::threads::Threads;
use crate::{Error, Party, Result};
use kernels::Block;
use kernels::generator::Generator;
use std::time::Duration;

/// What was made in a run, of whichever kind and direction, and the time of the party that took longer.
pub struct Correlated {
    /// How many.
    pub made: u64,
    /// The slower party's time, without those of exchanges.
    pub time: Duration,
}

/// Makes what is demanded so many times on base OTs of a dealer, in blocks as sessions do; a run that is not counted comes
/// first, in which memory is taken from the system and makers begin. Messages change hands with their memory, and what was
/// made is forgotten off the clock.
///
/// # Errors
/// [`Error::Io`] if there is no randomness, or no thread can be started.
pub fn correlating(
    extension: Extension,
    block: Demand,
    blocks: usize,
    workers: Workers,
    runs: usize,
) -> Result<Vec<Correlated>> {
    let rng = os_generator()?;
    let threads = Threads::placed(workers.count, workers.place)?;
    let [alice, bob] = [Party::Alice, Party::Bob].map(|party| {
        let makers = extension.makers_with(&rng.derive(b"maker   ", party as u64), seeds(&rng, party), &threads);
        (Maker::new(makers), Stock::new(party))
    });
    let mut parties = [alice, bob];
    let mut boxes = <[Vec<u8>; 4]>::default();
    let mut all = Vec::new();
    for _ in 0..=runs {
        let mut sum = Correlated { made: 0, time: Duration::ZERO };
        for _ in 0..blocks {
            let Correlated { made, time } = run(&mut parties, &mut boxes, block, &threads)?;
            sum = Correlated { made: sum.made + made, time: sum.time + time };
        }
        all.push(sum);
    }
    Ok(all.split_off(1))
}

/// A party's seeds of both directions: with the keys of one direction, which its Δ names, both of the other.
fn seeds(rng: &Generator, party: Party) -> (SenderSeeds, ReceiverSeeds) {
    let delta = |party: Party| rng.derive(b"delta   ", party as u64).block().with_lsb(true);
    let pairs = |sender: Party| {
        let mut stream = rng.derive(b"pairs   ", sender as u64);
        (0..128).map(|_| [stream.block(), stream.block()]).collect::<Vec<[Block; 2]>>()
    };
    let ours = pairs(party).into_iter().enumerate();
    let keys = ours.map(|(i, pair)| pair[(delta(party).get() >> i & 1) as usize]).collect();
    let id = |sender: Party| [sender as u8; 32];
    (SenderSeeds::dealt(id(party), delta(party), keys), ReceiverSeeds::dealt(id(party.peer()), pairs(party.peer())))
}

/// A refill of both parties, and the end of what it made.
fn run(
    [alice, bob]: &mut [(Maker, Stock); 2],
    [to_alice, to_bob, from_alice, from_bob]: &mut [Vec<u8>; 4],
    demand: Demand,
    threads: &Threads,
) -> Result<Correlated> {
    let mut times = [Duration::ZERO; 2];
    let mut refills = [alice.0.refill(&mut alice.1, demand), bob.0.refill(&mut bob.1, demand)];
    to_alice.clear();
    to_bob.clear();
    loop {
        let mut flows = [RefillStep::Done; 2];
        let turns = [(&mut *to_alice, &mut *from_alice), (&mut *to_bob, &mut *from_bob)];
        for (((refill, (inbox, outbox)), time), flow) in refills.iter_mut().zip(turns).zip(&mut times).zip(&mut flows) {
            outbox.clear();
            let since = Instant::now();
            *flow = threads.install(|| refill.step(inbox, outbox))?;
            *time += since.elapsed();
        }
        match flows {
            [RefillStep::Done, RefillStep::Done] => break,
            [RefillStep::Exchange { .. }, RefillStep::Exchange { .. }] => {
                std::mem::swap(to_alice, from_bob);
                std::mem::swap(to_bob, from_alice);
            }
            _ => return Err(Error::usage("one party goes on without the other")),
        }
    }
    drop(refills);
    let made = alice.1.available().total();
    for (_, stock) in [alice, bob] {
        stock.forget(&stock.available())?;
    }
    Ok(Correlated { made, time: times[0].max(times[1]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the parties hold is checked where they are those of a session; here they must agree to go on, as every check of
    /// theirs passes.
    #[test]
    fn as_many_are_made_as_were_demanded() {
        let demands = [Demand::of_cots(Party::Alice, 1000), Demand::of_cots(Party::Bob, 70), Demand::of_triples(1000)];
        for (demand, count) in demands.into_iter().flat_map(|demand| [(demand, 1), (demand, 2)]) {
            let runs = correlating(Extension::DEFAULT, demand, 3, Workers { count, place: |_| {} }, 2).unwrap();
            assert_eq!(runs.len(), 2);
            assert!(runs.iter().all(|run| run.made >= 3 * demand.total() && !run.time.is_zero()));
        }
    }
}
