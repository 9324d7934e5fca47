//! How shards are computed, as a driver tells its workers and as both drivers compare it.

use crate::args::{JobSettings, JobTask, Protocol};
use crate::config::Maker;
use crate::failure::{Exit, Failure};
use crate::peer;
use crate::verbs::candidates;
use duologue::call::Calls;
use duologue::channel::{Limits, Link};
use duologue::circuit::Binding;
use duologue::correlation::Demand;
use duologue::cost;
use duologue::cost::choice::{Choices, Wish};
use duologue::cost::cost_from_pool;
use duologue::{Conditions, Garbling, Options, Party, Scheme, Session};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Settings by their words on the command line.
#[derive(Serialize, Deserialize, Clone)]
pub struct Settings {
    protocol: String,
    garbler: Option<String>,
    garbling: Option<String>,
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
            garbling: garbling.map(|garbling| garbling.name().into()),
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
            garbling: None,
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
            ("how ANDs are garbled", self.compared_garbling()),
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
        let silence = Duration::from_secs(self.silence);
        peer::patient(silence).meet(silence.min(Duration::from_secs(self.deadline)))
    }

    /// Whether the protocol is left to the session.
    pub fn chooses(&self) -> Result<bool, Failure> {
        Ok(matches!(read(&self.protocol)?, Protocol::Auto))
    }

    /// What a session chooses among for a program; nothing if the protocol is named. All candidates are drafted, which may take long.
    pub fn choices(&self, binding: &Binding, calls: &Calls) -> Result<Option<Choices>, Failure> {
        if !self.chooses()? {
            return Ok(None);
        }
        let options = self.options(Scheme::Yao)?;
        candidates::of_part(binding, (&options, self.garbling()?), calls).map(Some)
    }

    /// The options of a session for a program; if the protocol is to be chosen, the session chooses with its peer.
    pub fn choose(
        &self,
        session: &mut Session,
        binding: &Arc<Binding>,
        choices: Option<&Choices>,
    ) -> Result<Choice, Failure> {
        if let Protocol::This(scheme) = read(&self.protocol)? {
            let (binding, options) = (binding.clone(), self.options(scheme)?);
            // What a pool saves is in no draft.
            let foreseen = if session.pool().is_some() { Foreseen::Nothing } else { self.draft(&binding, options) };
            return Ok(Choice { foreseen, binding, options });
        }
        let none = || Failure::malformed("the settings of a job", "there is no protocol to choose among");
        let ranking = session.choose(choices.ok_or_else(none)?, Wish::default())?;
        let best = ranking.best();
        let foreseen = Foreseen::Chosen(best.total());
        Ok(Choice { binding: best.binding.clone(), options: best.options, foreseen })
    }

    /// Drafts a run while it goes on, if the line may be known when it is over. Nothing is measured for it: a maker that is named needs no line.
    fn draft(&self, binding: &Arc<Binding>, options: Options) -> Foreseen {
        if self.assume_link.is_none() && self.link.is_none() && options.extension.is_some() {
            return Foreseen::Nothing;
        }
        let binding = Binding::clone(binding);
        let draft = move || Choices::new([(binding, options)], &apps::calls()).ok();
        let thread = thread::Builder::new().name("duologue-draft".into()).spawn(draft);
        thread.map_or(Foreseen::Nothing, Foreseen::Alone)
    }

    /// The line that is simulated between workers, and this machine's processor.
    pub fn simulated(&self) -> Option<Conditions> {
        let line = self.link().ok()??;
        Some(Conditions::of(&line).with_speed(cost::blocks_per_second().saturating_mul(self.threads.into())))
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

    /// Who does not say how, and names the protocol, has the usual one.
    fn compared_garbling(&self) -> String {
        let usual = match self.protocol.parse() {
            Ok(Protocol::This(_)) => Garbling::default().name(),
            _ => "whatever is best",
        };
        self.garbling.clone().unwrap_or(usual.into())
    }

    fn garbling(&self) -> Result<Option<Garbling>, Failure> {
        self.garbling.as_deref().map(read).transpose()
    }

    fn options(&self, scheme: Scheme) -> Result<Options, Failure> {
        let garbler = self.garbler.as_deref().map(party).transpose()?;
        let usual = Options::new(scheme).garbler(garbler).garbling(self.garbling()?.unwrap_or_default());
        let Maker(maker) = read(&self.correlations)?;
        Ok(usual.extension(maker).link(self.assume_link.as_deref().map(read).transpose()?))
    }
}

/// What a session runs.
pub struct Choice {
    pub binding: Arc<Binding>,
    pub options: Options,
    foreseen: Foreseen,
}

/// What is known of how long a run takes.
enum Foreseen {
    Nothing,
    /// What was predicted when it was chosen.
    Chosen(Duration),
    /// It is drafted, if it can be.
    Alone(JoinHandle<Option<Choices>>),
}

impl Choice {
    /// How long its run, which is over, was predicted to take: when it was chosen, or else for the line that both assume, or else for these
    /// conditions.
    pub fn predicted(self, known: Option<Conditions>) -> Option<Duration> {
        let draft = match self.foreseen {
            Foreseen::Nothing => return None,
            Foreseen::Chosen(time) => return Some(time),
            Foreseen::Alone(draft) => draft.join().ok()??,
        };
        let conditions = self.options.link.map(|link| Conditions::of(&link)).or(known)?;
        Some(draft.rank(Wish::default(), &conditions).ok()?.first()?.total())
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
