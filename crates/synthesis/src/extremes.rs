//! Searches for the least or the greatest of many words: `if (x[i] < best) begin best = x[i]; place = i; end` in a loop.
//!
//! Each step of such a chain compares a word with the best one so far; its outcome selects the new best word and whatever
//! else the loop keeps of it. The best of all words is the same in whatever order they meet, if of equal words the one
//! wins that wins in the loop: the first one where the comparison is strict, else the last one. So the chain becomes a
//! tournament, one cell for the best word and one for each other word that is kept.
//!
//! It does so only if nothing else reads what stands between the steps.

use crate::cells::{are_signed, extended};
use crate::netlist::{Cell, Kind, Module, Parameter, Signal};
use rustc_hash::{FxHashMap, FxHashSet};

/// The least of the words at A, each of `WIDTH` bits, or what stands at P for it.
pub(crate) const LEAST: &str = "$least";
/// The same for the greatest one.
pub(crate) const GREATEST: &str = "$greatest";

/// The fewest comparisons of which a tournament is made.
const FEWEST: usize = 3;

/// Makes tournaments of the searches of a module.
pub(crate) fn find(module: &mut Module) {
    let steps = Steps::new(module);
    let made: Vec<Cell> =
        steps.chains().iter().filter_map(|chain| Search::new(&steps, chain)?.cells()).flatten().collect();
    made.into_iter().for_each(|cell| module.replace(cell));
}

/// A net that is kept of a word, and its value for each word.
type Kept = (u32, Vec<Signal>);

/// Which word a step prefers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Order {
    least: bool,
    /// Whether of equal words the old one stays.
    strict: bool,
    signed: bool,
}

/// A comparison whose outcome selects between its operands.
struct Step {
    select: u32,
    /// Both operands in one width.
    new: Vec<Signal>,
    old: Vec<Signal>,
    best: Vec<Signal>,
    /// Whether the outcome 0 selects the new word.
    turned: bool,
    order: Order,
}

impl Step {
    /// Takes the new word for the old one: it wins where that does not.
    fn swap(&mut self) {
        std::mem::swap(&mut self.new, &mut self.old);
        self.turned = !self.turned;
        self.order.strict = !self.order.strict;
    }
}

/// A selection of a bit: the cell and what stands there for the outcomes 1 and 0.
#[derive(Clone, Copy)]
struct Choice {
    cell: u32,
    then: Signal,
    otherwise: Signal,
}

struct Steps<'a> {
    module: &'a Module,
    readers: Vec<u32>,
    /// By the net that a selection drives.
    choices: FxHashMap<u32, Choice>,
    /// The selections of each outcome.
    by_select: FxHashMap<u32, Vec<u32>>,
    steps: Vec<Step>,
    /// The step before another one, if there is one.
    before: Vec<Option<usize>>,
}

impl<'a> Steps<'a> {
    fn new(module: &'a Module) -> Self {
        let mut steps = Steps {
            module,
            readers: module.readers(),
            choices: FxHashMap::default(),
            by_select: FxHashMap::default(),
            steps: Vec::new(),
            before: Vec::new(),
        };
        steps.selections();
        steps.comparisons();
        steps.join();
        steps
    }

    fn selections(&mut self) {
        for (number, cell) in (0..).zip(&self.module.cells).filter(|(_, cell)| cell.kind == "$mux") {
            let (&[Signal::Net(select)], a, b) = (cell.input("S"), cell.input("A"), cell.input("B")) else { continue };
            self.by_select.entry(select).or_default().push(number);
            for ((y, &otherwise), &then) in cell.output("Y").iter().zip(a).zip(b) {
                if let Some(net) = y.net() {
                    self.choices.insert(net, Choice { cell: number, then, otherwise });
                }
            }
        }
    }

    fn comparisons(&mut self) {
        for cell in &self.module.cells {
            let order = |least, strict| Order { least, strict, signed: are_signed(cell) };
            // As if the first operand were the new word, and the outcome 1 its victory.
            let order = match cell.kind.as_str() {
                "$lt" => order(true, true),
                "$le" => order(true, false),
                "$gt" => order(false, true),
                "$ge" => order(false, false),
                _ => continue,
            };
            let Some(select) = cell.output("Y").first().and_then(|signal| signal.net()) else { continue };
            if self.by_select.contains_key(&select) {
                let step = self.step(cell, select, order);
                self.steps.extend(step);
            }
        }
    }

