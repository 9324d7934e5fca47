//! Protocols on a stopwatch, without a channel: what benchmarks measure beside whole sessions.
//!
//! Both parties of one program run in this process by the executors and protocols that sessions run, with correlations
//! of a dealer instead of makers. They take turns: while one computes the other waits, so that each may have the core
//! for itself, and the time in which bytes pass between them counts for nobody. Nothing here protects anything: both
//! parties' secrets are in one place, and none of it can become part of a session.

use crate::clock::Instant;
use crate::correlation::{Demand, Stock, Triples};
use crate::executor::{Engine, Feeds, Link, Phase, PlanCache, Program};
use crate::ot::Side;
use crate::outbox::{Inbox, Outbox};
use crate::protocol::terms::{Options, Terms};
use crate::protocol::{Base, KeySource};
use crate::threads::Threads;
use crate::{Error, Inputs, Outputs, Party, Result};
use circuit::Schedule;
use circuit::program::{Binding, Owner};
use kernels::Block;
use kernels::generator::Generator;
use kernels::nontemporal::store_nontemporal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The times that both parties computed, without waiting, and their results.
pub struct Alone {
    /// Times that Alice and Bob computed online, without those in which they waited for each other.
    pub times: [Duration; 2],
    /// Who garbled, if it was Yao.
    pub garbler: Party,
    /// AND gates over all lanes.
    pub ands: u64,
    /// The outputs of Alice and of Bob.
    pub outputs: [Outputs; 2],
}

/// Runs a program's online phase on the inputs of both parties and the public ones: of GMW with the triples drawn, of
/// Yao with garbling, its setup being streamed. Each party has so many threads, which stay on the core of the caller if
/// that has one: if there are more, it must not.
///
/// # Errors
/// [`Error::Usage`] if an input is missing or misshapen, or is shared.
pub fn alone(binding: &Binding, options: &Options, inputs: &Inputs, threads: usize) -> Result<Alone> {
    if binding.inputs().iter().any(|port| port.who == Owner::Shared) {
        return Err(Error::usage("a program with shared inputs is not measured alone"));
    }
    if binding.program().has_calls() {
        return Err(Error::usage("a program with calls is not measured alone"));
    }
    let (terms, schedule) = Terms::resolve(binding, options)?;
    let (garbler, ands) = (terms.garbler, schedule.totals.and0);
    let job = (Arc::new(binding.clone()), Arc::new(schedule));
    let feeds = [Party::Alice, Party::Bob].map(|party| inputs.feeds(binding, |who| who != Owner::Party(party.peer())));
    let [alice, bob] = feeds;
    let threads = [Threads::new(threads)?, Threads::new(threads)?];
    let both = Both { binding, terms, job, feeds: [alice?, bob?], threads, dealer: crate::ot::os_generator()? };
    let [(alice, from_alice), (bob, from_bob)] = both.run()?;
    Ok(Alone { times: [alice, bob], garbler, ands, outputs: [from_alice, from_bob] })
}

/// A program with the inputs of both.
struct Both<'a> {
    binding: &'a Binding,
    terms: Terms,
    job: (Arc<Binding>, Arc<Schedule>),
    feeds: [Feeds; 2],
    threads: [Threads; 2],
    dealer: Generator,
}

type Took = (Duration, Outputs);

/// Keys that a dealer gave both parties.
struct DealtKeys<'a> {
    party: Party,
    dealer: &'a Generator,
    plans: &'a PlanCache,
    /// Bytes of the party whose engine is made first.
    mail: &'a Mutex<Vec<u8>>,
}

impl KeySource for DealtKeys<'_> {
    fn party(&self) -> Party {
        self.party
    }

    fn session(&self) -> [u8; 32] {
        [0; 32]
    }

    fn ordinal(&self) -> u64 {
        0
    }

    fn base(&self) -> Base {
        Base::default()
    }

    fn delta(&mut self) -> Result<Block> {
        Ok(delta(self.dealer))
    }

    fn own(&self, label: &[u8; 8]) -> Generator {
        self.dealer.derive(b"party   ", self.party as u64).derive(label, 0)
    }

    fn pairwise(&self, label: &[u8; 8], number: u64) -> Generator {
        self.dealer.derive(b"pairwise", 0).derive(label, number)
    }

    fn plans(&self) -> &PlanCache {
        self.plans
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(())
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<()> {
        let sent = std::mem::take(&mut *self.mail.lock().unwrap_or_else(PoisonError::into_inner));
        if sent.len() != bytes.len() {
            return Err(Error::usage("the parties of a measurement open a program differently"));
        }
        bytes.copy_from_slice(&sent);
        Ok(())
    }
}

/// Δ of both parties' COTs.
fn delta(dealer: &Generator) -> Block {
    dealer.derive(b"delta   ", 0).block().with_lsb(true)
}

