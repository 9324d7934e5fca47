//! What a program in which the command is embedded takes of it, such as the Python package: the command itself,
//! programs by their names and from Verilog, peers by theirs, files of shares, and what `--protocol auto` chooses among.

use crate::args::{Form, Least, Method, Ots};
use crate::config::{Config, PeerKey};
use crate::failure::{Exit, Failure};
use crate::io::output;
use crate::process::STARTED_BY;
use crate::verbs::inspect::Look;
use crate::verbs::private::embedded::PrivateData;
use crate::verbs::{candidates, compile};
use crate::{io, program};
use clap::ValueEnum;
use duologue::call::Calls;
use duologue::channel::{Channel, Link, PublicKey};
use duologue::circuit::program::Step;
use duologue::circuit::{Binding, BitMatrix, Error, Program, Type};
use duologue::cost::choice::Choices;
use duologue::ot::Extension;
use duologue::{Garbling, Options, Scheme, Timing};
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use values::npy;

pub use crate::args::{Compile, Pair};
pub use crate::verbs::private::embedded::{PrivateFunction, PrivateRuns, Told as PrivateTold};
pub use io::shown::{line, name};

/// Does what a command line says, the words after the command's name; the exit code. Processes of the command that it
/// starts itself are started by `itself`.
///
/// It ends the process where the line cannot be read, or only asks for help.
pub fn main(itself: Vec<OsString>, words: Vec<OsString>) -> u8 {
    // The first call says how: that is the same throughout a process.
    let _ = STARTED_BY.set(itself);
    let line: Vec<OsString> = [OsString::from("duologue")].into_iter().chain(words).collect();
    crate::run_line(&line)
}

/// A program as the command names those that are built in: `block:NAME…` or `app:NAME…`.
///
/// # Errors
/// What is wrong with the name, in words, and what might help.
pub fn built_in(text: &str) -> Result<Program, String> {
    if !["block:", "app:"].iter().any(|kind| text.starts_with(kind)) {
        return Err(format!("'{text}' names no program that is built in: these are named block:… and app:…"));
    }
    program::load(text, &[]).map_err(in_words)
}

/// The meanings of the inputs and outputs of an application as the command names it; of no other program any.
pub fn meanings(text: &str) -> &'static [(&'static str, &'static str)] {
    program::app_ports(text)
}

