//! `duologue cost --workers`: what a job takes by several pairs of workers that share the line between two sites.
//!
//! Of `p` pairs each has a `p`-th of the line's rate, whether or not the others send, and all of its delay. Every shard counts as the
//! largest, which has at most a 32nd more than its part. The slowest pair computes its shards one after the other; then the drivers run the
//! last program over the whole line. What a shard takes besides its run is [`beside`].

use super::title;
use crate::args::{Cost as CostArgs, Protocol};
use crate::failure::Failure;
use crate::io::console::{count, seconds, table};
use crate::io::{shown, sizes};
use crate::verbs::candidates;
use duologue::channel::Link;
use duologue::circuit::{Binding, Program};
use duologue::cost::choice::{Choices, Wish};
use duologue::cost::{self, Cost};
use duologue::job::{Cut, Plan};
use duologue::{Conditions, Options, Scheme};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// What a shard takes besides its run on a line without delay: the drivers agree on it, the workers are told, make keys, meet and write.
const BESIDE: Duration = Duration::from_millis(10);

/// Round trips of a shard besides its run: one until both drivers know that both workers are ready, two until these have met (TCP,
/// then TLS), one and a half until both have closed, half of one until both drivers know that.
const ROUND_TRIPS: u32 = 5;

/// Pairs pay as long as each further one adds this part of the first one's speed.
const PAYS: f64 = 0.5;

/// A line that is busy for this part of the time counts as full.
const FULL: f64 = 0.9;

/// What a shard takes besides its run.
fn beside(line: &Link) -> f64 {
    (BESIDE + ROUND_TRIPS * line.round_trip).as_secs_f64()
}

#[derive(Serialize)]
pub(super) struct WorkersReport {
    program: String,
    sizes: BTreeMap<String, u64>,
    link: String,
    /// The size whose lanes are cut.
    by: String,
    pairs: Vec<Pairs>,
    /// How many pairs pay, of those that are listed.
    pays: u32,
    /// From how many pairs on, of those that are listed, the line is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_from: Option<u32>,
    /// Calls whose computing is in no predicted time.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    uncounted: BTreeSet<String>,
}

/// A job by so many pairs of workers.
#[derive(Serialize)]
struct Pairs {
    pairs: u32,
    shards: u32,
    /// The protocol of the shards.
    protocol: String,
    /// Of a shard, with what it takes besides its run, and of the last program.
    shard: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<f64>,
    /// Of the job from its first shard on.
    seconds: f64,
    /// How many times as fast as one pair.
    speedup: f64,
    alice_to_bob: u64,
    bob_to_alice: u64,
    /// How long the bytes of the busier direction take at the line's rate, and which part of the time that is; none without a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    full: Option<f64>,
}

impl WorkersReport {
    pub fn new(program: &Program, args: &CostArgs, most: u32) -> Result<WorkersReport, Failure> {
        let predictor = Predictor::new(args);
        let sizes = sizes::all(program, &args.size, |_| None)?;
        let cut = |pairs| Cut { by: args.job.by.clone(), ..Cut::into(args.job.shards.unwrap_or(pairs)) };
        let job = |pairs| Job::new(Plan::new(program, &sizes, &cut(pairs))?, &predictor);
        let (mut known, mut rows, mut uncounted): (Job, Vec<Pairs>, _) = (job(1)?, Vec::new(), BTreeSet::new());
        for pairs in doubling(most) {
            if pairs > 1 && args.job.shards.is_none() {
                known = job(pairs)?;
            }
            let row = known.by(pairs, &predictor, &mut uncounted)?;
            let speedup = rows.first().map_or(1.0, |one| one.seconds / row.seconds);
            rows.push(Pairs { speedup, ..row });
        }
        let plan = known.plan;
        let names = plan.program().sizes().iter().map(|size| size.name.clone());
        Ok(WorkersReport {
            program: program.name().into(),
            sizes: names.zip(plan.sizes().iter().copied()).collect(),
            link: args.link.to_string(),
            by: plan.by().into(),
            pays: paying(&rows),
            full_from: rows.iter().find(|row| row.full.is_some_and(|full| full >= FULL)).map(|row| row.pairs),
            pairs: rows,
            uncounted,
        })
    }
}

/// 1, 2, 4, …, and the last.
fn doubling(most: u32) -> impl Iterator<Item = u32> {
    let below =
        std::iter::successors(Some(1), |pairs: &u32| pairs.checked_mul(2)).take_while(move |pairs| *pairs < most);
    below.chain([most])
}

