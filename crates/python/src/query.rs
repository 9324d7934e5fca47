//! Queries on joined tables: their parts as tuples of Python, and what a party brings.

use crate::errors::{of_program, raised, usage};
use crate::settings::party;
use apps::join::{self, Answer, Column, Condition, Figure, Groups, Normalise, Number, Own, Test, What};
use apps::psi::{Learns, string_of};
use duologue::call::Zeroizing;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString, PyTuple};
use std::sync::{Mutex, PoisonError};

/// A column as Python gives it: party, name, form.
type Named = (String, String, String);

/// A figure: name, `count`, `sum` or `mean`, its column and bits, the condition, the groups, the minimum.
type Said<'py> = (String, String, Option<(Named, u32)>, Option<Bound<'py, PyTuple>>, Option<(Named, Vec<String>)>, u64);

/// What is asked of two tables.
#[pyclass(frozen, module = "duologue._core")]
pub struct Query(pub join::Query);

#[pymethods]
impl Query {
    #[new]
    fn new(learns: &str, keys: [String; 2], figures: Vec<Said<'_>>) -> PyResult<Self> {
        let learns: Learns = learns.parse().map_err(usage)?;
        let figures = figures.into_iter().map(figure).collect::<PyResult<_>>()?;
        let query = join::Query { learns, keys, figures };
        query.check().map_err(of_program)?;
        Ok(Query(query))
    }

    #[getter]
    fn text(&self) -> String {
        self.0.text()
    }

    /// What a party tests of each of its rows: column, sign, constant.
    fn tests(&self, name: &str) -> PyResult<Vec<(String, &'static str, String)>> {
        let tests = self.0.tests(party(name).map_err(raised)?);
        Ok(tests.into_iter().map(|test| (test.column.name, test.sign, test.value)).collect())
    }

    /// The groups that it puts its rows into: column, values.
    fn groups(&self, name: &str) -> PyResult<Vec<(String, Vec<String>)>> {
        let groups = self.0.groups(party(name).map_err(raised)?);
        Ok(groups.into_iter().map(|by| (by.column.name, by.values)).collect())
    }

    /// The columns of numbers that it gives, with their bits.
    fn numbers(&self, name: &str) -> PyResult<Vec<(String, u32)>> {
        let numbers = self.0.numbers(party(name).map_err(raised)?);
        Ok(numbers.into_iter().map(|number| (number.column.name, number.bits)).collect())
    }
}

fn column((of, name, form): Named) -> PyResult<Column> {
    Ok(Column { party: party(&of).map_err(raised)?, name, form })
}

fn figure((name, what, number, of, by, minimum): Said<'_>) -> PyResult<Figure> {
    let number = number.map(|(named, bits)| PyResult::Ok(Number { column: column(named)?, bits })).transpose()?;
    let what = match (&*what, number) {
        ("count", None) => What::Count,
        ("sum", Some(number)) => What::Sum(number),
        ("mean", Some(number)) => What::Mean(number),
        _ => return Err(usage("a figure is a count, or a sum or a mean of a column")),
    };
    let of = of.map(|of| condition(&of, 0)).transpose()?;
    let by = by.map(|(named, values)| PyResult::Ok(Groups { column: column(named)?, values })).transpose()?;
    Ok(Figure { name, what, of, by, minimum })
}

/// How deep conditions may lie in others; the query has a limit of its own, which is lower.
const MOST_DEPTH: usize = 200;

/// `("test", column, sign, constant)`, `("all", …)`, `("any", …)`, `("not", one)`.
fn condition(said: &Bound<'_, PyTuple>, depth: usize) -> PyResult<Condition> {
    if depth > MOST_DEPTH {
        return Err(usage("conditions lie too deep in others"));
    }
    let kind: String = said.get_item(0)?.extract()?;
    let parts = || -> PyResult<Vec<Condition>> {
        said.iter().skip(1).map(|part| condition(part.cast::<PyTuple>()?, depth + 1)).collect()
    };
    match &*kind {
        "all" => Ok(Condition::All(parts()?)),
        "any" => Ok(Condition::Any(parts()?)),
        "not" => Ok(Condition::Not(Box::new(parts()?.pop().ok_or_else(|| usage("nothing is negated"))?))),
        _ => {
            let (_, named, wanted, value): (String, Named, String, String) = said.extract()?;
            let sign = Test::SIGNS.into_iter().find(|sign| *sign == wanted);
            let sign = sign.ok_or_else(|| usage(format!("'{wanted}' compares nothing")))?;
            Ok(Condition::Test(Test { column: column(named)?, sign, value }))
        }
    }
}

