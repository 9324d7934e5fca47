//! Folders of what was made ahead, pools and prepared runs, and files of shares: the command's, in the command's forms.

use crate::errors::{raised, usage};
use crate::matrix::Matrix;
use crate::program::type_of;
use crate::report;
use duologue::correlation::Demand;
use duologue::correlation::pool::{self, SealKey};
use duologue::prepared::{self, PreparedRuns};
use duologue::storage::KeptRuns;
use duologue::{Error, PhaseReport, Result};
use duologue_cli::embed;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use values::npy;

/// A folder, and the file of the key with which it is sealed, if it is.
#[derive(FromPyObject, Clone)]
pub struct Folder(PathBuf, Option<PathBuf>);

impl Folder {
    fn seal(&self) -> Result<Option<SealKey>> {
        self.1.as_ref().map(SealKey::load).transpose()
    }

    /// Whether a pool is in it, as far as names and first bytes tell; not where none can be made either.
    fn has_pool(&self) -> Result<bool> {
        let other = match () {
            () if PreparedRuns::is_in(&self.0) => "has prepared runs, and no pool: party.online_from takes them",
            () if KeptRuns::is_in(&self.0) => "has runs of a private function, and no pool: the command takes them",
            () if self.0.exists() && !self.0.is_dir() => "is no folder: a pool is one",
            () => return Ok(self.0.join("header").exists()),
        };
        Err(Error::usage(format!("{} {other}", self.0.display())))
    }

    /// The pool that is in it, if one is.
    pub fn pool(&self) -> Result<Option<pool::Pool>> {
        self.has_pool()?.then(|| pool::Pool::open(&self.0, self.seal()?)).transpose()
    }

    /// Makes correlations with the peer until the pool has this many, in a new pool if there is none.
    pub fn fill(&self, session: &mut duologue::Session, filling: &Filling) -> Result<(pool::Status, PhaseReport)> {
        let Filling { cots, triples, ref correlations, ref assume_link } = *filling;
        let level = Demand { cots_by_alice: cots, cots_by_bob: cots, triples };
        if level == Demand::NONE {
            return Err(Error::usage("nothing to make: give triples= or cots="));
        }
        let named = Some(&**correlations).filter(|name| *name != "auto").map(str::parse).transpose()?;
        let link = assume_link.as_deref().map(str::parse).transpose()?;
        match (session.pool(), named) {
            (Some(status), Some(named)) if status.origin.extension != named => {
                let its = status.origin.extension;
                return Err(Error::usage(format!(
                    "{its} makes the correlations of this pool, not {named}: it keeps that"
                )));
            }
            (Some(_), _) if link.is_some() => {
                return Err(Error::usage("assume_link is for a new pool: this one has what makes its correlations"));
            }
            (Some(_), _) => {}
            (None, Some(named)) => session.create_pool(&self.0, named, self.seal()?)?,
            (None, None) => session.create_pool_for(&self.0, level, link, self.seal()?)?,
        }
        let made = session.fill_pool(level)?;
        let status = session.pool().ok_or_else(|| Error::usage("the pool is gone"))?;
        Ok((status, made))
    }

    /// The prepared runs that are in it.
    pub fn runs(&self) -> Result<PreparedRuns> {
        PreparedRuns::open(&self.0, self.seal()?)
    }

    /// The same, of which the next is as it was written.
    pub fn next_run(&self) -> Result<PreparedRuns> {
        let runs = self.runs()?;
        runs.verify_next()?;
        Ok(runs)
    }

    /// The same, or a folder into which runs can be put.
    pub fn new_runs(&self) -> Result<PreparedRuns> {
        if PreparedRuns::is_in(&self.0) { self.runs() } else { PreparedRuns::create(&self.0, self.seal()?) }
    }
}

/// To which level a pool is filled.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Filling {
    cots: u64,
    triples: u64,
    correlations: String,
    assume_link: Option<String>,
}

/// Whether a pool is in a folder, without opening it; a folder of something else is refused.
#[pyfunction]
pub fn has_pool(folder: Folder) -> PyResult<bool> {
    folder.has_pool().map_err(raised)
}

