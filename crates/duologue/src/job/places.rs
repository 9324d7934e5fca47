//! Where the steps of a program are computed when the lanes that a size counts are divided among shards.

use crate::{Error, Result};
use circuit::program::{Binding, Lanes, Step, Value, View};

/// Where the values of a step are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The same everywhere: whoever needs them makes them from the whole inputs.
    Whole,
    /// Each shard has its own lanes of them.
    Cut(Layout),
    /// In the last program alone: they are made of reductions over all shards' lanes.
    Last,
}

/// How the lanes of a value lie that is cut: of each lane that the size counts so many, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// Lanes before those that are cut, which the first shard has.
    pub before: u64,
    /// Lanes of the value for each lane that is cut.
    pub per: u64,
    /// Lanes after those that are cut, which the last shard has.
    pub after: u64,
}

/// The place of each step's values.
pub(super) struct Places {
    of: Vec<Place>,
    /// The step of each value.
    steps: Vec<u32>,
}

impl Places {
    /// The places of a program whose size of this number is cut.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the first step that cannot be cut, and why.
    pub fn find(binding: &Binding, by: usize) -> Result<Places> {
        let mut finder = Finder { binding, by, places: Places { of: Vec::new(), steps: Vec::new() } };
        if binding.sizes()[by] == 0 {
            return Err(Error::usage(format!(
                "the size '{}' is 0: there are no lanes to divide among shards",
                finder.name()
            )));
        }
        for (number, step) in binding.program().steps().iter().enumerate() {
            let place = finder.step(number, step).map_err(|why| finder.refuse(number, step, &why))?;
            finder.places.of.push(place);
            finder.places.steps.extend(binding.program().defined_by(number).map(|_| number as u32));
        }
        match finder.places.of.iter().any(|place| matches!(place, Place::Cut(_))) {
            true => Ok(finder.places),
            false => Err(Error::usage(format!("no lanes are counted by the size '{}'", finder.name()))),
        }
    }

    /// Where a value is.
    pub fn of(&self, value: Value) -> Place {
        self.of[self.step_of(value)]
    }

    /// The step that defines a value.
    pub fn step_of(&self, value: Value) -> usize {
        self.steps[value.number()] as usize
    }
}

/// The number of lanes at these sizes, which was checked when they were bound.
pub(super) fn count(lanes: &Lanes, sizes: &[u64]) -> u64 {
    lanes.count(sizes).expect("counted when bound")
}

/// Finds places step by step.
struct Finder<'a> {
    binding: &'a Binding,
    by: usize,
    places: Places,
}

/// The place of a step's values, or why there is none.
type Found = std::result::Result<Place, String>;