impl Both<'_> {
    fn run(&self) -> Result<[Took; 2]> {
        let (plans, mail) = (PlanCache::default(), Mutex::default());
        let engine = |party| self.engine(DealtKeys { party, dealer: &self.dealer, plans: &plans, mail: &mail });
        // The garbler opens the program.
        let (first, other) = (engine(self.terms.garbler)?, engine(self.terms.garbler.peer())?);
        let (alice, bob) = if self.terms.garbler == Party::Alice { (first, other) } else { (other, first) };
        let [alices, bobs] = self.stocks(alice.demand());
        self.race((alice, alices), (bob, bobs))
    }

    /// A party, whose setup is ahead unless it is garbling, which is to be measured.
    fn engine(&self, mut keys: DealtKeys<'_>) -> Result<Box<dyn Engine>> {
        let (party, descriptor) = (keys.party, self.terms.scheme.descriptor());
        let terms = Terms { ahead: !descriptor.has_garbler(), ..self.terms };
        let program = Program {
            party: Some(party),
            binding: self.job.0.clone(),
            schedule: self.job.1.clone(),
            window: terms.window,
            ahead: terms.ahead,
            public: self.feeds[party as usize].clone(),
            threads: self.threads[party as usize].clone(),
        };
        descriptor.engine(&terms, program, &mut keys)
    }

    /// Both parties' halves of what is demanded; COTs have one Δ in either direction.
    fn stocks(&self, demand: Demand) -> [Stock; 2] {
        let delta = delta(&self.dealer);
        let mut stocks = [Stock::new(Party::Alice), Stock::new(Party::Bob)];
        for sender in [Party::Alice, Party::Bob] {
            let [sent, received] = self.cots(demand.cots_by(sender) as usize, delta, sender);
            stocks[sender as usize].put_cots(Side::Sender, sent);
            stocks[sender.peer() as usize].put_cots(Side::Receiver, received);
        }
        for (stock, triples) in stocks.iter_mut().zip(&self.triples(demand.triples as usize)) {
            stock.put_triples(triples);
        }
        stocks
    }

    /// q, whose lowest bits are zero, and t = q ⊕ r·Δ, whose lowest bits are r.
    fn cots(&self, count: usize, delta: Block, sender: Party) -> [Vec<Block>; 2] {
        let mut sent = vec![Block::ZERO; count];
        self.dealer.derive(b"cots    ", sender as u64).fill_blocks(&mut sent);
        let choices: Vec<bool> = sent.iter().map(|block| block.lsb()).collect();
        sent.iter_mut().for_each(|block| *block = block.with_lsb(false));
        let received = sent.iter().zip(choices).map(|(&q, r)| q ^ (delta & Block::mask(r))).collect();
        [sent, received]
    }

    fn triples(&self, len: usize) -> [Triples; 2] {
        let mut stream = self.dealer.derive(b"triples ", 0);
        let mut bits = || {
            let mut words = vec![0; len.div_ceil(64)];
            stream.words(&mut words);
            if !len.is_multiple_of(64) {
                words.last_mut().into_iter().for_each(|last| *last &= (1 << (len % 64)) - 1);
            }
            words
        };
        let [a, b, a1, b1, c] = [(); 5].map(|()| bits());
        let c1 = (0..c.len()).map(|i| (a[i] ^ a1[i]) & (b[i] ^ b1[i]) ^ c[i]).collect();
        [Triples { a, b, c, len }, Triples { a: a1, b: b1, c: c1, len }]
    }

    /// Alice and Bob, each in a thread.
    fn race(&self, alice: (Box<dyn Engine>, Stock), bob: (Box<dyn Engine>, Stock)) -> Result<[Took; 2]> {
        let table = Table::default();
        let [alices, bobs] = [0, 1].map(|us| Seat { table: &table, us, busy: Duration::ZERO, since: Instant::now() });
        let both = thread::scope(|scope| {
            let bob = scope.spawn(move || self.party(bob, bobs));
            let alice = self.party(alice, alices);
            (alice, bob.join().unwrap_or_else(|_| Err(Error::usage("a thread ended"))))
        });
        Ok([both.0?, both.1?])
    }

    fn party(&self, (mut engine, mut stock): (Box<dyn Engine>, Stock), mut seat: Seat) -> Result<Took> {
        engine.setup(&mut stock, &mut seat)?;
        seat.away(Table::wait_for_turn)?;
        seat.busy = Duration::ZERO;
        let ran = engine.online(&self.feeds[seat.us], &mut stock, &mut seat)?;
        seat.stop();
        Ok((seat.busy, Outputs::new(self.binding, ran.outputs)))
    }
}

/// The link between the parties: bytes that were not read yet, and whose turn it is.
#[derive(Default)]
struct Table {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    turn: usize,
    gone: [bool; 2],
    /// Bytes of each party, and how many of them the other has read.
    mail: [(Outbox, usize); 2],
    /// How often the turn passed since the last byte was sent.
    idle: usize,
}