/// What a pool is and has left; all of it is read if it is to be checked.
#[pyfunction]
pub fn pool_status(py: Python<'_>, folder: Folder, verify: bool) -> PyResult<Bound<'_, PyDict>> {
    let status = py.detach(|| {
        let none = || Error::usage(format!("{}: no pool is there", folder.0.display()));
        let pool = folder.pool()?.ok_or_else(none)?;
        if verify { pool.verify().map(|()| pool.status()) } else { Ok(pool.status()) }
    });
    of_pool(py, &status.map_err(raised)?, None)
}

/// What a folder of prepared runs is and has left.
#[pyfunction]
pub fn runs_status(py: Python<'_>, folder: Folder, verify: bool) -> PyResult<Bound<'_, PyDict>> {
    let status = py.detach(|| {
        let runs = folder.runs()?;
        if verify { runs.verify().and_then(|()| runs.status()) } else { runs.status() }
    });
    of_runs(py, &status.map_err(raised)?, None)
}

pub fn of_pool<'py>(
    py: Python<'py>,
    status: &pool::Status,
    made: Option<&PhaseReport>,
) -> PyResult<Bound<'py, PyDict>> {
    let all = origin(py, (status.origin.party, status.origin.keys), (status.sealed, status.bytes))?;
    all.set_item("correlations", status.origin.extension.to_string())?;
    all.set_item("destroyed", &status.destroyed)?;
    for (name, demand) in [("left", &status.left), ("used", &status.used), ("made", &status.made)] {
        all.set_item(name, (demand.triples, demand.cots_by_alice, demand.cots_by_bob))?;
    }
    all.set_item("just_now", made.map(|made| report::phase(py, made)).transpose()?)?;
    Ok(all)
}

pub fn of_runs<'py>(
    py: Python<'py>,
    status: &prepared::Status,
    made: Option<&PhaseReport>,
) -> PyResult<Bound<'py, PyDict>> {
    let all = origin(py, (status.origin.party, status.origin.keys), (status.sealed, status.bytes))?;
    for (name, number) in [("left", status.left), ("used", status.used), ("made", status.made)] {
        all.set_item(name, number)?;
    }
    let terms = PyDict::new(py);
    for (name, value) in &status.origin.terms {
        terms.set_item(name, embed::line(value))?;
    }
    all.set_item("terms", terms)?;
    all.set_item("just_now", made.map(|made| report::phase(py, made)).transpose()?)?;
    Ok(all)
}

type Keys = Option<[duologue::channel::PublicKey; 2]>;

fn origin(
    py: Python<'_>,
    (party, keys): (duologue::Party, Keys),
    (sealed, bytes): (bool, u64),
) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("party", party.to_string())?;
    all.set_item("peer_key", keys.map(|keys| keys[party.peer() as usize].to_string()))?;
    all.set_item("sealed", sealed)?;
    all.set_item("bytes", bytes)?;
    Ok(all)
}

/// Writes a share for its owner's eyes, as the command writes an output to `FILE.npy`.
#[pyfunction]
pub fn save_share(py: Python<'_>, file: PathBuf, share: &Matrix, ty: &str) -> PyResult<()> {
    let ty = type_of(ty)?;
    py.detach(|| embed::write_share(&file, &share.0, ty)).map_err(raised)
}

/// Reads a share that the command or `save_share` wrote.
#[pyfunction]
pub fn load_share(py: Python<'_>, file: PathBuf, ty: &str) -> PyResult<Matrix> {
    let ty = type_of(ty)?;
    py.detach(|| read_share(&file, ty)).map(|share| Matrix(share.into()))
}

fn read_share(file: &Path, ty: duologue::circuit::Type) -> PyResult<duologue::circuit::BitMatrix> {
    let name = file.display().to_string();
    let opened = std::fs::File::open(file).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (length, opened) = opened.map_err(|why| raised(Error::io(format!("reading {name}"))(why)))?;
    npy::read(opened, length, &name, ty).map_err(|why| match why {
        values::Error::Malformed { file, why } => raised(Error::Malformed { what: file, why }),
        why => usage(why.to_string()),
    })
}
