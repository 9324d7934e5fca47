//! `duologue run`: one party of a run with a peer.

mod report;

pub use report::{Report, peak_memory};

use super::keys;
use super::shelf::{self, Asked};
use crate::args::{self, Meeting, Run};
use crate::failure::Failure;
use crate::io::consent::{Given, Proposal};
use crate::io::console::{Console, hex};
use crate::io::output::Destinations;
use crate::io::{input, paths, progress, sizes};
use crate::process::LISTENING;
use crate::{interrupt, program};
use duologue::channel::{Channel, Limits, Link, Listener, PublicKey, Security};
use duologue::correlation::pool::{Pool, SealKey};
use duologue::{Options, Party, Session};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub fn run(args: &Run, console: &Console) -> Result<(), Failure> {
    let program = program::load(&args.program, &[])?;
    let given = input::read(&program, args.party, &args.input)?;
    let binding = sizes::bind(&program, &args.size, &given)?;
    let inputs = match args.later.prepare_to {
        Some(_) => shelf::public(&binding, given)?,
        None => input::complete(&binding, args.party, given)?,
    };
    let destinations = Destinations::new(&binding, args.party, &args.output)?;
    if console.json() && destinations.use_stdout() {
        let why = "--json prints outputs itself: '-' cannot be where one goes";
        return Err(Failure::input(why));
    }
    let security = security(&args.security)?;
    let proposal = Proposal {
        digest: hex(&program.digest()?),
        binding: &binding,
        party: args.party,
        scheme: args.protocol,
        peer: args.security.peer_key.map(|key| key.to_string()),
    };
    // Preparing tells nothing of any input.
    if args.later.prepare_to.is_none() {
        proposal.obtain(&consent(args), console)?;
    }
    // What is wrong with a folder is found out before the peer is bothered.
    let pool = args.pool.pool.as_ref().map(|folder| open_pool(folder, &args.pool)).transpose()?;
    let asked = Asked::open(&args.later, &options(args))?;

    let mut session = Session::connect(meet(&args.meeting, args.link, &security, console)?, args.party)?;
    session.set_threads(args.threads);
    if let Some(pool) = pool {
        session.use_pool(pool, known_keys(&security, args.party))?;
    }
    if !console.quiet() {
        session.observe(Some(progress::bar(format!("{}, {}", program.name(), args.protocol))));
    }
    let outcome = match asked {
        None => session.run(&binding, &options(args), &inputs)?,
        Some(Asked::Run(mut shelf)) => shelf::online(&mut session, &mut shelf, args, (&binding, &inputs), &security)?,
        Some(Asked::Prepare(shelf, times)) => {
            let job = (&binding, &options(args), &inputs);
            return shelf::prepare(session, (shelf, times), args, job, &security, console);
        }
    };
    session.close()?;
    interrupt::settle()?;
    destinations.write(&outcome.outputs)?;
    report::show(&proposal, &outcome, &destinations, console)
}

fn options(args: &Run) -> Options {
    let usual = Options::new(args.protocol);
    let extension = args.correlations.unwrap_or(usual.extension);
    Options { garbler: args.garbler, garbling: args.garbling, timing: args.timing, tile: args.tile, extension, ..usual }
}

fn consent(args: &Run) -> Given<'_> {
    match &args.expect_digest {
        Some(digest) => Given::Digest(digest),
        None if args.yes => Given::Yes,
        None => Given::Ask,
    }
}

fn open_pool(folder: &Path, args: &args::Pool) -> Result<Pool, Failure> {
    let seal = args.pool_key.as_ref().map(SealKey::load).transpose()?;
    Ok(Pool::open(folder, seal)?)
}

/// The keys by which the parties know one another, Alice's first.
pub fn known_keys(security: &Security, us: Party) -> Option<[PublicKey; 2]> {
    let Security::Tls { identity, peer } = security else { return None };
    Some(match us {
        Party::Alice => [identity.public(), *peer],
        Party::Bob => [*peer, identity.public()],
    })
}

pub fn security(args: &args::Security) -> Result<Security, Failure> {
    let Some(peer) = args.peer_key else {
        return Ok(Security::PlaintextForBenchmarks);
    };
    let key = args.key.clone().map_or_else(paths::key, Ok)?;
    let identity = Arc::new(keys::load(&key)?);
    Ok(Security::Tls { identity, peer })
}

/// Finds the peer.
pub fn meet(args: &Meeting, link: Option<Link>, security: &Security, console: &Console) -> Result<Channel, Failure> {
    let limits = limits(args);
    let channel = match (&args.listen, &args.connect) {
        (Some(address), _) => listen(address, security, &limits, console)?,
        (None, address) => Channel::connect(address.as_deref().unwrap_or_default(), security, &limits)?,
    };
    interrupt::stops(&channel)?;
    shaped(channel, link)
}

/// The channel, over a simulated line if there is one.
pub fn shaped(channel: Channel, link: Option<Link>) -> Result<Channel, Failure> {
    match link {
        Some(link) => Ok(channel.shaped(link)?),
        None => Ok(channel),
    }
}

fn listen(address: &str, security: &Security, limits: &Limits, console: &Console) -> Result<Channel, Failure> {
    let mut listener = Listener::bind(address)?;
    let here = format!("{LISTENING}{}", listener.local_addr()?);
    // A port that the system chose is a result: nobody finds us without it.
    if address.ends_with(":0") {
        console.tell(here);
    } else {
        console.note(here);
    }
    let channel = listener.accept(security, limits)?;
    console.note("connected");
    Ok(channel)
}

fn limits(args: &Meeting) -> Limits {
    let usual = Limits::default();
    let silence = Duration::from_secs(args.silence.max(1));
    Limits {
        meet: Duration::from_secs(args.wait),
        silence,
        // A peer that is as impatient as we hears of us in time.
        heartbeat: usual.heartbeat.min(silence / 4),
        progress: usual.progress.max(silence),
        ..usual
    }
}
