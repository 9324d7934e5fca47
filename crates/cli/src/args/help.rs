//! What shells and `man` know of the command.

use clap_complete::Shell;
use std::path::PathBuf;

/// How completions are installed.
const INSTALL: &str = "\
bash:  duologue completions bash > ~/.local/share/bash-completion/completions/duologue
zsh:   duologue completions zsh > FOLDER/_duologue, a folder that is in $fpath
fish:  duologue completions fish > ~/.config/fish/completions/duologue.fish";

#[derive(clap::Args)]
#[command(after_help = INSTALL)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

#[derive(clap::Args)]
pub struct Man {
    /// Write duologue.1, duologue-run.1 and so on into this folder, such as ~/.local/share/man/man1
    pub folder: Option<PathBuf>,
}
