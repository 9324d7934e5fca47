//! The choice of the protocol: of several options for one program, or of several programs that compute the same, the ones
//! that are predicted to serve a wish best.
//!
//! All that is compared is counted or computed in integers, from public terms and from conditions that both parties know,
//! so both choose alike. [`Session::choose`](crate::Session::choose) measures the conditions, and compares the terms of the
//! choice before.
//!
//! **Security**: all candidates have 128 bits against semi-honest parties, as each protocol's page says.

use super::Cost;
use super::draft::{Draft, Measuring, Source, Start};
use crate::agreement::{self, Fields};
use crate::call::Calls;
use crate::correlation::choice::{choose, leanest, probe_for};
use crate::correlation::{Demand, MakerTerm};
use crate::executor::PlanCache;
use crate::ot::Extension;
use crate::protocol::terms::{self, Terms};
use crate::session::fields::{self, Moment};
use crate::{Conditions, Error, Garbling, Options, Party, Result, Scheme, Timing};
use circuit::Schedule;
use circuit::program::Binding;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// The number of the rule by which candidates are ranked, which is among the terms of a choice: parties with another formula
/// would choose otherwise. Raise it with any change that moves a choice.
pub(crate) const RULE: u32 = 3;

/// Bytes of memory beyond which a candidate is none, if another one needs less.
const MOST_MEMORY: u64 = 1 << 30;

/// The most ways in which a mixed program is cut.
const MOST_MIXES: usize = 3;

/// What shall be least.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Wish {
    /// The time of setup and of the online phase.
    #[default]
    Total,
    /// The time from the inputs on.
    Online,
    /// The bytes of both phases in both directions.
    Bytes,
}

impl Wish {
    /// All of them.
    pub const ALL: [Wish; 3] = [Wish::Total, Wish::Online, Wish::Bytes];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Wish::Total => "total",
            Wish::Online => "online",
            Wish::Bytes => "bytes",
        }
    }
}

impl FromStr for Wish {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Wish::ALL.into_iter().find(|wish| wish.name() == name);
        found.ok_or_else(|| Error::usage(format!("no wish is called '{name}'")))
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A program with options, and what it is predicted to take.
#[derive(Clone)]
#[non_exhaustive]
pub struct Candidate {
    /// Which of the candidates it is, in the order in which they were given.
    pub number: usize,
    /// The program.
    pub binding: Arc<Binding>,
    /// The options.
    pub options: Options,
    /// Exact bytes and rounds, with those of the choice.
    pub cost: Cost,
    /// The time of setup, with the base OTs of a new session.
    pub setup: Duration,
    /// The time from the inputs on.
    pub online: Duration,
}

impl Candidate {
    /// The time of both phases.
    pub fn total(&self) -> Duration {
        self.setup + self.online
    }

    /// The bytes of both phases in both directions.
    pub fn bytes(&self) -> u64 {
        self.cost.bytes()
    }

    /// What decides: what is wished, then the other two.
    fn rank(&self, wish: Wish) -> [u128; 3] {
        let [total, online] = [self.total(), self.online].map(|time| time.as_nanos());
        let bytes = u128::from(self.bytes());
        match wish {
            Wish::Total => [total, online, bytes],
            Wish::Online => [online, total, bytes],
            Wish::Bytes => [bytes, total, online],
        }
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.binding.program().name();
        let mut shown = f.debug_struct("Candidate");
        shown.field("number", &self.number).field("program", &program).field("options", &self.options);
        shown.field("setup", &self.setup).field("online", &self.online).finish_non_exhaustive()
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&described(&self.cost.terms))
    }
}

/// `yao by half-gates, bob garbles`.
fn described(&Terms { scheme, garbling, garbler, share_from, .. }: &Terms) -> String {
    let garbles = format!("by {garbling}, {garbler} garbles");
    match scheme {
        Scheme::Mixed => format!("mixed from {share_from} ANDs a layer {garbles}"),
        _ if scheme.has_garbler() => format!("{scheme} {garbles}"),
        _ => scheme.to_string(),
    }
}

/// `gmw or yao`: each once, in one order whatever order they came in.
fn any_of(settings: impl Iterator<Item = impl fmt::Display>) -> String {
    let names: BTreeSet<String> = settings.map(|setting| setting.to_string()).collect();
    if names.is_empty() { "none".into() } else { Vec::from_iter(names).join(" or ") }
}

