//! `duologue keys`: the key by which peers know us.

use crate::args::{KeyAction, Keys};
use crate::config::Config;
use crate::failure::Failure;
use crate::io::console::Console;
use crate::io::paths;
use crate::peer::identity;
use duologue::channel::Identity;
use serde::Serialize;
use std::fmt;
use std::io::{self, IsTerminal};
use std::path::Path;

pub fn run(args: &Keys, config: &Config, console: &Console) -> Result<(), Failure> {
    let file = config.key(args.key.as_ref())?;
    let identity = match args.action {
        KeyAction::New => make(&file, console)?,
        KeyAction::Show => identity(&file)?,
    };
    // Where the key goes into a variable or a file, nobody is there to read how to use it.
    if io::stdout().is_terminal() {
        console.note("Give this public key to your peer by a way that you both trust:");
    }
    console.show(&KeyReport { public_key: identity.public().to_string(), key_file: file.display().to_string() })
}

fn make(file: &Path, console: &Console) -> Result<Identity, Failure> {
    paths::make_folder(file)?;
    let identity = Identity::generate()?;
    identity.save(file)?;
    console.note(format_args!("Made the private key {}: keep it to yourself.", file.display()));
    Ok(identity)
}

#[derive(Serialize)]
struct KeyReport {
    public_key: String,
    key_file: String,
}

impl fmt::Display for KeyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.public_key)
    }
}
