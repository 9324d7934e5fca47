//! Programs written as Python functions: what the function does to its words is recorded, and becomes a program.

mod blocks;
mod difference;
mod gates;
mod lower;
mod node;
mod numbers;
mod over_lanes;
mod profile;
mod recording;
mod sites;
mod word;

pub use blocks::{about_block, block_names};
pub use difference::first_difference;
pub use profile::Profile;
pub use word::Word;

use crate::beside::interruptible;
use crate::errors::usage;
use crate::matrix::Matrix;
use crate::program::{Program, type_of};
use duologue::Party;
use duologue::circuit::blocks::Goal;
use duologue::circuit::program::{Owner, Recipient, SizeRange};
use duologue::circuit::{Circuit, Type, uint};
use node::{Callee, InputPort, Lanes, Op, is_integer, shown};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use recording::{MOST_JOINED, MOST_WORDS, Recording, Refused, check_type};
use sites::{Site, Sites};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lanes as Python gives them: a factor, and sizes with their least and greatest values.
type GivenLanes = (u64, Vec<(String, u64, u64)>);

/// Blocks that were built, by name and size.
type Built = HashMap<(String, Vec<u32>), Arc<Circuit>>;

/// What a function does to its words, while it runs.
#[pyclass(frozen, module = "duologue._core")]
pub struct Trace {
    recording: Mutex<Recording>,
    sites: Arc<Sites>,
    goal: Goal,
    blocks: Mutex<Built>,
}

#[pymethods]
impl Trace {
    /// `package` is the folder of what people do not want to see as the line of an operation.
    #[new]
    fn new(package: String, goal: &str) -> PyResult<Self> {
        let goal = match goal {
            "size" => Goal::Size,
            "depth" => Goal::Depth,
            _ => return Err(usage(format!("'{goal}' is no goal: write size or depth"))),
        };
        Ok(Trace::with(Arc::new(Sites::new(package)), goal))
    }

    /// A trace of a function that this one's calls.
    fn fork(&self) -> Self {
        Trace::with(self.sites.clone(), self.goal)
    }

    /// The function has ended, by an error.
    fn end(&self) {
        *self.lock() = Recording::over();
    }

    fn input(slf: &Bound<'_, Self>, name: &str, owner: &str, ty: &str, lanes: GivenLanes) -> PyResult<Word> {
        let (ty, owner) = (type_of(ty)?, owner_of(owner)?);
        Trace::record(slf, |recording, site| {
            check_type(ty)?;
            let lanes = lanes_of(recording, lanes)?;
            let place = recording.inputs.len() as u32;
            let node = recording.push(Op::Input(place), ty, lanes, &[], site)?;
            recording.inputs.push(InputPort { name: name.into(), owner, node });
            Ok(node)
        })
    }

    /// A plain number as a constant of a type; a word as it is.
    fn constant(slf: &Bound<'_, Self>, number: &Bound<'_, PyAny>, ty: &str) -> PyResult<Word> {
        let ty = type_of(ty)?;
        let site = slf.get().sites.here(slf.py())?;
        check_type(ty).map_err(|why| slf.get().refuse(site, why))?;
        match Trace::typed(slf, number, ty, site)? {
            Some(node) => Ok(Word::new(slf, node)),
            None => Err(slf.get().refuse(site, format!("expected a word or a number for {}", shown(ty)))),
        }
    }

