//! Runs by Diffie-Hellman labels that are prepared into a folder of each party, and used once.

use super::agree::{Terms, agree, propose};
use super::{Consent, Given, Held, Report};
use super::{all_runs, asked, declined, labelled, lanes_of, show_what_came, target, warn_alice};
use crate::args::Private;
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::io::console::{Console, count, hex, seconds, table, thousands};
use crate::io::output::Target;
use crate::io::{consent, progress};
use crate::verbs::made::Made;
use crate::{interrupt, peer};
use duologue::channel::{Channel, Counters};
use duologue::storage::{Counts, NewRuns, SealKey};
use duologue::{Error, Party};
use pfe::{Alice, Announced, Bob, Kept, KeptBob, Method, Proposal, Purpose, Ready, Threads};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Instant;

fn seal(args: &Private) -> Result<Option<SealKey>, Failure> {
    Ok(args.prepared_key.as_ref().map(SealKey::load).transpose()?)
}

/// `duologue private prepare`.
pub fn prepare(args: &Private, to: &Path, config: &Config, console: &Console) -> Result<(), Failure> {
    let party = args.peer.party;
    let held = if party == Party::Alice { Some(Held::new(args)?) } else { None };
    let threads = Threads::new(args.peer.threads.into())?;
    let security = peer::security(&args.peer, config)?;
    let ours = propose(args, held.as_ref(), &threads, Purpose::Keep)?;
    let folder = NewRuns::create(to, seal(args)?)?;
    let mut channel = peer::meet(&args.peer.meeting, args.peer.link, &security, config, console)?;
    let terms = agree(&mut channel, party, &ours, console)?;
    let begin = Instant::now();
    let (counts, counters) = match held {
        Some(held) => prepare_function((held, &threads), &terms, channel, folder, console)?,
        None => prepare_data((args, &threads), &terms, channel, folder, console)?,
    };
    interrupt::settle()?;
    let kept = Kept::open(to, seal(args)?, party)?;
    let made =
        Made { seconds: begin.elapsed().as_secs_f64(), sent: counters.bytes_sent, received: counters.bytes_received };
    debug_assert_eq!(kept.counts().left, counts.left);
    console.show(&KeptReport::new(to, &kept, Some(made)))
}

/// Alice.
fn prepare_function(
    (mut held, threads): (Held, &Threads),
    terms: &Terms,
    channel: Channel,
    folder: NewRuns,
    console: &Console,
) -> Result<(Counts, Counters), Failure> {
    warn_alice(terms, console);
    let wired = held.wired.as_mut().ok_or_else(|| Error::usage("the function was not wired"))?;
    let mut alice = Alice::connect(channel, wired, held.function.runs)?;
    alice.compute_on(threads.clone());
    if !console.quiet() {
        alice.observe(progress::points("a private function, ahead"));
    }
    let counts = alice.prepare_to(folder)?;
    Ok((counts, alice.close()?))
}

/// Bob.
fn prepare_data(
    (args, threads): (&Private, &Threads),
    terms: &Terms,
    mut channel: Channel,
    folder: NewRuns,
    console: &Console,
) -> Result<(Counts, Counters), Failure> {
    let shown = Consent { terms, runs: terms.function.runs as usize, purpose: Purpose::Keep };
    declined(&mut channel, consent::obtain(&shown, args.yes))?;
    let mut bob = Bob::connect(channel, None)?;
    bob.compute_on(threads.clone());
    bob.expect(&terms.sizes(), terms.function.runs)?;
    if !console.quiet() {
        bob.observe(progress::points("a private function, ahead"));
    }
    let counts = bob.prepare_to(folder)?;
    Ok((counts, bob.close()?))
}

/// `duologue private --prepared`.
pub fn run(args: &Private, folder: &Path, config: &Config, console: &Console) -> Result<(), Failure> {
    let threads = Threads::new(args.peer.threads.into())?;
    let place = target(args)?;
    let security = peer::security(&args.peer, config)?;
    let party = args.peer.party;
    let mut kept = Kept::open(folder, seal(args)?, party)?;
    let meet = || peer::meet(&args.peer.meeting, args.peer.link, &security, config, console);
    let ours = proposal(&kept)?;
    if party == Party::Alice {
        let wired = kept.wired(Given::read(args)?.gates(args.form)?)?;
        let ready = Ready::new(kept, &wired, &threads)?;
        let mut channel = meet()?;
        let terms = agree(&mut channel, party, &ours, console)?;
        return hold_function(ready, &terms, channel, console);
    }
    kept.verify_next()?;
    let mut channel = meet()?;
    let terms = agree(&mut channel, party, &ours, console)?;
    hold_data((args, &threads), place, kept, &terms, channel, console)
}

