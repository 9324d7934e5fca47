//! Protocols on a stopwatch, without a channel: what benchmarks measure beside whole sessions.
//!
//! Both parties of one program run in this process by the executors and protocols that sessions run, with correlations
//! of a dealer instead of makers. *In turns*, one computes while the other waits, so that each may have the core for
//! itself, and the time in which bytes pass between them counts for nobody; what a party of one thread writes stays in
//! its cache. *Cold*, each party runs from beginning to end on messages that were recorded: bytes change hands with
//! their memory, which is in no cache, so that nothing stops the watch and any number of threads are measured alike.
//! Nothing here protects anything: both parties' secrets are in one place, and none of it can become part of a session.

mod correlating;
#[cfg(feature = "net")]
mod moving;
mod replay;

pub use correlating::{Correlated, correlating};
#[cfg(feature = "net")]
pub use moving::bare;

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
    /// Who garbled, if anybody did.
    pub garbler: Party,
    pub garbles: bool,
    /// AND gates over all lanes.
    pub ands: u64,
    /// The outputs of Alice and of Bob.
    pub outputs: [Outputs; 2],
}

/// The threads of a party, and what each of them does when it starts: it may take a core for itself. One thread is the
/// caller's.
#[derive(Clone, Copy)]
pub struct Workers {
    /// How many.
    pub count: usize,
    /// Called by each thread with its number, if there are several.
    pub place: fn(usize),
}

/// Runs a program's online phase in turns on the inputs of both parties and the public ones: of GMW with the triples
/// drawn, of Yao with garbling, its setup being streamed.
///
/// # Errors
/// [`Error::Usage`] if an input is missing or misshapen, or is shared.
pub fn alone(binding: &Binding, options: &Options, inputs: &Inputs, workers: Workers) -> Result<Alone> {
    let both = Both::new(binding, options, inputs, workers)?;
    let taken = both.in_turns(false)?.map(|party| party.took);
    Ok(both.alone(taken))
}

/// Runs the same so many times, each party by itself on recorded messages. It takes the memory of all messages twice.
///
/// # Errors
/// As [`alone`].
pub fn cold(
    binding: &Binding,
    options: &Options,
    inputs: &Inputs,
    workers: Workers,
    runs: usize,
) -> Result<Vec<Alone>> {
    let both = Both::new(binding, options, inputs, workers)?;
    let taken = replay::repeat(&both, runs)?;
    Ok(taken.into_iter().map(|taken| both.alone(taken)).collect())
}

/// Runs the same so many times by Yao, each party by itself over a socket: one thread computes, and the others move bytes.
///
/// # Errors
/// As [`alone`], and [`Error::Io`] if there is no socket.
#[cfg(feature = "net")]
pub fn moving(
    binding: &Binding,
    options: &Options,
    inputs: &Inputs,
    workers: Workers,
    runs: usize,
) -> Result<Vec<Alone>> {
    let both = Both { movers: workers.count - 1, ..Both::new(binding, options, inputs, workers)? };
    let taken = moving::repeat(&both, workers, runs)?;
    Ok(taken.into_iter().map(|taken| both.alone(taken)).collect())
}

/// Why a program is not measured, if so.
fn check(binding: &Binding) -> Result<()> {
    if binding.inputs().iter().any(|port| port.who == Owner::Shared) {
        return Err(Error::usage("a program with shared inputs is not measured alone"));
    }
    if binding.program().has_calls() {
        return Err(Error::usage("a program with calls is not measured alone"));
    }
    Ok(())
}

/// A program with the inputs of both.
struct Both<'a> {
    binding: &'a Binding,
    terms: Terms,
    job: (Arc<Binding>, Arc<Schedule>),
    feeds: [Feeds; 2],
    /// A party that waits for its turn keeps its threads.
    threads: [Threads; 2],
    /// How many of a party's threads only move bytes.
    movers: usize,
    dealer: Generator,
}

type Took = (Duration, Outputs);

/// A party's time and outputs, and the bytes that it read if they were recorded.
struct Played {
    took: Took,
    read: Vec<u8>,
}

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

    fn opening(&mut self, len: usize) -> Result<Option<Vec<u8>>> {
        let sent = std::mem::take(&mut *self.mail.lock().unwrap_or_else(PoisonError::into_inner));
        if sent.len() != len {
            return Err(Error::usage("the parties of a measurement open a program differently"));
        }
        Ok(Some(sent))
    }
}

/// Δ of both parties' COTs.
fn delta(dealer: &Generator) -> Block {
    dealer.derive(b"delta   ", 0).block().with_lsb(true)
}

/// A party's engine, and the correlations that it draws.
type Dealt = (Box<dyn Engine>, Stock);

