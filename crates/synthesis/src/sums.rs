//! Sums whose addends are sums or products become one sum.
//!
//! A sum that only another one reads need not be a number of its own: its terms join those of the other, and all are
//! counted in one tree. That is so if the inner sum never wraps, or if the outer one is no wider, since it counts modulo
//! no more than the inner one then.
//!
//! A selection between two sums of the same terms with other signs, as `s ? a - b : a + b`, is one sum whose terms have
//! signs that the selection decides.

use crate::cells::are_signed;
use crate::netlist::{Cell, Module, Signal};
use rustc_hash::FxHashMap;

/// Whether a term is added or subtracted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
    /// Subtracted if the signal has this value, else added.
    MinusIf(Signal, bool),
}

/// A term of a sum, in signals.
pub(crate) enum Term {
    Word { signals: Vec<Signal>, signed: bool, sign: Sign },
    Product { a: Vec<Signal>, b: Vec<Signal>, signed: bool },
}

impl Term {
    /// All that it reads.
    pub fn signals(&self) -> impl Iterator<Item = Signal> {
        let (first, second): (&[Signal], &[Signal]) = match self {
            Term::Word { signals, .. } => (signals, &[]),
            Term::Product { a, b, .. } => (a, b),
        };
        let select = match self {
            Term::Word { sign: Sign::MinusIf(select, _), .. } => Some(*select),
            _ => None,
        };
        first.iter().chain(second).copied().chain(select)
    }

    /// The bits that it brings into a sum.
    fn weight(&self) -> u64 {
        match self {
            Term::Word { signals, .. } => signals.len() as u64,
            Term::Product { a, b, .. } => a.len() as u64 * b.len() as u64,
        }
    }

    /// The least and the greatest value; none if it is wide.
    fn range(&self) -> Option<(i128, i128)> {
        match self {
            Term::Word { signals, signed, sign: Sign::Plus } => range(signals, *signed),
            Term::Word { signals, signed, sign: Sign::Minus } => {
                range(signals, *signed).map(|(least, most)| (-most, -least))
            }
            Term::Word { .. } => None,
            Term::Product { a, b, signed } => {
                let ((a, b), (c, d)) = (range(a, *signed)?, range(b, *signed)?);
                let corners = [a * c, a * d, b * c, b * d];
                Some((corners.into_iter().min()?, corners.into_iter().max()?))
            }
        }
    }
}

/// The sums of a module by the cell that gives them.
#[derive(Default)]
pub(crate) struct Sums {
    pub terms: FxHashMap<u32, Vec<Term>>,
    /// The cells whose terms a sum has, with the bits that each brings into it.
    pub shares: FxHashMap<u32, Vec<(u32, u64)>>,
}

/// Finds the sums of a module.
pub(crate) fn find(module: &Module) -> Sums {
    if !module.cells.iter().any(is_sum) {
        return Sums::default();
    }
    let (readers, seen) = (module.readers(), vec![false; module.cells.len()]);
    let mut search = Search { module, readers, seen, sums: FxHashMap::default(), shares: FxHashMap::default() };
    let cells = || (0..).zip(&module.cells);
    cells().filter(|(_, cell)| is_sum(cell)).for_each(|(number, _)| search.visit(number));
    cells().filter(|(_, cell)| cell.kind == "$mux").for_each(|(number, cell)| search.choose(number, cell));
    Sums { terms: search.sums, shares: search.shares }
}

fn is_sum(cell: &Cell) -> bool {
    matches!(cell.kind.as_str(), "$add" | "$sub" | "$neg" | "$mul")
}

struct Search<'a> {
    module: &'a Module,
    readers: Vec<u32>,
    seen: Vec<bool>,
    sums: FxHashMap<u32, Vec<Term>>,
    shares: FxHashMap<u32, Vec<(u32, u64)>>,
}