/// The sizes whose every value is decided by how many lanes an input has: their names and values.
pub fn implied_sizes(program: &Program, lanes: impl Fn(&str) -> Option<u64>) -> Vec<(String, u64)> {
    io::sizes::implied(program, lanes).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What `--protocol auto` chooses among for a program that is bound, as the command does: for one that is built in and
/// named without a goal, `text` being its name, also each other construction that there is. Options, and a garbling if
/// it is told, restrict the candidates.
///
/// # Errors
/// As [`Choices::new`], or if a construction cannot be bound.
pub fn choices(
    (text, binding): (&str, &Binding),
    bind: impl Fn(&Program) -> Result<Binding, Error>,
    options: (&Options, Option<Garbling>),
    calls: &Calls,
) -> Result<Choices, duologue::Error> {
    let bind = |program: &Program| bind(program).map_err(Failure::from);
    let candidates = candidates::Candidates::new((text, binding), bind, options, calls);
    candidates.map(|candidates| candidates.choices).map_err(|failure| duologue::Error::usage(in_words(failure)))
}

/// The least of many values as `app:argmin` finds it, in the words of the command's flags.
#[derive(Clone, Default)]
pub struct Argmin {
    /// Bits of a value.
    pub bits: u32,
    /// Bits of an argument that each value has; none for its index.
    pub argument: Option<u32>,
    /// `shared`, `halves` or `xor`.
    pub form: String,
    /// `auto` or the name of a method.
    pub method: String,
    /// `both` or `one`, if it is told who sends the OTs.
    pub ots: Option<String>,
    /// The line for which values are compared.
    pub schedule: Option<Link>,
    /// Whether this party consents to what the method shows beside the result.
    pub is_leaky: bool,
    /// How many values there are, where both parties know it.
    pub values: Option<u64>,
    /// The maker of correlations, if it is named.
    pub maker: Option<Extension>,
    /// Whether correlations come from a pool.
    pub has_pool: bool,
}

/// A program, with the protocol that its method is, and how that garbles where this was chosen, too.
pub type LeastOf = (Program, Option<Scheme>, Option<(Garbling, Timing)>);

impl Argmin {
    /// The program that finds it, and how it is run.
    ///
    /// # Errors
    /// What the command says of flags that do not fit.
    pub fn program(&self) -> Result<LeastOf, duologue::Error> {
        let form: Form = word("form", &self.form)?;
        if form == Form::Encrypted {
            return Err(duologue::Error::usage("the form encrypted is the command's alone: `duologue run app:argmin`"));
        }
        let least = Least {
            form: Some(form),
            method: Some(word::<Method>("method", &self.method)?),
            ots: self.ots.as_deref().map(|ots| word::<Ots>("ots", ots)).transpose()?,
            leaky: self.is_leaky,
            argument: self.argument,
            schedule: self.schedule,
            ..Least::default()
        };
        let sizes: Vec<_> = self.values.map(|value| Pair { name: "values".into(), value }).into_iter().collect();
        let supply = program::Supply { maker: self.maker, pool: self.has_pool };
        let name = format!("app:argmin:{}", self.bits);
        let chosen =
            program::load_with(&name, &[], &least, &sizes, supply, &program::Ours::default()).map_err(error)?;
        Ok((chosen.program, chosen.scheme, chosen.garbled))
    }
}

/// A value of an enumeration of flags.
fn word<T: ValueEnum>(flag: &str, text: &str) -> Result<T, duologue::Error> {
    T::from_str(text, false).map_err(|_| {
        let names = T::value_variants().iter().filter_map(|one| Some(one.to_possible_value()?.get_name().to_owned()));
        let names: Vec<String> = names.collect();
        duologue::Error::usage(format!("'{text}' is no {flag}: write {}", names.join(", ")))
    })
}

/// A private function as Alice holds it: a program that is one circuit, or what the name says that `duologue private --function`
/// takes; with inputs of her own, and flags of that command.
///
/// # Errors
/// What the command says of them.
pub fn private_function(
    function: Result<&Program, &str>,
    own: Vec<(String, BitMatrix)>,
    words: &[String],
) -> Result<PrivateFunction, duologue::Error> {
    PrivateFunction::new(function, own, words).map_err(error)
}

/// Alice's part: Bob's runs over the channel that `meet` gives.
///
/// # Errors
/// Whatever ends them before their time.
pub fn serve_private(
    function: PrivateFunction,
    meet: impl FnOnce() -> Result<Channel, duologue::Error>,
) -> Result<PrivateRuns, duologue::Error> {
    function.serve(meet).map_err(error)
}

/// Bob's part: the results, a lane for each of the data, and what ended the runs before their time if some were done. `data` hears
/// what is told of the function, before anything of the data is used.
///
/// # Errors
/// What the command says of the flags, what `data` refuses, whatever ends the first run before its time.
pub fn ask_private(
    words: &[String],
    data: impl FnOnce(PrivateTold) -> Result<BitMatrix, duologue::Error>,
    meet: impl FnOnce() -> Result<Channel, duologue::Error>,
) -> Result<(BitMatrix, PrivateRuns, Option<duologue::Error>), duologue::Error> {
    let (y, runs, why) = PrivateData::new(words).and_then(|asked| asked.ask(data, meet)).map_err(error)?;
    Ok((y, runs, why.map(error)))
}

/// A step of a program, as `duologue inspect` shows it.
pub struct ShownStep {
    /// Its kind, in one word.
    pub kind: &'static str,
    pub text: String,
    /// The numbers of the values that it reads.
    pub args: Vec<usize>,
    /// The numbers of the values that it defines.
    pub results: Range<usize>,
}

/// The steps of a program, with lanes in numbers if it is bound.
pub fn steps(program: &Program, binding: Option<&Binding>) -> Vec<ShownStep> {
    let look = Look { program, binding, full: false };
    let mut defined = 0;
    let shown = |(step, text): (&Step, String)| {
        let results = defined..defined + look.results(step);
        defined = results.end;
        ShownStep { kind: kind(step), text, args: step.args().iter().map(|value| value.number()).collect(), results }
    };
    program.steps().iter().zip(look.steps()).map(shown).collect()
}

fn kind(step: &Step) -> &'static str {
    match step {
        Step::Input { .. } => "input",
        Step::Constant { .. } => "constant",
        Step::Map { .. } => "map",
        Step::Reduce { .. } => "reduce",
        Step::Iterate { .. } => "iterate",
        Step::View { .. } => "view",
        Step::Call { .. } => "call",
        Step::Output { .. } => "output",
    }
}

