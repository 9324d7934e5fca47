//! `duologue job drive`: one party's side of a job, from its plan to its outputs.

use super::driver::{Driver, Workers};
use super::local::Local;
use super::merge::{self, Merge, Targets};
use super::order::Work;
use super::parts::{self, From, Part};
use super::plan;
use super::reception::Reception;
use super::report::{JobReport, LastReport};
use super::settings::Settings;
use super::state::State;
use crate::args::{JobDrive, Launch};
use crate::config::{Config, PeerName};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::io::consent::{Given, Proposal};
use crate::io::console::Console;
use crate::io::input::{self, ALL};
use crate::io::sizes;
use crate::{peer, program};
use duologue::channel::{Channel, Identity, PublicKey, Security};
use duologue::circuit::Binding;
use duologue::job::control::{Attempt, Hello, MOST_BODY, Machine, Mail};
use duologue::job::{Last, Part as JobPart, Plan};
use duologue::{Inputs, Session, hex};
use std::env;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn run(args: &JobDrive, config: &Config, console: &Console) -> Result<(), Failure> {
    let plan = load(args)?;
    let whole = merge::whole(&plan)?;
    check_inputs(args, &whole)?;
    let targets = Targets::new(&whole, args.party, &args.output)?;
    targets.spare(&args.input)?;
    let keys = Keys::new(args, config)?;
    consent(args, config, &whole, &keys, console)?;
    let mut state = state(args, &plan)?;
    let job = Job { args, plan: &plan, settings: Settings::new(args), keys, console };
    let start = Instant::now();
    let channel = job.shards(config, &mut state)?;
    let last = job.last(channel, &state)?;
    interrupt::settle()?;
    let attempts = state.kept.shards.iter().map(|shard| shard.finished.unwrap_or_default()).collect();
    let merge = Merge { folder: state.folder(), plan: &plan, party: args.party, attempts };
    let merged = if args.no_merge { None } else { Some(merge.write(&targets).map_err(|why| later(why, &args.state))?) };
    if merged.is_some() {
        parts::remove(state.folder())?;
    }
    JobReport::new(&plan, args.party, &state.kept, last, start.elapsed(), merged)?.show(console)
}

/// What was computed is kept, wherever it could not be written.
fn later(failure: Failure, state: &Path) -> Failure {
    failure.hint(format!("the job is done: `duologue job merge {}` writes its outputs", state.display()))
}

/// The plan that is named, or that of the program that is named.
fn load(args: &JobDrive) -> Result<Plan, Failure> {
    if args.input.iter().any(|source| source.value == "-" || source.value.starts_with("-:")) {
        let why = "standard input has no rows that workers could read: write it to a file";
        return Err(Failure::input(why));
    }
    if plan::is_file(&args.program) {
        return plan::load(&args.program, &args.cut, &args.size);
    }
    let program = program::load(&args.program, &[])?;
    let counts = input::count(&program, args.party, &args.input)?;
    let count = |name: &str| counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count);
    let plan = plan::cut(&program, &args.cut, &sizes::all(&program, &args.size, count)?)?;
    Ok(plan)
}

/// Each input of ours is there, with as many rows as the plan says.
fn check_inputs(args: &JobDrive, whole: &Binding) -> Result<(), Failure> {
    let counts = input::count(whole.program(), args.party, &args.input)?;
    input::check_lanes(whole, args.party, |name| {
        counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count)
    })
}

/// The keys of both parties' drivers.
struct Keys {
    ours: Arc<Identity>,
    peers: PublicKey,
}

impl Keys {
    fn new(args: &JobDrive, config: &Config) -> Result<Keys, Failure> {
        let peers = peer::peer_key(args.peer_key.as_ref(), args.connect.as_deref(), config)?;
        let ours = Arc::new(peer::identity(&config.key(args.key.as_ref())?)?);
        Ok(Keys { ours, peers })
    }
}

