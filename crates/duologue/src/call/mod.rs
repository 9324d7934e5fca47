//! Calls: two-party protocols that are no circuit, as steps of a program or alone.
//!
//! What a call computes is a [`Functionality`]; how two parties compute it is a [`CallProtocol`], which a session is given
//! by [`Session::register`](crate::Session::register). A program with calls runs in parts: one that ends in shared outputs,
//! the call, one that begins with its results as inputs. So whatever protocol runs the parts knows nothing of calls.
//!
//! A protocol has two [`Stage`]s at each party: *setup*, before inputs, whose result is bytes that can be stored for a
//! later session; and *online*, on the arguments that the party holds. Both are stepped with bytes and see no socket:
//! [`CallLengths`] say, from public terms alone, how many bytes each exchange has each way and which correlations it
//! draws. Whoever moves the bytes reads by them, and checks before the first one that the lengths of both parties fit
//! together; a stage that departs from them ends the run with an error.
//!
//! **Security** is that of the protocol. It is given random OTs that nobody else has, and a domain for its hashes that
//! no other call of any session shares. The shares that it gives out must look uniform to each party.

mod correlations;
mod parts;
mod party;

use crate::correlation::Demand;
use crate::correlation::Triples;
use crate::correlation::derived::RandomOts;
use crate::{Error, Party, Result};
use circuit::BitMatrix;
use circuit::program::Schedule;
use std::sync::Arc;

pub use crate::outbox::Outbox;
pub use circuit::program::{Call, CallPort, CallValue, Functionalities, Functionality, Holder};
pub use zeroize::Zeroizing;

#[cfg(feature = "disk")]
pub(crate) use parts::SECRET;
pub(crate) use parts::{CallRun, InParts, PlainCall};
pub(crate) use party::PartyCall;

/// The correlations that an exchange draws, and the bytes that it moves, as one party sees it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// Random OTs by their sender, each of one COT, and triples. Online there are none.
    pub demand: Demand,
    /// Bytes sent to the peer.
    pub sent: usize,
    /// Bytes read from the peer.
    pub read: usize,
}

/// All that a party draws, sends, reads and stores in a call: a function of public terms.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct CallLengths {
    /// The exchanges of setup.
    pub setup: Vec<Exchange>,
    /// Bytes of the result of setup.
    pub stored: usize,
    /// The exchanges online. One in which a party only sends and the next one of that kind share a round.
    pub online: Vec<Exchange>,
}

/// What the parties compute in a call besides correlations, one waiting for the other where it must: in blocks of AES, each
/// of the time that a processor's speed is measured by.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct CallWork {
    /// In setup.
    pub setup: u64,
    /// Online.
    pub online: u64,
}

/// The place of a call in a session, for its setup.
pub struct Context {
    /// This party.
    pub party: Party,
    /// 32 bytes to begin all hashes of this call with. Made of the session, the number of the program in it, the number
    /// of the call in the program, and its name and version; both parties have the same.
    pub domain: [u8; 32],
}

/// Correlations, each for one use.
pub struct Drawn {
    /// Random OTs of 128 bits, exactly as many as demanded.
    pub ots: RandomOts,
    /// Multiplication triples.
    pub triples: Triples,
}

/// A state machine that is stepped with bytes: once for each exchange, then [finished](Self::finish).
pub trait Stage: Send {
    /// The result.
    type Output;

    /// Writes what the next exchange sends. The inbox has what the exchange before it read.
    ///
    /// # Errors
    /// [`Error::Peer`] if the peer's bytes cannot be.
    fn step(&mut self, drawn: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()>;

    /// The result, after the last exchange.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    fn finish(self: Box<Self>, inbox: &[u8]) -> Result<Self::Output>;
}

/// A setup stage; its result is what the party stores until it is online, in exactly as many bytes as announced.
pub type SetupStage = Box<dyn Stage<Output = Zeroizing<Vec<u8>>>>;

/// An online stage; its result are the results of the call: this party's shares, and the values that it holds; none for
/// those that the peer holds.
pub type OnlineStage = Box<dyn Stage<Output = Vec<Option<BitMatrix>>>>;

/// A two-party protocol for a functionality.
pub trait CallProtocol: Functionality {
    /// The lengths of one party.
    ///
    /// # Errors
    /// [`Error::Usage`] if the call is too large.
    fn lengths(&self, call: &Call, party: Party) -> Result<CallLengths>;

    /// What the parties are taken to compute, for predictions of time; from public terms alone, as both must predict alike.
    /// None where it was not measured: then [`Cost::uncounted`](crate::cost::Cost::uncounted) has the call's name.
    fn work(&self, _: &Call) -> Option<CallWork> {
        None
    }

    /// Begins setup.
    ///
    /// # Errors
    /// If it cannot begin.
    fn setup(&self, call: &Arc<Call>, context: &Context) -> Result<SetupStage>;

    /// Begins the online phase on the result of setup, which a file may have given back, and on the arguments: this
    /// party's shares, and the values that it holds; none for those that the peer holds.
    ///
    /// # Errors
    /// If it cannot begin.
    fn online(
        &self,
        call: &Arc<Call>,
        party: Party,
        setup: Zeroizing<Vec<u8>>,
        args: Vec<Option<BitMatrix>>,
    ) -> Result<OnlineStage>;
}

/// Protocols for calls by name and version.
#[derive(Clone, Default)]
pub struct Calls(Vec<Arc<dyn CallProtocol>>);

impl Calls {
    /// None at all.
    pub fn new() -> Self {
        Calls::default()
    }

