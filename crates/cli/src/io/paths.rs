//! Where the user's own files lie: `$XDG_CONFIG_HOME/duologue`, or `~/.config/duologue`.

use crate::failure::Failure;
use std::env;
use std::path::{Path, PathBuf};

fn config() -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let home = || set("HOME").map(|home| Path::new(&home).join(".config"));
    let base = set("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
    let base = base.ok_or_else(|| Failure::input("neither XDG_CONFIG_HOME nor HOME is set"))?;
    Ok(base.join("duologue"))
}

/// The private key, where none is named.
pub fn key() -> Result<PathBuf, Failure> {
    Ok(config()?.join("key"))
}

/// The runs that the user consented to.
pub fn consent() -> Result<PathBuf, Failure> {
    Ok(config()?.join("consent"))
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
