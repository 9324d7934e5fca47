//! Which bits of the outputs of modules are needed: those on which an output of the top, or a register of it, depends.
//!
//! A cell needs all that it reads if one of its bits is needed, since sums and selections are built as a whole.

use super::{Cell, Direction, Driver, Module, Signal};
use crate::copies::ports;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// For each bit of the outputs of a module whether one of its instances needs it; all bits of the top are needed.
#[derive(Default)]
pub(crate) struct Needed(FxHashMap<*const Module, Vec<bool>>);

impl Needed {
    pub fn of(top: &Module) -> Needed {
        let mut needed = Needed::default();
        for module in outer_first(top) {
            if instances(module).next().is_some() {
                let nets = needed.nets(module);
                instances(module).for_each(|(cell, inner)| needed.note(cell, inner, &nets));
            }
        }
        needed
    }

    /// Whether the bit at a place of a module's outputs is needed.
    pub fn has(&self, module: &Module, place: usize) -> bool {
        self.0.get(&std::ptr::from_ref(module)).is_none_or(|bits| bits[place])
    }

    /// The nets of a module that are needed.
    fn nets(&self, module: &Module) -> Vec<bool> {
        let outputs = ports(module, Direction::Output).flat_map(|port| &port.bits).enumerate();
        let outputs = outputs.filter(|(place, _)| self.has(module, *place)).map(|(_, bit)| *bit);
        module.reached(outputs.chain(module.bits_of_parties()).collect())
    }

    fn note(&mut self, cell: &Cell, inner: &Rc<Module>, nets: &[bool]) {
        let width = ports(inner, Direction::Output).map(|port| port.bits.len()).sum();
        let bits = self.0.entry(Rc::as_ptr(inner)).or_insert_with(|| vec![false; width]);
        let mut from = 0;
        for port in ports(inner, Direction::Output) {
            let places = &mut bits[from..from + port.bits.len()];
            from += port.bits.len();
            for (place, signal) in places.iter_mut().zip(cell.output(&port.name)) {
                *place |= signal.net().is_some_and(|net| nets[net as usize]);
            }
        }
    }
}

impl Module {
    /// Whether all that is needed of the modules in this one has a driver in them. A design may be right although that is not
    /// so, if a constant that an instance reads does away with it.
    pub(crate) fn has_driven_modules(&self) -> bool {
        let needed = Needed::of(self);
        outer_first(self).into_iter().skip(1).all(|module| module.is_driven(&needed.nets(module)))
    }

    fn is_driven(&self, nets: &[bool]) -> bool {
        let is_driven = |driver: &Driver| match driver {
            Driver::None => false,
            Driver::Cell(cell, _) => self.cells[*cell as usize].kind != "$tribuf",
            _ => true,
        };
        self.drivers.iter().zip(nets).all(|(driver, is_needed)| !is_needed || is_driven(driver))
    }

    /// The bits of wires with a party.
    pub(super) fn bits_of_parties(&self) -> impl Iterator<Item = Signal> {
        self.wires.iter().filter(|wire| wire.party.is_some()).flat_map(|wire| &wire.bits).copied()
    }

    /// The nets that signals depend on, also through registers: all that a cell reads if one of its bits is among them.
    pub(super) fn reached(&self, mut open: Vec<Signal>) -> Vec<bool> {
        let (mut nets, mut seen) = (vec![false; self.drivers.len()], vec![false; self.cells.len()]);
        while let Some(signal) = open.pop() {
            let Some(net) = signal.net().filter(|net| !nets[*net as usize]) else { continue };
            nets[net as usize] = true;
            match self.drivers[net as usize] {
                Driver::Cell(cell, _) if !std::mem::replace(&mut seen[cell as usize], true) => {
                    open.extend(self.cells[cell as usize].inputs.iter().flat_map(|(_, bits)| bits));
                }
                Driver::Gate(gate) => open.extend(self.gate(gate).reads()),
                _ => {}
            }
        }
        nets
    }
}

/// The instances of modules, and those modules.
fn instances(module: &Module) -> impl Iterator<Item = (&Cell, &Rc<Module>)> {
    module.cells.iter().filter_map(|cell| Some((cell, cell.inner.as_ref()?)))
}

/// A module and all within it, each behind those that have instances of it.
fn outer_first(top: &Module) -> Vec<&Module> {
    let (mut seen, mut order) = (FxHashSet::default(), Vec::new());
    visit(top, &mut seen, &mut order);
    order.reverse();
    order
}

/// Goes no deeper than a netlist may be nested.
fn visit<'a>(module: &'a Module, seen: &mut FxHashSet<*const Module>, order: &mut Vec<&'a Module>) {
    if seen.insert(module) {
        instances(module).for_each(|(_, inner)| visit(inner, seen, order));
        order.push(module);
    }
}