    /// Adds one, in place of any other of the same name and version.
    pub fn add(&mut self, protocol: Arc<dyn CallProtocol>) {
        self.0.retain(|known| (known.name(), known.version()) != (protocol.name(), protocol.version()));
        self.0.push(protocol);
    }

    /// These and one more.
    #[must_use]
    pub fn with(mut self, protocol: Arc<dyn CallProtocol>) -> Self {
        self.add(protocol);
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn CallProtocol>> {
        self.0.iter()
    }

    /// Their plain meanings, for [`Program::from_bytes_with`](circuit::Program::from_bytes_with).
    pub fn functionalities(&self) -> Functionalities {
        self.0.iter().fold(Functionalities::new(), |all, protocol| all.with(protocol.clone()))
    }

    /// The protocol of a functionality.
    pub(crate) fn find(&self, functionality: &dyn Functionality) -> Result<&Arc<dyn CallProtocol>> {
        let (name, version) = (functionality.name(), functionality.version());
        let found = self.0.iter().find(|known| (known.name(), known.version()) == (name, version));
        found.ok_or_else(|| {
            Error::usage(format!(
                "the program calls '{name}' version {version}, for which no protocol is registered: \
                 Session::register takes it"
            ))
        })
    }

    /// Refuses a program with calls that have no protocol here, or one whose lengths do not fit together or are too large
    /// together.
    pub(crate) fn check(&self, schedule: &Schedule) -> Result<()> {
        let mut sums = [Sum::default(), Sum::default()];
        for part in schedule.calls() {
            let protocol = self.find(&*part.functionality)?;
            let [alice, bob] = [Party::Alice, Party::Bob].map(|party| protocol.lengths(&part.call, party));
            let lengths = [alice?, bob?];
            fit(protocol.name(), &lengths[0], &lengths[1])?;
            for (sum, lengths) in sums.iter_mut().zip(&lengths) {
                sum.add(protocol.name(), lengths)?;
            }
        }
        Ok(())
    }

    /// What all calls of a program compute, and the names of those of which it is not known.
    pub(crate) fn work(&self, schedule: &Schedule) -> Result<(CallWork, Vec<String>)> {
        let (mut sum, mut unknown) = (CallWork::default(), Vec::new());
        for part in schedule.calls() {
            match self.find(&*part.functionality)?.work(&part.call) {
                Some(CallWork { setup, online }) => {
                    sum.setup = sum.setup.saturating_add(setup);
                    sum.online = sum.online.saturating_add(online);
                }
                None => unknown.push(part.functionality.name().to_string()),
            }
        }
        unknown.sort();
        unknown.dedup();
        Ok((sum, unknown))
    }
}

/// The most exchanges of all calls of a program.
const MOST_EXCHANGES: usize = 1 << 20;

/// The most bytes and correlations of all calls together. With those of circuits no sum of them overflows.
const MOST_BYTES: u64 = 1 << 60;

/// What a party's side of calls takes together.
#[derive(Default)]
struct Sum {
    exchanges: usize,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, name: &str, lengths: &CallLengths) -> Result<()> {
        self.exchanges = self.exchanges.saturating_add(lengths.setup.len()).saturating_add(lengths.online.len());
        for &Exchange { demand, sent, read } in lengths.setup.iter().chain(&lengths.online) {
            let Demand { cots_by_alice, cots_by_bob, triples } = demand;
            let numbers = [sent as u64, read as u64, cots_by_alice, cots_by_bob, triples];
            self.bytes = numbers.into_iter().fold(self.bytes, u64::saturating_add);
        }
        self.bytes = self.bytes.saturating_add(lengths.stored as u64);
        let refuse = |what: String| {
            let why = format!("the calls of the program take more than {what}, up to that of '{name}'");
            Err(Error::usage(format!("{why}: bind it to fewer lanes, or run it as several programs")))
        };
        match () {
            () if self.exchanges > MOST_EXCHANGES => refuse(format!("{MOST_EXCHANGES} exchanges")),
            () if self.bytes > MOST_BYTES => refuse(format!("{MOST_BYTES} bytes and correlations")),
            () => Ok(()),
        }
    }
}

/// Whether each party reads what the other sends, and both draw the same.
fn fit(name: &str, alice: &CallLengths, bob: &CallLengths) -> Result<()> {
    for (phase, alice, bob) in [("setup", &alice.setup, &bob.setup), ("online", &alice.online, &bob.online)] {
        let misfit = |why: String| Err(Error::usage(format!("the lengths of '{name}' do not fit, {phase}: {why}")));
        if alice.len() != bob.len() {
            return misfit(format!("alice has {} exchanges, bob {}", alice.len(), bob.len()));
        }
        for (number, (a, b)) in alice.iter().zip(bob).enumerate() {
            if (a.sent, a.read) != (b.read, b.sent) {
                return misfit(format!(
                    "in exchange {number} alice sends {} bytes and reads {}, bob reads {} and sends {}",
                    a.sent, a.read, b.read, b.sent
                ));
            }
            if a.demand != b.demand || phase == "online" && a.demand != Demand::NONE {
                return misfit(format!("correlations of exchange {number}: {:?} and {:?}", a.demand, b.demand));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
