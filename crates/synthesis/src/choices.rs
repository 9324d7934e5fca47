//! Selections by the value of one word: `if (a == 0) y = x0; if (a == 1) y = x1; ...`, as a loop or a `case` leaves them.
//!
//! A chain of selections, each of which asks whether the same word is another constant, reads a table: it becomes a
//! `$bmux`, which costs no comparisons. Where that would cost more, because the word has many values that nobody asks for,
//! it becomes one `$pmux`, whose cases stand side by side.
//!
//! What a test asks is a set of cubes: values of some nets. Two tests exclude each other if all their cubes do. The cases
//! of a `$pmux` that is not known to be exclusive are tried in their order, as a simulation does.

use crate::cells::{are_signed, extended};
use crate::netlist::{Cell, Kind, Module, Parameter, Signal};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The parameter of a `$pmux` of which one case holds at most.
pub(crate) const EXCLUSIVE: &str = "EXCLUSIVE";

/// Nets and the values that they must have, in the order of their numbers.
type Cube = Vec<(u32, bool)>;

/// What a bit tests: whether one of these holds.
type Test = Rc<Vec<Cube>>;

/// The most cubes of a test.
const MOST_CUBES: usize = 64;

/// The most cases that are compared in pairs.
const MOST_PAIRS: usize = 256;

/// The widest word by which is selected.
const MOST_INDEX: usize = 16;

/// How deep a test is looked through.
const LEVELS: usize = 3;

/// Makes reads of tables of chains of selections, and marks cases that exclude each other.
pub(crate) fn find(module: &mut Module) {
    let cells = Search::new(module).run();
    for (number, flag) in cells.exclusive {
        module.cells[number as usize].parameters.push((EXCLUSIVE.into(), Parameter::Number(flag.into())));
    }
    cells.made.into_iter().for_each(|cell| module.replace(cell));
}

/// What is found.
#[derive(Default)]
struct Found {
    made: Vec<Cell>,
    exclusive: Vec<(u32, bool)>,
}

/// A case of a selection.
#[derive(Clone)]
struct Arm {
    test: Test,
    select: Signal,
    value: Signal,
}

/// The cases of a bit, the one that comes first in a simulation first, and what it is otherwise.
struct Chain {
    arms: Vec<Arm>,
    links: usize,
    otherwise: Signal,
}

struct Search<'a> {
    module: &'a Module,
    readers: Vec<u32>,
    tests: FxHashMap<u32, Test>,
    /// For each cell that selects by a word, the word.
    words: FxHashMap<u32, Rc<Vec<u32>>>,
}

impl<'a> Search<'a> {
    fn new(module: &'a Module) -> Self {
        Search { module, readers: module.readers(), tests: FxHashMap::default(), words: FxHashMap::default() }
    }

    fn run(mut self) -> Found {
        let mut found = Found::default();
        let selections: Vec<u32> =
            (0..).zip(&self.module.cells).filter(|(_, cell)| is_choice(cell)).map(|(n, _)| n).collect();
        for &number in &selections {
            let tests = self.tests_of(number);
            if self.module.cells[number as usize].kind == "$pmux" {
                found.exclusive.push((number, are_exclusive(&tests)));
            }
            if let Some(word) = common_word(&tests) {
                self.words.insert(number, Rc::new(word));
            }
        }
        let inner = self.inner(&selections);
        for &number in selections.iter().filter(|number| self.words.contains_key(number)) {
            self.head(number, &inner, &mut found.made);
        }
        found
    }

    /// What the selects of a cell test, the first case of a simulation first.
    fn tests_of(&mut self, number: u32) -> Vec<Test> {
        let selects = self.module.cells[number as usize].input("S").iter().rev();
        selects.map(|&select| self.test(select, LEVELS)).collect()
    }

    fn test(&mut self, select: Signal, levels: usize) -> Test {
        let Some(net) = select.net() else { return Rc::new(if select == Signal::One { vec![vec![]] } else { vec![] }) };
        if let Some(test) = self.tests.get(&net) {
            return test.clone();
        }
        let found = self.look_through(select, levels).filter(|cubes| cubes.len() <= MOST_CUBES);
        let test = Rc::new(found.unwrap_or_else(|| vec![vec![(net, true)]]));
        if levels == LEVELS {
            self.tests.insert(net, test.clone());
        }
        test
    }

