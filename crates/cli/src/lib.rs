#![forbid(unsafe_code)]
//! The `duologue` command: see `duologue --help`. The project's own tools (`xtask`) use what else is public here.

mod args;
mod config;
pub mod conventions;
pub mod embed;
mod failure;
pub mod grain;
mod interrupt;
mod io;
pub mod library;
mod log;
mod peer;
mod process;
mod program;
mod verbs;

pub use failure::Failure;
pub use io::console::{bytes, digits, seconds, thousands};
pub use verbs::reproduce::{is_predicted, is_right};

use args::{Args, Verb};
use config::{Config, Defaults};
use io::console::Console;
use kernels::Backend;
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// Does what the command line says.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().collect();
    ExitCode::from(run_line(&words))
}

/// Does what a command line says, whose first word is the command itself; the exit code. It ends the process itself where
/// the line cannot be read, or only asks for help.
pub(crate) fn run_line(words: &[OsString]) -> u8 {
    let config = Config::load();
    let args = Args::read(words, config.as_ref().map_or(&Defaults::default(), Config::defaults));
    log::begin(args.quiet);
    let console = Console::new(args.quiet, args.json);
    match choose(args.backend).and_then(|()| run(&args.verb, config, &console)) {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

fn choose(backend: Option<Backend>) -> Result<(), Failure> {
    match backend {
        Some(backend) if !backend.choose() => {
            let names = Backend::available().iter().map(|backend| backend.name()).collect::<Vec<_>>().join(", ");
            Err(Failure::input(format!("this processor has no {backend}")).hint(format!("it has {names}")))
        }
        _ => Ok(()),
    }
}

fn run(verb: &Verb, config: Result<Config, Failure>, console: &Console) -> Result<(), Failure> {
    // A configuration that cannot be read keeps nobody from asking what is wrong, or how the command is used.
    match verb {
        Verb::Doctor(args) => return verbs::doctor::run(args, config, console),
        Verb::Completions(args) => return verbs::help::completions(args),
        Verb::Man(args) => return verbs::help::man(args, console),
        _ => {}
    }
    let config = config?;
    match verb {
        Verb::Demo(args) => verbs::demo::run(args, console),
        Verb::Run(args) => verbs::run::run(args, &config, console),
        Verb::Cost(args) => verbs::cost::run(args, console),
        Verb::Inspect(args) => verbs::inspect::run(args, console),
        Verb::Blocks(args) => verbs::blocks::run(args, console),
        Verb::Circuits(args) => verbs::circuits::run(args, console),
        Verb::Compile(args) => verbs::compile::run(args, console),
        Verb::Import(args) => verbs::import::run(args, console),
        Verb::Optimise(args) => verbs::optimise::run(args, console),
        Verb::Export(args) => verbs::export::run(args, console),
        Verb::Prepare(args) => verbs::prepare::run(args, &config, console),
        Verb::Pool(args) => verbs::pool::run(args, &config, console),
        Verb::Keys(args) => verbs::keys::run(args, &config, console),
        Verb::Peers(args) => verbs::peers::run(args, &config, console),
        Verb::Join(args) => verbs::join::run(args, &config, console),
        Verb::Job(args) => verbs::job::run(args, &config, console),
        Verb::Private(args) => verbs::private::run(args, &config, console),
        Verb::Psi(args) => verbs::psi::run(args, &config, console),
        Verb::Data(args) => verbs::data::run(args, console),
        Verb::He(args) => verbs::he::run(args, console),
        Verb::Reproduce(args) => verbs::reproduce::run(args, console),
        Verb::Bench(args) => verbs::bench::run(args, console),
        Verb::Doctor(_) | Verb::Completions(_) | Verb::Man(_) => Ok(()),
    }
}
