//! Files that only their owner may read, and that come whole or not at all.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::private_files::others_may;
use crate::{Error, Result};

/// The end of the name of a file that is being written or erased. One that is found was left by a crash, and counts as
/// nothing.
pub(crate) const PART: &str = ".part";

/// Makes a folder for its owner alone; one that is there already must be so.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made.map_err(doing("making", folder)),
    }
    refuse_others(folder, &fs::metadata(folder).map_err(doing("reading", folder))?)
}

/// Refuses a file or folder that others may read or write.
pub(crate) fn refuse_others(path: &Path, metadata: &Metadata) -> Result<()> {
    let Some(mode) = others_may(metadata) else { return Ok(()) };
    let (path, right) = (path.display(), if metadata.is_dir() { "700" } else { "600" });
    Err(Error::usage(format!(
        "others may read or write {path} (mode {mode:03o}): run `chmod {right} {path}`; if somebody may have read it, \
         prepare anew"
    )))
}

/// Opens a file that nobody else may read; its length comes with it.
pub(crate) fn open(path: &Path) -> Result<(File, u64)> {
    let file = File::open(path).map_err(doing("opening", path))?;
    let metadata = file.metadata().map_err(doing("reading", path))?;
    refuse_others(path, &metadata)?;
    Ok((file, metadata.len()))
}

/// Reads a whole small file; what is longer than `most` is cut off there.
pub(crate) fn read(path: &Path, most: usize) -> Result<Vec<u8>> {
    let (file, _) = open(path)?;
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes).map_err(doing("reading", path))?;
    Ok(bytes)
}

/// Gives `path` this content, for good: whatever happens meanwhile, the file is what it was or what it shall be.
///
/// The name moves after the bytes are on the disk, and what follows waits until the name is.
pub(crate) fn replace(path: &Path, parts: &[&[u8]]) -> Result<()> {
    let temporary = part_of(path);
    let mut file = create(&temporary).map_err(doing("writing", path))?;
    let written = parts.iter().try_for_each(|part| file.write_all(part)).and_then(|()| file.sync_all());
    let written = written.and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        give_up(&mut file, &temporary);
    }
    written.map_err(doing("writing", path))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// The name of a file while it is written or erased.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(PART);
    path.with_file_name(name)
}

/// An empty file that nobody else may read.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A name is on the disk when its folder is.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(doing("writing", folder))
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> Result<()> {
    Ok(())
}

/// A file that is to be erased. It was opened before it loses its name, so that its bytes can be overwritten whatever
/// has the name by then.
pub(crate) struct Doomed {
    file: File,
    path: PathBuf,
}

impl Doomed {
    pub(crate) fn open(path: &Path) -> Result<Doomed> {
        let file = OpenOptions::new().write(true).open(path).map_err(doing("erasing", path))?;
        Ok(Doomed { file, path: path.to_owned() })
    }

    /// Takes its name away, for good once the folder is waited for: a file that counts may not be found half erased.
    pub(crate) fn rename(mut self) -> Result<Doomed> {
        let part = part_of(&self.path);
        fs::rename(&self.path, &part).map_err(doing("erasing", &self.path))?;
        self.path = part;
        Ok(self)
    }

    /// Zeros all of it, on the disk.
    pub(crate) fn overwrite(&mut self) -> Result<()> {
        overwrite(&mut self.file).map_err(doing("erasing", &self.path))
    }

    /// Overwrites it, waits, and removes its name.
    pub(crate) fn erase(mut self) -> Result<()> {
        self.overwrite()?;
        remove(&self.path)
    }
}

/// Overwrites a file that counts as nothing, then removes it. What a crash leaves may have lost its content or not.
pub(crate) fn erase(path: &Path) -> Result<()> {
    Doomed::open(path)?.erase()
}

/// Erases a file that was being written. A full disk should not stay full because of us; if something fails, opening the
/// folder does it.
pub(crate) fn give_up(file: &mut File, path: &Path) {
    let _ = overwrite(file);
    let _ = fs::remove_file(path);
}

/// Removes a file that has no secrets.
pub(crate) fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(doing("erasing", path))
}

fn overwrite(file: &mut File) -> io::Result<()> {
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(0))?;
    io::copy(&mut io::repeat(0).take(len), file)?;
    file.sync_data()
}

/// Attaches to an error of the operating system what was being done to which file.
pub(crate) fn doing(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    Error::io(format!("{what} {}", path.display()))
}

/// The file is not what we write.
pub(crate) fn malformed(path: &Path, why: impl Into<String>) -> Error {
    Error::Malformed { what: format!("file {}", path.display()), why: why.into() }
}