    /// What drives a bit, as a test of other bits.
    fn look_through(&mut self, select: Signal, levels: usize) -> Option<Vec<Cube>> {
        if let Some(gate) = self.module.gate_of(select) {
            let (reads, kind) = (gate.inputs, gate.kind);
            return match kind {
                _ if levels == 0 => None,
                Kind::Not => cube([(reads[0], false)].into_iter()).map(|cube| cube.into_iter().collect()),
                Kind::Or => Some(self.any(&reads[..2], levels)),
                Kind::And => Some(self.both(reads[0], reads[1], levels)),
                _ => None,
            };
        }
        let (number, place) = self.module.driver(select)?;
        let cell = &self.module.cells[number as usize];
        if place != 0 || levels == 0 {
            return None;
        }
        let (a, b) = (cell.input("A"), cell.input("B"));
        let is = |signals: &[Signal], value: bool| {
            cube(signals.iter().map(|&signal| (signal, value))).map(|cube| cube.into_iter().collect())
        };
        match cell.kind.as_str() {
            "$eq" | "$eqx" => equality(a, b, are_signed(cell)),
            "$logic_not" => is(a, false),
            "$reduce_and" => is(a, true),
            "$reduce_or" | "$reduce_bool" if a.len() <= MOST_CUBES => Some(self.any(a, levels)),
            "$logic_or" if a.len() == 1 && b.len() == 1 => Some(self.any(&[a[0], b[0]], levels)),
            "$logic_and" if a.len() == 1 && b.len() == 1 => Some(self.both(a[0], b[0], levels)),
            _ => None,
        }
    }

    fn any(&mut self, signals: &[Signal], levels: usize) -> Vec<Cube> {
        signals.iter().flat_map(|&signal| self.test(signal, levels - 1).to_vec()).collect()
    }

    fn both(&mut self, a: Signal, b: Signal, levels: usize) -> Vec<Cube> {
        let (a, b) = (self.test(a, levels - 1), self.test(b, levels - 1));
        let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
        pairs.filter_map(|(a, b)| merged(a.iter().chain(b).copied())).collect()
    }

    /// The nets that are read by the next selection of their chain alone.
    fn inner(&self, selections: &[u32]) -> FxHashSet<u32> {
        let of = |&number: &u32| {
            let bits = 0..self.module.cells[number as usize].output("Y").len();
            bits.filter_map(move |bit| self.next(number, bit)?.1)
        };
        selections.iter().flat_map(of).collect()
    }

    /// What a bit of a selection is if no case holds, and its net if that is a link of the same chain.
    fn next(&self, number: u32, bit: usize) -> Option<(Signal, Option<u32>)> {
        let word = self.words.get(&number)?;
        let otherwise = *self.module.cells[number as usize].input("A").get(bit)?;
        let link = self.module.driver(otherwise).filter(|(next, _)| self.words.get(next) == Some(word));
        Some((otherwise, otherwise.net().filter(|&net| link.is_some() && self.readers[net as usize] == 1)))
    }

    fn chain(&self, mut number: u32, mut bit: usize) -> Option<Chain> {
        let mut chain = Chain { arms: Vec::new(), links: 0, otherwise: Signal::Zero };
        // Chains that come back to themselves are loops, which are refused elsewhere.
        while chain.links <= self.module.cells.len() {
            let cell = &self.module.cells[number as usize];
            let (width, values) = (cell.output("Y").len(), cell.input("B"));
            for (case, &select) in cell.input("S").iter().enumerate().rev() {
                let test = self.tests.get(&select.net()?)?.clone();
                chain.arms.push(Arm { test, select, value: *values.get(case * width + bit)? });
            }
            chain.links += 1;
            let (otherwise, link) = self.next(number, bit)?;
            chain.otherwise = otherwise;
            match link {
                Some(_) => (number, bit) = self.module.driver(otherwise).map(|(cell, bit)| (cell, bit as usize))?,
                None => return Some(chain),
            }
        }
        None
    }

    /// Makes a table, or cases side by side, of the bits of a cell that are no links of others.
    fn head(&self, number: u32, inner: &FxHashSet<u32>, made: &mut Vec<Cell>) {
        let cell = &self.module.cells[number as usize];
        let outer = |signal: &Signal| signal.net().is_some_and(|net| !inner.contains(&net));
        let bits = cell.output("Y").iter().enumerate().filter(|(_, signal)| outer(signal));
        let chains: Option<Vec<(Signal, Chain)>> = bits.map(|(bit, &y)| Some((y, self.chain(number, bit)?))).collect();
        let (Some(chains), Some(word)) = (chains, self.words.get(&number)) else { return };
        if chains.iter().all(|(_, chain)| chain.arms.len() < 3) {
            return;
        }
        match Tables::of(word, &chains).filter(Tables::pays) {
            Some(tables) => tables.cells(&cell.place, made),
            None => made.extend(chains.iter().filter_map(|(y, chain)| chain.side_by_side(*y, &cell.place))),
        }
    }
}

