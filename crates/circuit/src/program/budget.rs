//! What a bound program may hold: a short file must not fill the memory.
//!
//! There is one budget for a whole program. A program with calls is cut into parts, of which each has steps, pieces and
//! tasks of its own; if each had limits of its own as well, a short file with many calls could ask for many times them.

use super::{Step, View};
use crate::error::{Error, Result};
use std::cell::Cell;

/// The most steps of all parts together; one that carries a list counts as several.
const MOST_STEPS: u64 = 1 << 22;

/// The most runs of rows of all values together: views of views can multiply what a short file says.
const MOST_RUNS: u64 = 1 << 22;

/// The most tasks, pieces and sixty-fourths of instructions: about a gigabyte.
const MOST_TASKS: u64 = 1 << 23;

/// What is left for the rest of a program.
pub(super) struct Budget {
    name: String,
    /// Whether the program is cut into parts.
    in_parts: bool,
    steps: Cell<u64>,
    runs: Cell<u64>,
    tasks: Cell<u64>,
}

impl Budget {
    /// All that a program may have.
    pub fn new(name: &str, in_parts: bool) -> Budget {
        Budget::of(name, in_parts, [MOST_STEPS, MOST_RUNS, MOST_TASKS])
    }

    pub fn of(name: &str, in_parts: bool, most: [u64; 3]) -> Budget {
        let [steps, runs, tasks] = most.map(Cell::new);
        Budget { name: name.to_owned(), in_parts, steps, runs, tasks }
    }

    /// Takes a step of a part.
    pub fn step(&self, step: &Step) -> Result<()> {
        self.steps(weight(step))
    }

    /// Takes steps, and what counts as such.
    pub fn steps(&self, count: u64) -> Result<()> {
        take(&self.steps, count).ok_or_else(|| self.refuse("", "more steps than fit into memory"))
    }

    /// Takes runs of the rows of a value.
    pub fn runs(&self, value: usize, count: usize) -> Result<()> {
        let refuse = || self.refuse(&format!(", value {value}"), "views of views make too many pieces");
        take(&self.runs, count as u64).ok_or_else(refuse)
    }

    /// Refuses runs of which there are not so many left.
    pub fn expect_runs(&self, value: usize, count: usize) -> Result<()> {
        let left = self.runs.get();
        let expected = self.runs(value, count);
        self.runs.set(left);
        expected
    }

    /// Takes tasks, pieces and the like.
    pub fn tasks(&self, count: u64) -> Result<()> {
        let why = "so many tasks and pieces at these sizes that they do not fit into memory: bind it to fewer lanes";
        take(&self.tasks, count).ok_or_else(|| self.refuse("", why))
    }

    /// Refuses at once what would be refused after long work.
    pub fn expect_tasks(&self, count: u64) -> Result<()> {
        let left = self.tasks.get();
        let expected = self.tasks(count);
        self.tasks.set(left);
        expected
    }

    fn refuse(&self, place: &str, why: &str) -> Error {
        let more = match self.in_parts {
            true => {
                "; all parts that calls or two protocols cut it into count together, so fewer calls or cuts help as well"
            }
            false => "",
        };
        Error::invalid(format!("program '{}'{place}", self.name), format!("{why}{more}"))
    }
}

/// Takes some of what is left; nothing if there is not so much.
fn take(left: &Cell<u64>, count: u64) -> Option<()> {
    left.get().checked_sub(count).map(|rest| left.set(rest))
}

