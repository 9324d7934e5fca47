//! Clocked designs, after "TinyGarble: highly compressed and scalable sequential garbled circuits" (Songhori, Hussain,
//! Sadeghi, Schneider, Koushanfar, S&P 2015): the circuit of one cycle is applied as often as the clock ticks.
//!
//! A register holds its value from one edge of the clock to the next. Between two edges the design is a circuit from
//! registers and inputs to registers and outputs, and that is either one step of a program that runs it K times
//! ([`Form::Iterate`]), or written K times into one circuit ([`Form::Unroll`]), where all that both parties know folds
//! away: counters, states of a control, constants in registers.
//!
//! An input has one value for all cycles, or one in each; an output is read after the last edge, or in each cycle before
//! its edge. Before the first cycle there may be one with resets active, in which inputs of each cycle are 0.

use crate::error::{Error, Result};
use crate::map::{self, Mapper, type_of};
use crate::netlist::{Direction, Module, Port, Register, Signal, State};
use crate::parties::{self, Said};
use crate::profile::Profile;
use circuit::blocks::Goal;
use circuit::program::{Lanes, Value, View};
use circuit::{Bit, Builder, Circuit, Program, Type, bits};

/// How a design is clocked.
#[derive(Clone, Debug)]
pub struct Clocking {
    /// How many cycles.
    pub cycles: u64,
    /// Inputs and outputs that have a value in each cycle.
    pub each: Vec<String>,
    /// Inputs that reset the registers, and the values with which they do.
    pub resets: Vec<(String, bool)>,
    /// The form; if there is none, the one with fewer ANDs.
    pub form: Option<Form>,
}

/// What becomes of the cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A step of a program that runs one circuit again and again.
    Iterate,
    /// One circuit.
    Unroll,
}

/// A clocked design as a program.
pub struct Clocked {
    /// The program.
    pub program: Program,
    /// The circuits that are run once.
    pub once: Vec<Circuit>,
    /// The circuit that is run in each cycle, if that is the form.
    pub again: Option<Circuit>,
    /// What each line of the source costs in all cycles.
    pub profile: Profile,
}

/// The most gates of all cycles together for which the form with fewer ANDs is looked for.
const MOST_TRIED: u64 = 1 << 23;

/// The most gates of one circuit.
const MOST_GATES: u64 = 1 << 27;

/// The program of a clocked module.
///
/// # Errors
/// If it has no register, several clocks, or what no circuit has; if a name is no port's.
pub fn program(module: &Module, goal: Goal, clocking: &Clocking, said: &Said) -> Result<Clocked> {
    let design = Design::new(module, goal, clocking, said)?;
    let step = design.step()?;
    let gates = (step.0.gates().len() as u64).saturating_mul(clocking.cycles);
    if clocking.form == Some(Form::Unroll) && gates > MOST_GATES {
        let why = format!("{} cycles of {} gates in one circuit", clocking.cycles, step.0.gates().len());
        return Err(Error::usage(why, "give --iterate, or fewer cycles"));
    }
    let iterated = design.iterated(step)?;
    match clocking.form {
        Some(Form::Iterate) => Ok(iterated),
        None if gates > MOST_TRIED => Ok(iterated),
        form => {
            let unrolled = design.unrolled()?;
            let fewer = unrolled.ands(1) < iterated.ands(clocking.cycles);
            Ok(if form.is_some() || fewer { unrolled } else { iterated })
        }
    }
}

impl Clocked {
    /// The ANDs of all cycles, for each lane.
    pub fn ands(&self, cycles: u64) -> u64 {
        self.sum(cycles, Circuit::and_count)
    }

    /// The layers of all cycles.
    pub fn depth(&self, cycles: u64) -> u64 {
        self.sum(cycles, |circuit| u64::from(circuit.depth()))
    }

    /// The gates of the circuits that stand in the file.
    pub fn gates(&self) -> u64 {
        self.sum(1, |circuit| circuit.gates().len() as u64)
    }

    fn sum(&self, cycles: u64, of: impl Fn(&Circuit) -> u64) -> u64 {
        let again = self.again.as_ref().map_or(0, |circuit| of(circuit).saturating_mul(cycles));
        self.once.iter().map(&of).sum::<u64>().saturating_add(again)
    }
}

struct Design<'a> {
    module: &'a Module,
    goal: Goal,
    clocking: &'a Clocking,
    said: &'a Said,
    registers: Vec<Register<'a>>,
    secrets: Vec<State<'a>>,
    /// Inputs of one value.
    held: Vec<&'a Port>,
    /// Inputs of a value in each cycle.
    each: Vec<&'a Port>,
    resets: Vec<(&'a Port, bool)>,
    /// Outputs that are read after the last edge.
    last: Vec<&'a Port>,
    /// Outputs that are read in each cycle.
    always: Vec<&'a Port>,
}