fn is_choice(cell: &Cell) -> bool {
    matches!(cell.kind.as_str(), "$mux" | "$pmux") && !cell.input("S").is_empty()
}

/// Signals that must have these values; nothing if that cannot be.
fn cube(values: impl Iterator<Item = (Signal, bool)>) -> Option<Vec<Cube>> {
    let mut cube = Cube::new();
    for (signal, value) in values {
        match signal {
            Signal::Net(net) => cube.push((net, value)),
            Signal::Zero | Signal::One if (signal == Signal::One) == value => {}
            _ => return Some(Vec::new()),
        }
    }
    Some(merged(cube.into_iter()).into_iter().collect())
}

/// Values in the order of their nets; nothing if a net would have to have both.
fn merged(values: impl Iterator<Item = (u32, bool)>) -> Option<Cube> {
    let mut cube: Cube = values.collect();
    cube.sort_unstable();
    cube.dedup();
    cube.windows(2).all(|pair| pair[0].0 != pair[1].0).then_some(cube)
}

/// Whether a word is a constant; nothing if both sides vary.
fn equality(a: &[Signal], b: &[Signal], signed: bool) -> Option<Vec<Cube>> {
    let mut values = Vec::new();
    for i in 0..a.len().max(b.len()) {
        match (extended(a, signed, i), extended(b, signed, i)) {
            (a, b) if a == b => {}
            (net @ Signal::Net(_), Signal::Zero) | (Signal::Zero, net @ Signal::Net(_)) => values.push((net, false)),
            (net @ Signal::Net(_), Signal::One) | (Signal::One, net @ Signal::Net(_)) => values.push((net, true)),
            (Signal::Net(_), Signal::Net(_)) => return None,
            _ => return Some(Vec::new()),
        }
    }
    cube(values.into_iter())
}

fn exclude(a: &Cube, b: &Cube) -> bool {
    a.iter().any(|&(net, value)| b.binary_search(&(net, !value)).is_ok())
}

fn are_exclusive(tests: &[Test]) -> bool {
    if common_word(tests).is_some() {
        let mut seen = FxHashSet::default();
        return tests.iter().flat_map(|test| test.iter()).all(|cube| seen.insert(cube));
    }
    let apart = |a: &Test, b: &Test| a.iter().all(|a| b.iter().all(|b| exclude(a, b)));
    tests.len() <= MOST_PAIRS && (0..tests.len()).all(|i| tests[..i].iter().all(|test| apart(test, &tests[i])))
}

/// The nets of which all tests ask for one value or several.
fn common_word(tests: &[Test]) -> Option<Vec<u32>> {
    let nets = |cube: &Cube| cube.iter().map(|(net, _)| *net).collect::<Vec<u32>>();
    let mut cubes = tests.iter().flat_map(|test| test.iter());
    let word = nets(cubes.next()?);
    let same = |cube: &Cube| cube.len() == word.len() && cube.iter().zip(&word).all(|(value, net)| value.0 == *net);
    cubes.all(same).then_some(word).filter(|word| !word.is_empty())
}

impl Chain {
    /// One cell with all cases, if they exclude each other and stood behind one another.
    fn side_by_side(&self, y: Signal, place: &str) -> Option<Cell> {
        let tests: Vec<Test> = self.arms.iter().map(|arm| arm.test.clone()).collect();
        if self.links < 2 || !are_exclusive(&tests) {
            return None;
        }
        let of = |part: fn(&Arm) -> Signal| self.arms.iter().map(part).collect();
        let inputs = [("A", vec![self.otherwise]), ("B", of(|arm| arm.value)), ("S", of(|arm| arm.select))];
        let mut cell = cell("$pmux", place, inputs, vec![y]);
        cell.parameters.push((EXCLUSIVE.into(), Parameter::Number(1)));
        Some(cell)
    }
}

