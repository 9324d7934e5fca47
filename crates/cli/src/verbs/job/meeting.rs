//! How a driver meets: the other party's by the parties' keys, its own workers by theirs.

use super::deadline::Deadline;
use super::driver::Workers;
use super::local::Local;
use super::ray::Ray;
use super::reception::Reception;
use crate::args::{JobParties, Launch};
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::peer;
use duologue::channel::{Canceller, Channel, Identity, Limits, PublicKey, Security};
use duologue::job::control::{Agreed, Hello};
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Where a driver listens that is told nothing.
const HERE: &str = "127.0.0.1:0";

/// Who meets, and how.
pub struct Meeting<'a> {
    pub args: &'a JobParties,
    /// This party's key, and the public one of the other.
    pub ours: Arc<Identity>,
    pub peers: PublicKey,
    /// How many threads each worker has.
    pub threads: u16,
    pub console: &'a Console,
}

/// The key pair of this job's workers: its file by the whole path, and its public half.
pub struct WorkerKey {
    file: PathBuf,
    public: PublicKey,
}

/// Whoever has come.
pub struct Met {
    pub reception: Reception,
    pub channel: Channel,
    pub workers: Workers,
    /// The cluster that has this party's workers, if one has.
    pub ray: Option<Ray>,
}

/// What has started workers, and starts them again.
pub enum Launched {
    /// Nothing of ours.
    Elsewhere,
    Here(Local),
    ByRay(Ray),
}

impl Launched {
    /// Starts workers again that have ended, after so many attempts for which one was ready; or says why there are none.
    pub fn look(&mut self, ready: u64) -> Result<(), Failure> {
        match self {
            Launched::Elsewhere => Ok(()),
            Launched::Here(local) => local.look(ready),
            Launched::ByRay(ray) => ray.look(),
        }
    }

    /// Ends a worker of this machine that does not answer.
    pub fn give_up(&mut self, number: u64) {
        if let Launched::Here(local) = self {
            local.give_up(number);
        }
    }

    /// Waits for those of this machine that were told of the end. A cluster takes longer, and ends its own meanwhile.
    pub fn end(self, told: &[u64]) -> Parting {
        match self {
            Launched::Elsewhere => {}
            Launched::Here(local) => local.end(told),
            Launched::ByRay(mut ray) => {
                ray.close();
                return Parting { _ray: Some(ray) };
            }
        }
        Parting { _ray: None }
    }
}

/// The end of whatever has started workers; dropped, it is waited for.
pub struct Parting {
    _ray: Option<Ray>,
}