/// The most pairs up to which each further one adds enough.
fn paying(rows: &[Pairs]) -> u32 {
    let adds = |step: &&[Pairs]| step[1].speedup - step[0].speedup >= PAYS * f64::from(step[1].pairs - step[0].pairs);
    let steps = rows.windows(2).take_while(adds);
    steps.last().map_or(1, |step| step[1].pairs)
}

/// By what parts of a job are predicted.
struct Predictor<'a> {
    args: &'a CostArgs,
    /// Of this machine.
    speed: u64,
}

impl Predictor<'_> {
    fn new(args: &CostArgs) -> Predictor<'_> {
        Predictor { args, speed: cost::blocks_per_second() }
    }

    fn part(&self, binding: &Binding) -> Result<Part, Failure> {
        let args = self.args;
        let options = |scheme| Options::new(scheme).garbling(args.garbling).extension(args.correlations.0);
        Ok(match args.job.protocol {
            Protocol::This(scheme) => Part::Named(binding.clone(), options(scheme)),
            Protocol::Auto => {
                let garbling = args.garbling_is_given.then_some(args.garbling);
                Part::Any(candidates::of_part(binding, (&options(Scheme::Yao), garbling), &apps::calls())?)
            }
        })
    }

    fn predict(&self, part: &Part, line: &Link) -> Result<(Cost, f64), Failure> {
        let (cost, [setup, online]) = match part {
            Part::Named(binding, options) => {
                let cost = cost::cost_over(binding, options, &apps::calls(), line)?;
                let (setup, online) = cost.predict(line, self.speed);
                (cost, [setup, online])
            }
            Part::Any(choices) => {
                let conditions = Conditions::of(line).with_speed(self.speed);
                let best = choices.rank(Wish::default(), &conditions)?.swap_remove(0);
                (best.cost, [best.setup, best.online])
            }
        };
        Ok((cost, (setup + online).as_secs_f64()))
    }

    /// What each of so many pairs has of the line.
    ///
    /// # Errors
    /// If that is less than what is predicted for.
    fn part_of_line(&self, pairs: u32) -> Result<Link, Failure> {
        let line = self.args.link;
        let part = Link { bits_per_second: line.bits_per_second.map(|rate| rate / u64::from(pairs)), ..line };
        let least = Conditions::of(&Link { bits_per_second: Some(1), ..line }).alice_to_bob * 8;
        if part.bits_per_second.is_some_and(|rate| rate < least) {
            let why =
                format!("of a line of {line} each of {} has less than {least} bit/s", count(pairs.into(), "pair"));
            return Err(Failure::input(why).hint("times are predicted for no slower line: take fewer --workers"));
        }
        Ok(part)
    }
}

/// A shard or the last program, by the protocol that is named or by the best.
enum Part {
    Named(Binding, Options),
    Any(Choices),
}

/// A plan with its parts.
struct Job {
    plan: Plan,
    largest: Part,
    last: Option<Part>,
}

impl Job {
    fn new(plan: Plan, predictor: &Predictor<'_>) -> Result<Job, Failure> {
        let lanes = |shard: &u32| plan.range(*shard).end - plan.range(*shard).start;
        let largest = (0..plan.shards()).max_by_key(lanes).unwrap_or(0);
        let largest = predictor.part(&plan.shard(largest)?.binding)?;
        let last = plan.last().map(|last| predictor.part(&last.binding)).transpose()?;
        Ok(Job { plan, largest, last })
    }

    /// The job by so many pairs; those beyond the number of shards have nothing to do.
    fn by(&self, pairs: u32, predictor: &Predictor<'_>, uncounted: &mut BTreeSet<String>) -> Result<Pairs, Failure> {
        let (shards, whole) = (self.plan.shards(), predictor.args.link);
        let busy = pairs.min(shards);
        let part = predictor.part_of_line(busy)?;
        let (each, run) = predictor.predict(&self.largest, &part)?;
        let last = self.last.as_ref().map(|last| predictor.predict(last, &whole)).transpose()?;
        let shard = run + beside(&whole);
        let after = last.as_ref().map(|(_, time)| *time);
        let seconds = f64::from(shards.div_ceil(busy)) * shard + after.unwrap_or(0.0);
        let all = [(&each, u64::from(shards))].into_iter().chain(last.iter().map(|(cost, _)| (cost, 1)));
        let [alice_to_bob, bob_to_alice] = all.fold([0; 2], |sum, (cost, times)| {
            let [alice, bob] = directions(cost);
            [sum[0] + times * alice, sum[1] + times * bob]
        });
        let busiest = alice_to_bob.max(bob_to_alice) as f64;
        let line = whole.bits_per_second.map(|rate| 8.0 * busiest / rate as f64);
        uncounted.extend(each.uncounted.iter().cloned());
        uncounted.extend(last.iter().flat_map(|(cost, _)| cost.uncounted.iter().cloned()));
        let (full, speedup) = (line.map(|line| line / seconds), 1.0);
        let protocol = name(&each);
        Ok(Pairs {
            pairs,
            shards,
            protocol,
            shard,
            last: after,
            seconds,
            speedup,
            alice_to_bob,
            bob_to_alice,
            line,
            full,
        })
    }
}