impl Finder<'_> {
    fn step(&self, number: usize, step: &Step) -> Found {
        match step {
            Step::Input { lanes, .. } | Step::Constant { lanes, .. } => self.counted(lanes, 1),
            Step::Map { args, .. } => self.lane_by_lane(args),
            Step::Reduce { args, .. } => Ok(match self.lane_by_lane(args)? {
                Place::Cut(_) => Place::Last,
                place => place,
            }),
            Step::Iterate { cycles, state, inputs, .. } => self.iterate(number, cycles, state, inputs),
            Step::View { view, args } => self.view(number, view, args),
            Step::Call { args, .. } => match args.iter().any(|&arg| matches!(self.places.of(arg), Place::Cut(_))) {
                true => Err(format!("a call takes all lanes at once, {}", self.but_some())),
                // Whoever learns something from a call learns it once.
                false => Ok(Place::Last),
            },
            Step::Output { value, .. } => Ok(self.places.of(*value)),
        }
    }

    /// The place of values that are made of these arguments lane by lane.
    fn lane_by_lane(&self, args: &[Value]) -> Found {
        let places = || args.iter().map(|&arg| self.places.of(arg));
        let cut = places().find(|place| matches!(place, Place::Cut(_)));
        let last = places().find(|&place| place == Place::Last);
        match (cut, last) {
            (Some(_), Some(_)) => {
                Err("it reads lanes of the shards together with what is known after a reduction over all of them: \
                only what has been reduced may follow"
                    .into())
            }
            (Some(cut), None) if places().all(|place| place == cut) => Ok(cut),
            (Some(_), None) if places().any(|place| place == Place::Whole) => {
                Err(format!("it reads lanes that '{}' counts together with lanes that it does not count", self.name()))
            }
            (Some(_), None) => Err("the lanes that are cut lie at other places in one argument than in another".into()),
            (None, last) => Ok(last.unwrap_or(Place::Whole)),
        }
    }

    /// The place of so many lanes times the product: cut, if the size is a factor.
    fn counted(&self, lanes: &Lanes, times: u64) -> Found {
        match lanes.sizes().iter().filter(|size| size.number() == self.by).count() {
            0 => Ok(Place::Whole),
            1 => {
                let per = times * count(lanes, self.binding.sizes()) / self.binding.sizes()[self.by];
                Ok(if per == 0 { Place::Whole } else { Place::Cut(Layout { before: 0, per, after: 0 }) })
            }
            _ => Err(format!("its lanes are counted by '{}' twice", self.name())),
        }
    }

    /// Lanes do not meet in an iteration, but what goes in and comes out at each cycle lies cycle after cycle.
    fn iterate(&self, number: usize, cycles: &Lanes, state: &[Value], inputs: &[Value]) -> Found {
        let puts_out = self.binding.program().defined_by(number).count() > state.len();
        let once = count(cycles, self.binding.sizes()) == 1;
        let is_cut = |&arg: &Value| matches!(self.places.of(arg), Place::Cut(_));
        match state.iter().chain(inputs).any(is_cut) && !once && (puts_out || !inputs.is_empty()) {
            true => Err(format!("what goes in or comes out at each cycle mixes lanes, {}", self.but_some())),
            false => self.lane_by_lane(&[state, inputs].concat()),
        }
    }

    fn view(&self, number: usize, view: &View, args: &[Value]) -> Found {
        let place = match view {
            View::Chain => return self.chain(number, args),
            _ => self.lane_by_lane(args)?,
        };
        match (view, place) {
            (View::Bits(_) | View::Join, _) => Ok(place),
            (View::Repeat(times), Place::Whole) => self.counted(times, self.binding.lanes_of(args[0])),
            (_, Place::Whole | Place::Last) => Ok(place),
            (View::Repeat(times), _) if count(times, self.binding.sizes()) == 1 => Ok(place),
            (&View::Split(parts), Place::Cut(layout)) => Ok(Place::Cut(layout.times(parts.into()))),
            (&View::Merge(parts), Place::Cut(layout)) => {
                layout.divided_by(parts.into()).map(Place::Cut).ok_or_else(|| {
                    format!(
                        "it joins lanes of different shards: each has {} for one that '{}' counts",
                        layout.per,
                        self.name()
                    )
                })
            }
            _ => Err(format!("it mixes lanes, {}", self.but_some())),
        }
    }

    /// Values one after the other, of which one may be cut.
    fn chain(&self, number: usize, args: &[Value]) -> Found {
        let mut cut = None;
        let (mut before, mut after) = (0, 0);
        for &arg in args {
            match self.places.of(arg) {
                Place::Whole if cut.is_some() => after += self.binding.lanes_of(arg),
                Place::Whole => before += self.binding.lanes_of(arg),
                Place::Cut(_) if cut.is_some() => {
                    return Err(
                        "it puts lanes that are cut after lanes that are cut: each shard has some of both".into()
                    );
                }
                Place::Cut(layout) => cut = Some((arg, layout)),
                Place::Last => return self.lane_by_lane(args),
            }
        }
        let program = self.binding.program();
        let result = program.defined_by(number).next();
        match cut {
            Some((arg, _)) if result.is_some_and(|result| program.type_of(result) != program.type_of(arg)) => {
                Err("the lanes that are cut have another type than those before them".into())
            }
            Some((_, Layout { before: first, per, after: last })) => {
                Ok(Place::Cut(Layout { before: before + first, per, after: last + after }))
            }
            None => Ok(Place::Whole),
        }
    }

    fn name(&self) -> &str {
        &self.binding.program().sizes()[self.by].name
    }

    fn but_some(&self) -> String {
        format!("and a shard has only some of those that '{}' counts", self.name())
    }

    fn refuse(&self, number: usize, step: &Step, why: &str) -> Error {
        let program = self.binding.program();
        Error::usage(format!("program '{}', step {number}, {}: {why}", program.name(), self.what(step)))
    }

    /// A step by its kind and the name of what it applies.
    fn what(&self, step: &Step) -> String {
        let circuit = |place: u32| self.binding.program().circuits()[place as usize].name();
        match step {
            Step::Input { name, .. } => format!("input '{name}'"),
            Step::Constant { .. } => "constant".into(),
            Step::Map { circuit: place, .. } => format!("map '{}'", circuit(*place)),
            Step::Reduce { circuit: place, .. } => format!("reduce '{}'", circuit(*place)),
            Step::Iterate { circuit: place, .. } => format!("iterate '{}'", circuit(*place)),
            Step::Call { name, .. } => format!("call '{name}'"),
            Step::Output { name, .. } => format!("output '{name}'"),
            Step::View { view, .. } => match view {
                View::Bits(_) => "bits",
                View::Join => "join",
                View::Repeat(_) => "repeat",
                View::Slice { .. } => "slice",
                View::Chain => "chain",
                View::Lanes(_) => "permutation of lanes",
                View::Split(_) => "split",
                View::Merge(_) => "merge",
            }
            .into(),
        }
    }
}

impl Layout {
    fn times(self, parts: u64) -> Layout {
        Layout { before: self.before * parts, per: self.per * parts, after: self.after * parts }
    }

    fn divided_by(self, parts: u64) -> Option<Layout> {
        let Layout { before, per, after } = self;
        let whole = [before, per, after].iter().all(|lanes| lanes.is_multiple_of(parts));
        whole.then(|| Layout { before: before / parts, per: per / parts, after: after / parts })
    }
}