/// These options by every protocol that can have its setup as they say; by Yao with this garbling, or else with each, and
/// with the garbler that they name, or else with either.
pub fn candidates(options: &Options, garbling: Option<Garbling>) -> Vec<Options> {
    let fitting = |scheme: &Scheme| *scheme != Scheme::MaskedGmw || options.timing != Timing::Streamed;
    let ways = |scheme: Scheme| -> Vec<Options> {
        let options = options.scheme(scheme);
        if !scheme.has_garbler() {
            return vec![options.garbling(Garbling::default())];
        }
        let garblings = Garbling::ALL.into_iter().filter(|&way| garbling.is_none_or(|wanted| way == wanted));
        let garblers = |way| {
            let either = [Party::Bob, Party::Alice].into_iter();
            let wanted = either.filter(move |&party| options.garbler.is_none_or(|wanted| party == wanted));
            wanted.map(move |garbler| options.garbling(way).garbler(garbler))
        };
        garblings.flat_map(garblers).collect()
    };
    let whole = Scheme::ALL.into_iter().filter(|scheme| *scheme != Scheme::Mixed);
    whole.filter(fitting).flat_map(ways).collect()
}

/// These options for a mixed program, cut as they say or else in a few ways; none if it has no cuts. With the garbler that they
/// name, or else with either at the widest gap, and by the rule at others.
pub fn mixes(binding: &Binding, options: &Options) -> Vec<Options> {
    let mixed = options.scheme(Scheme::Mixed);
    let mut cuts = binding.cuts();
    if let (Some(wanted), false) = (options.share_from, cuts.is_empty()) {
        cuts = vec![wanted];
    }
    let cut = cuts.into_iter().take(MOST_MIXES).map(|cut| mixed.share_from(cut)).collect::<Vec<_>>();
    match (cut.split_first(), options.garbler) {
        (Some((first, rest)), None) => [Party::Bob, Party::Alice]
            .map(|party| first.garbler(party))
            .into_iter()
            .chain(rest.iter().copied())
            .collect(),
        _ => cut,
    }
}

/// What a session has before a choice.
#[derive(Clone, Default)]
pub(crate) struct Standing {
    pub source: Source,
    /// The maker that it keeps.
    pub maker: Option<Extension>,
    /// The conditions that were measured before.
    pub conditions: Option<Conditions>,
    pub has_pool: bool,
    pub moment: Moment,
}

/// Programs that compute the same, each with options, of which the parties take one. They are drafted once, so that ranking
/// them takes no dry run.
#[derive(Clone)]
#[must_use = "drafts serve a choice"]
pub struct Choices {
    drafts: Vec<Drafted>,
    maker: MakerTerm,
}

#[derive(Clone)]
struct Drafted {
    /// Which of the candidates it is.
    number: usize,
    binding: Arc<Binding>,
    options: Options,
    draft: Draft,
}

impl fmt::Debug for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let candidates = self.drafts.iter().map(|one| described(&one.draft.terms)).collect::<Vec<_>>();
        f.debug_struct("Choices").field("candidates", &candidates).finish_non_exhaustive()
    }
}

impl Choices {
    /// Drafts the candidates, which may call these protocols; both parties give the same. One that cannot run, say since its
    /// protocol would have to keep too much in memory, is left out.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, or they differ in what makes their correlations or in the line that they assume; if
    /// none can run, what keeps the last one from it.
    pub fn new(candidates: impl IntoIterator<Item = (Binding, Options)>, calls: &Calls) -> Result<Choices> {
        let mut drafting = Drafting { calls, plans: PlanCache::default(), bindings: Vec::new(), schedules: Vec::new() };
        let (mut drafts, mut failed, mut maker) = (Vec::new(), None, None);
        for (number, (binding, options)) in candidates.into_iter().enumerate() {
            let term = MakerTerm { extension: options.extension, link: options.link };
            if *maker.get_or_insert(term) != term {
                return Err(Error::usage("the candidates of a choice have one maker of correlations and one line"));
            }
            match drafting.draft(number, binding, options) {
                Ok(drafted) => drafts.push(drafted),
                Err(why) => failed = Some(why),
            }
        }
        let least = drafts.iter().map(|one| one.draft.memory).min();
        drafts.retain(|one| one.draft.memory <= MOST_MEMORY || Some(one.draft.memory) == least);
        match maker {
            Some(maker) if !drafts.is_empty() => Ok(Choices { drafts, maker }),
            _ => Err(failed.unwrap_or_else(|| Error::usage("there is no candidate to choose"))),
        }
    }

