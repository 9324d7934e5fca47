//! `duologue job doctor`: whether each worker reaches one of the other party's, before a job depends on it.
//!
//! The drivers meet as for a job, and every worker meets one other worker, once: over TLS with keys of their own, as in an attempt at a
//! shard. No program and no input is needed.

use super::driver::{Driver, Log};
use super::meeting::{Meeting, Met};
use super::order::Work;
use super::settings::Settings;
use crate::args::{JobDoctor, Launch};
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::io::console::{Console, count, seconds, table};
use crate::io::shown;
use duologue::job::control::{Attempt, Costs, Hello, MOST_BODY, Machine, Mail, Progress};
use duologue::{Party, hex};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

pub fn run(args: &JobDoctor, config: &Config, console: &Console) -> Result<(), Failure> {
    let parties = &args.parties;
    if parties.launch == Launch::Ray && parties.worker_key.is_none() {
        let why = "--worker-key is missing: a file that all nodes of the cluster see";
        return Err(Failure::new(Exit::CommandLine, why).hint("`duologue keys new --key FILE` makes one"));
    }
    let (meeting, settings) =
        (Meeting::new(parties, 1, config, console)?, Settings::of_routes(parties.wait, parties.silence));
    let folder = TempDir::new().map_err(Failure::io("making a temporary folder"))?;
    let key = meeting.worker_key(folder.path())?;
    let canceller = interrupt::canceller()?;
    let Met { reception, channel, workers, ray } = meeting.meet(&key, settings.limits(), config, &canceller)?;
    let routes = vec![Progress::default(); parties.workers.into()];
    let mut fields = vec![("what is called for", "a look at the routes between workers".into())];
    fields.push(("how many workers", parties.workers.to_string()));
    fields.push(settings.patience());
    let hello = Hello { party: parties.party, fields, job: None, shards: routes };
    let (channel, agreed) = meeting.agree(&hello, channel, &reception, &canceller)?;
    let mut report = Routes { routes: vec![Route::default(); parties.workers.into()] };
    let driver = Driver {
        party: parties.party,
        machine: Machine::new(parties.party, &agreed, Duration::from_secs(settings.deadline))
            .patient(settings.limits().silence)
            .once(),
        peer: Mail::new(channel, 2, MOST_BODY, settings.limits().silence),
        peer_key: meeting.peers,
        work: work(parties.party, agreed.job, parties.connect.is_none(), settings.clone()),
        log: &mut report,
        has_outputs: &|_| true,
        launched: meeting.start_workers(&reception, &key, ray)?,
        reception,
        silence: settings.limits().silence,
        wait: Duration::from_secs(parties.wait),
        canceller,
        console,
        workers,
        makes_pools: false,
        once: true,
    };
    let (mut channel, _parting) = driver.run()?;
    channel.finish()?;
    interrupt::settle()?;
    console.show(&report)?;
    report.check()
}

fn work(party: Party, job: [u8; 32], listens: bool, settings: Settings) -> Work {
    Work {
        party: party.to_string(),
        job: hex(&job),
        plan: None,
        parties: None,
        state: PathBuf::new(),
        inputs: Vec::new(),
        stamps: Vec::new(),
        listens,
        settings,
    }
}

/// The route of each worker of this party.
#[derive(Serialize)]
struct Routes {
    routes: Vec<Route>,
}

#[derive(Clone, Default, Serialize)]
struct Route {
    /// This party's worker.
    worker: String,
    /// Where the other party's worker was met; nothing if it came to ours.
    address: String,
    /// Of a round trip, if there was one.
    seconds: Option<f64>,
    /// Why there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Log for Routes {
    /// Nothing is computed, and nothing goes on.
    fn begun(&mut self, _: Attempt) -> Result<(), Failure> {
        Ok(())
    }

    fn met(&mut self, attempt: Attempt, worker: String, address: String) {
        let route = &mut self.routes[attempt.shard as usize];
        (route.worker, route.address) = (worker, address);
    }

    fn finished(&mut self, attempt: Attempt, costs: Costs) -> Result<(), Failure> {
        self.routes[attempt.shard as usize].seconds = Some(Duration::from_micros(costs.micros).as_secs_f64());
        Ok(())
    }

    fn failed(&mut self, attempt: Attempt, why: String) {
        self.routes[attempt.shard as usize].why = Some(why);
    }

    fn shards(&self) -> usize {
        self.routes.len()
    }
}

impl Routes {
    fn check(&self) -> Result<(), Failure> {
        let broken = self.routes.iter().filter(|route| route.seconds.is_none()).count() as u64;
        if broken == 0 {
            return Ok(());
        }
        let verb = if broken == 1 { "does" } else { "do" };
        let why = format!("{} of {} {verb} not work", count(broken, "route"), self.routes.len());
        let hint = "--host is the name by which a machine is reached, --ports what a firewall lets through";
        Err(Failure::new(Exit::Machine, why).hint(hint))
    }
}

impl fmt::Display for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |(number, route): (usize, &Route)| {
            let place = if route.address.is_empty() { "comes to it".into() } else { shown::line(&route.address) };
            let found = match (route.seconds, &route.why) {
                (Some(time), _) => format!("ok   a round trip takes {}", seconds(time)),
                (None, Some(why)) => format!("FIX  {}", shown::line(why)),
                (None, None) => "FIX  it was not tried".into(),
            };
            vec![format!("route {number}"), route.worker.clone(), place, found]
        };
        f.write_str(&table("llll", &self.routes.iter().enumerate().map(row).collect::<Vec<_>>()))
    }
}