    /// Words, numbers and arrays as words of as many lanes: of a type that all have in common, or each of its own.
    fn alike(slf: &Bound<'_, Self>, values: Vec<Bound<'_, PyAny>>, is_one_type: bool) -> PyResult<Vec<Word>> {
        let site = slf.get().sites.here(slf.py())?;
        let refused = |why: &str| slf.get().refuse(site, why.into());
        let known = values.iter().map(|value| Trace::word(slf, value, site)).collect::<PyResult<Vec<_>>>()?;
        let types = known.iter().flatten().map(|&node| slf.get().ty(node)).collect::<PyResult<Vec<_>>>()?;
        let ty = match &types[..] {
            [first, rest @ ..] if is_one_type => {
                let ty = rest.iter().try_fold(*first, |ty, &other| recording::common(ty, other));
                Some(ty.map_err(|why| refused(&why))?)
            }
            _ => None,
        };
        let mut args = Vec::with_capacity(values.len());
        for (value, known) in values.iter().zip(known) {
            args.push(match (known, ty) {
                (Some(node), _) => node,
                (None, Some(ty)) => Trace::typed(slf, value, ty, site)?
                    .ok_or_else(|| refused("expected words, numbers or arrays of NumPy"))?,
                _ => return Err(refused("a plain number has no type here: write duo.u32(0), or a word")),
            });
        }
        Trace::record_at(slf, site, |recording, site| {
            let cast = |arg: &u32| ty.map_or(Ok(*arg), |ty| recording.cast(*arg, ty, site));
            let mut args = args.iter().map(cast).collect::<Result<Vec<_>, _>>()?;
            recording.together(&mut args, site)?;
            Ok(args)
        })
    }

    fn cast(slf: &Bound<'_, Self>, word: &Word, ty: &str) -> PyResult<Word> {
        let ty = type_of(ty)?;
        Trace::record(slf, |recording, site| recording.cast(word.of(slf)?, ty, site))
    }

    fn select(
        slf: &Bound<'_, Self>,
        condition: &Word,
        then: &Bound<'_, PyAny>,
        otherwise: &Bound<'_, PyAny>,
    ) -> PyResult<Word> {
        let (then, otherwise) = Trace::both(slf, then, otherwise)?;
        Trace::record(slf, |recording, site| {
            let node = recording.select(condition.of(slf)?, then, otherwise, site)?;
            Ok(node)
        })
    }

    fn extreme(slf: &Bound<'_, Self>, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>, greatest: bool) -> PyResult<Word> {
        let (a, b) = Trace::both(slf, a, b)?;
        let op = if greatest { Op::Maximum } else { Op::Minimum };
        Trace::record(slf, |recording, site| recording.binary(op, a, b, site))
    }

    fn count_ones(slf: &Bound<'_, Self>, word: &Word) -> PyResult<Word> {
        Trace::record(slf, |recording, site| recording.count_ones(word.of(slf)?, site))
    }

    /// The words' bits after one another, those of the first lowest.
    fn concat(slf: &Bound<'_, Self>, words: Vec<Py<Word>>) -> PyResult<Word> {
        Trace::record(slf, |recording, site| {
            let args = nodes(slf, &words)?;
            let width: u64 = args.iter().map(|&arg| u64::from(recording.ty(arg).width)).sum();
            if width > MOST_JOINED {
                return Err(format!("{width} bits in one word: it has at most {MOST_JOINED}"));
            }
            recording.call(Callee::Concat, &args, &[duologue::circuit::bits(width as u32)], site).map(first)
        })
    }

    /// The sum of the products of words of one type, modulo 2^width.
    fn dot(slf: &Bound<'_, Self>, left: Vec<Py<Word>>, right: Vec<Py<Word>>) -> PyResult<Word> {
        Trace::record(slf, |recording, site| {
            let args = [nodes(slf, &left)?, nodes(slf, &right)?].concat();
            let ty = recording.ty(args[0]);
            let is_fit = is_integer(ty) || matches!(ty.kind, duologue::circuit::Kind::Fixed { .. });
            if !is_fit {
                return Err(format!("a dot product of {}: expected integers or fixed-point numbers", shown(ty)));
            }
            recording.call(Callee::Dot, &args, &[ty], site).map(first)
        })
    }

    /// Entry `index` of a public table.
    fn table(slf: &Bound<'_, Self>, index: &Word, entries: Vec<Bound<'_, PyAny>>, ty: &str) -> PyResult<Word> {
        let ty = type_of(ty)?;
        let site = slf.get().sites.here(slf.py())?;
        let mut table = Vec::with_capacity(entries.len());
        for entry in &entries {
            match numbers::constant(entry, ty)? {
                Some(Ok(constant)) if ty.width <= 128 => table.push(constant.low),
                Some(Err(why)) => return Err(slf.get().refuse(site, why)),
                _ => return Err(slf.get().refuse(site, "a table has plain numbers of at most 128 bits".into())),
            }
        }
        Trace::record(slf, |recording, site| {
            let index = check_index(recording, index.of(slf)?, table.len())?;
            recording.call(Callee::Table(table), &[index], &[ty], site).map(first)
        })
    }