    /// The candidates in a new session under these conditions, best first; of equal ones in the order given.
    ///
    /// # Errors
    /// If the terms of the choice would be too long.
    pub fn rank(&self, wish: Wish, conditions: &Conditions) -> Result<Vec<Candidate>> {
        let standing = Standing::default();
        self.rank_in(&standing, self.measuring(wish, &standing), (wish, &conditions.bounded()))
    }

    /// The same in a session that has something.
    pub(crate) fn rank_in(
        &self,
        standing: &Standing,
        measuring: Measuring,
        (wish, conditions): (Wish, &Conditions),
    ) -> Result<Vec<Candidate>> {
        let terms = 4 + agreement::encode(&self.fields(standing, wish, measuring)?).len();
        let start = Start::Choice { terms, measuring };
        let mut makers: HashMap<Demand, Extension> = HashMap::new();
        let candidate = |Drafted { number, binding, options, draft }: &Drafted| {
            let maker = makers.entry(draft.demand);
            let maker = *maker.or_insert_with(|| self.maker_of(&draft.demand, standing, (wish, conditions)));
            let cost = draft.cost(&Source { maker, ..standing.source }, &start);
            let (setup, online) = cost.predict_under(conditions);
            Candidate { number: *number, binding: binding.clone(), options: *options, cost, setup, online }
        };
        let mut ranked: Vec<_> = self.drafts.iter().map(candidate).collect();
        ranked.sort_by_key(|candidate| candidate.rank(wish));
        Ok(ranked)
    }

    fn maker_of(&self, demand: &Demand, standing: &Standing, (wish, conditions): (Wish, &Conditions)) -> Extension {
        let missing = demand.missing_from(&standing.source.stock).missing_from(&standing.source.pool);
        match (self.maker.extension.or(standing.maker), wish) {
            (Some(known), _) => known,
            (None, _) if missing == Demand::NONE => Extension::DEFAULT,
            (None, Wish::Bytes) => leanest(missing),
            (None, _) => choose(missing, conditions),
        }
    }

    /// What is measured for a choice in a session that has this. Least bytes are the same over every line.
    pub(crate) fn measuring(&self, wish: Wish, standing: &Standing) -> Measuring {
        if self.maker.link.is_some() || standing.conditions.is_some() || wish == Wish::Bytes {
            return Measuring::Nothing;
        }
        let demand = self.drafts.iter().map(|one| one.draft.demand).sum();
        match standing.source.based.any() || standing.has_pool || demand == Demand::NONE {
            true => Measuring::Alone(self.probe()),
            false => Measuring::WithBaseOts(self.probe(), demand),
        }
    }

    /// Bytes of a probe: a small part of what the candidate sends that sends least.
    fn probe(&self) -> usize {
        let bytes = |one: &Drafted| one.draft.cost(&Source::default(), &Start::Terms { probe: 0 }).bytes();
        probe_for(self.drafts.iter().map(bytes).min().unwrap_or(0))
    }

    /// The terms of the choice.
    pub(crate) fn fields(&self, standing: &Standing, wish: Wish, measuring: Measuring) -> Result<Fields> {
        let mut terms = blake3::Hasher::new_derive_key("duologue v1 candidates of a choice");
        for one in &self.drafts {
            terms.update(one.draft.digest.as_bytes());
        }
        let line = match (self.maker.link, measuring) {
            (Some(link), _) => format!("assumed, {link}"),
            (None, Measuring::Nothing) => "not measured".into(),
            (None, Measuring::Alone(probe) | Measuring::WithBaseOts(probe, _)) => format!("measured by {probe} bytes"),
        };
        let garbled = |terms: &&Terms| terms.scheme.has_garbler();
        let garbling = || self.terms().filter(garbled);
        let choice = fields::Choice {
            binding: self.first(),
            rule: RULE,
            wish,
            line,
            candidates: self.drafts.len(),
            protocols: any_of(self.terms().map(|terms| terms.scheme)),
            garblers: any_of(garbling().map(|terms| terms.garbler)),
            garblings: any_of(garbling().map(|terms| terms.garbling)),
            terms: terms.finalize(),
            maker: self.maker,
            pool: standing.source.pool,
        };
        fields::choice(&standing.moment, &choice)
    }

    /// The program of the first candidate.
    pub(crate) fn first(&self) -> &Binding {
        &self.drafts[0].binding
    }

