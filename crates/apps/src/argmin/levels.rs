//! The least of many values by circuits of pairs, level by level, for a number of values that is known when the program is
//! made: so the digits of the index are there level by level, and the results of all comparisons can be had.
//!
//! | [`Found`] | ANDs of n values of l bits, goal size | as in |
//! |---|---|---|
//! | `Index` | 2·l·(n − 1), and less than n | Kolesnikov, Sadeghi, Schneider, *Improved garbled circuit building blocks* (CANS 2009, §3.3); by GMW with goal depth Schneider, Zohner, *GMW vs. Yao?* (FC 2013) |
//! | `Argument(w)` | (2·l + w)·(n − 1) | the argument goes along |
//! | `Walk(w)` | 2·l·(n − 1) | Huang, Evans, Katz, Malka, *Faster secure two-party computation using garbled circuits* (USENIX Security 2011, §5): the argument comes by a walk ([`Backtrack`](super::Backtrack)), which shows **Bob the position** of the least value |
//!
//! Of equal values the first one wins. An odd value out rests.

use super::backtrack::Backtrack;
use super::programs::MOST_LANES;
use duologue::circuit::blocks::{Goal, greater, mux};
use duologue::circuit::program::{Functionality, Lanes, Owner, Recipient, Value, View};
use duologue::circuit::{Bit, Bits, Builder, Circuit, Party, Program, Type, UInt, bits, uint};
use std::sync::Arc;

/// Bits of an index.
const INDEX: u32 = 20;

/// Who holds the values, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// Both parties, by XOR, and so the result.
    Shared(u64),
    /// Each party has so many of its own, Alice's first; Bob gets the result.
    Halves([u64; 2]),
}

/// What is found with the least value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Its index, of 20 bits.
    Index,
    /// Its argument of so many bits, which takes part in all levels.
    Argument(u32),
    /// Its argument of so many bits by a walk that shows Bob the position.
    Walk(u32),
}

/// The least of values of so many bits: of `values` that both share, or of `alice_values` and `bob_values`; with `arguments`
/// likewise.
///
/// # Panics
/// If there are no values, or more than [`MOST_LANES`].
pub fn levels(width: u32, found: Found, goal: Goal, held: Held) -> Program {
    let mut p = Program::new("argmin_levels");
    let (count, to) = match held {
        Held::Shared(count) => (count, Recipient::Shared),
        Held::Halves(counts) => (counts.iter().sum(), Party::Bob.into()),
    };
    assert!((1..=MOST_LANES).contains(&count), "1 to {MOST_LANES} values, not {count}");
    let ports = Ports::new(&mut p, held);
    let values = ports.chained(&mut p, "values", uint(width));
    let begin = |carried| Level { values, carried, digits: 0, lost: Vec::new(), found, goal };
    let (end, name, second);
    match found {
        Found::Index => {
            end = begin(None).play(&mut p, count);
            (name, second) = ("index", index(&mut p, &end));
        }
        Found::Argument(width) => {
            let arguments = ports.chained(&mut p, "arguments", bits(width));
            end = begin(Some(arguments)).play(&mut p, count);
            (name, second) = ("argument", end.carried.unwrap_or(arguments));
        }
        Found::Walk(width) => {
            let arguments = ports.inputs(&mut p, "arguments", bits(width));
            end = begin(None).play(&mut p, count);
            (name, second) = ("argument", walk(&mut p, &end.lost, &arguments));
        }
    }
    p.output("least", to, end.values);
    p.output(name, to, second);
    p
}

