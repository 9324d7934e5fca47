//! What `--protocol auto` chooses among, and how a candidate is shown.

use crate::failure::Failure;
use crate::io::console::{bytes, seconds, thousands};
use crate::program;
use duologue::call::Calls;
use duologue::circuit::{Binding, Program};
use duologue::correlation::Demand;
use duologue::cost::choice::{Candidate, Choices, candidates, mixes};
use duologue::{Garbling, Options, Scheme};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The candidates for a program as it is named, drafted.
pub struct Candidates {
    pub choices: Choices,
    /// The goal of each candidate's circuits, where there is more than one.
    goals: Vec<Option<&'static str>>,
}

impl Candidates {
    /// Every protocol for a program; for a built-in one that is named without a goal, with each construction that there is.
    /// Options, and a garbling if it is told, restrict them.
    pub fn new(
        (text, binding): (&str, &Binding),
        bind: impl Fn(&Program) -> Result<Binding, Failure>,
        (options, garbling): (&Options, Option<Garbling>),
        calls: &Calls,
    ) -> Result<Candidates, Failure> {
        let others = program::other_goals(text)?;
        let mut variants = vec![((!others.is_empty()).then_some(program::USUAL_GOAL), binding.clone())];
        for goal in others {
            let variant = program::load(&format!("{text}:{goal}"), &[])?;
            variants.push((Some(goal), bind(&variant)?));
        }
        let (mut goals, mut all) = (Vec::new(), Vec::new());
        for (goal, binding) in variants {
            for options in protocols(&binding, (options, garbling)) {
                goals.push(goal);
                all.push((binding.clone(), options));
            }
        }
        Ok(Candidates { choices: Choices::new(all, calls)?, goals })
    }

    pub fn predicted(&self, candidate: &Candidate) -> Predicted {
        Predicted::new(candidate, self.goals[candidate.number])
    }
}

/// What is chosen among for a shard of a job or its last program where no protocol is named: every protocol for this program alone.
pub fn of_part(
    binding: &Binding,
    (options, garbling): (&Options, Option<Garbling>),
    calls: &Calls,
) -> Result<Choices, Failure> {
    let all = protocols(binding, (options, garbling)).map(|options| (binding.clone(), options));
    Ok(Choices::new(all, calls)?)
}

/// Every protocol, and every mix of a program.
fn protocols(
    binding: &Binding,
    (options, garbling): (&Options, Option<Garbling>),
) -> impl Iterator<Item = Options> + use<> {
    let mixed = mixes(binding, &options.garbling(garbling.unwrap_or_default()));
    candidates(options, garbling).into_iter().chain(mixed)
}

/// A candidate with what it was predicted to take.
#[derive(Clone, Serialize, Deserialize)]
pub struct Predicted {
    pub protocol: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub garbling: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub garbler: Option<String>,
    /// The ANDs a layer from which steps are shared, of a mixed program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_from: Option<u64>,
    /// The goal of the circuits, where there was more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What makes its correlations, if it draws any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maker: Option<String>,
    pub predicted: Prediction,
}

/// Seconds, and bytes of both phases in both directions.
#[derive(Clone, Serialize, Deserialize)]
pub struct Prediction {
    pub setup: f64,
    pub online: f64,
    pub bytes: u64,
}

impl Predicted {
    fn new(candidate: &Candidate, goal: Option<&'static str>) -> Predicted {
        let terms = &candidate.cost.terms;
        let garbles = terms.scheme.has_garbler();
        Predicted {
            protocol: terms.scheme.to_string(),
            garbling: garbles.then(|| terms.garbling.to_string()),
            garbler: garbles.then(|| terms.garbler.to_string()),
            share_from: (terms.scheme == Scheme::Mixed).then_some(terms.share_from),
            variant: goal.map(str::to_owned),
            maker: (candidate.cost.demand != Demand::NONE).then(|| candidate.cost.maker.to_string()),
            predicted: Prediction {
                setup: candidate.setup.as_secs_f64(),
                online: candidate.online.as_secs_f64(),
                bytes: candidate.bytes(),
            },
        }
    }
}

impl Prediction {
    pub fn total(&self) -> f64 {
        self.setup + self.online
    }
}

impl Predicted {
    /// `yao three-halves alice depth`.
    pub fn short(&self) -> String {
        let garbling = self.garbling.iter().filter(|garbling| *garbling != "half-gates");
        let words = [&self.protocol].into_iter().chain(garbling).chain(&self.garbler);
        let goal = self.variant.iter().filter(|goal| *goal != program::USUAL_GOAL);
        words.chain(goal).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// `yao by half-gates, bob garbles, circuits of least depth, correlations by softspoken4`.
    pub fn name(&self) -> String {
        let mut name = self.protocol.clone();
        if let Some(ands) = self.share_from {
            name += &format!(" from {} ANDs a layer", thousands(ands));
        }
        if let (Some(garbling), Some(garbler)) = (&self.garbling, &self.garbler) {
            name += &format!(" by {garbling}, {garbler} garbles");
        }
        if let Some(variant) = &self.variant {
            name += &format!(", circuits of least {variant}");
        }
        if let Some(maker) = &self.maker {
            name += &format!(", correlations by {maker}");
        }
        name
    }
}

impl fmt::Display for Predicted {
    /// The name, and `: predicted 12 ms, 3 ms of them online, 34 kB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Prediction { setup, online, bytes: count } = self.predicted;
        let (all, online) = (seconds(setup + online), seconds(online));
        write!(f, "{}: predicted {all}, {online} of them online, {}", self.name(), bytes(count))
    }
}
