//! A protocol at the size of a table: what it sends, and how long it takes here.

use crate::failure::Failure;
use apps::argmin::encrypted::Keys;
use duologue::call::Calls;
use duologue::channel::{Channel, Limits, Link, Listener, Security};
use duologue::circuit::program::{BoundPort, Owner};
use duologue::circuit::{Binding, BitMatrix, Program};
use duologue::cost::{self, Cost, Speed};
use duologue::ot::Extension;
use duologue::{Inputs, Options, Party, Session};
use std::thread;
use std::time::{Duration, Instant};

/// A program with all that both parties need to run it.
#[derive(Clone)]
pub struct Trial {
    binding: Binding,
    options: Options,
    /// What each party registers, and hands in, Alice's first.
    calls: [Calls; 2],
    inputs: [Inputs; 2],
}

/// The makers of correlations that a new session may take: for many of them, for fewer, and for a handful.
const MAKERS: [&str; 3] = ["silent", "softspoken4", "softspoken8"];

impl Trial {
    /// On inputs of zeros, on which no protocol's time depends.
    pub fn new(program: &Program, sizes: &[(&str, u64)], options: Options) -> Result<Trial, Failure> {
        let binding = program.bind(sizes)?;
        let inputs = [Party::Alice, Party::Bob].map(|party| zeros(&binding, party));
        Ok(Trial { inputs, ..Trial::of(binding, options) })
    }

    /// Without inputs.
    pub fn of(binding: Binding, options: Options) -> Trial {
        let keys = Keys::none();
        Trial { binding, options, calls: [&keys, &keys].map(consenting_calls), inputs: Default::default() }
    }

    pub fn with_calls(self, calls: [Calls; 2]) -> Trial {
        Trial { calls, ..self }
    }

    pub fn with_inputs(self, inputs: [Inputs; 2]) -> Trial {
        Trial { inputs, ..self }
    }

    /// The same with the maker by which a new session sends the fewest bytes.
    pub fn leanest(mut self) -> Result<Trial, Failure> {
        let mut all = Vec::new();
        for maker in MAKERS {
            self.options = self.options.extension(maker.parse::<Extension>()?);
            all.push((bytes(&self.cost()?), self.options));
        }
        let least = all.into_iter().min_by_key(|(bytes, _)| *bytes);
        Ok(least.map_or(self.clone(), |(_, options)| Trial { options, ..self }))
    }

    /// Exact bytes and rounds of a new session.
    pub fn cost(&self) -> Result<Cost, Failure> {
        Ok(cost::cost_with(&self.binding, &self.options, &self.calls[0])?)
    }

    /// The time over a line from exact bytes, and from computing that was measured.
    pub fn computed(&self, link: &Link, computing: Duration) -> Result<Duration, Failure> {
        let instant = Speed { setup: f64::INFINITY, online: f64::INFINITY };
        let (setup, online) = self.cost()?.time(link, &instant);
        Ok(setup + online + computing)
    }

    /// Both parties from connecting to closing, each in a thread, over TCP on this machine with a simulated line, without TLS.
    pub fn run(&self, link: Option<Link>) -> Result<Ran, Failure> {
        over_tcp(link, |channel| self.party(Party::Alice, channel), |channel| self.party(Party::Bob, channel))
    }

    /// Bytes that this party sends in the run.
    fn party(&self, party: Party, channel: Channel) -> duologue::Result<u64> {
        let mut session = Session::connect(channel, party)?;
        session.register_all(&self.calls[party as usize]);
        let report = session.run(&self.binding, &self.options, &self.inputs[party as usize])?.report;
        session.close()?;
        Ok(report.setup.sent + report.online.sent)
    }
}

/// Alice in this thread and Bob in another, over TCP on this machine with a simulated line, without TLS; each says what bytes
/// it has sent.
pub fn over_tcp(
    link: Option<Link>,
    alice: impl FnOnce(Channel) -> duologue::Result<u64>,
    bob: impl FnOnce(Channel) -> duologue::Result<u64> + Send,
) -> Result<Ran, Failure> {
    let (limits, mut listener) = (Limits::default(), Listener::bind("127.0.0.1:0")?);
    let address = listener.local_addr()?.to_string();
    let shaped = |channel: Channel| match link {
        Some(link) => channel.shaped(link),
        None => Ok(channel),
    };
    let begin = Instant::now();
    let sent = thread::scope(|scope| {
        let bob = scope.spawn(|| Channel::connect(&address, &PLAINTEXT, &limits).and_then(shaped).and_then(bob));
        let alice = listener.accept(&PLAINTEXT, &limits).and_then(shaped).and_then(alice);
        let bob = bob.join().unwrap_or_else(|_| Err(duologue::Error::usage("Bob's thread failed")));
        Ok::<_, duologue::Error>(alice? + bob?)
    })?;
    Ok(Ran { time: begin.elapsed(), bytes: sent })
}

/// All calls, those that leak, too: both parties are here, and what they hand in is known.
pub fn consenting_calls(keys: &Keys) -> Calls {
    apps::leaky_calls(keys).iter().cloned().fold(apps::calls_with(keys), Calls::with)
}

/// What a run took.
pub struct Ran {
    pub time: Duration,
    /// Payload of both directions.
    pub bytes: u64,
}

const PLAINTEXT: Security = Security::PlaintextForBenchmarks;

/// All bytes of a new session, both directions, setup and online.
pub fn bytes(cost: &Cost) -> u64 {
    [cost.setup, cost.online].iter().map(|traffic| traffic.alice_to_bob + traffic.bob_to_alice).sum()
}

/// A party's inputs, all zeros.
pub fn zeros(binding: &Binding, party: Party) -> Inputs {
    let ours = |port: &&BoundPort<Owner>| port.who != Owner::Party(party.peer());
    binding.inputs().iter().filter(ours).fold(Inputs::new(), |inputs, port| {
        inputs.with(&port.name, BitMatrix::zeros(port.ty.width as usize, port.lanes as usize))
    })
}
