//! `duologue job worker`: computes shards for a driver, one after another, until the driver says that the job is over.
//!
//! It holds no key of the party. By the key of the job's workers it proves to its driver whose worker it is, and to the other
//! party's worker by a key that it makes for each attempt.

use super::local;
use super::order::{Answer, BUILD, Line, Order, PoolUse, Work, reason};
use super::shard::{Partner, Shards, Task};
use crate::args::JobWorker;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::io::console::{self, Console};
use crate::peer;
use duologue::channel::{Canceller, Channel, Identity, Limits, Listener, Security};
use duologue::job::control::{Attempt, Costs, Reason};
use serde::Serialize;
use std::env;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;
use std::time::Duration;

/// How long a worker sleeps when nothing has happened.
const PAUSE: Duration = Duration::from_millis(2);

/// How often a worker says that it is alive: a driver may be told to have little patience.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// The variable that has the key pair of workers, as the text of its file.
const KEY: &str = "DUOLOGUE_WORKER_KEY";

pub fn run(args: &JobWorker, console: &Console) -> Result<(), Failure> {
    let canceller = interrupt::canceller()?;
    let security = Security::Tls { identity: Arc::new(identity(args)?), peer: args.driver_key };
    let limits = Limits::default().meet(Duration::from_secs(args.wait)).inbox(1 << 27).heartbeat(HEARTBEAT);
    let channel = Channel::connect_with(&args.driver, &security, &limits, &canceller)?;
    console.note("the driver is there");
    let mut line = Line::new(channel, limits.silence);
    let number = env::var(local::NUMBER).ok().and_then(|number| number.parse().ok());
    line.send(&Answer::Hello { build: BUILD.into(), process: process::id(), number })?;
    let mut worker =
        Worker { args, console, line, here: here(&args.driver), shards: None, active: None, stopping: Vec::new() };
    worker.serve()
}

fn identity(args: &JobWorker) -> Result<Identity, Failure> {
    match (&args.key, env::var(KEY)) {
        (Some(file), _) => peer::identity(file),
        (None, Ok(text)) => Ok(Identity::from_pem(text.as_bytes())?),
        (None, Err(_)) => {
            let why = "the key of the job's workers is missing";
            Err(Failure::new(Exit::CommandLine, why).hint(format!("--key FILE, or its text in {KEY}")))
        }
    }
}

/// The address of this machine on the way to the driver. Nothing is sent.
fn here(driver: &str) -> IpAddr {
    let route = |any: &str| {
        let socket = UdpSocket::bind(any)?;
        socket.connect(driver)?;
        socket.local_addr()
    };
    let found = route("0.0.0.0:0").or_else(|_| route("[::]:0"));
    found.map_or(Ipv4Addr::LOCALHOST.into(), |address| address.ip())
}

struct Worker<'a> {
    args: &'a JobWorker,
    console: &'a Console,
    line: Line,
    here: IpAddr,
    /// The job, once the driver has told of it.
    shards: Option<Arc<Shards>>,
    active: Option<Active>,
    /// Attempts that were told to stop and have not stopped yet.
    stopping: Vec<Active>,
}

/// An attempt that is under way in a thread of its own.
struct Active {
    attempt: Attempt,
    canceller: Canceller,
    start: Sender<Partner>,
    ended: Receiver<Result<Costs, Failure>>,
    /// What the driver is told when the inputs are there.
    ready: Option<Ready>,
    loaded: Receiver<()>,
}

/// What an attempt has taken on this side.
#[derive(Serialize)]
struct Computed {
    shard: u32,
    attempt: u32,
    seconds: f64,
    sent: u64,
    received: u64,
}

/// The key of an attempt, and where it listens.
struct Ready {
    key: String,
    address: String,
}