/// The values of the registers, one word a register.
type Words = Vec<Vec<Bit>>;

impl<'a> Design<'a> {
    fn new(module: &'a Module, goal: Goal, clocking: &'a Clocking, said: &'a Said) -> Result<Self> {
        let (registers, secrets) = (module.registers()?, module.states()?);
        let Some(clock) = module.clock(&registers)? else {
            let why = format!("the module '{}' has no registers", module.name);
            return Err(Error::usage(why, "leave --cycles away"));
        };
        let of =
            |direction| module.ports.iter().filter(move |port| port.direction == direction && !port.bits.is_empty());
        let inputs: Vec<&Port> = of(Direction::Input).filter(|port| port.bits != clock.bits).collect();
        let outputs: Vec<&Port> = of(Direction::Output).collect();
        map::check(module, &inputs, &outputs)?;
        let resets: Vec<(&Port, bool)> =
            clocking.resets.iter().map(|(name, active)| Ok((reset(&inputs, name)?, *active))).collect::<Result<_>>()?;
        let ports: Vec<&Port> = inputs.iter().chain(&outputs).copied().collect();
        parties::known(clocking.each.iter(), &ports, "port")?;
        let is_each = |port: &&Port| clocking.each.contains(&port.name);
        let inputs = inputs.into_iter().filter(|port| !resets.iter().any(|(reset, _)| reset.name == port.name));
        let (each, held): (Vec<&Port>, Vec<&Port>) = inputs.partition(is_each);
        let (always, last) = outputs.into_iter().partition(is_each);
        let design = Design { module, goal, clocking, said, registers, secrets, held, each, resets, last, always };
        design.check_names()?;
        Ok(design)
    }

    fn check_names(&self) -> Result<()> {
        let inputs: Vec<&Port> = self.held.iter().chain(&self.each).copied().collect();
        let outputs: Vec<&Port> = self.last.iter().chain(&self.always).copied().collect();
        parties::known(self.said.inputs.iter().map(|(name, _)| name), &inputs, "input")?;
        parties::known(self.said.outputs.iter().map(|(name, _)| name), &outputs, "output")
    }

