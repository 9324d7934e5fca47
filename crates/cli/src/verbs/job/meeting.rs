//! How a driver meets: the other party's by the parties' keys, its own workers by theirs.

use super::driver::Workers;
use super::local::Local;
use super::reception::Reception;
use crate::args::{JobParties, Launch};
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::peer;
use duologue::channel::{Canceller, Channel, Identity, Limits, PublicKey, Security};
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Who meets, and how.
pub struct Meeting<'a> {
    pub args: &'a JobParties,
    /// This party's key, and the public one of the other.
    pub ours: Arc<Identity>,
    pub peers: PublicKey,
    pub console: &'a Console,
}

/// The key pair of this job's workers: its file, and its public half.
pub struct WorkerKey {
    file: PathBuf,
    public: PublicKey,
}

/// Whoever has come.
pub struct Met {
    pub reception: Reception,
    pub channel: Channel,
    pub workers: Workers,
}

impl<'a> Meeting<'a> {
    pub fn new(args: &'a JobParties, config: &Config, console: &'a Console) -> Result<Meeting<'a>, Failure> {
        check_host(args)?;
        let peers = peer::peer_key(args.peer_key.as_ref(), args.connect.as_deref(), config)?;
        let ours = Arc::new(peer::identity(&config.key(args.key.as_ref())?)?);
        Ok(Meeting { args, ours, peers, console })
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
        let reception = Reception::open(&args.listen, self.ours.clone(), keys, elsewhere, limits, self.console)?;
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
        Ok(Met { reception, channel, workers })
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
        match &self.args.host {
            Some(host) if host.contains(':') => format!("[{host}]:{}", reception.address.port()),
            Some(host) => format!("{host}:{}", reception.address.port()),
            None => self.address(reception),
        }
    }

    fn say_how(&self, reception: &Reception, key: &WorkerKey) {
        if self.args.launch == Launch::Wait {
            let file = std::path::absolute(&key.file).unwrap_or_else(|_| key.file.clone());
            let (address, ours) = (self.address_for_others(reception), self.ours.public());
            self.console.note(format!(
                "workers: duologue job worker --driver {address} --driver-key {ours} --key {}",
                file.display()
            ));
        }
    }

    /// Starts workers on this machine, unless something else does.
    pub fn start_workers(&self, reception: &Reception, key: &WorkerKey) -> Result<Option<Local>, Failure> {
        let args = self.args;
        if args.launch == Launch::Wait {
            return Ok(None);
        }
        let mut words: Vec<OsString> = vec!["--driver".into(), self.address(reception).into()];
        words.extend(["--driver-key".into(), self.ours.public().to_string().into()]);
        words.extend(["--key".into(), (&key.file).into()]);
        if let Some(ports) = &args.ports {
            words.extend(["--ports".into(), format!("{}-{}", ports.start(), ports.end()).into()]);
        }
        let bound = (!reception.address.ip().is_unspecified()).then(|| reception.address.ip().to_string());
        if let Some(host) = args.host.clone().or(bound) {
            words.extend(["--host".into(), host.into()]);
        }
        Local::start(args.workers, words).map(Some)
    }
}

/// Workers of the side that listens tell the other party's where they are. A driver that listens everywhere does not know that of those
/// that it starts.
fn check_host(args: &JobParties) -> Result<(), Failure> {
    let is_everywhere = args.listen.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_unspecified());
    let tells = args.connect.is_none() && args.launch == Launch::Local && args.host.is_none();
    if !(is_everywhere && tells) {
        return Ok(());
    }
    let why = format!("--host is missing: {} is no address at which the other party's workers find ours", args.listen);
    Err(Failure::new(Exit::CommandLine, why).hint("--host NAME is the name by which they reach this machine"))
}
