//! What goes over lanes: reductions, scans, repetition, and lanes as words by themselves.

use super::lower::function;
use super::node::{ANY, Callee, InputPort, Lanes, ONE, Op};
use super::recording::{MOST_WORDS, Recording, Refused, check_type};
use super::{Trace, Word, first, nodes};
use crate::program::type_of;
use duologue::circuit::program::Owner;
use pyo3::prelude::*;

impl Trace {
    /// An argument of a function of reduce or scan.
    pub fn add_argument(slf: &Bound<'_, Self>, name: &str, ty: &str) -> PyResult<Word> {
        let ty = type_of(ty)?;
        Trace::record(slf, |recording, site| {
            check_type(ty)?;
            let node = recording.push(Op::Input(0), ty, ONE, &[], site)?;
            recording.inputs.push(InputPort { name: name.into(), owner: Owner::Public, node });
            Ok(node)
        })
    }

    /// All lanes of the words folded to one by the function that `inner` has recorded, of twice as many arguments.
    pub fn add_reduce(
        slf: &Bound<'_, Self>,
        words: &[Py<Word>],
        inner: &Bound<'_, Trace>,
        results: &[Py<Word>],
    ) -> PyResult<Vec<Word>> {
        let made = slf.get().function(inner, results, "reduce")?;
        Trace::record_all(slf, |recording, site| {
            let args = nodes(slf, words)?;
            same_lanes(recording, &args)?;
            let results: Vec<_> = args.iter().map(|&arg| (recording.ty(arg), ONE)).collect();
            recording.fold((Callee::Reduce(made), args), &results, site)
        })
    }

    /// The function that `inner` has recorded on lane after lane: the last state, then what it gave for each lane.
    pub fn add_scan(
        slf: &Bound<'_, Self>,
        (state, words): (&[Py<Word>], &[Py<Word>]),
        inner: &Bound<'_, Trace>,
        results: &[Py<Word>],
    ) -> PyResult<Vec<Word>> {
        let made = slf.get().function(inner, results, "scan")?;
        let types: Vec<_> = made.circuit.outputs().iter().map(|port| port.ty).collect();
        Trace::record_all(slf, |recording, site| {
            let (state, words) = (nodes(slf, state)?, nodes(slf, words)?);
            let lanes = same_lanes(recording, &words)?;
            if state.iter().any(|&word| !matches!(recording.lanes_of(word), ONE | ANY)) {
                return Err("the first state of a scan has one lane".into());
            }
            let of = |place: usize| if place < state.len() { ONE } else { lanes };
            let results: Vec<_> = types.iter().enumerate().map(|(place, &ty)| (ty, of(place))).collect();
            let states = state.len();
            recording.fold((Callee::Scan(made, states), [state, words].concat()), &results, site)
        })
    }

    /// The lanes as words of one lane; their number is fixed.
    pub fn add_unstack(slf: &Bound<'_, Self>, word: &Word) -> PyResult<Vec<Word>> {
        Trace::record_all(slf, |recording, site| {
            let node = word.of(slf)?;
            let Some(lanes) = recording.fixed_lanes(node) else {
                let came = recording.shown_lanes(recording.lanes_of(node));
                return Err(format!(
                    "{came} lanes: how many has to be a number in the program, as in Alice(u32, lanes=8)"
                ));
            };
            if lanes > MOST_WORDS as u64 {
                return Err(format!("{lanes} lanes are too many words: {MOST_WORDS} at most"));
            }
            (0..lanes as u32)
                .map(|lane| recording.push(Op::Lane(lane), recording.ty(node), ONE, &[node], site))
                .collect()
        })
    }

    /// Words of one type and one lane as lanes.
    pub fn add_stack(slf: &Bound<'_, Self>, words: &[Py<Word>]) -> PyResult<Word> {
        Trace::record(slf, |recording, site| {
            let args = nodes(slf, words)?;
            if args.iter().any(|&arg| !matches!(recording.lanes_of(arg), ONE | ANY)) {
                return Err("words of one lane are stacked".into());
            }
            let ty = recording.ty(args[0]);
            let lanes = recording.intern(Lanes { factor: args.len() as u64, sizes: Vec::new() });
            recording.fold((Callee::Stack, args), &[(ty, lanes)], site).map(first)
        })
    }
}

impl Trace {
    fn function(&self, inner: &Bound<'_, Trace>, results: &[Py<Word>], name: &str) -> PyResult<super::profile::Made> {
        let site = self.sites.here(inner.py())?;
        let results = nodes(inner, results).map_err(|why| self.refuse(site, why))?;
        let recording = std::mem::replace(&mut *inner.get().lock(), Recording::over());
        let made = inner.py().detach(|| function(&recording, &results, self.goal, name));
        made.map_err(|failure| self.refuse(failure.site, failure.why))
    }
}

/// The lanes that all have; constants have any.
fn same_lanes(recording: &Recording, words: &[u32]) -> Result<u32, Refused> {
    let mut lanes = words.iter().map(|&word| recording.lanes_of(word)).filter(|&lanes| lanes != ANY);
    let Some(first) = lanes.next() else { return Ok(ONE) };
    match lanes.find(|&lanes| lanes != first) {
        Some(other) => {
            let (first, other) = (recording.shown_lanes(first), recording.shown_lanes(other));
            Err(format!("words of {first} lanes and of {other}"))
        }
        None => Ok(first),
    }
}
