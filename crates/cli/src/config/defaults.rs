//! Defaults of flags from the file, so that `--help` shows them and a flag or the environment goes before them.

use super::Defaults;
use clap::Command;

impl Defaults {
    /// The command line with these defaults.
    pub fn apply(&self, command: Command) -> Command {
        let command = match self.backend {
            Some(backend) => with(command, "backend", Some(backend.name())),
            None => command,
        };
        let command = command.mut_subcommand("run", |run| with(self.party(run), "protocol", self.protocol));
        let command = command.mut_subcommand("prepare", |prepare| self.party(prepare));
        let command = command.mut_subcommand("job", |job| {
            job.mut_subcommand("drive", |drive| with(self.party(drive), "protocol", self.protocol))
        });
        let command = command.mut_subcommand("cost", |cost| {
            with(with(cost, "garbling", self.garbling), "correlations", self.correlations)
        });
        // What makes the correlations of a pool that is there, it says itself: that default is for new ones.
        command.mut_subcommand("pool", |pool| pool.mut_subcommand("fill", |fill| with(fill, "threads", self.threads)))
    }

    /// What `run` and `prepare` share.
    fn party(&self, verb: Command) -> Command {
        let verb = with(with(verb, "threads", self.threads), "garbling", self.garbling);
        with(verb, "correlations", self.correlations)
    }
}

fn with(command: Command, flag: &'static str, value: Option<impl ToString>) -> Command {
    match value {
        Some(value) => command.mut_arg(flag, |arg| arg.default_value(value.to_string())),
        None => command,
    }
}
