//! `duologue run`: one party of a run with a peer.

mod auto;
pub(super) mod report;

pub use report::{Measured, RunReport, peak_memory};

use super::{options, pool, prepared, supply};
use crate::args::{Protocol, Run};
use crate::config::{Config, PeerName};
use crate::failure::{Exit, Failure};
use crate::io::consent::{Given, Proposal};
use crate::io::console::{Console, hex};
use crate::io::output::Destinations;
use crate::io::{drawn, input, progress, shown, sizes};
use crate::{interrupt, peer, program};
use auto::Auto;
use duologue::Timing;
use std::sync::Arc;

pub fn run(args: &Run, config: &Config, console: &Console) -> Result<(), Failure> {
    let ours = program::Ours { party: Some(args.peer.party), inputs: &args.input };
    let chosen = program::load_with(&args.program, &[], &args.least, &args.size, supply(&args.settings), &ours)?;
    let scheme = match (&args.prepared, args.protocol) {
        (Some(_), _) => Some(chosen.scheme_prepared()?),
        (None, Protocol::This(scheme)) => Some(chosen.scheme_of_run(scheme, args.protocol_is_given)?),
        // A method of argmin has its protocol.
        (None, Protocol::Auto) => chosen.scheme,
    };
    check_wish(args)?;
    let calls = chosen.calls()?;
    let (program, blinds, encrypted) = (chosen.program, chosen.blinds, chosen.encrypted);
    let open = args.prepared.is_none() && !args.garbling_is_given && args.timing == Timing::Auto;
    let garbled = chosen.garbled.filter(|_| open);
    let party = args.peer.party;
    let mut given = input::read(&program, party, &args.input)?;
    let binding = program::told(&args.program, sizes::bind(&program, &args.size, &given)?);
    let drawn = drawn::draw(&binding, party, blinds, &mut given)?;
    let auto = if scheme.is_none() { Some(Auto::new(&binding, args, &calls, &given)?) } else { None };
    let inputs = input::complete(&binding, party, given)?;
    let options = scheme.map(|scheme| options(scheme, &args.settings)).transpose()?.map(|options| {
        let options = options.timing(args.timing).share_from(args.share_from);
        garbled.map_or(options, |(garbling, timing)| options.garbling(garbling).timing(timing))
    });
    let destinations =
        Destinations::new(&binding, party, &drawn, &args.output, encrypted.as_ref().map(|(_, key)| *key))?;
    destinations.spare(&args.input)?;
    if console.json() && destinations.use_stdout() {
        let why = "--json prints outputs itself: '-' cannot be where one goes";
        return Err(Failure::input(why));
    }
    let security = peer::security(&args.peer, config)?;
    let proposal = Proposal {
        digest: hex(&program.digest()?),
        binding: &binding,
        party,
        protocol: scheme.map_or("the protocol that is chosen when you meet".into(), |scheme| scheme.to_string()),
        peer: peer::its_key(&security).map(|key| key.to_string()),
        peer_name: peer::its_key(&security).and_then(|key| config.name_of(&key)).map(PeerName::to_string),
    };
    proposal.obtain(&consent(args), console)?;
    // Errors of a folder are found before the parties meet.
    let pool = pool::open(&args.settings)?;
    let prepared =
        args.prepared.as_ref().map(|folder| prepared::open(folder, args.prepared_key.as_ref())).transpose()?;

    let first = options.as_ref().filter(|_| prepared.is_none()).map(|options| (&binding, options));
    let mut session = peer::connect(&args.peer, first, &security, config, console)?;
    session.register_all(&calls);
    if let Some(pool) = pool {
        session.use_pool(pool)?;
    }
    let (job, options, chosen) = match (auto, options) {
        (Some(auto), _) => auto.choose(&mut session, console).map(|(job, options, why)| (job, options, Some(why)))?,
        (None, Some(options)) => (Arc::new(binding.clone()), options, None),
        (None, None) => return Err(Failure::input("no protocol is named")),
    };
    if !console.quiet() {
        session.observe(progress::bar(format!("{}, {}", shown::name(program.name()), options.scheme)));
    }
    let outcome = match prepared {
        Some(mut folder) => session.online_from(&mut folder, &binding, &inputs)?,
        None => session.run(&job, &options, &inputs)?,
    };
    session.close()?;
    interrupt::settle()?;
    destinations.write(&outcome.outputs, &drawn)?;
    report::show(&proposal, (&outcome, chosen), &drawn, &destinations, console)
}

/// Refuses a wish where nothing is chosen by it.
fn check_wish(args: &Run) -> Result<(), Failure> {
    match (args.wish, args.protocol) {
        (Some(_), Protocol::This(scheme)) => {
            let why = format!("--wish is for --protocol auto, not for {scheme}");
            Err(Failure::new(Exit::CommandLine, why).hint("leave out --wish, or take --protocol auto"))
        }
        _ => Ok(()),
    }
}

fn consent(args: &Run) -> Given<'_> {
    match &args.expect_digest {
        Some(digest) => Given::Digest(digest),
        None if args.yes => Given::Yes,
        None => Given::Ask,
    }
}
