//! Instances of modules in a netlist: which of them stand for a block or for a circuit of a file.

use super::json::{self, Ordered, Parameter, Parts, RawCell, RawModule, RawPort, RawWire};
use super::parts::{self, Netted};
use super::{Module, place_text};
use crate::blocks::{self, Block, Given};
use crate::error::{Error, Result};
use circuit::format::cells;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io;
use std::rc::Rc;

/// The most modules one within the other.
const MOST_LEVELS: usize = 200;

/// What the other modules of a file say of themselves, their bodies, and the circuits that stand for some.
pub(super) struct Others<'a> {
    modules: FxHashMap<String, (Ordered<Parameter>, Ordered<Parameter>)>,
    bodies: FxHashMap<String, RawModule<Netted>>,
    built: FxHashMap<String, Rc<Module>>,
    given: &'a [Given],
    creator: String,
    level: usize,
}

impl<'a> Others<'a> {
    pub fn new(modules: Vec<(String, RawModule<Netted>)>, given: &'a [Given], creator: String) -> Self {
        let (built, level) = Default::default();
        let mut others =
            Others { modules: FxHashMap::default(), bodies: FxHashMap::default(), built, given, creator, level };
        for (name, mut module) in modules {
            let said = (std::mem::take(&mut module.attributes), std::mem::take(&mut module.parameters));
            if !is_box(&said.0) {
                others.bodies.insert(name.clone(), module);
            }
            others.modules.insert(name, said);
        }
        others
    }

    pub fn has(&self, module: &str) -> bool {
        self.modules.contains_key(module)
    }

    /// The module of what was read of it.
    pub fn module(&mut self, name: String, raw: RawModule<Netted>) -> Result<Module> {
        if self.level == MOST_LEVELS {
            return Err(Error::netlist(format!("more than {MOST_LEVELS} modules one within the other")));
        }
        self.level += 1;
        let module = parts::module(name, raw, self.creator.clone(), self)?;
        self.level -= 1;
        Ok(module.settled())
    }

    /// The module that an instance has within it, if the file has its body.
    pub fn inner(&mut self, kind: &str, place: &str) -> Result<Option<Rc<Module>>> {
        if let Some(module) = self.built.get(kind) {
            return Ok(Some(module.clone()));
        }
        let Some(raw) = self.bodies.remove(kind) else {
            return match self.modules.get(kind) {
                Some(said) if !is_box(&said.0) => {
                    let why = format!("the module '{kind}' contains itself");
                    Err(Error::design(place, why, "end the recursion with a generate-if"))
                }
                _ => Ok(None),
            };
        };
        let module = Rc::new(self.module(kind.to_string(), raw)?);
        self.built.insert(kind.to_string(), module.clone());
        Ok(Some(module))
    }

    /// What an instance of a module stands for, by its own attribute or that of the module.
    pub fn block(
        &self,
        kind: &str,
        own: Option<&String>,
        parameters: &[(String, Parameter)],
        place: &str,
    ) -> Result<Option<Block>> {
        if let Some(given) = self.given.iter().find(|given| given.module == kind) {
            return Ok(Some(Block::Given(given.clone())));
        }
        let module = self.modules.get(kind);
        let of_module = || module?.0.get(blocks::BLOCK).map(Parameter::text);
        let Some(text) = own.cloned().or_else(of_module) else { return Ok(None) };
        let default = |name: &str| module?.1.get(name);
        let parameter = |name: &str| super::find(parameters, name).or_else(|| default(name)).cloned();
        Block::named(&text, parameter, place).map(Some)
    }
}

/// Whether a module has no body.
pub(super) fn is_box(attributes: &Ordered<Parameter>) -> bool {
    ["blackbox", "whitebox"].iter().any(|name| attributes.get(name).is_some_and(Parameter::is_set))
}

/// The block that the attribute of an instance names. Operators are none, and neither are modules with a body.
pub(super) fn own_block(raw: &RawCell, place: &str) -> Result<Option<String>> {
    let Some(text) = raw.attributes.get(blocks::BLOCK) else { return Ok(None) };
    if raw.kind == blocks::INNER || raw.kind.starts_with('$') {
        let why = format!("{} before an operator, or before an instance of a module that has a body", blocks::BLOCK);
        return Err(Error::design(place, why, "write it before the module"));
    }
    Ok(Some(text.text()))
}

/// Which way a pin of a cell of our library goes, for tools that have not read the library.
pub(super) fn of_library(kind: &str, pin: &str) -> Option<&'static str> {
    let cell = cells::find(kind)?;
    match pin {
        cells::OUTPUT => Some("output"),
        _ => cell.inputs.contains(&pin).then_some("input"),
    }
}

/// Where an instance of a block stands, if a path `module.instance.port` may be one of its ports, and the port.
///
/// The module of the path may be part of another one by now, so that instances are known by the ends of their names.
pub(crate) fn block_at(json: impl io::Read, path: &str, given: &[Given]) -> Result<Option<(String, String)>> {
    let Some((instance, port)) = path.rsplit_once('.') else { return Ok(None) };
    let modules = json::read::<Instances>(json)?.modules.unwrap_or_default();
    let end = |name: &str| name.rsplit('.').next().map(str::to_string);
    let is_block = |module: &RawModule<Instances>| module.attributes.get(blocks::BLOCK).is_some();
    let named = modules.iter().filter(|(_, module)| is_block(module)).map(|(name, _)| name.as_str());
    let boxes: FxHashSet<&str> = named.chain(given.iter().map(|given| given.module.as_str())).collect();
    let mut cells = modules.iter().flat_map(|(_, module)| &module.parts.0);
    let found = cells.find(|(name, cell)| {
        boxes.contains(cell.kind.as_str()) && end(name) == end(instance) && cell.connections.get(port).is_some()
    });
    Ok(found.map(|(name, cell)| (place_text(&cell.attributes, name), port.to_string())))
}

/// The cells of a module that are no operators.
#[derive(Default)]
struct Instances(Vec<(String, RawCell)>);

impl Parts for Instances {
    fn ports(&mut self, _: Ordered<RawPort>) {}

    fn cell(&mut self, name: String, cell: RawCell) {
        if !cell.kind.starts_with('$') || cell.kind.starts_with("$paramod") {
            self.0.push((name, cell));
        }
    }

    fn wire(&mut self, _: String, _: RawWire) {}
}