/// A program from a design in Verilog, as `duologue compile` makes it (its output file is not written), and what Yosys
/// warned of.
///
/// # Errors
/// Whatever the command would say.
pub fn compile(args: &Compile) -> Result<(Program, Vec<String>), duologue::Error> {
    compile::program(args).map_err(error)
}

/// Writes a share of a value of this type into an `.npy` file, for its owner's eyes, whole or not at all, as `run --output`
/// does.
///
/// # Errors
/// What the system says.
pub fn write_share(file: &Path, share: &BitMatrix, ty: Type) -> Result<(), duologue::Error> {
    let ty = output::of_share(ty);
    let written = output::write_beside(file, |to| npy::write(share, ty, to));
    written.and_then(|written| output::rename(written, file)).map_err(error)
}

/// The file of the user's own private key, where none is named.
///
/// # Errors
/// If the configuration cannot be read, or has no place.
pub fn own_key() -> Result<PathBuf, duologue::Error> {
    Config::load().and_then(|config| config.key(None)).map_err(error)
}

/// The key that is meant by a key or by a peer's name, as `--peer-key` takes it.
///
/// # Errors
/// If it is no key, or no peer has the name.
pub fn peer_key(given: &str) -> Result<PublicKey, duologue::Error> {
    let given: PeerKey = given.parse().map_err(|why: String| duologue::Error::usage(why))?;
    Config::load().and_then(|config| config.peer_key(&given)).map_err(error)
}

/// The address that is meant by `host:port` or by a peer's name, as `--connect` takes it, and the peer's key if it was a
/// name.
///
/// # Errors
/// If no peer has the name, or its address is not known.
pub fn address(given: &str) -> Result<(String, Option<PublicKey>), duologue::Error> {
    if given.contains(':') {
        return Ok((given.into(), None));
    }
    let named = |config: Config| Ok((config.address(given)?.to_owned(), Some(config.peer(given)?.key)));
    Config::load().and_then(named).map_err(error)
}

/// A failure of the command as an error of the library: the one that it was, unless that says less.
fn error(mut failure: Failure) -> duologue::Error {
    match failure.source.take() {
        Some(error) if !matches!(*error, duologue::Error::Usage(_)) => return *error,
        _ => {}
    }
    let (exit, message) = (failure.exit, in_words(failure));
    let (what, why) = message.split_once(": ").unwrap_or(("the command", &message));
    match exit {
        Exit::Machine => duologue::Error::io(what)(std::io::Error::other(why)),
        Exit::Malformed => duologue::Error::Malformed { what: what.into(), why: why.into() },
        _ => duologue::Error::usage(message),
    }
}

fn in_words(failure: Failure) -> String {
    let Failure { message, hint, .. } = failure;
    hint.map_or(message.clone(), |hint| format!("{message}: {hint}"))
}
