//! A word of a trace, as Python sees it: operators are recorded, and whatever would need its value raises.

use super::node::{Constant, Op, shown};
use super::numbers;
use super::{Trace, recording::Refused};
use crate::errors::usage;
use duologue::circuit::{Kind, bits, uint};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyDict, PyInt, PySlice, PyTuple};

/// A word of a program that is being recorded.
#[pyclass(frozen, module = "duologue._core")]
pub struct Word {
    trace: Py<Trace>,
    number: u32,
}

/// The largest power that is multiplied out.
const MOST_POWER: u32 = 64;

impl Word {
    pub fn new(trace: &Bound<'_, Trace>, number: u32) -> Self {
        Word { trace: trace.clone().unbind(), number }
    }

    /// Its number in this trace.
    pub fn of(&self, trace: &Bound<'_, Trace>) -> Result<u32, Refused> {
        if self.trace.is(trace) {
            return Ok(self.number);
        }
        Err("this word belongs to another function: pass it as an argument (to reduce and scan, as one more of their words)"
            .into())
    }

    fn binary(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, op: Op, reversed: bool) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let word = slf.get();
        let trace = word.trace.bind(py);
        let site = trace.get().sites.here(py)?;
        let is_shift = matches!(op, Op::ShiftLeft | Op::ShiftRight);
        if is_shift && !reversed && is_plain(other) {
            return word.shift_by(trace, other, op, site);
        }
        let ty = trace.get().ty(word.number)?;
        let Some(other) = Trace::typed(trace, other, ty, site)? else {
            return Ok(py.NotImplemented());
        };
        let (a, b) = if reversed { (other, word.number) } else { (word.number, other) };
        let write = |recording: &mut super::Recording, site| {
            let done =
                if is_shift { recording.shift(op, a, (b, false), site) } else { recording.binary(op, a, b, site) };
            done.map(|node| vec![node])
        };
        one(py, Trace::record_at(trace, site, write)?)
    }

    /// A shift by a plain number.
    fn shift_by(&self, trace: &Bound<'_, Trace>, amount: &Bound<'_, PyAny>, op: Op, site: u32) -> PyResult<Py<PyAny>> {
        let py = trace.py();
        let ty = trace.get().ty(self.number)?;
        let fits = match ty.kind {
            Kind::Bits => numbers::constant(amount, uint(32))?,
            _ => numbers::constant(amount, ty)?,
        };
        if let Some(Err(why)) = fits {
            return Err(trace.get().refuse(site, why));
        }
        // Whatever is beyond the width shifts everything out, as does a negative amount.
        let amount = amount.extract::<u32>().unwrap_or(u32::MAX).min(u32::MAX >> 1);
        let write = |recording: &mut super::Recording, site| {
            let amount = recording.constant(uint(32), Constant { low: amount.into(), above: false }, site)?;
            recording.shift(op, self.number, (amount, true), site).map(|node| vec![node])
        };
        one(py, Trace::record_at(trace, site, write)?)
    }

    fn unary(slf: &Bound<'_, Self>, op: Op) -> PyResult<Word> {
        let number = slf.get().number;
        let trace = slf.get().trace.bind(slf.py());
        Trace::record(trace, |recording, site| recording.unary(op, number, site))
    }
}

fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyInt>()
}

fn one(py: Python<'_>, words: Vec<Word>) -> PyResult<Py<PyAny>> {
    let word = words.into_iter().next().ok_or_else(|| usage("no result"))?;
    Ok(Py::new(py, word)?.into_any())
}

/// What would need the value of a word, by its name.
fn branch(py: Python<'_>, what: &str) -> PyErr {
    let made = py.import("duologue._branches").and_then(|branches| branches.getattr("refusal")?.call1((what,)));
    made.map_or_else(|why| why, PyErr::from_value)
}

#[pymethods]
impl Word {
    /// What NumPy was asked to do with arrays and words, by the operators of the word.
    #[pyo3(signature = (function, method, *args, **more))]
    fn __array_ufunc__(
        &self,
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        method: &str,
        args: &Bound<'_, PyTuple>,
        more: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let operation = py.import("duologue._operands")?.getattr("ufunc")?;
        Ok(operation.call1((function, method, args, more))?.unbind())
    }

    #[getter(_trace)]
    fn trace(&self, py: Python<'_>) -> Py<Trace> {
        self.trace.clone_ref(py)
    }

