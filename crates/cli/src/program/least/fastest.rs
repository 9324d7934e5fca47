//! Which method is the fastest of those that leak nothing: by exact bytes and rounds over a line, setup included, and by computing at
//! fixed rates, so that both parties choose alike.

use super::{Chosen, Wanted};
use crate::failure::Failure;
use apps::argmin::encrypted::{self, Terms};
use apps::argmin::{self, Direction};
use duologue::channel::Link;
use duologue::circuit::Program;
use duologue::circuit::blocks::Goal;
use duologue::cost::{Speed, cost_from_pool, cost_over};
use duologue::{Garbling, Options, Scheme, Timing};
use std::time::Duration;

/// A way to compute circuits.
pub(super) struct Engine {
    pub options: Options,
    pub goal: Goal,
    /// ANDs a second in setup and online.
    pub speed: Speed,
}

impl Engine {
    /// Yao is streamed, so that shared inputs take no labels.
    pub fn all() -> [Engine; 4] {
        let yao = |garbling, rate| {
            let options = Options::new(Scheme::Yao).garbling(garbling).timing(Timing::Streamed);
            Engine { options, goal: Goal::Size, speed: Speed { setup: rate, online: rate } }
        };
        let gmw = |goal| {
            let speed = Speed { setup: 2e7, online: 2e8 };
            Engine { options: Options::new(Scheme::Gmw), goal, speed }
        };
        [yao(Garbling::HalfGates, 5e7), yao(Garbling::ThreeHalves, 3e7), gmw(Goal::Size), gmw(Goal::Depth)]
    }
}

/// What a turn from sending to receiving takes besides the line: system calls, and waking up. Measured as 0.1 to 0.16 ms.
const TURN: Duration = Duration::from_micros(100);

/// Calls compute apart from ANDs.
const INSTANT: Speed = Speed { setup: f64::INFINITY, online: f64::INFINITY };

impl Wanted {
    /// The circuits of pairs by the engine that is the fastest over a line; or the call by OTs of one party, where the maker that
    /// is named suits it.
    pub(super) fn fastest_of_strings(&self, link: &Link) -> Result<Chosen, Failure> {
        let mut timed = Vec::new();
        for Engine { options, goal, speed } in Engine::all() {
            let program = self.pairs(goal);
            let time = self.time(&program, &options, link, &speed)?;
            let garbled = options.scheme.has_garbler().then_some((options.garbling, options.timing));
            timed.push((time, Chosen { garbled, ..Chosen::by(program, options.scheme) }));
        }
        if self.supply.favours_one_direction() {
            let chosen = self.strings_by_ots(Direction::One);
            timed.push((self.time_of_call(&chosen.program, link)?, chosen));
        }
        let least = timed.into_iter().min_by_key(|(time, _)| *time);
        least.map(|(_, chosen)| chosen).ok_or_else(|| Failure::input("no method"))
    }

    /// The time of a program whose call does all of it.
    pub(super) fn time_of_call(&self, program: &Program, link: &Link) -> Result<Duration, Failure> {
        self.time(program, &Options::new(Scheme::Gmw), link, &INSTANT)
    }

    /// Whether Erkin's tournament is faster than ours, and takes so many values of so many bits.
    pub(super) fn prefers_erkin(&self, ours: &Terms, erkins: &Terms, link: &Link) -> Result<bool, Failure> {
        let ours = self.time_of_ciphertexts(encrypted::Method::Duologue, ours, link)?;
        let takes = argmin::of_ciphertexts(encrypted::Method::Erkin, erkins).bind(&[("values", self.values())]).is_ok();
        Ok(takes && self.time_of_ciphertexts(encrypted::Method::Erkin, erkins, link)? < ours)
    }

    pub(super) fn time_of_ciphertexts(
        &self,
        method: encrypted::Method,
        terms: &Terms,
        link: &Link,
    ) -> Result<Duration, Failure> {
        let program = argmin::of_ciphertexts(method, terms);
        Ok(self.time_of_call(&program, link)? + computing(method, terms, self.values()))
    }

    /// The time of a program over a line, with the maker of correlations that is named, or the one that is chosen for the line; with
    /// a pool none are made.
    pub(super) fn time(
        &self,
        program: &Program,
        options: &Options,
        link: &Link,
        speed: &Speed,
    ) -> Result<Duration, Failure> {
        let (binding, calls) = (program.bind(&[("values", self.values())])?, apps::calls());
        let options = options.extension(self.supply.maker);
        let cost = match self.supply.pool {
            true => cost_from_pool(&binding, &options, &calls)?,
            false => cost_over(&binding, &options, &calls, link)?,
        };
        let (setup, online) = cost.time(link, speed);
        let turns = [cost.setup, cost.online].iter().map(|phase| phase.alice_rounds.max(phase.bob_rounds)).sum::<u64>();
        Ok(setup + online + TURN * u32::try_from(turns).unwrap_or(u32::MAX))
    }
}

/// What both parties compute, about, one core each: a key of T bits takes time as T², what is made once as T³.
fn computing(method: encrypted::Method, terms: &Terms, values: u64) -> Duration {
    let values = u128::from(values);
    // For a key of 256 bits: what is made once, and what each value takes.
    let (once, each) = match method {
        // A table of powers; packing, blinding, decrypting.
        encrypted::Method::Duologue => (150_000, 3_500 * values),
        // A key of DGK; 2·l of its ciphertexts a pair, and some of Paillier's.
        _ => (300_000, 1_500 * (2 * u128::from(terms.bits) + 8) * values.saturating_sub(1)),
    };
    let bits = u128::from(terms.key_bits);
    let nanoseconds = once * bits.pow(3) / 256_u128.pow(3) + each * bits.pow(2) / 256_u128.pow(2);
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}