/// What a form of keys is called in a query; an empty name is none.
#[pyfunction]
pub fn key_form(name: &str) -> PyResult<String> {
    normalise(name).map(|form| form.to_string())
}

fn normalise(name: &str) -> PyResult<Normalise> {
    if name.is_empty() { Ok(Normalise::Nothing) } else { name.parse().map_err(usage) }
}

/// What stands for each key, 16 bytes each: text, bytes or integers. The first of them is in row `first`.
#[pyfunction]
pub fn key_strings<'py>(
    py: Python<'py>,
    keys: &Bound<'py, PyList>,
    form: &str,
    first: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let form = normalise(form)?;
    let mut strings = Zeroizing::new(Vec::with_capacity(16 * keys.len()));
    for (row, key) in keys.iter().enumerate() {
        let string =
            bytes_of(&key).and_then(|bytes| form.apply(&bytes).map(|key| string_of(&key)).ok_or(form.expected()));
        strings
            .extend_from_slice(&string.map_err(|expected| usage(format!("row {}: expected {expected}", first + row)))?);
    }
    Ok(PyBytes::new(py, &strings))
}

/// The bytes of a key: of an integer its decimal digits. What it is instead says no error, nor what Python says of it: that is a secret.
fn bytes_of(key: &Bound<'_, PyAny>) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    if let Ok(text) = key.cast::<PyString>() {
        return text.to_str().map(|text| text.as_bytes().to_vec().into()).map_err(|_| "text in UTF-8");
    }
    if let Ok(bytes) = key.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec().into());
    }
    let expected = "text, bytes or an integer as a key";
    // Others that are integers, such as members of an enumeration, may have another text.
    if !key.is_exact_instance_of::<PyInt>() {
        return Err(expected);
    }
    let digits = key.str().map_err(|_| "an integer of fewer digits")?;
    digits.to_str().map(|digits| digits.as_bytes().to_vec().into()).map_err(|_| expected)
}

/// A party's rows, as arrays: strings of keys, then what each test, grouping and number says. They are for one run, which takes them.
#[pyclass(frozen, module = "duologue._core")]
pub struct Rows(Mutex<Option<Own>>);

#[pymethods]
impl Rows {
    /// It is checked against the query, and filled up to so many rows.
    #[new]
    fn new(
        query: &Query,
        name: &str,
        strings: PyReadonlyArray2<'_, u8>,
        tests: Vec<PyReadonlyArray1<'_, bool>>,
        groups: Vec<PyReadonlyArray1<'_, u32>>,
        numbers: Vec<PyReadonlyArray1<'_, i64>>,
        pad: Option<u64>,
    ) -> PyResult<Self> {
        let strings = strings.as_slice().map_err(|_| usage("expected a contiguous array"))?;
        let mut own = Own::default();
        own.strings = strings.as_chunks().0.to_vec();
        own.tests = tests.iter().map(|test| test.as_array().to_vec()).collect();
        own.groups = groups.iter().map(|groups| groups.as_array().to_vec()).collect();
        own.numbers = numbers.iter().map(|numbers| numbers.as_array().to_vec()).collect();
        let us = party(name).map_err(raised)?;
        own.check(&query.0, us).map_err(raised)?;
        if let Some(rows) = pad {
            own.pad(rows).and_then(|()| own.check(&query.0, us)).map_err(raised)?;
        }
        Ok(Rows(Mutex::new(Some(own))))
    }
}

impl Rows {
    pub fn take(&self) -> duologue::Result<Own> {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        own.ok_or_else(|| duologue::Error::usage("these rows were used: pack the table again"))
    }
}

/// Of each figure the answers of its groups: nothing if it is withheld, else a whole number, of means of 2⁻¹⁶.
pub type Answers = Vec<Vec<Option<i128>>>;

/// For Python.
pub fn told(answers: Vec<Vec<Answer>>) -> Answers {
    let number = |answer: Answer| match answer {
        Answer::Withheld => None,
        Answer::Whole(number) => Some(number.into()),
        Answer::Mean(number) => Some(number),
    };
    answers.into_iter().map(|answers| answers.into_iter().map(number).collect()).collect()
}