    /// Word `index` of several of one type.
    fn read(slf: &Bound<'_, Self>, index: &Word, words: Vec<Py<Word>>) -> PyResult<Word> {
        Trace::record(slf, |recording, site| {
            let index = check_index(recording, index.of(slf)?, words.len())?;
            let words = nodes(slf, &words)?;
            let ty = recording.ty(words[0]);
            recording.call(Callee::Read, &[vec![index], words].concat(), &[ty], site).map(first)
        })
    }

    /// Words of one type, as [`Trace::alike`] gives them, in order.
    fn sort(slf: &Bound<'_, Self>, words: Vec<Py<Word>>, descending: bool) -> PyResult<Vec<Word>> {
        Trace::record_all(slf, |recording, site| {
            let args = nodes(slf, &words)?;
            let ty = recording.ty(args[0]);
            if !(is_integer(ty) || matches!(ty.kind, duologue::circuit::Kind::Fixed { .. })) {
                return Err(format!("{} is not sorted: expected integers or fixed-point numbers", shown(ty)));
            }
            recording.call(Callee::Sort { descending }, &args, &vec![ty; args.len()], site)
        })
    }

    /// The results of a block. An operand is a word, or several that are one port; the size is as the command writes it.
    fn block(
        slf: &Bound<'_, Self>,
        name: &str,
        operands: Vec<Bound<'_, PyAny>>,
        size: Option<&str>,
    ) -> PyResult<Vec<Word>> {
        Trace::add_block(slf, name, &operands, size)
    }

    /// An argument of a function of reduce or scan.
    fn argument(slf: &Bound<'_, Self>, name: &str, ty: &str) -> PyResult<Word> {
        Trace::add_argument(slf, name, ty)
    }

    /// All lanes of the words folded to one by the function that `inner` has recorded, of twice as many arguments.
    fn reduce(
        slf: &Bound<'_, Self>,
        words: Vec<Py<Word>>,
        inner: &Bound<'_, Trace>,
        results: Vec<Py<Word>>,
    ) -> PyResult<Vec<Word>> {
        Trace::add_reduce(slf, &words, inner, &results)
    }

    /// The function that `inner` has recorded on lane after lane: the last state, then what it gave for each lane.
    fn scan(
        slf: &Bound<'_, Self>,
        state: Vec<Py<Word>>,
        words: Vec<Py<Word>>,
        inner: &Bound<'_, Trace>,
        results: Vec<Py<Word>>,
    ) -> PyResult<Vec<Word>> {
        Trace::add_scan(slf, (&state, &words), inner, &results)
    }

    /// The lanes as words of one lane; their number is fixed.
    fn unstack(slf: &Bound<'_, Self>, word: &Word) -> PyResult<Vec<Word>> {
        Trace::add_unstack(slf, word)
    }

    /// Words of one type and one lane as lanes.
    fn stack(slf: &Bound<'_, Self>, words: Vec<Py<Word>>) -> PyResult<Word> {
        Trace::add_stack(slf, &words)
    }

    /// The program, whose outputs are these words; and what its lines cost. The trace is over.
    fn finish(
        slf: &Bound<'_, Self>,
        name: &str,
        outputs: Vec<(String, String, Py<Word>)>,
    ) -> PyResult<(Program, Profile)> {
        let trace = slf.get();
        let site = trace.sites.here(slf.py())?;
        let mut delivered = Vec::with_capacity(outputs.len());
        for (name, to, word) in outputs {
            let node = word.get().of(slf).map_err(|why| trace.refuse(site, why))?;
            delivered.push((name, recipient_of(&to)?, node));
        }
        let recording = std::mem::replace(&mut *trace.lock(), Recording::over());
        if recording.is_over {
            return Err(usage("the function has ended: a program was made of it"));
        }
        let sites = trace.sites.clone();
        let goal = trace.goal;
        let stop = || recording.is_stopped.store(true, Ordering::Relaxed);
        let lower = || lower::program(&recording, name, &delivered, goal, sites);
        let made = interruptible(slf.py(), |_| Ok(()), stop, lower)?;
        let (program, profile) = made.map_err(|failure| trace.refuse(failure.site, failure.why))?;
        Ok((Program::of(program), profile))
    }
}