impl Search<'_> {
    /// Finds the terms of a cell, those of the cells that it reads before.
    fn visit(&mut self, cell: u32) {
        let mut stack = vec![cell];
        while let Some(&cell) = stack.last() {
            let first_time = !std::mem::replace(&mut self.seen[cell as usize], true);
            if first_time {
                let terms = own_terms(&self.module.cells[cell as usize]);
                let inner =
                    terms.iter().filter_map(|term| self.inner(term)).filter(|inner| !self.seen[*inner as usize]);
                let inner: Vec<u32> = inner.collect();
                stack.extend(inner);
            } else {
                stack.pop();
                if !self.sums.contains_key(&cell) {
                    self.join(cell);
                }
            }
        }
    }

    fn join(&mut self, number: u32) {
        let cell = &self.module.cells[number as usize];
        let width = cell.output("Y").len();
        let (mut joined, mut own, mut shares) = (Vec::new(), 0, Vec::new());
        for term in own_terms(cell) {
            match self.inner(&term).filter(|inner| self.joins(&term, *inner, width)) {
                Some(inner) => {
                    let Term::Word { sign, .. } = term else { continue };
                    shares.extend(self.shares.remove(&inner).unwrap_or_default());
                    let inner = self.sums.remove(&inner).unwrap_or_default();
                    joined.extend(inner.into_iter().map(|term| turned(term, sign == Sign::Minus)));
                }
                None => {
                    own += term.weight();
                    joined.push(term);
                }
            }
        }
        shares.push((number, own));
        self.shares.insert(number, shares);
        self.sums.insert(number, joined);
    }

    /// The sum that a term reads, if it reads just that and nothing else does.
    fn inner(&self, term: &Term) -> Option<u32> {
        let Term::Word { signals, .. } = term else { return None };
        let signals = without_zeros(signals);
        let number = match self.module.driver(*signals.first()?)? {
            (number, 0) => number,
            _ => return None,
        };
        let cell = &self.module.cells[number as usize];
        let in_order = (0..).zip(signals).all(|(i, signal)| self.module.driver(*signal) == Some((number, i)));
        // Nothing else reads it, nor what of it the term leaves away.
        let once = (0..).zip(cell.output("Y")).all(|(i, signal)| match signal {
            Signal::Net(net) => self.readers[*net as usize] <= u32::from(i < signals.len()),
            _ => false,
        });
        (is_sum(cell) && in_order && once).then_some(number)
    }

    /// Whether the terms of an inner sum have the value of the term that reads it, modulo 2^width.
    fn joins(&self, term: &Term, inner: u32, width: usize) -> bool {
        let (Term::Word { signals, signed, sign }, Some(terms)) = (term, self.sums.get(&inner)) else { return false };
        // A product is not turned into its negative.
        if *sign == Sign::Minus && terms.iter().any(|term| matches!(term, Term::Product { .. })) {
            return false;
        }
        let places = without_zeros(signals).len();
        let signed = *signed && places == signals.len();
        width <= places || sum_range(terms).is_some_and(|range| fits(range, places, signed))
    }

    /// Makes one sum of a selection between two.
    fn choose(&mut self, number: u32, cell: &Cell) {
        let (&[select], a, b) = (cell.input("S"), cell.input("A"), cell.input("B")) else { return };
        let of = |signals: &[Signal]| -> Option<u32> {
            let whole = Term::Word { signals: signals.to_vec(), signed: false, sign: Sign::Plus };
            let inner = self.inner(&whole)?;
            (self.module.cells[inner as usize].output("Y").len() == signals.len()).then_some(inner)
        };
        let (otherwise, then) = (of(a), of(b));
        let chosen = match (otherwise, then) {
            (None, None) => None,
            _ => self.chosen(select, (otherwise, a), (then, b)),
        };
        if let Some(terms) = chosen {
            let mut shares = Vec::new();
            for inner in [otherwise, then].into_iter().flatten() {
                self.sums.remove(&inner);
                shares.extend(self.shares.remove(&inner).unwrap_or_default());
            }
            self.shares.insert(number, shares);
            self.sums.insert(number, terms);
        }
    }

    /// The terms of both sides with signs that depend on the selection, if both have the same terms.
    fn chosen(&self, select: Signal, a: (Option<u32>, &[Signal]), b: (Option<u32>, &[Signal])) -> Option<Vec<Term>> {
        let terms = |(inner, signals): (Option<u32>, &[Signal])| match inner {
            Some(inner) => self.sums.get(&inner).and_then(|terms| terms.iter().map(plain).collect::<Option<Vec<_>>>()),
            None => Some(vec![(signals.to_vec(), false, Sign::Plus)]),
        };
        let (first, mut others) = (terms(a)?, terms(b)?);
        if first.len() != others.len() || first.len() > MOST_CHOSEN {
            return None;
        }
        let mut chosen = Vec::new();
        for (signals, signed, sign) in first {
            let twin = others.iter().position(|other| (&other.0, other.1) == (&signals, signed))?;
            let sign = match (sign, others.swap_remove(twin).2) {
                (Sign::Plus, Sign::Minus) => Sign::MinusIf(select, true),
                (Sign::Minus, Sign::Plus) => Sign::MinusIf(select, false),
                (sign, _) => sign,
            };
            chosen.push(Term::Word { signals, signed, sign });
        }
        Some(chosen)
    }
}