    /// The step that a comparison decides, if a word is selected by it.
    fn step(&self, cell: &Cell, select: u32, order: Order) -> Option<Step> {
        let (a, b) = (cell.input("A"), cell.input("B"));
        let width = a.len().max(b.len());
        let [a, b] = [a, b].map(|word| (0..width).map(|i| extended(word, order.signed, i)).collect::<Vec<Signal>>());
        let mut chosen: FxHashMap<(Signal, Signal), Signal> = FxHashMap::default();
        for &number in &self.by_select[&select] {
            let cell = &self.module.cells[number as usize];
            for ((&y, &otherwise), &then) in cell.output("Y").iter().zip(cell.input("A")).zip(cell.input("B")) {
                chosen.insert((then, otherwise), y);
            }
        }
        let best = |then: &[Signal], otherwise: &[Signal]| -> Option<Vec<Signal>> {
            let bit = |(&a, &b)| if a == b { Some(a) } else { chosen.get(&(a, b)).copied() };
            then.iter().zip(otherwise).map(bit).collect()
        };
        let (best, turned) = match (best(&a, &b), best(&b, &a)) {
            (Some(best), _) => (best, false),
            (_, Some(best)) => (best, true),
            _ => return None,
        };
        // If the outcome selects the other word, the comparison is the opposite one.
        let order = if turned { Order { least: !order.least, strict: !order.strict, ..order } } else { order };
        Some(Step { select, new: a, old: b, best, turned, order })
    }

    /// Finds which step goes before which, and turns steps whose old word stands on the other side.
    fn join(&mut self) {
        let names: FxHashMap<Vec<Signal>, usize> =
            self.steps.iter().enumerate().map(|(i, step)| (trimmed(&step.best, step.order.signed), i)).collect();
        self.before = vec![None; self.steps.len()];
        for (i, before) in self.before.iter_mut().enumerate() {
            let step = &mut self.steps[i];
            let signed = step.order.signed;
            let of = |word: &[Signal]| names.get(&trimmed(word, signed)).copied().filter(|&other| other != i);
            let (new, old) = (of(&step.new), of(&step.old));
            if old.is_none() && new.is_some() {
                step.swap();
            }
            *before = old.or(new);
        }
        // Of the first step, either word may be the old one: the one that fits the steps that follow.
        for i in 0..self.steps.len() {
            let Some(first) = self.before[i].filter(|&before| self.before[before].is_none()) else { continue };
            if self.steps[first].order.strict != self.steps[i].order.strict {
                self.steps[first].swap();
            }
        }
    }

    /// Steps that follow each other, as long as can be, the first one first.
    fn chains(&self) -> Vec<Vec<usize>> {
        let mut after = vec![Vec::new(); self.steps.len()];
        for (i, before) in self.before.iter().enumerate() {
            before.iter().for_each(|&before| after[before].push(i));
        }
        let fits = |a: usize, b: usize| self.steps[a].order == self.steps[b].order;
        let next = |i: usize| match after[i][..] {
            [next] if fits(i, next) => Some(next),
            _ => None,
        };
        let inner: FxHashSet<usize> = (0..self.steps.len()).filter_map(next).collect();
        let chain = |first| std::iter::successors(Some(first), |&i| next(i)).take(self.steps.len()).collect::<Vec<_>>();
        (0..self.steps.len()).filter(|i| !inner.contains(i)).map(chain).filter(|chain| chain.len() >= FEWEST).collect()
    }
}

fn constant(one: bool) -> Signal {
    if one { Signal::One } else { Signal::Zero }
}

/// A word without the zeros above it.
fn trimmed(word: &[Signal], signed: bool) -> Vec<Signal> {
    let mut word = word.to_vec();
    while !signed && word.last() == Some(&Signal::Zero) {
        word.pop();
    }
    word
}