    /// As in `uint(32)`.
    #[getter(_ty)]
    fn ty(&self) -> PyResult<String> {
        self.trace.get().ty(self.number).map(|ty| ty.to_string())
    }

    /// How many lanes, if that is a number and no size.
    #[getter(_fixed_lanes)]
    fn fixed_lanes(&self) -> Option<u64> {
        let recording = self.trace.get().lock();
        if recording.is_over { None } else { recording.fixed_lanes(self.number) }
    }

    /// The most lanes that the sizes allow.
    #[getter(_most_lanes)]
    fn most_lanes(&self) -> u64 {
        let recording = self.trace.get().lock();
        if recording.is_over { u64::MAX } else { recording.most_lanes(self.number) }
    }

    fn __add__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Add, false)
    }

    fn __radd__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Add, true)
    }

    fn __sub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Subtract, false)
    }

    fn __rsub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Subtract, true)
    }

    fn __mul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Multiply, false)
    }

    fn __rmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Multiply, true)
    }

    fn __floordiv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Quotient, false)
    }

    fn __rfloordiv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Quotient, true)
    }

    fn __mod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Remainder, false)
    }

    fn __rmod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Remainder, true)
    }

    fn __truediv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Divide, false)
    }

    fn __rtruediv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Divide, true)
    }

    fn __and__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::And, false)
    }

    fn __rand__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::And, true)
    }

    fn __or__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Or, false)
    }

    fn __ror__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Or, true)
    }

    fn __xor__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Xor, false)
    }

    fn __rxor__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::Xor, true)
    }

    fn __lshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::ShiftLeft, false)
    }

    fn __rlshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::ShiftLeft, true)
    }

    fn __rshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::ShiftRight, false)
    }

    fn __rrshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Word::binary(slf, other, Op::ShiftRight, true)
    }

    fn __neg__(slf: &Bound<'_, Self>) -> PyResult<Word> {
        Word::unary(slf, Op::Negate)
    }

    fn __pos__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __abs__(slf: &Bound<'_, Self>) -> PyResult<Word> {
        Word::unary(slf, Op::Absolute)
    }

    fn __invert__(slf: &Bound<'_, Self>) -> PyResult<Word> {
        Word::unary(slf, Op::Not)
    }

    /// By squares and products.
    fn __pow__(slf: &Bound<'_, Self>, power: &Bound<'_, PyAny>, modulus: Option<&Bound<'_, PyAny>>) -> PyResult<Word> {
        let trace = slf.get().trace.bind(slf.py());
        let number = slf.get().number;
        // A scalar of NumPy has a type, which the result would have to take.
        let power = is_plain(power).then(|| power.extract::<u32>().ok()).flatten();
        let power = power.filter(|power| is_power(*power) && modulus.is_none());
        Trace::record(trace, |recording, site| {
            let power = power.ok_or_else(|| format!("a power: expected a plain number of 1 to {MOST_POWER}"))?;
            if power > 2 && matches!(recording.ty(number).kind, Kind::Float { .. }) {
                return Err(
                    "a power of floats above 2, which NumPy rounds once: write x * x * x, or blocks.fp_pow_ieee".into(),
                );
            }
            let mut result = number;
            for place in (0..power.ilog2()).rev() {
                result = recording.binary(Op::Multiply, result, result, site)?;
                if power >> place & 1 == 1 {
                    result = recording.binary(Op::Multiply, result, number, site)?;
                }
            }
            Ok(result)
        })
    }

    fn __richcmp__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let (op, reversed) = match op {
            CompareOp::Eq => (Op::Equal, false),
            CompareOp::Ne => (Op::NotEqual, false),
            CompareOp::Lt => (Op::Less, false),
            CompareOp::Le => (Op::LessOrEqual, false),
            CompareOp::Gt => (Op::Less, true),
            CompareOp::Ge => (Op::LessOrEqual, true),
        };
        let compared = Word::binary(slf, other, op, reversed)?;
        if !compared.is(slf.py().NotImplemented()) {
            return Ok(compared);
        }
        // Python would go on to say that they differ.
        let (trace, name) = (slf.get().trace.bind(slf.py()).get(), other.get_type().name()?);
        let site = trace.sites.here(slf.py())?;
        Err(trace.refuse(site, format!("a word is compared with words and numbers, not with {name}")))
    }

    /// Bits: one by its place, or `x[from:to]`.
    fn __getitem__(slf: &Bound<'_, Self>, place: &Bound<'_, PyAny>) -> PyResult<Word> {
        let (py, number) = (slf.py(), slf.get().number);
        if place.is_instance_of::<Word>() {
            return Err(branch(py, "index"));
        }
        let trace = slf.get().trace.bind(py);
        let width = trace.get().ty(number)?.width;
        let (from, count) = match place.cast::<PySlice>() {
            Ok(slice) => {
                let range = slice.indices(width as isize)?;
                if range.step != 1 || range.slicelength == 0 {
                    return Err(PyIndexError::new_err(
                        "bits x[from:to] of a word: expected one or more, without a step",
                    ));
                }
                (range.start as u32, range.slicelength as u32)
            }
            Err(_) => {
                let place: i64 = place.extract().map_err(|_| {
                    PyTypeError::new_err("a bit of a word: expected its place, a plain number, or a slice")
                })?;
                let from = if place < 0 { place + i64::from(width) } else { place };
                if !(0..i64::from(width)).contains(&from) {
                    return Err(PyIndexError::new_err(format!("bit {place} of a word of {width}")));
                }
                (from as u32, 1)
            }
        };
        Trace::record(trace, |recording, site| recording.slice(number, from, bits(count), site))
    }

    fn sum(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        over_lanes(slf, "sum")
    }

    fn max(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        over_lanes(slf, "max")
    }

    fn min(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        over_lanes(slf, "min")
    }

    fn any(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        over_lanes(slf, "any")
    }

    fn all(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        over_lanes(slf, "all")
    }

    fn argmax(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        over_lanes(slf, "argmax")
    }

    fn argmin(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        over_lanes(slf, "argmin")
    }

    fn __repr__(&self) -> String {
        let recording = self.trace.get().lock();
        if recording.is_over {
            return "<Word of a function that has ended>".into();
        }
        let (ty, lanes) = (recording.ty(self.number), recording.lanes_of(self.number));
        format!("<Word {} × {}>", shown(ty), recording.shown_lanes(lanes))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        Err(branch(py, "str"))
    }

    fn __format__(&self, py: Python<'_>, _spec: &Bound<'_, PyAny>) -> PyResult<String> {
        Err(branch(py, "format"))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Err(branch(py, "bool"))
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<i64> {
        Err(branch(py, "int"))
    }

    fn __index__(&self, py: Python<'_>) -> PyResult<i64> {
        Err(branch(py, "index"))
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        Err(branch(py, "float"))
    }

    #[pyo3(signature = (_digits=None, /))]
    fn __round__(&self, py: Python<'_>, _digits: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        Err(branch(py, "round"))
    }

    fn __divmod__(&self, py: Python<'_>, _other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Err(branch(py, "divmod"))
    }

    fn __rdivmod__(&self, py: Python<'_>, _other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Err(branch(py, "divmod"))
    }

    fn __rpow__(
        &self,
        py: Python<'_>,
        _base: &Bound<'_, PyAny>,
        _modulus: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        Err(branch(py, "power"))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Err(branch(py, "len"))
    }

    /// What arrays of NumPy have and words do not.
    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let made = py.import("duologue._branches").and_then(|it| it.getattr("no_attribute")?.call1((name,)));
        Err(made.map_or_else(|why| why, PyErr::from_value))
    }

    fn __complex__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Err(branch(py, "float"))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        Err(branch(py, "hash"))
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Err(branch(py, "iteration"))
    }

    fn __contains__(&self, py: Python<'_>, _value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Err(branch(py, "in"))
    }

    #[pyo3(signature = (*_args, **_more))]
    fn __array__(
        &self,
        py: Python<'_>,
        _args: &Bound<'_, PyTuple>,
        _more: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        Err(branch(py, "array"))
    }

    #[pyo3(signature = (function, *_args))]
    fn __array_function__(
        &self,
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        _args: &Bound<'_, PyTuple>,
    ) -> PyResult<Py<PyAny>> {
        let name: String = function.getattr("__name__")?.extract()?;
        Err(branch(py, &format!("np.{name}")))
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Err(PyTypeError::new_err(
            "a word is a part of the program that is being recorded: it cannot be pickled or copied",
        ))
    }
}

/// A function over lanes, which arrays of NumPy have as a method.
fn over_lanes(word: &Bound<'_, Word>, name: &str) -> PyResult<Py<PyAny>> {
    let function = word.py().import("duologue.functions")?.getattr(name)?;
    Ok(function.call1((word,))?.unbind())
}

fn is_power(power: u32) -> bool {
    (1..=MOST_POWER).contains(&power)
}
