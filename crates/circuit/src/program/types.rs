//! The types of what a step defines, and the checks that it has to pass.

use super::{CallPort, Holder, Lanes, MOST_BITS, Owner, Program, Step, Value, View, parts};
use crate::error::{Result, counted};
use crate::graph::{Circuit, Type, check_name, check_type};
use std::collections::HashSet;

impl Program {
    /// The types of the values that a step defines, and who holds them when a call reads them.
    pub(super) fn results(&self, step: &Step) -> Result<Vec<CallPort>> {
        let holder = match step {
            Step::Call { name, version, parameters, args } => {
                return self.call_results(name, *version, parameters, args);
            }
            Step::Input { owner: Owner::Party(party), .. } => Holder::Party(*party),
            _ => Holder::Shared,
        };
        Ok(self.result_types(step)?.into_iter().map(|ty| CallPort { ty, holder }).collect())
    }

    fn call_results(&self, name: &str, version: u32, parameters: &[u8], args: &[Value]) -> Result<Vec<CallPort>> {
        check_name(name).map_err(|why| self.invalid(why))?;
        if self.calls >= parts::MOST_CALLS {
            return Err(self.invalid(format!("more than {} calls", parts::MOST_CALLS)));
        }
        let functionality = self.functionalities.find(name, version).map_err(|why| self.invalid(why.to_string()))?;
        args.iter().try_for_each(|&arg| self.width(arg).map(drop))?;
        let args: Vec<_> =
            args.iter().map(|&arg| CallPort { ty: self.type_of(arg), holder: self.holder(arg) }).collect();
        let results = functionality.results(parameters, &args);
        let results = results.map_err(|why| self.invalid(format!("call of '{name}': {why}")))?;
        results.iter().try_for_each(|result| self.check_type(result.ty).map(drop))?;
        Ok(results)
    }

    fn result_types(&self, step: &Step) -> Result<Vec<Type>> {
        match step {
            Step::Input { name, ty, lanes, .. } => {
                self.check_port(name, &self.ports[0])?;
                self.check_lanes(lanes)?;
                self.check_type(*ty)
            }
            Step::Constant { ty, lanes, bits } => {
                self.check_lanes(lanes)?;
                self.same("bits of a constant", ty.width as usize, bits.len())?;
                self.check_type(*ty)
            }
            Step::Map { circuit, args } => self.map_types(*circuit, args),
            Step::Reduce { circuit, args } => self.reduce_types(*circuit, args),
            Step::Iterate { circuit, cycles, state, inputs } => {
                self.check_lanes(cycles)?;
                self.iterate_types(*circuit, state, inputs)
            }
            Step::View { view, args } => self.view_type(view, args).map(|ty| vec![ty]),
            Step::Call { .. } => Ok(Vec::new()),
            Step::Output { name, value, .. } => {
                self.check_port(name, &self.ports[1])?;
                self.width(*value)?;
                Ok(Vec::new())
            }
        }
    }

    fn map_types(&self, circuit: u32, args: &[Value]) -> Result<Vec<Type>> {
        let circuit = self.circuit_at(circuit)?;
        self.same(&format!("arguments of '{}'", circuit.name()), circuit.inputs().len(), args.len())?;
        for (port, &arg) in circuit.inputs().iter().zip(args) {
            let what = format!("bits of '{}' of '{}'", port.name, circuit.name());
            self.same(&what, port.ty.width as usize, self.width(arg)?)?;
        }
        if args.is_empty() {
            return Err(self.invalid(format!("'{}' has no inputs: the number of lanes is unknown", circuit.name())));
        }
        Ok(circuit.outputs().iter().map(|port| port.ty).collect())
    }

    fn reduce_types(&self, circuit: u32, args: &[Value]) -> Result<Vec<Type>> {
        let twice: Vec<Value> = args.iter().chain(args).copied().collect();
        let types = self.map_types(circuit, &twice)?;
        self.same("outputs of a reduction", args.len(), types.len())?;
        for (&arg, ty) in args.iter().zip(&types) {
            self.same("bits of a reduction's result", self.width(arg)?, ty.width as usize)?;
        }
        Ok(types)
    }

