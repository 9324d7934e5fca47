//! Where in the source an operation was recorded: the line of the caller that is not in the package itself.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A line of a file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Site {
    pub file: String,
    pub line: u32,
}

/// Lines by number; the traces of one program share them. They are no part of the program.
pub struct Sites {
    /// The folder of the package, whose lines are nobody's.
    package: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By code object and instruction: the line's number, or none in the package.
    known: HashMap<(usize, i32), Option<u32>>,
    /// Kept, so that their addresses are theirs.
    codes: Vec<Py<PyAny>>,
    numbers: HashMap<Site, u32>,
    list: Vec<Site>,
}

impl Sites {
    pub fn new(package: String) -> Self {
        Sites { package, state: Mutex::default() }
    }

    /// The line that is under way.
    pub fn here(&self, py: Python<'_>) -> PyResult<u32> {
        let mut frame = get_frame(py)?.call0()?;
        loop {
            let code = frame.getattr(intern(py, &F_CODE, "f_code"))?;
            let instruction: i32 = frame.getattr(intern(py, &F_LASTI, "f_lasti"))?.extract()?;
            let key = (code.as_ptr() as usize, instruction);
            let known = self.state().known.get(&key).copied();
            let found = match known {
                Some(found) => found,
                None => self.resolve(key, &frame, code)?,
            };
            if let Some(site) = found {
                return Ok(site);
            }
            frame = frame.getattr("f_back")?;
            if frame.is_none() {
                return Ok(self.state().number(Site { file: "?".into(), line: 0 }));
            }
        }
    }

    fn resolve(&self, key: (usize, i32), frame: &Bound<'_, PyAny>, code: Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        let file: String = code.getattr("co_filename")?.extract()?;
        let line: Option<u32> = frame.getattr("f_lineno")?.extract()?;
        let mut state = self.state();
        let is_ours = file.starts_with(&self.package);
        let site = (!is_ours).then(|| state.number(Site { file, line: line.unwrap_or(0) }));
        state.known.insert(key, site);
        state.codes.push(code.unbind());
        Ok(site)
    }

    pub fn get(&self, number: u32) -> Site {
        self.state().list[number as usize].clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn number(&mut self, site: Site) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(site.clone()).or_insert(next);
        if number == next {
            self.list.push(site);
        }
        number
    }
}

static GET_FRAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static F_CODE: PyOnceLock<Py<PyString>> = PyOnceLock::new();
static F_LASTI: PyOnceLock<Py<PyString>> = PyOnceLock::new();

fn get_frame<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    let found = GET_FRAME.get_or_try_init(py, || Ok::<_, PyErr>(py.import("sys")?.getattr("_getframe")?.unbind()))?;
    Ok(found.bind(py))
}

fn intern<'py>(py: Python<'py>, cell: &'py PyOnceLock<Py<PyString>>, text: &str) -> &'py Bound<'py, PyString> {
    cell.get_or_init(py, || PyString::new(py, text).unbind()).bind(py)
}
