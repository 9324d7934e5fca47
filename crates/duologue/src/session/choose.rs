//! The choice of the protocol in a session, by what is measured.
//!
//! ```text
//! opening      the terms of the choice: candidates, wish, rule; a probe of 4 to 64 kB; the first messages of the base OTs
//! exchange 1   what was found, with the second messages of the base OTs: both parties know the conditions, and choose
//! then         the run of what was chosen; its terms travel with its first message
//! ```
//!
//! Base OTs depend on no protocol and no maker, and on none of the terms, and the terms of the run follow from what both have said by then, so nobody
//! waits for the peer's: they are compared before anything else that comes of it is read, and before an input is used. A
//! choice so takes no longer than a protocol that is named, whose base OTs come after its terms.
//! Nothing secret is used.

use super::outcome::Mark;
use super::probe::Chosen;
use super::{PhaseReport, Session, asked, fields};
use crate::channel::Link;
use crate::correlation::Demand;
use crate::cost::choice::{Candidate, Choices, Standing, Wish};
use crate::cost::draft::{Measuring, Source};
use crate::{Conditions, Error, Result};

/// Candidates as they were ranked for a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ranking {
    /// The best first.
    pub candidates: Vec<Candidate>,
    /// What they were ranked for.
    pub conditions: Conditions,
    /// Where the conditions are from.
    pub basis: Basis,
}

/// Where conditions are from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Basis {
    /// Both parties measured them, now or before in this session.
    Measured,
    /// They are those of a line that both named.
    Assumed,
    /// They break ties alone: bytes are the same over every line.
    Any,
}

impl Ranking {
    /// The candidate that was chosen.
    pub fn best(&self) -> &Candidate {
        &self.candidates[0]
    }
}

impl Session {
    /// Chooses the candidate that is predicted to serve a wish best, by the line and the processors, which are measured
    /// unless they are known or a line is assumed. Both parties have the same ranking. [`run`](Self::run) or
    /// [`prepare`](Self::prepare) with the program and the options of the best comes next.
    ///
    /// ```
    /// use duologue::circuit::blocks::{Goal, greater};
    /// use duologue::circuit::{Program, UInt, uint};
    /// use duologue::cost::choice::{Choices, Wish, candidates};
    /// use duologue::{Inputs, Options, Party, Scheme, Session, call::Calls, channel::Channel, data};
    ///
    /// // The millionaires' problem by few ANDs or by little depth, by whatever protocol is fastest.
    /// let program = |goal| {
    ///     let mut p = Program::new("millionaires");
    ///     let [hers, his] = [Party::Alice, Party::Bob].map(|party| p.input(&party.to_string(), party, uint(32), 1));
    ///     let richer = p.map_with([hers, his], |c, [a, b]: [UInt; 2]| UInt::from(greater(c, &a, &b, goal)));
    ///     p.output("alice is richer", Party::Alice, richer);
    ///     p.bind(&[])
    /// };
    /// let jobs = [program(Goal::Size)?, program(Goal::Depth)?];
    /// let all = candidates(&Options::new(Scheme::Yao), None);
    /// let choices = jobs.iter().flat_map(|job| all.iter().map(move |options| (job.clone(), *options)));
    /// let choices = Choices::new(choices, &Calls::new())?;
    ///
    /// let play = |channel, party: Party, fortune| {
    ///     let mut session = Session::connect(channel, party)?;
    ///     let ranking = session.choose(&choices, Wish::Total)?;
    ///     let best = ranking.best();
    ///     let inputs = Inputs::new().with(&party.to_string(), data::uints(32, &[fortune])?);
    ///     let outcome = session.run(&best.binding, &best.options, &inputs)?;
    ///     session.close().map(|()| outcome.outputs)
    /// };
    /// let (to_bob, to_alice) = Channel::pair();
    /// let outputs = std::thread::scope(|scope| {
    ///     scope.spawn(|| play(to_alice, Party::Bob, 1_000_000));
    ///     play(to_bob, Party::Alice, 2_000_000)
    /// })?;
    /// assert_eq!(data::to_uints(outputs.get("alice is richer").unwrap())?, [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] if the session makes correlations by another maker than the candidates name;
    /// [`Error::Incompatible`] if the peer does not choose among the same, by the same wish and rule, which ends the session if
    /// something is measured. Any other error ends it, too.
    pub fn choose(&mut self, choices: &Choices, wish: Wish) -> Result<Ranking> {
        self.alive()?;
        let term = choices.maker();
        self.wire.check_extension(term.extension)?;
        let standing = self.standing();
        let measuring = choices.measuring(wish, &standing);
        let binding = choices.first();
        let fields = fields::outlined(choices.fields(&standing, wish, measuring)?, binding)?;
        let start = Mark::new(&self.wire);
        let rank = |conditions: &Conditions| choices.rank_in(&standing, measuring, (wish, conditions));
        let ((candidates, conditions), basis) = self.guarded_for(binding, |session| {
            session.wire.term = term;
            if measuring != Measuring::Nothing {
                let ranked = session.wire.measure_and_rank(&fields, measuring, rank)?;
                return Ok((ranked, Basis::Measured));
            }
            session.wire.agree(&fields)?;
            let (conditions, basis) = match (term.link, standing.conditions) {
                (Some(link), _) => (Conditions::of(&link), Basis::Assumed),
                (None, Some(known)) => (known, Basis::Measured),
                (None, None) => (Conditions::of(&Link::LAN), Basis::Any),
            };
            Ok(((rank(&conditions)?, conditions), basis))
        })?;
        let ranking = Ranking { candidates, conditions, basis };
        self.keep(choices, &ranking, start.until_now(&self.wire))?;
        Ok(ranking)
    }

    fn standing(&self) -> Standing {
        let (stock, pool) = (self.stock.available(), self.wire.left_in_pool());
        Standing {
            source: Source { based: self.wire.based, stock, pool, ..Source::default() },
            maker: self.wire.maker_of_pool().or(self.wire.chosen.map(|chosen| chosen.extension)),
            conditions: self.wire.conditions,
            has_pool: self.wire.pool.is_some(),
            moment: self.moment(false, self.ordinal),
        }
    }

    /// Remembers what was chosen: the run that comes next begins without waiting.
    fn keep(&mut self, choices: &Choices, ranking: &Ranking, took: PhaseReport) -> Result<()> {
        let best = ranking.best();
        let missing = best.cost.demand.missing_from(&self.stock.available());
        let makes = missing.missing_from(&self.wire.left_in_pool()) != Demand::NONE;
        if choices.maker().extension.is_none() && makes && ranking.basis != Basis::Any {
            self.wire.take_maker(best.cost.maker, ranking.conditions);
        } else if makes {
            self.wire.chosen.get_or_insert(Chosen { extension: best.cost.maker, conditions: None });
        }
        let asked = asked(&best.binding, &best.options)?;
        let (terms, schedule) =
            choices.drafted(best).ok_or_else(|| Error::usage("the candidate is none of these choices"))?;
        self.first = Some((asked.clone(), terms, schedule));
        self.foreseen = Some((asked, took));
        Ok(())
    }
}