/// What a step of a part counts for: one, and one more for each 64 bytes of what it carries.
fn weight(step: &Step) -> u64 {
    let carried = match step {
        Step::Constant { bits, .. } => bits.len(),
        Step::View { view: View::Bits(bits), .. } => 4 * bits.len(),
        Step::View { view: View::Lanes(lanes), .. } => 8 * lanes.len(),
        _ => 0,
    };
    1 + (carried + 16 * step.args().len()) as u64 / 64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Order;
    use crate::program::functionality::tests::Same;
    use crate::program::scheduler::Scheduler;
    use crate::program::{Binding, Functionality, Party, Program, Value, parts};
    use crate::{Circuit, bits};
    use std::sync::Arc;

    /// So many calls one after the other, and between them what `between` does.
    fn chain(calls: usize, lanes: u64, between: impl Fn(&mut Program, Value) -> Value) -> Binding {
        let same: Arc<dyn Functionality> = Arc::new(Same);
        let mut p = Program::new("chain");
        let mut x = p.input("x", Party::Alice, bits(2), lanes);
        for _ in 0..calls {
            let made = between(&mut p, x);
            x = p.call(&same, &[], &[made])[0];
        }
        p.output("y", Party::Bob, x);
        p.bind(&[]).unwrap()
    }

    fn product() -> Circuit {
        let mut c = crate::Builder::new("product");
        let x = c.bits("x", 2);
        let y = c.and(x.0[0], x.0[1]);
        c.output("y", &crate::Bits(vec![y, y]));
        c.finish()
    }

    /// Of a program of twenty parts each is far below a limit, and would be scheduled if it had the limit to itself: the
    /// twin without a budget of the whole. Together they are above it.
    #[test]
    fn all_parts_have_one_budget() {
        let product = product();
        let swaps = |p: &mut Program, x: Value| {
            let mut x = p.view(View::Bits(vec![1, 0]), &[x]);
            (0..3).for_each(|_| x = p.view(View::Join, &[x, x]));
            p.view(View::Bits(vec![0, 1]), &[x])
        };
        let sum = |p: &mut Program, x: Value| {
            let zero = p.number(bits(2), 500, 0);
            let zero = p.view(View::Join, &[zero, x]);
            p.view(View::Bits(vec![2, 3]), &[zero])
        };
        type Between<'a> = &'a dyn Fn(&mut Program, Value) -> Value;
        let map = |p: &mut Program, x: Value| p.map(&product, &[x]);
        let cases: [(&str, Between<'_>, [u64; 3]); 3] = [
            ("tasks and pieces", &map, [1 << 20, 1 << 20, 200]),
            ("views of views", &swaps, [1 << 20, 200, 1 << 20]),
            ("more steps than fit", &sum, [50, 1 << 20, 1 << 20]),
        ];
        for (why, between, most) in cases {
            let whole = chain(20, 500, between);
            let budget = || Budget::of("chain", true, most);
            let parts = |binding: &Binding, most| {
                let budget = Budget::of("chain", true, most);
                parts::schedule(binding, &[(Order::Layered, &|_| 64); 2], None, &budget)
            };
            let cut = parts(&whole, [u64::MAX; 3]).unwrap().parts.unwrap();
            assert!(cut.programs().count() >= 20, "{why}");
            for part in cut.programs() {
                let alone = budget();
                part.binding.program().steps().iter().try_for_each(|step| alone.step(step)).expect(why);
                Scheduler::new(&part.binding, Order::Layered, &alone).unwrap().at(64).schedule().expect(why);
            }
            let error = parts(&whole, most).err().expect(why).to_string();
            assert!(error.contains(why) && error.contains("fewer calls"), "{error}");
            assert!(parts(&chain(2, 500, between), most).is_ok(), "{why}: two calls fit");
        }
    }

    /// At the true limits: a thousand parts of a few hundred thousand tasks are refused before any of them is made.
    #[test]
    fn a_short_file_with_many_calls_is_refused() {
        let product = product();
        let map = |p: &mut Program, x: Value| p.map(&product, &[x]);
        let schedule = |calls| crate::program::Schedule::new(&chain(calls, 1 << 20, map), Order::Layered, |_| 64);
        assert!(schedule(1).is_ok());
        let error = schedule(1000).err().expect("one budget for all").to_string();
        assert!(error.starts_with("program 'chain': so many tasks") && error.contains("fewer lanes"), "{error}");
    }
}