impl<'a> Both<'a> {
    fn new(binding: &'a Binding, options: &Options, inputs: &Inputs, workers: Workers) -> Result<Self> {
        check(binding)?;
        let (terms, schedule) = Terms::resolve(binding, options)?;
        let job = (Arc::new(binding.clone()), Arc::new(schedule));
        let feeds = |party: Party| inputs.feeds(binding, |who| who != Owner::Party(party.peer()));
        let feeds = [feeds(Party::Alice)?, feeds(Party::Bob)?];
        let party = || Threads::placed(workers.count, workers.place);
        let threads = [party()?, party()?];
        Ok(Both { binding, terms, job, feeds, threads, movers: 0, dealer: crate::ot::os_generator()? })
    }

    fn alone(&self, [(alice, from_alice), (bob, from_bob)]: [Took; 2]) -> Alone {
        let (garbler, garbles) = (self.terms.garbler, self.terms.scheme.has_garbler());
        let ands = self.job.1.totals.and0;
        Alone { times: [alice, bob], garbler, garbles, ands, outputs: [from_alice, from_bob] }
    }

    fn in_turns(&self, records: bool) -> Result<[Played; 2]> {
        let [alice, bob] = self.parties()?;
        self.race(alice, bob, records)
    }

    /// Both parties, the same ones every time.
    fn parties(&self) -> Result<[Dealt; 2]> {
        let (plans, mail) = (PlanCache::default(), Mutex::default());
        let engine = |party| self.engine(DealtKeys { party, dealer: &self.dealer, plans: &plans, mail: &mail });
        // The garbler opens the program.
        let (first, other) = (engine(self.terms.garbler)?, engine(self.terms.garbler.peer())?);
        let (alice, bob) = if self.terms.garbler == Party::Alice { (first, other) } else { (other, first) };
        let [alices, bobs] = self.stocks(alice.demand());
        Ok([(alice, alices), (bob, bobs)])
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
            strands: terms.strands,
            movers: self.movers,
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
    fn race(&self, alice: Dealt, bob: Dealt, records: bool) -> Result<[Played; 2]> {
        let table = Table::default();
        let [alices, bobs] = [0, 1].map(|us| Seat::new(&table, us, records));
        let both = thread::scope(|scope| {
            let bob = scope.spawn(move || self.party(bob, bobs));
            let alice = self.party(alice, alices);
            (alice, bob.join().unwrap_or_else(|_| Err(Error::usage("a thread ended"))))
        });
        Ok([both.0?, both.1?])
    }

    fn party(&self, (mut engine, mut stock): Dealt, mut seat: Seat) -> Result<Played> {
        engine.setup(&mut stock, &mut seat)?;
        seat.away(Table::wait_for_turn)?;
        seat.busy = Duration::ZERO;
        let ran = engine.online(&self.feeds[seat.us], &mut stock, &mut seat)?;
        seat.stop();
        let read = seat.record.take().unwrap_or_default();
        Ok(Played { took: (seat.busy, Outputs::new(self.binding, ran.outputs)), read })
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
    /// All that was read.
    record: Option<Vec<u8>>,
}

impl<'a> Seat<'a> {
    fn new(table: &'a Table, us: usize, records: bool) -> Self {
        Seat { table, us, busy: Duration::ZERO, since: Instant::now(), record: records.then(Vec::new) }
    }

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
        if count == 0 {
            return Ok(());
        }
        self.away(|table, us| table.receive(us, room))?;
        self.record.iter_mut().for_each(|record| record.extend_from_slice(inbox));
        Ok(())
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
            #[cfg(feature = "net")]
            for count in [1, 2, 3] {
                let workers = Workers { count, place: |_| {} };
                for run in moving(&binding, &Options::new(Scheme::Yao), &inputs, workers, 2).unwrap() {
                    assert!(run.outputs.iter().all(|outputs| outputs.get("out") == expected.get("out")), "{count}");
                }
            }
            let whole = Scheme::ALL.into_iter().filter(|scheme| *scheme != Scheme::Mixed);
            for (scheme, count) in whole.flat_map(|scheme| [(scheme, 1), (scheme, 2)]) {
                let (options, workers) = (Options::new(scheme), Workers { count, place: |_| {} });
                let mut runs = cold(&binding, &options, &inputs, workers, 2).unwrap();
                runs.push(alone(&binding, &options, &inputs, workers).unwrap());
                assert_eq!(runs.len(), 3);
                for run in runs {
                    assert!(run.outputs.iter().all(|outputs| outputs.get("out") == expected.get("out")), "{scheme}");
                    assert_eq!(run.ands, 6400 * lanes);
                    assert!(run.times.iter().all(|time| !time.is_zero()));
                }
            }
        }
    }

    #[test]
    fn who_waits_for_nobody_is_told() {
        let table = Table::default();
        let mut alice = Seat::new(&table, 0, false);
        drop(Seat::new(&table, 1, false));
        assert!(alice.receive(1, &mut Inbox::default()).is_err());
    }
}
