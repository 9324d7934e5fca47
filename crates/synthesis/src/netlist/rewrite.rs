//! Changes of a module that keep its meaning.

use super::{Cell, Driver, Gate, Module, Signal};

impl Module {
    /// How often each net is read, by cells and by ports.
    pub(crate) fn readers(&self) -> Vec<u32> {
        let mut readers = vec![0; self.drivers.len()];
        let by_cells = self.cells.iter().flat_map(|cell| cell.inputs.iter().flat_map(|(_, bits)| bits));
        let by_gates = self.gates.iter().flat_map(Gate::reads);
        let by_ports = self.ports.iter().flat_map(|port| &port.bits);
        for net in by_cells.chain(by_gates).chain(by_ports).filter_map(|signal| signal.net()) {
            readers[net as usize] += 1;
        }
        readers
    }

    /// The cell that drives a signal, and the bit of its outputs.
    pub(crate) fn driver(&self, signal: Signal) -> Option<(u32, u32)> {
        match self.drivers[signal.net()? as usize] {
            Driver::Cell(cell, place) => Some((cell, place)),
            _ => None,
        }
    }

    /// A new cell, which drives the nets of its outputs from now on, made for what the cells before it were made for.
    pub(crate) fn replace(&mut self, mut cell: Cell) {
        let before = cell.outputs.iter().flat_map(|(_, bits)| bits).find_map(|signal| self.driver(*signal));
        cell.goal = before.and_then(|(before, _)| self.cells[before as usize].goal);
        let number = self.cells.len() as u32;
        for (place, signal) in (0..).zip(cell.outputs.iter().flat_map(|(_, bits)| bits)) {
            if let Some(net) = signal.net() {
                self.drivers[net as usize] = Driver::Cell(number, place);
            }
        }
        self.cells.push(cell);
    }

    /// Leaves away the cells that neither an output nor a wire with a party needs.
    pub(crate) fn sweep(&mut self) {
        let mut live = vec![false; self.cells.len()];
        let ports = self.ports.iter().flat_map(|port| &port.bits).copied();
        let nets = self.reached(ports.chain(self.bits_of_parties()).collect());
        for (driver, _) in self.drivers.iter().zip(nets).filter(|(_, is_reached)| *is_reached) {
            if let Driver::Cell(cell, _) = driver {
                live[*cell as usize] = true;
            }
        }
        let before = live.iter().scan(0, |count, &live| {
            *count += u32::from(live);
            Some(*count - u32::from(live))
        });
        let moved: Vec<u32> = before.collect();
        for driver in &mut self.drivers {
            match driver {
                Driver::Cell(cell, _) if !live[*cell as usize] => *driver = Driver::None,
                Driver::Cell(cell, _) => *cell = moved[*cell as usize],
                _ => {}
            }
        }
        let mut live = live.into_iter();
        self.cells.retain(|_| live.next().unwrap_or(false));
    }
}