    fn mapper(&self, part: &str) -> Mapper<'a> {
        Mapper::new(self.module, self.goal, Builder::new(format!("{}{part}", self.module.name))).profiled()
    }

    /// New inputs of a circuit for ports, in their order.
    fn inputs(ports: &[&Port], c: &mut Builder) -> Words {
        ports.iter().map(|port| c.input(&port.name, type_of(port))).collect()
    }

    /// What a cycle reads: its registers, the inputs of one value, and those of each cycle if they have values.
    fn enter(&self, mapper: &mut Mapper, state: &Words, held: &Words, each: Option<&Words>, resetting: bool) {
        mapper.forget();
        self.registers.iter().zip(state).for_each(|(register, bits)| mapper.set(register.q, bits));
        self.held.iter().zip(held).for_each(|(port, bits)| mapper.set(&port.bits, bits));
        if let Some(each) = each {
            self.each.iter().zip(each).for_each(|(port, bits)| mapper.set(&port.bits, bits));
        }
        for (port, active) in &self.resets {
            mapper.set(&port.bits, &[Bit::constant(*active == resetting)]);
        }
    }

    /// What the registers are after the edge of a cycle that was entered.
    fn edge(&self, mapper: &mut Mapper) -> Result<Words> {
        self.registers.iter().map(|register| mapper.word(register.d, "a register")).collect()
    }

    /// What the registers begin with, after resets.
    fn begin(&self, mapper: &mut Mapper, held: &Words, secrets: &Words) -> Result<Words> {
        let first = self.module.first_values();
        let mut values: rustc_hash::FxHashMap<Signal, Bit> = rustc_hash::FxHashMap::default();
        for (state, bits) in self.secrets.iter().zip(secrets) {
            values.extend(state.bits.iter().copied().zip(bits.iter().copied()));
        }
        let value = |signal: &Signal| {
            let known = signal.net().and_then(|net| first.get(&net)).copied().unwrap_or(false);
            values.get(signal).copied().unwrap_or(Bit::constant(known))
        };
        let state: Words = self.registers.iter().map(|register| register.q.iter().map(value).collect()).collect();
        if self.resets.is_empty() {
            return Ok(state);
        }
        let nothing = self.each.iter().map(|port| vec![Bit::FALSE; port.bits.len()]).collect();
        self.enter(mapper, &state, held, Some(&nothing), true);
        self.edge(mapper)
    }

    fn state_types(&self) -> Vec<Type> {
        self.registers.iter().map(|register| bits(register.q.len() as u32)).collect()
    }

    fn secret_inputs(&self, c: &mut Builder) -> Words {
        self.secrets.iter().map(|state| c.input(state.name, bits(state.bits.len() as u32))).collect()
    }

    /// The circuit of one cycle: registers and inputs of one value, which stay, then inputs of each cycle.
    fn step(&self) -> Result<(Circuit, Profile)> {
        let mut mapper = self.mapper(", one cycle");
        let types = self.state_types();
        let state: Words = types.iter().enumerate().map(|(i, ty)| mapper.c.input(format!("state {i}"), *ty)).collect();
        let (held, each) = (Self::inputs(&self.held, &mut mapper.c), Self::inputs(&self.each, &mut mapper.c));
        self.enter(&mut mapper, &state, &held, Some(&each), false);
        let after = self.edge(&mut mapper)?;
        for (i, (word, ty)) in after.iter().zip(types).enumerate() {
            mapper.c.output_as(format!("state {i}"), ty, word);
        }
        for (port, word) in self.held.iter().zip(&held) {
            mapper.c.output_as(format!("held {}", port.name), type_of(port), word);
        }
        for port in &self.always {
            let word = mapper.word(&port.bits, &port.place)?;
            mapper.c.output_as(&port.name, type_of(port), &word);
        }
        mapper.complete()
    }

    /// The circuit of what is read after the last edge.
    fn end(&self) -> Result<(Circuit, Profile)> {
        let mut mapper = self.mapper(", after the last edge");
        let types = self.state_types();
        let state = types.iter().enumerate().map(|(i, ty)| mapper.c.input(format!("state {i}"), *ty)).collect();
        let held = Self::inputs(&self.held, &mut mapper.c);
        self.enter(&mut mapper, &state, &held, None, false);
        for port in &self.last {
            let word = mapper.word(&port.bits, &port.place)?;
            mapper.c.output_as(&port.name, type_of(port), &word);
        }
        mapper.complete()
    }

    /// The circuit of what the registers begin with.
    fn start(&self) -> Result<(Circuit, Profile)> {
        let mut mapper = self.mapper(", before the first cycle");
        let held = Self::inputs(&self.held, &mut mapper.c);
        let secrets = self.secret_inputs(&mut mapper.c);
        let state = self.begin(&mut mapper, &held, &secrets)?;
        for (i, word) in state.iter().enumerate() {
            mapper.c.output_as(format!("state {i}"), bits(word.len() as u32), word);
        }
        mapper.complete()
    }

    fn iterated(&self, (step, of_step): (Circuit, Profile)) -> Result<Clocked> {
        let (start, mut profile) = self.start()?;
        profile.add(&of_step, self.clocking.cycles);
        let mut once = Vec::new();
        let mut p = Program::new(&self.module.name);
        let one_lane = !self.each.is_empty() || !self.always.is_empty();
        let lanes: Lanes = p.size("lanes", if one_lane { 1..=1 } else { 0..=1 << 32 }).into();
        let held = self.held_values(&mut p, &lanes)?;
        let secrets = self.secret_values(&mut p, &lanes)?;
        let each = self.each_values(&mut p, &lanes)?;
        let args = [&held[..], &secrets].concat();
        let mut state = match constants(&start) {
            Some(words) => words.iter().map(|word| p.constant(bits(word.len() as u32), lanes.clone(), word)).collect(),
            None => p.map_all(&start, &args),
        };
        let registers = state.len();
        state.extend(&held);
        let after = p.iterate(&step, self.clocking.cycles, &state, &each);
        let (state, always) = after.split_at(after.len().min(registers + held.len()));
        self.always.iter().zip(always).try_for_each(|(port, &value)| self.deliver(&mut p, port, value))?;
        if !self.last.is_empty() {
            let (end, of_end) = self.end()?;
            profile.add(&of_end, 1);
            let found = p.map_all(&end, state);
            self.last.iter().zip(found).try_for_each(|(port, value)| self.deliver(&mut p, port, value))?;
            once.push(end);
        }
        p.check()?;
        once.push(start);
        Ok(Clocked { program: p, once, again: Some(step), profile })
    }

    /// The circuit of all cycles.
    fn whole(&self) -> Result<(Circuit, Profile)> {
        let mut mapper = self.mapper("");
        let held = Self::inputs(&self.held, &mut mapper.c);
        let secrets = self.secret_inputs(&mut mapper.c);
        let cycles = self.clocking.cycles;
        let all: Vec<Vec<Bit>> =
            self.each.iter().map(|port| mapper.c.input(&port.name, joined(port, cycles))).collect();
        let mut always: Words = vec![Vec::new(); self.always.len()];
        let mut state = self.begin(&mut mapper, &held, &secrets)?;
        for cycle in 0..cycles as usize {
            let now = |(port, bits): (&&Port, &Vec<Bit>)| bits[cycle * port.bits.len()..][..port.bits.len()].to_vec();
            let each = self.each.iter().zip(&all).map(now).collect();
            self.enter(&mut mapper, &state, &held, Some(&each), false);
            for (port, all) in self.always.iter().zip(&mut always) {
                all.extend(mapper.word(&port.bits, &port.place)?);
            }
            state = self.edge(&mut mapper)?;
        }
        self.enter(&mut mapper, &state, &held, None, false);
        for port in &self.last {
            let word = mapper.word(&port.bits, &port.place)?;
            mapper.c.output_as(&port.name, type_of(port), &word);
        }
        for (port, word) in self.always.iter().zip(&always) {
            mapper.c.output_as(&port.name, joined(port, cycles), word);
        }
        mapper.complete()
    }

    fn unrolled(&self) -> Result<Clocked> {
        let ((whole, profile), cycles) = (self.whole()?, self.clocking.cycles);
        let mut p = Program::new(&self.module.name);
        let lanes: Lanes = p.size("lanes", 0..=1 << 32).into();
        let mut args = self.held_values(&mut p, &lanes)?;
        args.extend(self.secret_values(&mut p, &lanes)?);
        for value in self.each_values(&mut p, &lanes)? {
            args.push(p.view(View::Merge(cycles as u32), &[value]));
        }
        let found = p.map_all(&whole, &args);
        let (last, always) = found.split_at(found.len().min(self.last.len()));
        self.last.iter().zip(last).try_for_each(|(port, &value)| self.deliver(&mut p, port, value))?;
        for (port, &value) in self.always.iter().zip(always) {
            let cut = p.view(View::Split(cycles as u32), &[value]);
            let typed = p.map(&parties::typed("a word of each cycle", type_of(port))?, &[cut]);
            self.deliver(&mut p, port, typed)?;
        }
        p.check()?;
        Ok(Clocked { program: p, once: vec![whole], again: None, profile })
    }

    fn held_values(&self, p: &mut Program, lanes: &Lanes) -> Result<Vec<Value>> {
        let value =
            |port: &&Port| Ok(p.input(&port.name, parties::supplier(port, self.said)?, type_of(port), lanes.clone()));
        self.held.iter().map(value).collect()
    }

    fn secret_values(&self, p: &mut Program, lanes: &Lanes) -> Result<Vec<Value>> {
        let value = |state: &State| {
            let owner = parties::owner(state.party).map_err(|why| {
                let hint = why.hint().unwrap_or_default().to_string();
                Error::design(state.place, format!("party of '{}': {why}", state.name), hint)
            })?;
            Ok(p.input(state.name, owner, bits(state.bits.len() as u32), lanes.clone()))
        };
        self.secrets.iter().map(value).collect()
    }

    /// Values of each cycle: those of a lane stand behind one another.
    fn each_values(&self, p: &mut Program, lanes: &Lanes) -> Result<Vec<Value>> {
        let all = lanes.clone() * self.clocking.cycles;
        let value =
            |port: &&Port| Ok(p.input(&port.name, parties::supplier(port, self.said)?, type_of(port), all.clone()));
        self.each.iter().map(value).collect()
    }

    fn deliver(&self, p: &mut Program, port: &Port, value: Value) -> Result<()> {
        p.output(&port.name, parties::learner(port, self.said)?, value);
        Ok(())
    }
}

fn reset<'a>(inputs: &[&'a Port], name: &str) -> Result<&'a Port> {
    let named = [name.to_string()];
    parties::known(named.iter(), inputs, "input")?;
    let port = inputs.iter().find(|port| port.name == name && port.bits.len() == 1);
    port.copied().ok_or_else(|| Error::usage(format!("the input '{name}' has several bits"), "a reset has one"))
}

/// A word for each cycle behind one another.
fn joined(port: &Port, cycles: u64) -> Type {
    bits((port.bits.len() as u64 * cycles).min(u64::from(u32::MAX)) as u32)
}

/// The outputs of a circuit that has none but constants.
fn constants(circuit: &Circuit) -> Option<Vec<Vec<bool>>> {
    if circuit.output_bits().iter().any(|bit| bit.node() != 0) {
        return None;
    }
    let mut rest = circuit.output_bits().iter().map(|bit| *bit == Bit::TRUE);
    Some(circuit.outputs().iter().map(|port| rest.by_ref().take(port.ty.width as usize).collect()).collect())
}
