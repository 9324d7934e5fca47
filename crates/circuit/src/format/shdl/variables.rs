//! Names of bits in Fairplay's comments, and the parties in them.

use crate::format::ports::{Names, grouped};
use crate::graph::Port;
use crate::program::Party;
use std::collections::{HashMap, HashSet};

const PARTIES: [(&str, Party); 2] = [("alice", Party::Alice), ("bob", Party::Bob)];

/// The comment that names a bit of a port: `output$input.alice.x$0`.
pub(super) fn comment(side: &str, party: Option<Party>, name: &str, bit: u32) -> String {
    let party = PARTIES.iter().find(|(_, known)| Some(*known) == party).map_or("", |(name, _)| name);
    let dot = if party.is_empty() { "" } else { "." };
    format!("output${side}.{party}{dot}{name}${bit}")
}

/// A bit by its variable and its place in it.
#[derive(Clone)]
pub(super) struct Named<'a> {
    variable: &'a str,
    bit: usize,
    party: Option<Party>,
    /// The variable without its party, unless it is that alone.
    name: &'a str,
}

/// What a comment says; none if it has not that form.
pub(super) fn named<'a>(comment: &'a str, side: &str) -> Option<Named<'a>> {
    let (variable, bit) = comment.trim().split_once('$')?.1.rsplit_once('$')?;
    let variable = variable.strip_prefix(side).and_then(|rest| rest.strip_prefix('.')).unwrap_or(variable);
    let (party, name) = owned(variable);
    Some(Named { variable, bit: bit.parse().ok()?, party, name })
}

fn owned(variable: &str) -> (Option<Party>, &str) {
    for (name, party) in PARTIES {
        match variable.strip_prefix(name) {
            Some("") => return (Some(party), variable),
            Some(rest) if rest.starts_with('.') && rest.len() > 1 => return (Some(party), &rest[1..]),
            _ => {}
        }
    }
    (None, variable)
}

/// Bits in the order of ports.
pub(super) struct Ports {
    pub ports: Vec<Port>,
    pub parties: Vec<Option<Party>>,
    /// The place in the file of each bit.
    pub order: Vec<usize>,
}

impl Ports {
    /// Variables in the order in which their first bits come, the bits of each by their places.
    pub fn of(names: &[Option<Named>], default: &str) -> Ports {
        let (order, shared) = (ordered(names), shared(names));
        let bit = |&place: &usize| {
            let named = names[place].as_ref()?;
            // What both parties have stays whole.
            let name = if shared.contains(named.name) { named.variable } else { named.name };
            Some(format!("{name}[{}]", named.bit))
        };
        let ports = grouped(&order.iter().map(bit).collect::<Names>(), default);
        let mut at = 0;
        let party = |port: &Port| {
            let first = names[order[at]].as_ref();
            at += port.ty.width as usize;
            first.and_then(|named| named.party)
        };
        Ports { parties: ports.iter().map(party).collect(), ports, order }
    }
}

fn ordered(names: &[Option<Named>]) -> Vec<usize> {
    let mut first = HashMap::new();
    let mut rank = |place: usize| match &names[place] {
        Some(named) => (*first.entry(named.variable).or_insert(place), named.bit),
        None => (place, 0),
    };
    let ranks: Vec<(usize, usize)> = (0..names.len()).map(&mut rank).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&place| ranks[place]);
    order
}

/// Names that variables of several parties have.
fn shared<'a>(names: &[Option<Named<'a>>]) -> HashSet<&'a str> {
    let mut parties = HashMap::new();
    let is_shared = |named: &&Named<'a>| *parties.entry(named.name).or_insert(named.party) != named.party;
    names.iter().flatten().filter(is_shared).map(|named| named.name).collect()
}