/// The most terms of a sum whose signs a selection decides.
const MOST_CHOSEN: usize = 4;

/// A word whose sign is certain.
fn plain(term: &Term) -> Option<(Vec<Signal>, bool, Sign)> {
    match term {
        Term::Word { signals, signed, sign: sign @ (Sign::Plus | Sign::Minus) } => {
            Some((signals.clone(), *signed, *sign))
        }
        _ => None,
    }
}

fn own_terms(cell: &Cell) -> Vec<Term> {
    let signed = are_signed(cell);
    let word = |port: &str, signed: bool, sign| Term::Word { signals: cell.input(port).to_vec(), signed, sign };
    match cell.kind.as_str() {
        "$neg" => vec![word("A", cell.flag("A_SIGNED"), Sign::Minus)],
        "$mul" => vec![Term::Product { a: cell.input("A").to_vec(), b: cell.input("B").to_vec(), signed }],
        "$sub" => vec![word("A", signed, Sign::Plus), word("B", signed, Sign::Minus)],
        _ => vec![word("A", signed, Sign::Plus), word("B", signed, Sign::Plus)],
    }
}

fn turned(term: Term, turn: bool) -> Term {
    match term {
        Term::Word { signals, signed, sign: Sign::Plus } if turn => Term::Word { signals, signed, sign: Sign::Minus },
        Term::Word { signals, signed, sign: Sign::Minus } if turn => Term::Word { signals, signed, sign: Sign::Plus },
        other => other,
    }
}

fn without_zeros(signals: &[Signal]) -> &[Signal] {
    let length = signals.iter().rposition(|signal| *signal != Signal::Zero).map_or(0, |last| last + 1);
    &signals[..length]
}

/// The values of a word; none if it is wide.
fn range(signals: &[Signal], signed: bool) -> Option<(i128, i128)> {
    let places = without_zeros(signals).len();
    let signed = signed && places == signals.len();
    let known = |signal: &Signal| matches!(signal, Signal::Zero | Signal::One);
    match places {
        60.. => None,
        _ if !signed && signals.iter().all(known) => {
            let value = signals.iter().rev().fold(0, |sum, bit| sum << 1 | i128::from(*bit == Signal::One));
            Some((value, value))
        }
        0 => Some((0, 0)),
        _ if signed => Some((-(1 << (places - 1)), (1 << (places - 1)) - 1)),
        _ => Some((0, (1 << places) - 1)),
    }
}

fn sum_range(terms: &[Term]) -> Option<(i128, i128)> {
    terms.iter().try_fold((0i128, 0i128), |(least, most), term| {
        let (low, high) = term.range()?;
        Some((least.checked_add(low)?, most.checked_add(high)?))
    })
}

fn fits((least, most): (i128, i128), places: usize, signed: bool) -> bool {
    match (places, signed) {
        (0, _) | (120.., _) => false,
        (_, true) => -(1 << (places - 1)) <= least && most < 1 << (places - 1),
        (_, false) => 0 <= least && most < 1 << places,
    }
}