impl Trace {
    fn with(sites: Arc<Sites>, goal: Goal) -> Self {
        Trace { recording: Mutex::new(Recording::new()), sites, goal, blocks: Mutex::default() }
    }

    /// The type of a word, if the function has not ended.
    fn ty(&self, number: u32) -> PyResult<Type> {
        let recording = self.lock();
        match recording.is_over {
            true => Err(usage("the function that this word belongs to has ended")),
            false => Ok(recording.ty(number)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A misuse at a line of the source.
    fn refuse(&self, site: u32, why: Refused) -> PyErr {
        let Site { file, line } = self.sites.get(site);
        let name = file.rsplit('/').next().unwrap_or_default();
        usage(format!("{name}:{line}: {why}"))
    }

    /// Records what makes one word.
    fn record(
        slf: &Bound<'_, Self>,
        write: impl FnOnce(&mut Recording, u32) -> Result<u32, Refused>,
    ) -> PyResult<Word> {
        let words = Trace::record_all(slf, |recording, site| write(recording, site).map(|node| vec![node]))?;
        let mut words = words.into_iter();
        words.next().ok_or_else(|| usage("no result"))
    }

    fn record_all(
        slf: &Bound<'_, Self>,
        write: impl FnOnce(&mut Recording, u32) -> Result<Vec<u32>, Refused>,
    ) -> PyResult<Vec<Word>> {
        let (py, trace) = (slf.py(), slf.get());
        let site = trace.sites.here(py)?;
        Trace::record_at(slf, site, write)
    }

    fn record_at(
        slf: &Bound<'_, Self>,
        site: u32,
        write: impl FnOnce(&mut Recording, u32) -> Result<Vec<u32>, Refused>,
    ) -> PyResult<Vec<Word>> {
        let trace = slf.get();
        let mut recording = trace.lock();
        if recording.is_over {
            drop(recording);
            return Err(trace.refuse(site, "the function that this word belongs to has ended".into()));
        }
        let before = recording.nodes.len();
        let done = write(&mut recording, site).and_then(|nodes| {
            let gates = (before..recording.nodes.len()).map(|node| recording.estimate(node)).sum();
            recording.count(gates).map(|warns| (nodes, warns))
        });
        drop(recording);
        let (nodes, warns) = done.map_err(|why| trace.refuse(site, why))?;
        if warns {
            trace.warn(slf.py(), site)?;
        }
        Ok(nodes.into_iter().map(|node| Word::new(slf, node)).collect())
    }

    /// Says which line is under way in a large program.
    fn warn(&self, py: Python<'_>, site: u32) -> PyResult<()> {
        let Site { file, line } = self.sites.get(site);
        py.import("duologue._branches")?.getattr("warn_large")?.call1((file, line))?;
        Ok(())
    }

    /// An operand as a word: a word of this trace, or a number or array of NumPy. Of plain numbers nothing.
    fn word(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>, site: u32) -> PyResult<Option<u32>> {
        let trace = slf.get();
        if let Ok(word) = value.cast_exact::<Word>() {
            return word.get().of(slf).map(Some).map_err(|why| trace.refuse(site, why));
        }
        let given = slf.py().import("duologue._operands")?.getattr("of_numpy")?.call1((value,))?;
        if given.is_none() {
            return Ok(None);
        }
        let given = given.cast::<PyTuple>()?;
        let ty = type_of(given.get_item(0)?.extract()?)?;
        let node = match given.get_item(1)?.cast::<Matrix>() {
            Ok(matrix) => trace.array(matrix.get(), ty, site),
            Err(_) => match numbers::constant(&given.get_item(1)?, ty)? {
                Some(constant) => constant.and_then(|constant| trace.lock().constant(ty, constant, site)),
                None => return Ok(None),
            },
        };
        node.map(Some).map_err(|why| trace.refuse(site, why))
    }

    fn array(&self, matrix: &Matrix, ty: Type, site: u32) -> Result<u32, Refused> {
        let bits: Vec<bool> = matrix.0.to_lanes().into_iter().flatten().collect();
        if bits.is_empty() || bits.len() > 1 << 24 {
            return Err("a public array has 1 to 2^24 bits: make it an input, Public(TYPE)".into());
        }
        self.lock().array(bits, ty, site)
    }

    /// An operand, of this type if it is a plain number; none if it is nothing of the kind.
    fn typed(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>, ty: Type, site: u32) -> PyResult<Option<u32>> {
        let trace = slf.get();
        match numbers::constant(value, ty)? {
            Some(constant) => {
                let node = constant.and_then(|constant| trace.lock().constant(ty, constant, site));
                node.map(Some).map_err(|why| trace.refuse(site, why))
            }
            None => Trace::word(slf, value, site),
        }
    }

    /// Two operands, of which at most one is a plain number.
    fn both(slf: &Bound<'_, Self>, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<(u32, u32)> {
        let trace = slf.get();
        let site = trace.sites.here(slf.py())?;
        let refused = |why: &str| trace.refuse(site, why.into());
        let (first, second) = (Trace::word(slf, a, site)?, Trace::word(slf, b, site)?);
        let other = "expected words or numbers";
        match (first, second) {
            (Some(a), Some(b)) => Ok((a, b)),
            (Some(a), None) => {
                let b = Trace::typed(slf, b, trace.ty(a)?, site)?.ok_or_else(|| refused(other))?;
                Ok((a, b))
            }
            (None, Some(b)) => {
                let a = Trace::typed(slf, a, trace.ty(b)?, site)?.ok_or_else(|| refused(other))?;
                Ok((a, b))
            }
            (None, None) => Err(refused("two plain numbers have no type: give one of them one, as in duo.u32(30)")),
        }
    }
}

fn first(nodes: Vec<u32>) -> u32 {
    nodes[0]
}

/// The operations that words of this trace are.
fn nodes(trace: &Bound<'_, Trace>, words: &[Py<Word>]) -> Result<Vec<u32>, Refused> {
    match words.is_empty() {
        true => Err("expected one word or more".into()),
        false => words.iter().map(|word| word.get().of(trace)).collect(),
    }
}

/// An index as a number without a sign.
fn check_index(recording: &Recording, index: u32, entries: usize) -> Result<u32, Refused> {
    let ty = recording.ty(index);
    match ty.kind {
        _ if entries > MOST_WORDS => Err(format!("a table of {entries} entries: it has at most {MOST_WORDS}")),
        duologue::circuit::Kind::UInt | duologue::circuit::Kind::Bits => Ok(index),
        _ => Err(format!("the index is {}: expected a number without a sign, as {} is", shown(ty), shown(uint(8)))),
    }
}

/// The place of these lanes; sizes are declared at their first use.
fn lanes_of(recording: &mut Recording, (factor, sizes): GivenLanes) -> Result<u32, Refused> {
    let mut places = Vec::with_capacity(sizes.len());
    for (name, least, most) in sizes {
        let known = recording.sizes.iter().position(|size| size.name == name);
        let range = least..=most;
        match known {
            Some(place) if recording.sizes[place].range != range => {
                return Err(format!("the size '{name}' is declared twice, with different limits"));
            }
            Some(place) => places.push(place as u32),
            None => {
                places.push(recording.sizes.len() as u32);
                recording.sizes.push(SizeRange { name, range });
            }
        }
    }
    places.sort_unstable();
    Ok(recording.intern(Lanes { factor, sizes: places }))
}

fn owner_of(name: &str) -> PyResult<Owner> {
    match name {
        "alice" => Ok(Owner::Party(Party::Alice)),
        "bob" => Ok(Owner::Party(Party::Bob)),
        "public" => Ok(Owner::Public),
        "shared" => Ok(Owner::Shared),
        _ => Err(usage(format!("'{name}' supplies no input"))),
    }
}

fn recipient_of(name: &str) -> PyResult<Recipient> {
    match name {
        "alice" => Ok(Recipient::Party(Party::Alice)),
        "bob" => Ok(Recipient::Party(Party::Bob)),
        "both" => Ok(Recipient::Both),
        "shared" => Ok(Recipient::Shared),
        _ => Err(usage(format!("'{name}' learns no output"))),
    }
}