fn consent(args: &JobDrive, config: &Config, whole: &Binding, keys: &Keys, console: &Console) -> Result<(), Failure> {
    let proposal = Proposal {
        binding: whole,
        digest: hex(&whole.program().digest()?),
        party: args.party,
        protocol: format!("{}, by shards", args.settings.protocol),
        peer: Some(keys.peers.to_string()),
        peer_name: config.name_of(&keys.peers).map(PeerName::to_string),
    };
    let given = match &args.expect_digest {
        Some(digest) => Given::Digest(digest),
        None if args.yes => Given::Yes,
        None => Given::Ask,
    };
    proposal.obtain(&given, console)
}

fn state(args: &JobDrive, plan: &Plan) -> Result<State, Failure> {
    match args.resume && args.state.join("log").exists() {
        true => State::open(&args.state, args.party, plan),
        false => State::create(&args.state, args.party, plan),
    }
}

/// A job and what both of its phases need.
struct Job<'a> {
    args: &'a JobDrive,
    plan: &'a Plan,
    settings: Settings,
    keys: Keys,
    console: &'a Console,
}

impl Job<'_> {
    /// Has workers compute all shards. The channel between the drivers.
    fn shards(&self, config: &Config, state: &mut State) -> Result<Channel, Failure> {
        let (args, wait) = (self.args, Duration::from_secs(self.args.wait));
        let (canceller, limits) = (interrupt::canceller()?, self.settings.limits().inbox(1 << 28));
        let (key_file, worker_key) = self.worker_key(state)?;
        let keys = [self.keys.peers, worker_key];
        let reception = Reception::open(&args.listen, self.keys.ours.clone(), keys, limits, self.console)?;
        self.say_how(&reception, &key_file);
        let (silence, mut workers) = (limits.silence, Workers::new());
        let mut channel = match &args.connect {
            Some(address) => {
                let security = Security::Tls { identity: self.keys.ours.clone(), peer: self.keys.peers };
                Channel::connect_with(config.address(address)?, &security, &limits.meet(wait), &canceller)?
            }
            None => {
                let met = reception.wait_for(self.keys.peers, wait, &canceller, |other| workers.add(other, silence))?;
                met.cancelled_by(&canceller)
            }
        };
        self.console.note("the other driver is there");
        let mut hello = Hello::new(args.party, self.plan, self.settings.fields())?;
        (hello.job, hello.shards) = (state.kept.job, state.kept.shards.clone());
        let agreed = hello.exchange(&mut channel)?;
        state.keep_job(agreed.job)?;
        state.kept.shards.clone_from(&agreed.shards);
        let local = (args.launch == Launch::Local).then(|| self.start_workers(&reception, &key_file)).transpose()?;
        let deadline = Duration::from_secs(self.settings.deadline);
        Driver {
            party: args.party,
            machine: Machine::new(args.party, &agreed, deadline),
            peer: Mail::new(channel, 2, MOST_BODY, silence),
            peer_key: self.keys.peers,
            work: self.work(agreed.job, state)?,
            state,
            reception,
            local,
            silence,
            wait,
            canceller,
            console: self.console,
            workers,
        }
        .run()
    }

    /// The file and the public half of the key pair of workers.
    fn worker_key(&self, state: &State) -> Result<(PathBuf, PublicKey), Failure> {
        let usual = state.folder().join("worker.key");
        let file = self.args.worker_key.clone().unwrap_or(usual);
        if self.args.worker_key.is_none() && !file.exists() {
            Identity::generate()?.save(&file)?;
        }
        let key = peer::identity(&file)?.public();
        if [self.keys.peers, self.keys.ours.public()].contains(&key) {
            let why = format!("{} is the key of a party: workers have one of their own", file.display());
            return Err(Failure::input(why).hint("`duologue keys new --key FILE` makes one"));
        }
        Ok((file, key))
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

    fn say_how(&self, reception: &Reception, key_file: &Path) {
        if self.args.launch == Launch::Wait {
            let (address, key) = (self.address(reception), self.keys.ours.public());
            self.console.note(format!(
                "workers: duologue job worker --driver {address} --driver-key {key} --key {}",
                key_file.display()
            ));
        }
    }

    fn start_workers(&self, reception: &Reception, key_file: &Path) -> Result<Local, Failure> {
        let args = self.args;
        let mut words: Vec<OsString> = vec!["--driver".into(), self.address(reception).into()];
        words.extend(["--driver-key".into(), self.keys.ours.public().to_string().into()]);
        words.extend(["--key".into(), key_file.into()]);
        if let Some(ports) = &args.ports {
            words.extend(["--ports".into(), format!("{}-{}", ports.start(), ports.end()).into()]);
        }
        let bound = (!reception.address.ip().is_unspecified()).then(|| reception.address.ip().to_string());
        if let Some(host) = args.host.clone().or(bound) {
            words.extend(["--host".into(), host.into()]);
        }
        Local::start(args.workers, words)
    }

    fn work(&self, job: [u8; 32], state: &State) -> Result<Work, Failure> {
        let here = env::current_dir().map_err(Failure::io("finding the folder of the inputs"))?;
        let sources = self.args.input.iter().map(|source| (source.name.clone(), source.value.clone()));
        Ok(Work {
            party: self.args.party.to_string(),
            job: hex(&job),
            plan: hex(&self.plan.digest()),
            state: std::path::absolute(state.folder()).map_err(Failure::io("finding the folder of the job"))?,
            folder: here,
            inputs: sources.collect(),
            listens: self.args.connect.is_none(),
            settings: self.settings.clone(),
        })
    }

    /// Runs the last program with the other driver, if there is one, and ends.
    fn last(&self, mut channel: Channel, state: &State) -> Result<Option<LastReport>, Failure> {
        let Some(last) = self.plan.last() else {
            channel.finish()?;
            return Ok(None);
        };
        let inputs = self.last_inputs(last, state)?;
        let calls = apps::calls();
        let mut session = Session::connect(channel, self.args.party)?;
        session.register_all(&calls);
        session.set_threads(self.settings.threads.into());
        let job = state.kept.job.ok_or_else(|| Failure::new(Exit::Machine, "the job has no number"))?;
        session.set_part(JobPart::last(job, 1));
        let (binding, options) = self.settings.choose(&mut session, &last.binding, &calls)?;
        let outcome = session.run(&binding, &options, &inputs)?;
        session.close()?;
        parts::write(state.folder(), self.plan, From::Last, &outcome.outputs)?;
        Ok(Some(LastReport::new(&outcome.report)))
    }

    /// What the last program takes: whole inputs, and the shares of all shards.
    fn last_inputs(&self, last: &Last, state: &State) -> Result<Inputs, Failure> {
        let wanted = |name: &str| last.inputs.iter().any(|input| input.name == name).then_some(ALL);
        let given = input::read_rows(self.plan.program(), self.args.party, &self.args.input, &wanted)?;
        let mut inputs = Inputs::new();
        given.into_iter().for_each(|given| inputs.set(&given.name, given.value));
        for share in &last.shares {
            let width = last.binding.input(&share.name).map_or(0, |port| port.ty.width);
            let parts = (0..self.plan.shards()).filter(|shard| !share.rows(*shard).is_empty()).map(|shard| {
                let (number, rows) =
                    (state.kept.shards[shard as usize].finished.unwrap_or_default(), share.rows(shard));
                let from = From::Shard(Attempt { shard, number });
                let path = parts::path(state.folder(), self.plan, from, &share.name).unwrap_or_default();
                Part::open(path, width, rows.end - rows.start)
            });
            inputs.set(&share.name, parts::read(parts.collect::<Result<_, _>>()?, width)?);
        }
        Ok(inputs)
    }
}