fn cell<const N: usize>(kind: &str, place: &str, inputs: [(&str, Vec<Signal>); N], y: Vec<Signal>) -> Cell {
    Cell {
        kind: kind.into(),
        place: place.into(),
        parameters: Vec::new(),
        inputs: inputs.map(|(port, bits)| (port.to_string(), bits)).to_vec(),
        outputs: vec![("Y".into(), y)],
        ..Cell::default()
    }
}

/// What bits are for each value of a word.
struct Tables<'a> {
    word: &'a [u32],
    bits: Vec<(Signal, Vec<Signal>)>,
    /// The ANDs of the selections as they are.
    before: usize,
}

impl<'a> Tables<'a> {
    /// Unless there are far more values than cases.
    fn of(word: &'a [u32], chains: &[(Signal, Chain)]) -> Option<Self> {
        let cases = chains.iter().map(|(_, chain)| chain.arms.len()).max()?;
        if word.len() > MOST_INDEX || 1 << word.len() > 64.max(8 * cases) {
            return None;
        }
        let varies = |arm: &&Arm, chain: &Chain| {
            arm.value != chain.otherwise && (arm.value.net().is_some() || chain.otherwise.net().is_some())
        };
        let of = |chain: &Chain| chain.arms.iter().filter(|arm| varies(arm, chain)).count();
        let before = chains.iter().map(|(_, chain)| of(chain)).sum::<usize>() + cases;
        let bits = chains.iter().map(|(y, chain)| (*y, table(word.len(), chain))).collect();
        Some(Tables { word, bits, before })
    }

    /// Whether reading costs no more.
    fn pays(&self) -> bool {
        self.bits.iter().filter(|(_, table)| !is_constant(table)).map(|(_, table)| selections(table)).sum::<usize>()
            <= self.before
    }

    /// A read for all bits whose values are constants, because a table of these shares what its bits have in common, and
    /// one for each other bit, which may depend on the others.
    fn cells(self, place: &str, made: &mut Vec<Cell>) {
        let select: Vec<Signal> = self.word.iter().map(|&net| Signal::Net(net)).collect();
        let (constant, varying): (Vec<_>, Vec<_>) = self.bits.into_iter().partition(|(_, table)| is_constant(table));
        let groups = std::iter::once(constant).chain(varying.into_iter().map(|bit| vec![bit]));
        for group in groups.filter(|group| !group.is_empty()) {
            let words =
                (0..1usize << select.len()).flat_map(|i| group.iter().map(move |(_, table)| table[i])).collect();
            let y = group.iter().map(|(y, _)| *y).collect();
            made.push(cell("$bmux", place, [("A", words), ("S", select.clone())], y));
        }
    }
}

fn is_constant(table: &[Signal]) -> bool {
    table.iter().all(|signal| signal.net().is_none())
}

/// The value of a bit for each value of the word.
fn table(bits: usize, chain: &Chain) -> Vec<Signal> {
    let mut table = vec![chain.otherwise; 1 << bits];
    for arm in chain.arms.iter().rev() {
        for cube in arm.test.iter() {
            let place = cube.iter().enumerate().fold(0, |place, (i, (_, value))| place | usize::from(*value) << i);
            table[place] = arm.value;
        }
    }
    // What may be anything is what stands beside it.
    for level in 0..bits {
        for pair in table.chunks_mut(2 << level) {
            let (low, high) = pair.split_at_mut(1 << level);
            let free = |half: &[Signal]| half.iter().all(|signal| *signal == Signal::Unknown);
            match (free(low), free(high)) {
                (true, false) => low.copy_from_slice(high),
                (false, true) => high.copy_from_slice(low),
                _ => {}
            }
        }
    }
    table
}

/// The selections that a table takes, its top bits first.
fn selections(table: &[Signal]) -> usize {
    let mut names: FxHashMap<Signal, u32> = FxHashMap::default();
    let mut level: Vec<u32> = Vec::new();
    for &signal in table {
        let next = names.len() as u32;
        level.push(*names.entry(signal).or_insert(next));
    }
    let (mut next, mut count) = (names.len() as u32, 0);
    while level.len() > 1 {
        let (low, high) = level.split_at(level.len() / 2);
        let mut pairs: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let joined = low.iter().zip(high).map(|(&low, &high)| {
            if low == high {
                return low;
            }
            *pairs.entry((low, high)).or_insert_with(|| {
                (next, count) = (next + 1, count + 1);
                next - 1
            })
        });
        level = joined.collect();
    }
    count
}
