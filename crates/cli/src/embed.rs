//! What a program in which the command is embedded takes of it, such as the Python package: the command itself,
//! programs by their names, and what `--protocol auto` chooses among.

use crate::failure::Failure;
use crate::process::STARTED_BY;
use crate::verbs::candidates;
use crate::{io, program};
use duologue::call::Calls;
use duologue::circuit::{Binding, Error, Program};
use duologue::cost::choice::Choices;
use duologue::{Garbling, Options};
use std::ffi::OsString;

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

fn in_words(failure: Failure) -> String {
    let Failure { exit: _, message, hint } = failure;
    hint.map_or(message.clone(), |hint| format!("{message}: {hint}"))
}
