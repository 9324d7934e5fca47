//! `duologue job worker`: computes shards for a driver, one after another, until the driver says that the job is over.
//!
//! It holds no key of the party. By the key of the job's workers it proves to its driver whose worker it is, and to the other
//! party's worker by a key that it makes for each attempt.

use super::order::{Answer, BUILD, Line, Order, Work, reason};
use super::shard::{Partner, Shards, Task};
use crate::args::JobWorker;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::io::console::Console;
use crate::peer;
use duologue::channel::{Canceller, Channel, Identity, Limits, Listener, Security};
use duologue::job::control::{Attempt, Costs, Reason};
use std::env;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
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
    line.send(&Answer::Hello { build: BUILD.into(), name: format!("process {}", process::id()) })?;
    let mut worker = Worker { args, line, here: here(&args.driver), shards: None, active: None, stopping: Vec::new() };
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
}

impl Worker<'_> {
    fn serve(&mut self) -> Result<(), Failure> {
        loop {
            match self.line.poll::<Order>()? {
                Some(Order::End) => return Ok(()),
                Some(Order::Refused { why }) => return Err(Failure::new(Exit::Incompatible, why)),
                Some(order) => self.obey(order)?,
                None if self.tell_ends()? => {}
                None => thread::sleep(PAUSE),
            }
        }
    }

    fn obey(&mut self, order: Order) -> Result<(), Failure> {
        match order {
            Order::Welcome(work) => self.take(*work)?,
            Order::Prepare { shard, attempt } => {
                let attempt = Attempt { shard, number: attempt };
                if let Err(failure) = self.prepare(attempt) {
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
                    let Active { attempt, canceller, ended, .. } = active;
                    // Without its other end a thread that waits for the start ends.
                    self.stopping.push(Active { attempt, canceller, start: mpsc::channel().0, ended });
                }
            }
            Order::End | Order::Refused { .. } => {}
        }
        Ok(())
    }

    /// The driver tells of the job.
    fn take(&mut self, work: Work) -> Result<(), Failure> {
        if work.plan.is_some() {
            let folder = work.folder.display().to_string();
            env::set_current_dir(&work.folder).map_err(|why| {
                Failure::io(format!("going to the driver's folder {folder}"))(why)
                    .hint("workers need the driver's files at the same paths")
            })?;
        }
        self.shards = Some(Arc::new(Shards::new(work)?));
        Ok(())
    }

    /// Makes a key, listens if this side does, and begins to read the inputs.
    fn prepare(&mut self, attempt: Attempt) -> Result<(), Failure> {
        let Some(shards) = self.shards.clone() else { return Ok(()) };
        let identity = Arc::new(Identity::generate()?);
        let key = identity.public().to_string();
        let listener = if shards.work.listens { Some(self.listen()?) } else { None };
        let address = listener.as_ref().map_or(Ok(String::new()), |listener| self.address(listener))?;
        let ((start, started), (end, ended)) = (mpsc::channel(), mpsc::channel());
        let canceller = Canceller::new();
        let task = Task { attempt, identity, listener, canceller: canceller.clone(), started };
        let work = move || drop(end.send(shards.work(task)));
        let thread = thread::Builder::new().name("duologue-shard".into()).spawn(work);
        thread.map_err(Failure::io("starting the thread of a shard"))?;
        self.active = Some(Active { attempt, canceller, start, ended });
        let Attempt { shard, number } = attempt;
        self.line.send(&Answer::Ready { shard, attempt: number, key, address })
    }

    /// The first free port of those that are allowed.
    fn listen(&self) -> Result<Listener, Failure> {
        let Some(ports) = &self.args.ports else {
            return Ok(Listener::bind(&SocketAddr::new(self.here, 0).to_string())?);
        };
        let mut bound = ports.clone().map(|port| Listener::bind(&SocketAddr::new(self.here, port).to_string()));
        let found = bound.find_map(Result::ok);
        found.ok_or_else(|| {
            let why = format!("no port from {} to {} is free at {}", ports.start(), ports.end(), self.here);
            Failure::new(Exit::Machine, why).hint("--ports FROM-TO needs one for each worker of this machine")
        })
    }

    /// Where the other party's worker finds a listener.
    fn address(&self, listener: &Listener) -> Result<String, Failure> {
        let address = listener.local_addr()?;
        Ok(match &self.args.host {
            Some(host) if host.contains(':') && !host.starts_with('[') => format!("[{host}]:{}", address.port()),
            Some(host) => format!("{host}:{}", address.port()),
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
            Ok(costs) => self.line.send(&Answer::done(attempt.shard, attempt.number, costs))?,
            Err(failure) => self.fail(attempt, &failure)?,
        }
        Ok(true)
    }

    fn fail(&mut self, attempt: Attempt, failure: &Failure) -> Result<(), Failure> {
        let Attempt { shard, number } = attempt;
        let (reason, why) = (reason(failure).code(), failure.message.clone());
        self.line.send(&Answer::Failed { shard, attempt: number, reason, why })
    }
}