/// Bytes of both phases from Alice to Bob, and back.
fn directions(cost: &Cost) -> [u64; 2] {
    let Cost { setup, online, .. } = cost;
    [setup.alice_to_bob + online.alice_to_bob, setup.bob_to_alice + online.bob_to_alice]
}

/// `yao three-halves`.
fn name(cost: &Cost) -> String {
    match cost.terms.scheme.has_garbler() {
        true => format!("{} {}", cost.terms.scheme, cost.terms.garbling),
        false => cost.terms.scheme.to_string(),
    }
}

const HEAD: [&str; 8] = ["pairs", "shards", "by", "a shard", "the job", "speed-up", "of one, each", "line full"];

impl Pairs {
    fn row(&self) -> Vec<String> {
        let percent = |part: f64| format!("{:.0} %", 100.0 * part);
        vec![
            self.pairs.to_string(),
            self.shards.to_string(),
            self.protocol.clone(),
            seconds(self.shard),
            seconds(self.seconds),
            format!("{:.2}", self.speedup),
            percent(self.speedup / f64::from(self.pairs)),
            self.full.map_or(String::new(), percent),
        ]
    }
}

impl WorkersReport {
    fn of_the_pairs(&self) -> String {
        match self.pays {
            1 => {
                format!("More than one pair does not pay: the next adds less than {:.0} % of its speed.", 100.0 * PAYS)
            }
            pays => format!(
                "Up to {pays} pairs pay: each further one adds at least {:.0} % of the speed of the first.",
                100.0 * PAYS
            ),
        }
    }

    /// What the line has to do with it.
    fn of_the_line(&self) -> String {
        let [Some(one), Some(most)] = [self.pairs.first(), self.pairs.last()] else { return String::new() };
        let Some(line) = most.line else { return "A line without a rate is never full.".into() };
        let alone = format!("the bytes of {} alone take it {}", count(most.pairs.into(), "pair"), seconds(line));
        match self.full_from {
            Some(pairs) => format!("The line is full from {} on: {alone}.", count(pairs.into(), "pair")),
            None => format!(
                "The line is not full by then: {alone}, with one pair it is busy {:.1} % of the time.",
                100.0 * one.full.unwrap_or(0.0)
            ),
        }
    }
}

impl fmt::Display for WorkersReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, by) = (title(&self.program, &self.sizes), shown::name(&self.by));
        writeln!(f, "{name}, cut by {by}, over {} that all pairs share\n", self.link)?;
        let head = HEAD.map(String::from).to_vec();
        let rows: Vec<_> = [head].into_iter().chain(self.pairs.iter().map(Pairs::row)).collect();
        writeln!(f, "{}", table("rrlrrrrr", &rows))?;
        if let Some(time) = self.pairs.last().and_then(|most| most.last) {
            writeln!(f, "With the last program, which the drivers run over the whole line: {}.", seconds(time))?;
        }
        writeln!(f, "{}", self.of_the_pairs())?;
        writeln!(f, "{}", self.of_the_line())?;
        writeln!(
            f,
            "Times are predicted, from the first shard on, for workers that have a core each as fast as one of this machine."
        )?;
        self.uncounted.iter().try_for_each(|call| {
            writeln!(f, "Not in the times: what the call {} computes, which was not measured.", shown::name(call))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_doubled_up_to_the_last() {
        let all = |most| doubling(most).collect::<Vec<_>>();
        assert_eq!(all(1), [1]);
        assert_eq!(all(2), [1, 2]);
        assert_eq!(all(12), [1, 2, 4, 8, 12]);
        assert_eq!(all(16), [1, 2, 4, 8, 16]);
    }
}