impl Worker<'_> {
    fn serve(&mut self) -> Result<(), Failure> {
        loop {
            match self.line.poll::<Order>()? {
                Some(Order::End) => return Ok(()),
                Some(Order::Refused { why }) => return Err(Failure::new(Exit::Incompatible, why)),
                Some(order) => self.obey(order)?,
                None if self.tell_ready()? | self.tell_ends()? => {}
                None => thread::sleep(PAUSE),
            }
        }
    }

    fn obey(&mut self, order: Order) -> Result<(), Failure> {
        match order {
            Order::Welcome(work) => {
                if let Err(failure) = self.take(*work) {
                    self.line.send(&Answer::Cannot { why: failure.message.clone() })?;
                    return Err(failure);
                }
                self.line.send(&Answer::Here)?;
            }
            Order::Prepare { shard, attempt, pool } => {
                let attempt = Attempt { shard, number: attempt };
                if let Err(failure) = self.prepare(attempt, pool) {
                    self.fail(attempt, &failure)?;
                }
            }
            Order::Start { shard, attempt, key, address } => {
                let attempt = Attempt { shard, number: attempt };
                if let Some(active) = self.active.as_ref().filter(|active| active.attempt == attempt) {
                    // A thread that has ended already says why by itself.
                    let _ = active.start.send(Partner { key: key.parse()?, address });
                }
            }
            Order::Stop { shard, attempt } => {
                let attempt = Attempt { shard, number: attempt };
                if let Some(active) = self.active.take_if(|active| active.attempt == attempt) {
                    active.canceller.cancel();
                    let Active { attempt, canceller, ended, loaded, .. } = active;
                    // Without its other end a thread that waits for the start ends.
                    self.stopping.push(Active {
                        attempt,
                        canceller,
                        start: mpsc::channel().0,
                        ended,
                        ready: None,
                        loaded,
                    });
                }
            }
            Order::End | Order::Refused { .. } => {}
        }
        Ok(())
    }

    /// The driver tells of the job.
    fn take(&mut self, work: Work) -> Result<(), Failure> {
        self.line.set_silence(Duration::from_secs(work.settings.silence));
        self.shards = Some(Arc::new(Shards::new(work)?));
        Ok(())
    }

    /// Makes a key, listens if this side does, and begins to read the inputs.
    fn prepare(&mut self, attempt: Attempt, pool: PoolUse) -> Result<(), Failure> {
        let Some(shards) = self.shards.clone() else { return Ok(()) };
        let identity = Arc::new(Identity::generate()?);
        let key = identity.public().to_string();
        let listener = if shards.work.listens { Some(self.listen()?) } else { None };
        let address = listener.as_ref().map_or(Ok(String::new()), |listener| self.address(listener))?;
        let ((start, started), (end, ended), (load, loaded)) = (mpsc::channel(), mpsc::channel(), mpsc::channel());
        let canceller = Canceller::new();
        let task = Task { attempt, pool, identity, listener, canceller: canceller.clone(), loaded: load, started };
        let work = move || drop(end.send(shards.work(task)));
        let thread = thread::Builder::new().name("duologue-shard".into()).spawn(work);
        thread.map_err(Failure::io("starting the thread of a shard"))?;
        let ready = Some(Ready { key, address });
        self.active = Some(Active { attempt, canceller, start, ended, ready, loaded });
        Ok(())
    }

    /// Tells the driver of an attempt whose inputs are there; whether it is so.
    fn tell_ready(&mut self) -> Result<bool, Failure> {
        let Some(active) = self.active.as_mut().filter(|active| active.loaded.try_recv().is_ok()) else {
            return Ok(false);
        };
        let (Attempt { shard, number }, Some(Ready { key, address })) = (active.attempt, active.ready.take()) else {
            return Ok(false);
        };
        self.line.send(&Answer::Ready { shard, attempt: number, key, address })?;
        Ok(true)
    }

    /// A free port of those that are allowed: the first one from a random one on, so that hardly any attempt has the port of the last.
    fn listen(&self) -> Result<Listener, Failure> {
        let place = self.place();
        let bind = |port| Listener::bind(&SocketAddr::new(place, port).to_string());
        let Some(ports) = &self.args.ports else { return Ok(bind(0)?) };
        let count = ports.len() as u64;
        let first = RandomState::new().hash_one(()) % count.max(1);
        let mut bound = (0..count).map(|at| bind(ports.start() + ((first + at) % count) as u16));
        let found = bound.find_map(Result::ok);
        found.ok_or_else(|| {
            let why = format!("no port from {} to {} is free at {place}", ports.start(), ports.end());
            Failure::new(Exit::Machine, why).hint("--ports FROM-TO needs one for each worker of this machine")
        })
    }

    /// Where it listens: at the address that the other party is told, if it is one of this machine's, else at all of them.
    fn place(&self) -> IpAddr {
        let Some(host) = &self.args.host else { return self.here };
        let told = host.parse::<IpAddr>().ok();
        if let Some(told) = told.filter(|told| UdpSocket::bind((*told, 0)).is_ok()) {
            return told;
        }
        match told.unwrap_or(self.here) {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        }
    }

    /// Where the other party's worker finds a listener.
    fn address(&self, listener: &Listener) -> Result<String, Failure> {
        let address = listener.local_addr()?;
        Ok(match &self.args.host {
            Some(host) => peer::address_of(host, address.port()),
            None => address.to_string(),
        })
    }

    /// Tells the driver of attempts that have ended; whether there was one.
    fn tell_ends(&mut self) -> Result<bool, Failure> {
        let gone = || Err(Failure::new(Exit::Machine, "its thread stopped"));
        let ended = |active: &Active| match active.ended.try_recv() {
            Ok(ended) => Some(ended),
            Err(TryRecvError::Disconnected) => Some(gone()),
            Err(TryRecvError::Empty) => None,
        };
        let mut told = false;
        for active in std::mem::take(&mut self.stopping) {
            match ended(&active) {
                None => self.stopping.push(active),
                Some(_) => {
                    let Attempt { shard, number } = active.attempt;
                    let (reason, why) = (Reason::Other.code(), "it was told to stop".into());
                    self.line.send(&Answer::Failed { shard, attempt: number, reason, why })?;
                    told = true;
                }
            }
        }
        let Some((attempt, result)) = self.active.as_ref().and_then(|active| Some((active.attempt, ended(active)?)))
        else {
            return Ok(told);
        };
        self.active = None;
        match result {
            Ok(costs) => {
                self.line.send(&Answer::done(attempt.shard, attempt.number, costs))?;
                self.show(attempt, &costs)?;
            }
            Err(failure) => self.fail(attempt, &failure)?,
        }
        Ok(true)
    }

    /// For whoever looks at this worker alone: a line of JSON on standard output, or a note.
    fn show(&self, Attempt { shard, number: attempt }: Attempt, costs: &Costs) -> Result<(), Failure> {
        let Costs { micros, sent, received, .. } = *costs;
        let seconds = Duration::from_micros(micros).as_secs_f64();
        if self.console.json() {
            return self.console.show_json(&Computed { shard, attempt, seconds, sent, received });
        }
        self.console.note(format!("shard {shard}, attempt {attempt}: done in {}", console::seconds(seconds)));
        Ok(())
    }

    fn fail(&mut self, attempt: Attempt, failure: &Failure) -> Result<(), Failure> {
        let Attempt { shard, number } = attempt;
        let (reason, why) = (reason(failure).code(), failure.message.clone());
        self.line.send(&Answer::Failed { shard, attempt: number, reason, why })
    }
}