impl<'a> Meeting<'a> {
    pub fn new(
        args: &'a JobParties,
        threads: u16,
        config: &Config,
        console: &'a Console,
    ) -> Result<Meeting<'a>, Failure> {
        check_host(args)?;
        check_ray(args)?;
        let peers = peer::peer_key(args.peer_key.as_ref(), args.connect.as_deref(), config)?;
        let ours = Arc::new(peer::identity(&config.key(args.key.as_ref())?)?);
        Ok(Meeting { args, ours, peers, threads, console })
    }

    /// The key pair of workers: the one of the flag, or that in a folder, which is made if it is not there.
    pub fn worker_key(&self, folder: &Path) -> Result<WorkerKey, Failure> {
        let file = self.args.worker_key.clone().unwrap_or_else(|| folder.join("worker.key"));
        if self.args.worker_key.is_none() && !file.exists() {
            Identity::generate()?.save(&file)?;
        }
        let public = peer::identity(&file)?.public();
        if [self.peers, self.ours.public()].contains(&public) {
            let why = format!("{} is the key of a party: workers have one of their own", file.display());
            return Err(Failure::input(why).hint("`duologue keys new --key FILE` makes one"));
        }
        let file = std::path::absolute(&file).map_err(Failure::io("finding the key of workers"))?;
        Ok(WorkerKey { file, public })
    }

    /// Opens the control port and meets the other driver; workers may come before it.
    pub fn meet(
        &self,
        key: &WorkerKey,
        limits: Limits,
        config: &Config,
        canceller: &Canceller,
    ) -> Result<Met, Failure> {
        let (args, wait) = (self.args, Duration::from_secs(self.args.wait));
        let limits = limits.inbox(1 << 28);
        let keys = [self.peers, key.public];
        let elsewhere = args.connect.is_some().then_some(self.peers);
        let ray = match args.launch {
            Launch::Ray => Some(Ray::connect(args, self.threads, *self.console, canceller)?),
            Launch::Local | Launch::Wait => None,
        };
        let told = ray.as_ref().map(|ray| ray.listen.as_str()).or(args.listen.as_deref());
        let reception =
            Reception::open(told.unwrap_or(HERE), self.ours.clone(), keys, elsewhere, limits, self.console)?;
        self.say_how(&reception, key);
        let mut workers = Workers::new();
        let channel = match &args.connect {
            Some(address) => self.connect(config.address(address)?, &reception, limits.meet(wait), canceller)?,
            None => {
                let add = |other| workers.add(other, limits.silence);
                reception.wait_for(self.peers, wait, canceller, add)?.cancelled_by(canceller)
            }
        };
        self.console.note("the other driver is there");
        Ok(Met { reception, channel, workers, ray })
    }

    /// Says hello to the other driver, which has so long for it as it had to come, and as it may be silent.
    pub fn agree(
        &self,
        hello: &Hello,
        channel: Channel,
        reception: &Reception,
        canceller: &Canceller,
    ) -> Result<(Channel, Agreed), Failure> {
        let limit = Duration::from_secs(self.args.wait.max(self.args.silence));
        let deadline = Deadline::new(limit, canceller)?;
        let mut channel = channel.cancelled_by(deadline.canceller());
        let agreed = hello.exchange(&mut channel).map_err(|why| reception.cause(why));
        let hint = "look at what the other driver does; --wait allows it more time";
        let agreed = agreed.map_err(|why| deadline.cause(why, "the other driver did not say what job it has", hint))?;
        Ok((channel.cancelled_by(canceller), agreed))
    }

    /// Connects to the other driver, unless that turns out to connect as well.
    fn connect(
        &self,
        address: &str,
        reception: &Reception,
        limits: Limits,
        canceller: &Canceller,
    ) -> Result<Channel, Failure> {
        let security = Security::Tls { identity: self.ours.clone(), peer: self.peers };
        let given_up = Canceller::new();
        let met = thread::scope(|scope| {
            let met = scope.spawn(|| Channel::connect_with(address, &security, &limits, &given_up));
            while !met.is_finished() {
                if canceller.is_cancelled() || reception.is_crossed() {
                    given_up.cancel();
                }
                thread::sleep(Duration::from_millis(10));
            }
            met.join().unwrap_or(Err(duologue::Error::Cancelled))
        });
        Ok(met.map_err(|why| reception.cause(why))?.cancelled_by(canceller))
    }

    /// Where the driver's workers find it.
    fn address(&self, reception: &Reception) -> String {
        let port = reception.address.port();
        match reception.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => format!("127.0.0.1:{port}"),
            IpAddr::V6(ip) if ip.is_unspecified() => format!("[::1]:{port}"),
            _ => reception.address.to_string(),
        }
    }

    /// The same, for workers on other machines.
    fn address_for_others(&self, reception: &Reception) -> String {
        let named = self.args.host.as_ref().map(|host| peer::address_of(host, reception.address.port()));
        named.unwrap_or_else(|| self.address(reception))
    }

    fn say_how(&self, reception: &Reception, key: &WorkerKey) {
        if self.args.launch == Launch::Wait {
            let (address, ours, file) = (self.address_for_others(reception), self.ours.public(), key.file.display());
            self.console
                .note(format!("workers: duologue job worker --driver {address} --driver-key {ours} --key {file}"));
        }
    }

    /// Starts workers, unless something else does.
    pub fn start_workers(&self, reception: &Reception, key: &WorkerKey, ray: Option<Ray>) -> Result<Launched, Failure> {
        let words = self.words(key);
        match (self.args.launch, ray) {
            (Launch::Local, _) => self.start_local(reception, words).map(Launched::Here),
            (_, Some(mut ray)) => {
                ray.work(&reception.address.to_string(), &words)?;
                Ok(Launched::ByRay(ray))
            }
            _ => Ok(Launched::Elsewhere),
        }
    }

    /// What workers are told, wherever they are.
    fn words(&self, key: &WorkerKey) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["--driver-key".into(), self.ours.public().to_string().into()];
        words.extend(["--key".into(), (&key.file).into()]);
        if let Some(ports) = &self.args.ports {
            words.extend(["--ports".into(), format!("{}-{}", ports.start(), ports.end()).into()]);
        }
        words
    }

    fn start_local(&self, reception: &Reception, mut words: Vec<OsString>) -> Result<Local, Failure> {
        words.extend(["--driver".into(), self.address(reception).into()]);
        let bound = (!reception.address.ip().is_unspecified()).then(|| reception.address.ip().to_string());
        if let Some(host) = self.args.host.clone().or(bound) {
            words.extend(["--host".into(), host.into()]);
        }
        Local::start(self.args.workers, words)
    }
}

/// Workers of the side that listens tell the other party's where they are. A driver that listens everywhere does not know that of those
/// that it starts.
fn check_host(args: &JobParties) -> Result<(), Failure> {
    let listen = args.listen.as_deref().unwrap_or(HERE);
    let is_everywhere = listen.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_unspecified());
    let tells = args.connect.is_none() && args.launch == Launch::Local && args.host.is_none();
    if !(is_everywhere && tells) {
        return Ok(());
    }
    let why = format!("--host is missing: {listen} is no address at which the other party's workers find ours");
    Err(Failure::new(Exit::CommandLine, why).hint("--host NAME is the name by which they reach this machine"))
}

/// What is said of Ray, and what is not Ray's.
fn check_ray(args: &JobParties) -> Result<(), Failure> {
    let is_ray = args.launch == Launch::Ray;
    let failure = |why| Failure::new(Exit::CommandLine, why);
    if !is_ray && (args.ray_address.is_some() || args.ray_options.is_some()) {
        return Err(failure("--ray-address and --ray-options are for --launch ray"));
    }
    if is_ray && args.host.is_some() {
        let hint = "a node with another name has it in the environment of `ray start`, as DUOLOGUE_WORKER_HOST";
        return Err(failure("--host is the name of this machine, and Ray places workers on any node").hint(hint));
    }
    Ok(())
}