/// What the folder says; what Alice announces is what she offered then, and as many runs as she has left.
fn proposal(kept: &Kept) -> Result<Proposal, Failure> {
    let purpose = Purpose::Kept(kept.identity());
    let function = (kept.party() == Party::Alice).then(|| announced(kept));
    Ok(Proposal { methods: [Method::Dh].into_iter().collect(), function, speed: 0, assumed: None, purpose })
}

fn announced(kept: &Kept) -> Announced {
    let pfe::Sizes { inputs, outputs, gates, additions } = kept.offer().sizes;
    let left = u32::try_from(kept.counts().left).unwrap_or(u32::MAX);
    Announced::new(inputs, outputs, left).with(Method::Dh, pfe::Counts { gates, additions })
}

fn hold_function(ready: Ready, terms: &Terms, channel: Channel, console: &Console) -> Result<(), Failure> {
    let begin = Instant::now();
    warn_alice(terms, console);
    let (runs, counters) = all_runs(ready.connect(channel)?, console)?;
    interrupt::settle()?;
    console.show(&Report::new(terms, runs, begin, &counters, BTreeMap::new()))
}

fn hold_data(
    (args, threads): (&Private, &Threads),
    place: Option<Target>,
    kept: Kept,
    terms: &Terms,
    mut channel: Channel,
    console: &Console,
) -> Result<(), Failure> {
    let (ours, left) = (announced(&kept), kept.counts().left);
    if terms.counts() != ours.counts(Method::Dh)
        || (terms.function.inputs, terms.function.outputs) != (ours.inputs, ours.outputs)
    {
        return declined(&mut channel, Err(Error::peer("it announces another function than it prepared").into()));
    }
    let x = declined(&mut channel, asked((args, place.as_ref()), terms, Purpose::Kept(kept.identity())))?;
    if x.lanes() as u64 > left {
        let (lanes, left) = (count(x.lanes() as u64, "lane"), count(left, "prepared run"));
        let why = Failure::new(Exit::Refused, format!("x has {lanes}, and {left} are left here"));
        return declined(&mut channel, Err(why));
    }
    let begin = Instant::now();
    let bob = KeptBob::connect(channel, kept, threads)?;
    let (results, end) = labelled(&lanes_of(&x), Ok(bob), console);
    show_what_came((args, place), terms, begin, (&results, end), console)
}

/// `duologue pool` of a folder of runs of a private function.
pub fn show_folder(folder: &Path, key: Option<SealKey>, verify: bool, console: &Console) -> Result<(), Failure> {
    let kept = Kept::open(folder, key, None)?;
    if verify {
        kept.verify()?;
        console.note("All of it is as it was written.");
    }
    console.show(&KeptReport::new(folder, &kept, None))
}

/// What is in a folder, and what was just made.
#[derive(Serialize)]
struct KeptReport {
    prepared: String,
    identity: String,
    party: String,
    method: &'static str,
    input_bits: u32,
    output_bits: u32,
    gates: u64,
    additions: u64,
    sealed: bool,
    bytes: u64,
    left: u64,
    used: u64,
    made: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    just_now: Option<Made>,
}

impl KeptReport {
    fn new(folder: &Path, kept: &Kept, just_now: Option<Made>) -> KeptReport {
        let (pfe::Sizes { inputs, outputs, gates, additions }, counts) = (kept.offer().sizes, kept.counts());
        KeptReport {
            prepared: folder.display().to_string(),
            identity: hex(&kept.identity()),
            party: kept.party().to_string(),
            method: Method::Dh.name(),
            input_bits: inputs,
            output_bits: outputs,
            gates,
            additions,
            sealed: kept.is_sealed(),
            bytes: counts.bytes,
            left: counts.left,
            used: counts.used,
            made: counts.made,
            just_now,
        }
    }
}

impl fmt::Display for KeptReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seal = if self.sealed { "sealed" } else { "not sealed" };
        let KeptReport { prepared, party, method, .. } = self;
        writeln!(f, "{prepared}: {party}'s half of runs of a private function {}, {seal}", &self.identity[..16])?;
        let bits = [(self.input_bits, "input bit"), (self.output_bits, "output bit")];
        let [inputs, outputs] = bits.map(|(bits, what)| count(bits.into(), what));
        let (gates, additions) = (count(self.gates, "gate"), count(self.additions, "addition"));
        let mut rows = vec![
            ("function", format!("{inputs}, {outputs}, {gates}, {additions}, by {method}")),
            ("on disk", count(self.bytes, "byte")),
            ("runs", format!("{} left, {} used", thousands(self.left), thousands(self.used))),
        ];
        if let Some(Made { seconds: time, sent, received }) = &self.just_now {
            let (sent, received) = (count(*sent, "byte"), thousands(*received));
            rows.push(("just now", format!("{}, {sent} sent, {received} received", seconds(*time))));
        }
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, value)| vec![name.into(), value]).collect();
        write!(f, "{}", table("ll", &rows))
    }
}