/// Bytes that a party sends before it is the other's turn.
const TURN: usize = 16 << 20;

impl Table {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_turn(&self, us: usize) -> Result<()> {
        let mut state = self.state();
        while state.turn != us {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// Lets the other party go on until it is our turn again.
    fn pass(&self, us: usize) -> Result<()> {
        let mut state = self.state();
        if state.gone[1 - us] {
            return Ok(());
        }
        state.idle += 1;
        if state.idle > 2 {
            return Err(Error::usage("both parties wait"));
        }
        state.turn = 1 - us;
        self.changed.notify_all();
        drop(state);
        self.wait_for_turn(us)
    }

    fn send(&self, us: usize, bytes: &[u8]) -> Result<()> {
        let mut state = self.state();
        state.idle = 0;
        let (mail, read) = &mut state.mail[us];
        lay_down(bytes, mail.room(bytes.len()));
        let full = mail.len() - *read > TURN;
        drop(state);
        if full { self.pass(us) } else { Ok(()) }
    }

    fn receive(&self, us: usize, out: &mut [u8]) -> Result<()> {
        loop {
            let mut state = self.state();
            let (mail, read) = &mut state.mail[1 - us];
            if mail.len() - *read >= out.len() {
                out.copy_from_slice(&mail[*read..][..out.len()]);
                *read += out.len();
                if *read == mail.len() {
                    mail.clear();
                    *read = 0;
                }
                return Ok(());
            }
            if state.gone[1 - us] {
                return Err(Error::usage("the other party is gone"));
            }
            drop(state);
            self.pass(us)?;
        }
    }
}

/// Copies past the caches where it can: what a party has there, it would have without us.
fn lay_down(bytes: &[u8], room: &mut [u8]) {
    match (bytemuck::try_cast_slice(bytes), bytemuck::try_cast_slice_mut(room)) {
        (Ok(blocks), Ok(room)) => store_nontemporal(blocks, room),
        _ => room.copy_from_slice(bytes),
    }
}

/// A party at the table, and its stopwatch.
struct Seat<'a> {
    table: &'a Table,
    us: usize,
    busy: Duration,
    since: Instant,
}

impl Seat<'_> {
    fn stop(&mut self) {
        self.busy += self.since.elapsed();
    }

    /// Does something that does not count.
    fn away(&mut self, work: impl FnOnce(&Table, usize) -> Result<()>) -> Result<()> {
        self.stop();
        let done = work(self.table, self.us);
        self.since = Instant::now();
        done
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut state = self.table.state();
        state.gone[self.us] = true;
        state.turn = 1 - self.us;
        self.table.changed.notify_all();
    }
}

impl Link for Seat<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() { Ok(()) } else { self.away(|table, us| table.send(us, bytes)) }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// The watch stands meanwhile.
    fn overlaps(&self) -> bool {
        false
    }

    fn receive(&mut self, count: usize, inbox: &mut Inbox) -> Result<()> {
        let room = inbox.only(count);
        if count == 0 { Ok(()) } else { self.away(|table, us| table.receive(us, room)) }
    }

    /// The dealer gave all.
    fn supply(&mut self, _: &mut Stock, _: Demand, _: Demand) -> Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: Phase, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scheme, plain};
    use circuit::blocks::{self, Goal};
    use circuit::{BitMatrix, Program};

    #[test]
    fn both_protocols_compute_what_plain_does() {
        let aes = blocks::find("aes128").unwrap().circuit(&[], Goal::Size).unwrap();
        let program = Program::of_circuit(&aes, &[Owner::Party(Party::Alice), Owner::Party(Party::Bob)]);
        for lanes in [1, 70, 1000] {
            let binding = program.bind(&[("lanes", lanes)]).unwrap();
            let input = |seed: u64| {
                let mut bits = BitMatrix::zeros(128, lanes as usize);
                Generator::from_seed(Block::new(seed.into())).words(bits.words_mut());
                bits.clear_padding();
                bits
            };
            let inputs = Inputs::new().with("key", input(1)).with("block", input(2));
            let expected = plain::run(&binding, &inputs).unwrap();
            for (scheme, threads) in Scheme::ALL.iter().flat_map(|&scheme| [(scheme, 1), (scheme, 2)]) {
                let run = alone(&binding, &Options::new(scheme), &inputs, threads).unwrap();
                assert!(run.outputs.iter().all(|outputs| outputs.get("out") == expected.get("out")), "{scheme}");
                assert_eq!(run.ands, 6400 * lanes);
                assert!(run.times.iter().all(|time| !time.is_zero()));
            }
        }
    }

    #[test]
    fn who_waits_for_nobody_is_told() {
        let table = Table::default();
        let mut alice = Seat { table: &table, us: 0, busy: Duration::ZERO, since: Instant::now() };
        drop(Seat { table: &table, us: 1, busy: Duration::ZERO, since: Instant::now() });
        assert!(alice.receive(1, &mut Inbox::default()).is_err());
    }
}