    fn iterate_types(&self, circuit: u32, state: &[Value], inputs: &[Value]) -> Result<Vec<Type>> {
        let args: Vec<Value> = state.iter().chain(inputs).copied().collect();
        let types = self.map_types(circuit, &args)?;
        if state.is_empty() || types.len() < state.len() {
            return Err(self.invalid("an iteration needs a state, and an output port for each state port"));
        }
        for (&value, ty) in state.iter().zip(&types) {
            self.same("bits of the next state", self.width(value)?, ty.width as usize)?;
        }
        Ok(types)
    }

    fn view_type(&self, view: &View, args: &[Value]) -> Result<Type> {
        let widths = args.iter().map(|&arg| self.width(arg)).collect::<Result<Vec<_>>>()?;
        let many = matches!(view, View::Join | View::Chain);
        let Some(&first) = widths.first().filter(|_| many || args.len() == 1) else {
            return Err(self.invalid(format!("a view of {}", counted(args.len() as u64, "value"))));
        };
        match view {
            View::Bits(bits) => match bits.iter().find(|&&bit| bit as usize >= first) {
                Some(bit) => Err(self.invalid(format!("bit {bit} of a value of {}", counted(first as u64, "bit")))),
                None => Ok(crate::graph::bits(bits.len() as u32)),
            },
            View::Join => self.bits_type(widths.iter().map(|&w| w as u64).sum()),
            View::Chain => {
                for &width in &widths {
                    self.same("bits of chained values", first, width)?;
                }
                Ok(self.type_of(args[0]))
            }
            View::Repeat(lanes) | View::Slice { count: lanes, .. } => {
                self.check_lanes(lanes)?;
                Ok(self.type_of(args[0]))
            }
            View::Lanes(_) => Ok(self.type_of(args[0])),
            View::Split(parts) if *parts > 0 && first % *parts as usize == 0 => {
                self.bits_type(first as u64 / *parts as u64)
            }
            View::Split(parts) => Err(self.invalid(format!(
                "{} split into {}",
                counted(first as u64, "bit"),
                counted((*parts).into(), "part")
            ))),
            View::Merge(0) => Err(self.invalid("a merge of no lanes")),
            View::Merge(parts) => self.bits_type(first as u64 * *parts as u64),
        }
    }

    fn bits_type(&self, width: u64) -> Result<Type> {
        match u32::try_from(width) {
            Ok(width) if u64::from(width) <= MOST_BITS => Ok(crate::graph::bits(width)),
            _ => Err(self.invalid(format!("a value of {width} bits"))),
        }
    }

    pub(super) fn width(&self, value: Value) -> Result<usize> {
        match self.values.get(value.0 as usize) {
            _ if value.1 != self.id => Err(self.invalid(format!("value {} belongs to another program", value.0))),
            Some(definition) => Ok(definition.ty.width as usize),
            None => Err(self.invalid(format!("value {} is not defined before it is used", value.0))),
        }
    }

    fn circuit_at(&self, circuit: u32) -> Result<&Circuit> {
        self.circuits.get(circuit as usize).ok_or_else(|| self.invalid(format!("no circuit {circuit}")))
    }

    fn check_port(&self, name: &str, taken: &HashSet<String>) -> Result<()> {
        check_name(name).map_err(|why| self.invalid(why))?;
        if taken.contains(name) { Err(self.invalid(format!("the port '{name}' is declared twice"))) } else { Ok(()) }
    }

    fn check_type(&self, ty: Type) -> Result<Vec<Type>> {
        check_type(ty).map_err(|why| self.invalid(why))?;
        self.bits_type(ty.width.into())?;
        Ok(vec![ty])
    }

    fn check_lanes(&self, lanes: &Lanes) -> Result<()> {
        match lanes.sizes.iter().find(|size| size.0 as usize >= self.sizes.len()) {
            Some(size) => Err(self.invalid(format!("size {} is not declared", size.0))),
            None => Ok(()),
        }
    }

    fn same(&self, what: &str, expected: usize, came: usize) -> Result<()> {
        if expected == came { Ok(()) } else { Err(self.invalid(format!("{what}: expected {expected}, came {came}"))) }
    }
}