    fn terms(&self) -> impl Iterator<Item = &Terms> {
        self.drafts.iter().map(|one| &one.draft.terms)
    }

    /// The maker and the line that all candidates name.
    pub(crate) fn maker(&self) -> MakerTerm {
        self.maker
    }

    /// What was derived from a candidate's options.
    pub(crate) fn drafted(&self, candidate: &Candidate) -> Option<(Terms, Arc<Schedule>)> {
        let found = self.drafts.iter().find(|one| one.number == candidate.number)?;
        Some((found.draft.terms, found.draft.schedule.clone()))
    }
}

/// What drafts of several candidates share.
struct Drafting<'a> {
    calls: &'a Calls,
    plans: PlanCache,
    bindings: Vec<Arc<Binding>>,
    schedules: Vec<Scheduled>,
}

/// A schedule, and what it depends on.
struct Scheduled {
    binding: Arc<Binding>,
    options: Options,
    schedule: Arc<Schedule>,
}

impl Drafting<'_> {
    fn draft(&mut self, number: usize, binding: Binding, options: Options) -> Result<Drafted> {
        let binding = self.shared(binding)?;
        let schedule = self.schedule(&binding, &options)?;
        let terms = Terms::of(&binding, &options, &schedule)?;
        let draft = Draft::new(&binding, (terms, schedule), (self.calls, &self.plans))?;
        Ok(Drafted { number, binding, options, draft })
    }

    fn shared(&mut self, binding: Binding) -> Result<Arc<Binding>> {
        let digest = binding.digest()?;
        for one in &self.bindings {
            if one.digest()? == digest && one.sizes() == binding.sizes() {
                return Ok(one.clone());
            }
        }
        let binding = Arc::new(binding);
        self.bindings.push(binding.clone());
        Ok(binding)
    }

    fn schedule(&mut self, binding: &Arc<Binding>, options: &Options) -> Result<Arc<Schedule>> {
        let depends = |options: &Options| (options.scheme, options.tile, options.share_from);
        let same = |one: &&Scheduled| Arc::ptr_eq(&one.binding, binding) && depends(&one.options) == depends(options);
        if let Some(known) = self.schedules.iter().find(same) {
            return Ok(known.schedule.clone());
        }
        let schedule = Arc::new(terms::schedule(binding, options)?);
        self.schedules.push(Scheduled { binding: binding.clone(), options: *options, schedule: schedule.clone() });
        Ok(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Link;
    use circuit::Program;
    use circuit::blocks::{self, Goal};
    use circuit::program::Owner;

    fn bound(block: &str, lanes: u64) -> Binding {
        let block = blocks::find(block).unwrap();
        let circuit = block.circuit(&block.usual(), Goal::Size).unwrap();
        let owners = [Owner::Party(Party::Alice), Owner::Party(Party::Bob)];
        Program::of_circuit(&circuit, &owners).bind(&[("lanes", lanes)]).unwrap()
    }

    fn all(options: &Options, garbling: Option<Garbling>, binding: &Binding) -> Choices {
        let all = candidates(options, garbling).into_iter().map(|options| (binding.clone(), options));
        Choices::new(all, &Calls::new()).unwrap()
    }

    fn ranked(binding: &Binding, line: &str, wish: Wish) -> Vec<Candidate> {
        let link: Link = line.parse().unwrap();
        all(&Options::new(Scheme::Yao), None, binding).rank(wish, &Conditions::of(&link)).unwrap()
    }

    /// A slow line makes bytes dear, a long one rounds: AES has 6,400 ANDs, 40 or more after one another.
    #[test]
    fn the_line_decides() {
        let binding = bound("aes128", 1000);
        let long = &ranked(&binding, "300ms,10Gbit", Wish::Online)[0];
        assert_eq!(long.options.scheme, Scheme::Yao, "{long}");
        let slow = &ranked(&binding, "0.2ms,1Mbit", Wish::Online)[0];
        assert_eq!(slow.options.scheme, Scheme::MaskedGmw, "{slow}");
        let fast = ranked(&binding, "0ms,1Mbit", Wish::Total);
        let of = |way| fast.iter().position(|one| one.options.scheme.has_garbler() && one.options.garbling == way);
        assert!(of(Garbling::ThreeHalves) < of(Garbling::HalfGates), "25 bytes an AND take less time than 32");
    }

    /// Each wish has the least of what it names, and of candidates that are equal in it the one that is less in the rest.
    #[test]
    fn the_best_is_the_least_of_what_is_wished() {
        for (block, lanes) in [("aes128", 1), ("aes128", 300), ("add", 1), ("multiply", 77)] {
            let binding = bound(block, lanes);
            for line in ["lan", "internet", "transatlantic", "3ms,500kbit"] {
                let [total, online, bytes] = Wish::ALL.map(|wish| ranked(&binding, line, wish));
                let least = |of: fn(&Candidate) -> u128, all: &[Candidate]| all.iter().map(of).min();
                let best = |of: fn(&Candidate) -> u128, all: &[Candidate]| Some(of(&all[0]));
                for (of, ranked) in [
                    ((|one| one.total().as_nanos()) as fn(&Candidate) -> u128, &total),
                    (|one| one.online.as_nanos(), &online),
                    (|one| one.bytes().into(), &bytes),
                ] {
                    assert_eq!(best(of, ranked), least(of, ranked), "{block}, {line}");
                }
                // Bytes do not depend on the line.
                let order = |all: &[Candidate]| all.iter().map(Candidate::bytes).collect::<Vec<_>>();
                assert_eq!(order(&bytes), order(&ranked(&binding, "1ms", Wish::Bytes)), "{block}, {line}");
            }
        }
    }

    /// On a line that carries more one way, who garbles is a choice: tables go the fast way.
    #[test]
    fn tables_go_the_fast_way() {
        let binding = bound("aes128", 100);
        let yao = all(&Options::new(Scheme::Yao), None, &binding);
        let mut conditions = Conditions::of(&"10ms,100Mbit".parse().unwrap());
        for (slow, garbler) in [(Party::Alice, Party::Bob), (Party::Bob, Party::Alice)] {
            (conditions.alice_to_bob, conditions.bob_to_alice) = (12_500_000, 12_500_000);
            *[&mut conditions.alice_to_bob, &mut conditions.bob_to_alice][slow as usize] = 100_000;
            let ranked = yao.rank(Wish::Total, &conditions).unwrap();
            let first = ranked.iter().find(|one| one.options.scheme == Scheme::Yao).unwrap();
            assert_eq!(first.cost.terms.garbler, garbler, "{first}");
        }
    }

    #[test]
    fn candidates_that_cannot_be_are_left_out() {
        let binding = bound("add", 1);
        let options = Options::new(Scheme::MaskedGmw);
        let one = |options| [(binding.clone(), options)];
        assert!(Choices::new(one(options), &Calls::new()).is_ok());
        let streamed = options.timing(Timing::Streamed);
        let why = Choices::new(one(streamed), &Calls::new()).unwrap_err().to_string();
        assert!(why.contains("cannot stream"), "{why}");
        let both = [streamed, Options::new(Scheme::Yao)].map(|options| (binding.clone(), options));
        let ranked = Choices::new(both, &Calls::new()).unwrap().rank(Wish::Total, &Conditions::of(&Link::LAN)).unwrap();
        assert_eq!(ranked.iter().map(|one| one.number).collect::<Vec<_>>(), [1]);
        assert!(Choices::new([], &Calls::new()).is_err());
        let makers = [None, Some(Extension::DEFAULT)].map(|maker| (binding.clone(), options.extension(maker)));
        let why = Choices::new(makers, &Calls::new()).unwrap_err().to_string();
        assert!(why.contains("one maker"), "{why}");
    }

    #[test]
    fn what_is_told_restricts_the_candidates() {
        let names = |options: Options, garbling| {
            let all = candidates(&options, garbling).into_iter();
            all.map(|one| (one.scheme, one.garbling)).collect::<Vec<_>>()
        };
        let (any, half, three) = (Options::new(Scheme::Yao), Garbling::HalfGates, Garbling::ThreeHalves);
        let yao = any.garbler(Party::Alice);
        let [gmw, masked] = [(Scheme::Gmw, half), (Scheme::MaskedGmw, half)];
        assert_eq!(names(yao, None), [(Scheme::Yao, half), (Scheme::Yao, three), gmw, masked]);
        assert_eq!(names(yao, Some(three)), [(Scheme::Yao, three), gmw, masked]);
        assert_eq!(names(yao.timing(Timing::Streamed), Some(half)), [(Scheme::Yao, half), gmw]);
        assert_eq!(names(any, Some(half)), [(Scheme::Yao, half), (Scheme::Yao, half), gmw, masked]);
    }
}
