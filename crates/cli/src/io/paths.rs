//! Where the user's own files lie: `$XDG_CONFIG_HOME/duologue`, or `~/.config/duologue`.

use crate::config::CONFIG;
use crate::failure::Failure;
use std::env;
use std::path::{Path, PathBuf};

fn set(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user's home.
pub fn home() -> Option<PathBuf> {
    set("HOME")
}

fn folder() -> Result<PathBuf, Failure> {
    let base = set("XDG_CONFIG_HOME").or_else(|| home().map(|home| home.join(".config")));
    let base = base.ok_or_else(|| Failure::input("neither XDG_CONFIG_HOME nor HOME is set"))?;
    Ok(base.join("duologue"))
}

/// The configuration file: the one that the environment names, or the usual one; none if the environment says so.
pub fn config_file() -> Option<PathBuf> {
    match env::var_os(CONFIG) {
        Some(path) if path.is_empty() => None,
        Some(path) => Some(path.into()),
        None => Some(folder().ok()?.join("config.toml")),
    }
}

/// The private key, where none is named.
pub fn key() -> Result<PathBuf, Failure> {
    Ok(folder()?.join("key"))
}

/// The runs that the user consented to.
pub fn consent() -> Result<PathBuf, Failure> {
    Ok(folder()?.join("consent"))
}

/// Makes the folder of a file in the user's configuration, for the user's eyes.
pub fn make_folder(file: &Path) -> Result<(), Failure> {
    let Some(folder) = file.parent().filter(|folder| *folder != Path::new("")) else {
        return Ok(());
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(folder);
    made.map_err(Failure::io(format!("making the folder {}", folder.display())))
}