/// A chain of steps, and what it keeps beside the best word.
struct Search<'a> {
    steps: &'a Steps<'a>,
    chain: Vec<&'a Step>,
    /// Nets of a bit after each step, and what stands there for each word: first for the one before all steps.
    kept: Vec<Kept>,
    /// How often outcomes are read as kept bits.
    reads: FxHashMap<u32, u32>,
}

impl<'a> Search<'a> {
    /// Unless something else reads what stands between the steps.
    fn new(steps: &'a Steps<'a>, chain: &[usize]) -> Option<Self> {
        let chain: Vec<&Step> = chain.iter().map(|&i| &steps.steps[i]).collect();
        let last = *chain.last()?;
        let mut search = Search { steps, chain, kept: Vec::new(), reads: FxHashMap::default() };
        let mut absorbed: FxHashSet<u32> = FxHashSet::default();
        let best: FxHashSet<Signal> = last.best.iter().copied().collect();
        for step in &search.chain {
            absorbed
                .extend(step.best.iter().filter_map(|signal| signal.net()).filter(|&net| search.is_choice(net, step)));
        }
        for &cell in &steps.by_select[&last.select] {
            for &y in steps.module.cells[cell as usize].output("Y").iter().filter(|y| !best.contains(y)) {
                let (nets, values) = search.follow(y.net()?);
                search.kept.push((y.net()?, values));
                absorbed.extend(nets);
            }
        }
        search.stands_alone(&absorbed).then_some(search)
    }

    /// Whether a step selects this net.
    fn is_choice(&self, net: u32, step: &Step) -> bool {
        let choice = self.steps.choices.get(&net);
        choice.is_some_and(|choice| {
            self.steps.module.cells[choice.cell as usize].input("S") == [Signal::Net(step.select)]
        })
    }

    /// The nets of a kept bit, and its values for each word.
    fn follow(&mut self, net: u32) -> (Vec<u32>, Vec<Signal>) {
        let (mut nets, mut values, mut next) = (Vec::new(), Vec::new(), Signal::Net(net));
        for step in self.chain.iter().rev() {
            if let Some(one) = self.outcome(next, step) {
                // A selection between constants, which is the outcome itself.
                *self.reads.entry(step.select).or_default() += 1;
                values.push(constant(one != step.turned));
                next = constant(one == step.turned);
                break;
            }
            let linked = next.net().filter(|&net| nets.is_empty() || self.steps.readers[net as usize] == 1);
            let Some(net) = linked.filter(|&net| self.is_choice(net, step)) else { break };
            let choice = self.steps.choices[&net];
            nets.push(net);
            let (new, old) =
                if step.turned { (choice.otherwise, choice.then) } else { (choice.then, choice.otherwise) };
            values.push(new);
            next = old;
        }
        // What has not changed so far is the same for all words before.
        values.resize(self.chain.len() + 1, next);
        values.reverse();
        (nets, values)
    }

    /// Whether a signal is the outcome of a step, or its opposite, which nothing else reads.
    fn outcome(&self, signal: Signal, step: &Step) -> Option<bool> {
        if signal == Signal::Net(step.select) {
            return Some(true);
        }
        let module = self.steps.module;
        let of_it = match (module.gate_of(signal), module.driver(signal)) {
            (Some(gate), _) => gate.kind == Kind::Not && gate.reads() == [Signal::Net(step.select)],
            (None, Some((cell, _))) => {
                let cell = &module.cells[cell as usize];
                let is_opposite = cell.kind == "$logic_not" && cell.output("Y").len() == 1;
                is_opposite && cell.input("A") == [Signal::Net(step.select)]
            }
            (None, None) => false,
        };
        (of_it && self.steps.readers[signal.net()? as usize] == 1).then_some(false)
    }

