//! How shards are computed, as a driver tells its workers and as both drivers compare it.

use crate::args::{JobSettings, JobTask, Protocol};
use crate::config::Maker;
use crate::failure::{Exit, Failure};
use duologue::call::Calls;
use duologue::channel::{Limits, Link};
use duologue::circuit::Binding;
use duologue::correlation::Demand;
use duologue::cost::choice::{Choices, Wish, candidates, mixes};
use duologue::cost::cost_from_pool;
use duologue::{Garbling, Options, Party, Scheme, Session};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Settings by their words on the command line.
#[derive(Serialize, Deserialize, Clone)]
pub struct Settings {
    protocol: String,
    garbler: Option<String>,
    garbling: String,
    correlations: String,
    assume_link: Option<String>,
    link: Option<String>,
    pub threads: u16,
    pub silence: u64,
    pub deadline: u64,
}

impl Settings {
    pub fn new(task: &JobTask) -> Settings {
        let JobSettings { protocol, garbler, garbling, correlations, assume_link, link, threads } = &task.settings;
        Settings {
            protocol: protocol.to_string(),
            garbler: garbler.map(|party| party.to_string()),
            garbling: garbling.name().into(),
            correlations: correlations.to_string(),
            assume_link: assume_link.map(|link| link.to_string()),
            link: link.map(|link| link.to_string()),
            threads: *threads,
            silence: task.parties.silence.max(1),
            deadline: task.deadline.max(1),
        }
    }

    /// Those of workers that run no program.
    pub fn of_routes(wait: u64, silence: u64) -> Settings {
        Settings {
            protocol: Protocol::Auto.to_string(),
            garbler: None,
            garbling: Garbling::default().name().into(),
            correlations: Maker(None).to_string(),
            assume_link: None,
            link: None,
            threads: 1,
            silence: silence.max(1),
            deadline: wait.max(1),
        }
    }

    /// What both drivers must have equal.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let perhaps = |value: &Option<String>| value.clone().unwrap_or("none".into());
        vec![
            ("the version of the command", super::order::BUILD.into()),
            ("the protocol of the shards", self.protocol.clone()),
            ("who garbles", self.garbler.clone().unwrap_or("whoever has more input bits".into())),
            ("how ANDs are garbled", self.garbling.clone()),
            ("what makes correlations", self.correlations.clone()),
            ("the line that is assumed", perhaps(&self.assume_link)),
            ("the line that is simulated", perhaps(&self.link)),
            ("the deadline of an attempt", format!("{} s", self.deadline)),
            self.patience(),
        ]
    }

    /// How long a party may be silent: whoever has less patience than the other one's heartbeats take would lose it.
    pub fn patience(&self) -> (&'static str, String) {
        ("how long a party may be silent", format!("{} s", self.silence))
    }

    pub fn link(&self) -> Result<Option<Link>, Failure> {
        self.link.as_deref().map(read).transpose()
    }

    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        let silence = Duration::from_secs(self.silence);
        let limits = usual.silence(silence).heartbeat(usual.heartbeat.min(silence / 4));
        limits.progress(usual.progress.max(silence)).meet(silence.min(Duration::from_secs(self.deadline)))
    }

    /// The options of a session for a program; if the protocol is to be chosen, the session chooses with its peer.
    pub fn choose(
        &self,
        session: &mut Session,
        binding: &Arc<Binding>,
        calls: &Calls,
    ) -> Result<(Arc<Binding>, Options), Failure> {
        if let Protocol::This(scheme) = read(&self.protocol)? {
            return Ok((binding.clone(), self.options(scheme)?));
        }
        let options = self.options(Scheme::Yao)?;
        let all = candidates(&options, None).into_iter().chain(mixes(binding, &options));
        let all: Vec<_> = all.map(|options| (Binding::clone(binding), options)).collect();
        let ranking = session.choose(&Choices::new(all, calls)?, Wish::default())?;
        let best = ranking.best();
        Ok((best.binding.clone(), best.options))
    }

    /// The correlations that a program draws by the protocol that is named.
    pub fn demand(&self, binding: &Binding) -> Result<Demand, Failure> {
        let Protocol::This(scheme) = read(&self.protocol)? else {
            let why = "--protocol is missing: what a pool must have depends on it";
            return Err(
                Failure::new(Exit::CommandLine, why).hint("`duologue cost` says which one pays; --protocol gmw")
            );
        };
        Ok(cost_from_pool(binding, &self.options(scheme)?, &apps::calls())?.demand)
    }

    /// Makes a pool with so much in it, by the maker that is named or else is best for this.
    pub fn make_pool(&self, session: &mut Session, folder: &Path, demand: Demand) -> Result<(), Failure> {
        let Maker(maker) = read(&self.correlations)?;
        match maker {
            Some(named) => session.create_pool(folder, named, None)?,
            None => {
                let line: Option<Link> = self.assume_link.as_deref().map(read).transpose()?;
                session.create_pool_for(folder, demand, line, None)?;
            }
        }
        session.fill_pool(demand)?;
        Ok(())
    }

    fn options(&self, scheme: Scheme) -> Result<Options, Failure> {
        let garbler = self.garbler.as_deref().map(party).transpose()?;
        let usual = Options::new(scheme).garbler(garbler).garbling(read(&self.garbling)?);
        let Maker(maker) = read(&self.correlations)?;
        Ok(usual.extension(maker).link(self.assume_link.as_deref().map(read).transpose()?))
    }
}

/// A party by its name.
pub fn party(name: &str) -> Result<Party, Failure> {
    let known = [Party::Alice, Party::Bob].into_iter().find(|party| party.to_string() == name);
    known.ok_or_else(|| Failure::malformed("a message to a worker", "it names no party"))
}

fn read<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|why| Failure::malformed("a message to a worker", why))
}