/// The ports by which values come in.
struct Ports(Vec<(&'static str, Owner, Lanes)>);

impl Ports {
    fn new(p: &mut Program, held: Held) -> Ports {
        let mut port = |prefix, size: &str, owner, count| (prefix, owner, p.size(size, count..=count).into());
        Ports(match held {
            Held::Shared(count) => vec![port("", "values", Owner::Shared, count)],
            Held::Halves([alice, bob]) => {
                let alice = port("alice_", "alice", Party::Alice.into(), alice);
                vec![alice, port("bob_", "bob", Party::Bob.into(), bob)]
            }
        })
    }

    fn inputs(&self, p: &mut Program, name: &str, ty: Type) -> Vec<Value> {
        let port = |(prefix, owner, lanes): &(&str, Owner, Lanes)| {
            p.input(&format!("{prefix}{name}"), *owner, ty, lanes.clone())
        };
        self.0.iter().map(port).collect()
    }

    fn chained(&self, p: &mut Program, name: &str, ty: Type) -> Value {
        match self.inputs(p, name, ty)[..] {
            [value] => value,
            ref values => p.view(View::Chain, values),
        }
    }
}

/// What is left of the values at the beginning of a level.
struct Level {
    values: Value,
    /// Their arguments, or the digits of the index so far: at the first level there are none.
    carried: Option<Value>,
    digits: u32,
    /// Of each level before, for each pair whether the left one has lost.
    lost: Vec<Value>,
    found: Found,
    goal: Goal,
}

impl Level {
    /// All levels of so many values.
    fn play(mut self, p: &mut Program, count: u64) -> Level {
        let mut lanes = count;
        while lanes > 1 {
            self = self.next(p, lanes);
            lanes = lanes.div_ceil(2);
        }
        self
    }

    fn next(mut self, p: &mut Program, lanes: u64) -> Level {
        let carried = self.carried.map_or(0, |carried| p.type_of(carried).width);
        let node = self.node(p.type_of(self.values).width, carried);
        let every_second =
            |p: &mut Program, value, start| p.view(View::Slice { start, step: 2, count: (lanes / 2).into() }, &[value]);
        let both = [Some(self.values), self.carried].into_iter().flatten();
        let args: Vec<Value> = both.flat_map(|value| [0, 1].map(|side| every_second(p, value, side))).collect();
        let results = p.map_all(&node, &args);
        let Some((&least, more)) = results.split_first() else { return self };
        let rests =
            |p: &mut Program, value| p.view(View::Slice { start: lanes - 1, step: 1, count: 1.into() }, &[value]);
        let join = |p: &mut Program, winners, rest| p.view(View::Chain, &[winners, rest]);
        let odd = lanes % 2 == 1;
        let rest = odd.then(|| rests(p, self.values));
        self.values = rest.map_or(least, |rest| join(p, least, rest));
        match self.found {
            Found::Walk(_) => self.lost.extend(more),
            Found::Argument(_) | Found::Index => {
                let winners = more.first().copied();
                let rest = odd.then(|| self.rest(p, lanes)).flatten();
                self.carried = winners.map(|winners| rest.map_or(winners, |rest| join(p, winners, rest)));
            }
        }
        self.digits += 1;
        self
    }

    /// What an odd one out carries: another digit of the index, which is zero.
    fn rest(&self, p: &mut Program, lanes: u64) -> Option<Value> {
        let last =
            |p: &mut Program, value| p.view(View::Slice { start: lanes - 1, step: 1, count: 1.into() }, &[value]);
        match (self.found, self.carried) {
            (Found::Index, None) => Some(p.number(bits(1), 1, 0)),
            (Found::Index, Some(digits)) => {
                let zero = p.number(bits(1), 1, 0);
                let digits = last(p, digits);
                Some(p.view(View::Join, &[digits, zero]))
            }
            (_, carried) => carried.map(|carried| last(p, carried)),
        }
    }

    /// One pair: the least value, the left one of equals; then what it carries, or whether the left one has lost.
    fn node(&self, width: u32, carried: u32) -> Circuit {
        let mut c = Builder::new("pair");
        let [left, right] = ["left", "right"].map(|side| c.uint(format!("{side}_value"), width));
        let sides = ["left", "right"]
            .map(|side| if carried > 0 { c.bits(format!("{side}_more"), carried) } else { Bits(vec![]) });
        let lost = greater(&mut c, &left, &right, self.goal);
        let join = |value: &UInt, more: &Bits| Bits(value.0.iter().chain(&more.0).copied().collect());
        let least = mux(&mut c, lost, &join(&right, &sides[1]), &join(&left, &sides[0]));
        let (value, more) = least.0.split_at(width as usize);
        c.output("value", &UInt(value.to_vec()));
        match self.found {
            Found::Index => c.output("digits", &Bits([more, &[lost]].concat())),
            Found::Argument(_) => c.output("argument", &Bits(more.to_vec())),
            Found::Walk(_) => c.output("lost", &Bits(vec![lost])),
        }
        c.finish()
    }
}

/// The digits of the index as a number of the usual width.
fn index(p: &mut Program, end: &Level) -> Value {
    let Some(digits) = end.carried else { return p.number(uint(INDEX), 1, 0) };
    let mut c = Builder::new("index");
    let mut index = c.bits("digits", end.digits).0;
    index.resize(INDEX as usize, Bit::FALSE);
    c.output("index", &UInt(index));
    p.map(&c.finish(), &[digits])
}

/// The argument to which the results of all comparisons lead.
fn walk(p: &mut Program, lost: &[Value], arguments: &[Value]) -> Value {
    if lost.is_empty() {
        return arguments[0];
    }
    let lost = p.view(View::Chain, lost);
    let backtrack: Arc<dyn Functionality> = Arc::new(Backtrack);
    let results = p.call(&backtrack, &[], &[&[lost], arguments].concat());
    results.first().copied().unwrap_or(lost)
}