    /// Whether all that the steps select is part of the search, and only the next step reads it.
    fn stands_alone(&self, absorbed: &FxHashSet<u32>) -> bool {
        let module = self.steps.module;
        let whole = |cell: &u32| {
            let y = module.cells[*cell as usize].output("Y");
            y.iter().all(|signal| signal.net().is_some_and(|net| absorbed.contains(&net)))
        };
        let select = |step: &&Step| {
            let cells = &self.steps.by_select[&step.select];
            let kept = self.reads.get(&step.select).copied().unwrap_or(0);
            cells.len() as u32 + kept == self.steps.readers[step.select as usize] && cells.iter().all(whole)
        };
        let links = &self.chain[..self.chain.len() - 1];
        let inside = |step: &&Step| {
            let own = step.best.iter().filter_map(|signal| signal.net()).filter(|&net| self.is_choice(net, step));
            // By the comparison and by the selection that follow.
            own.into_iter().all(|net| self.steps.readers[net as usize] == 2)
        };
        self.chain.iter().all(select) && links.iter().all(inside)
    }

    /// The words that meet, first the one before all steps.
    fn words(&self) -> Vec<Vec<Signal>> {
        let (order, width) = (self.chain[0].order, self.width());
        let words = std::iter::once(&self.chain[0].old).chain(self.chain.iter().map(|step| &step.new));
        words.map(|word| (0..width).map(|i| extended(word, order.signed, i)).collect()).collect()
    }

    fn width(&self) -> usize {
        self.chain.iter().map(|step| step.new.len()).max().unwrap_or(0)
    }

    fn cells(&self) -> Option<Vec<Cell>> {
        let (last, width) = (self.chain.last()?, self.width());
        let mut words = self.words();
        let hopeless = is_hopeless(&words[0], self.chain[0].order);
        let mut kept = self.kept.clone();
        // A first word that is never better than another need not meet them, unless it keeps something of its own.
        let apart = hopeless && kept.iter().any(|(_, values)| values[0] != values[1]);
        if hopeless && !apart {
            words.remove(0);
            for (_, values) in &mut kept {
                values.remove(0);
            }
        }
        let place = &self.steps.module.cells[self.steps.by_select[&last.select][0] as usize].place;
        let best = words[usize::from(apart)..].concat();
        let own = |signal: &Signal| signal.net().is_some_and(|net| self.is_choice(net, last));
        let y = (0..width).map(|i| last.best.get(i).copied().filter(own).unwrap_or(Signal::Zero)).collect();
        let mut cells = vec![self.cell(place, best, Vec::new(), ("Y", y), false)];
        // Bits of one selection are of one word.
        let mut by_cell: Vec<(u32, Vec<&Kept>)> = Vec::new();
        for bit in &kept {
            let cell = self.steps.choices[&bit.0].cell;
            match by_cell.iter_mut().find(|(known, _)| *known == cell) {
                Some((_, bits)) => bits.push(bit),
                None => by_cell.push((cell, vec![bit])),
            }
        }
        for (cell, bits) in by_cell {
            let values = (0..words.len()).flat_map(|i| bits.iter().map(move |(_, values)| values[i])).collect();
            let y = bits.iter().map(|(net, _)| Signal::Net(*net)).collect();
            let place = &self.steps.module.cells[cell as usize].place;
            cells.push(self.cell(place, words.concat(), values, ("Q", y), apart));
        }
        Some(cells)
    }

    fn cell(
        &self,
        place: &str,
        words: Vec<Signal>,
        kept: Vec<Signal>,
        output: (&str, Vec<Signal>),
        apart: bool,
    ) -> Cell {
        let order = self.chain[0].order;
        let flag = |name: &str, flag: bool| (name.to_string(), Parameter::Number(flag.into()));
        Cell {
            kind: if order.least { LEAST } else { GREATEST }.into(),
            place: place.into(),
            parameters: vec![
                flag("A_SIGNED", order.signed),
                flag("STRICT", order.strict),
                flag("APART", apart),
                ("WIDTH".into(), Parameter::Number(self.width() as u64)),
            ],
            inputs: vec![("A".into(), words), ("P".into(), kept)],
            outputs: vec![(output.0.into(), output.1)],
            ..Cell::default()
        }
    }
}

/// Whether no word is worse than this one, whatever it is.
fn is_hopeless(word: &[Signal], order: Order) -> bool {
    let top = word.len().saturating_sub(1);
    let worst = |i: usize| if order.least != (order.signed && i == top) { Signal::One } else { Signal::Zero };
    word.iter().enumerate().all(|(i, signal)| *signal == worst(i))
}
