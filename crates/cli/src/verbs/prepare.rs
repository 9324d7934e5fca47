//! `duologue prepare`: one party of preparing runs of a program for another day.

use super::prepared::{self, PreparedReport};
use super::{options, pool, supply};
use crate::args::Prepare;
use crate::config::Config;
use crate::failure::Failure;
use crate::io::console::{Console, count};
use crate::io::input::{self, Given};
use crate::io::{progress, shown, sizes};
use crate::{peer, program};
use duologue::Inputs;
use duologue::circuit::Binding;
use duologue::circuit::program::Owner;

pub fn run(args: &Prepare, config: &Config, console: &Console) -> Result<(), Failure> {
    let chosen = program::load_with(
        &args.program,
        &[],
        &args.least,
        &args.size,
        supply(&args.settings),
        &program::Ours::default(),
    )?;
    let (scheme, calls, program) = (chosen.scheme_prepared()?, chosen.calls()?, chosen.program);
    let given = input::read(&program, args.peer.party, &args.input)?;
    let binding = sizes::bind(&program, &args.size, &given)?;
    let inputs = public(&binding, given)?;
    let options = options(scheme, &args.settings)?;
    let security = peer::security(&args.peer, config)?;
    // Errors of a folder are found before the parties meet.
    let pool = pool::open(&args.settings)?;
    let mut folder = prepared::open_or_create(&args.to, args.prepared_key.as_ref())?;

    let mut session = peer::connect(&args.peer, None, &security, config, console)?;
    session.register_all(&calls);
    if let Some(pool) = pool {
        session.use_pool(pool)?;
    }
    if !console.quiet() {
        let runs = count(args.times, "prepared run");
        session.observe(progress::bar(format!("{}, {runs}", shown::name(program.name()))));
    }
    let made = session.prepare_to(&mut folder, &binding, &options, &inputs, args.times)?;
    session.close()?;
    console.show(&PreparedReport::new(&args.to, &folder.status()?, Some(&made)))
}

/// Only public inputs are known before a run; the others have no business here.
fn public(binding: &Binding, given: Vec<Given>) -> Result<Inputs, Failure> {
    let mut inputs = Inputs::new();
    for Given { name, value } in given {
        if binding.input(&name).is_some_and(|port| port.who != Owner::Public) {
            let why = format!("the input '{name}' is not public: a run is prepared without it");
            return Err(Failure::input(why).hint("--size NAME=NUMBER gives a size that would follow from it"));
        }
        inputs.set(&name, value);
    }
    Ok(inputs)
}
