//! `--protocol auto`: the protocol that is predicted to be best, by what the parties measure when they meet or by the line that
//! both assume.

use super::report::Measured;
use crate::args::Run;
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::input::Given;
use crate::io::sizes;
use crate::verbs::candidates::{Candidates, Predicted};
use crate::verbs::options_of;
use duologue::call::Calls;
use duologue::circuit::{Binding, Program};
use duologue::cost::choice::{Candidate, Wish};
use duologue::session::{Basis, Ranking};
use duologue::{Options, Scheme, Session};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What is chosen among, and by what.
pub(super) struct Auto {
    candidates: Candidates,
    wish: Wish,
}

impl Auto {
    /// What is told of garbling, garbler, timing and correlations restricts the candidates.
    pub fn new(binding: &Binding, args: &Run, calls: &Calls, given: &[Given]) -> Result<Auto, Failure> {
        let settings = &args.settings;
        let usual = options_of(Scheme::Yao, settings).timing(args.timing).share_from(args.share_from);
        let garbling = args.garbling_is_given.then_some(settings.garbling);
        let bind = |program: &Program| sizes::bind(program, &args.size, given);
        let candidates = Candidates::new((&args.program, binding), bind, (&usual, garbling), calls)?;
        Ok(Auto { candidates, wish: args.wish.unwrap_or_default() })
    }

    /// Chooses with the peer, and says what and why.
    pub fn choose(&self, session: &mut Session, console: &Console) -> Result<(Arc<Binding>, Options, Chosen), Failure> {
        let ranking = session.choose(&self.candidates.choices, self.wish)?;
        let chosen = Chosen::new(self, &ranking);
        console.note(chosen.to_string());
        let best = ranking.best();
        Ok((best.binding.clone(), best.options, chosen))
    }
}

/// What was chosen, and the second best.
#[derive(Serialize, Deserialize)]
pub struct Chosen {
    pub wish: String,
    #[serde(flatten)]
    pub best: Predicted,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Predicted>,
    /// The conditions, and whether they were `measured` or `assumed`; none where they did not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<String>,
    /// The conditions in words.
    #[serde(skip)]
    line: Option<String>,
}

impl Chosen {
    fn new(auto: &Auto, ranking: &Ranking) -> Chosen {
        let predicted = |candidate: &Candidate| auto.candidates.predicted(candidate);
        let (basis, line) = match ranking.basis {
            Basis::Measured => (Some("measured"), Some(format!("{}, as measured", ranking.conditions))),
            Basis::Assumed => (Some("assumed"), Some(format!("{}, as assumed", ranking.conditions))),
            _ => (None, None),
        };
        Chosen {
            wish: auto.wish.to_string(),
            best: predicted(ranking.best()),
            next: ranking.candidates.get(1).map(predicted),
            conditions: basis.map(|_| Measured::from(&ranking.conditions)),
            basis: basis.map(str::to_owned),
            line,
        }
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.as_deref().unwrap_or("any line");
        write!(f, "chosen by {} for {line}:\n  {}", self.wish, self.best)?;
        self.next.as_ref().map_or(Ok(()), |next| write!(f, "\n  next {next}"))
    }
}
