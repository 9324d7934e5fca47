//! Instances of modules in a netlist: which of them stand for a block or for a circuit of a file.

use super::json::{self, Ordered, Parameter, Parts, RawCell, RawModule, RawPort, RawWire};
use super::place_text;
use crate::blocks::{self, Block, Given};
use crate::error::{Error, Result};
use circuit::format::cells;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io;

/// What the other modules of a file say of themselves, and the circuits that stand for some.
pub(super) struct Others<'a> {
    modules: FxHashMap<String, (Ordered<Parameter>, Ordered<Parameter>)>,
    given: &'a [Given],
}

impl<'a> Others<'a> {
    pub fn new<T>(modules: Vec<(String, RawModule<T>)>, given: &'a [Given]) -> Self {
        let said = |(name, module): (String, RawModule<T>)| (name, (module.attributes, module.parameters));
        Others { modules: modules.into_iter().map(said).collect(), given }
    }

    pub fn has(&self, module: &str) -> bool {
        self.modules.contains_key(module)
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
