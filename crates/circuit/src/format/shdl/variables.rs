//! Names of bits in Fairplay's comments, and the parties in them.

use crate::format::ports::grouped;
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
}

/// What a comment says; none if it has not that form.
pub(super) fn named<'a>(comment: &'a str, side: &str) -> Option<Named<'a>> {
    let (variable, bit) = comment.trim().split_once('$')?.1.rsplit_once('$')?;
    let variable = variable.strip_prefix(side).and_then(|rest| rest.strip_prefix('.')).unwrap_or(variable);
    Some(Named { variable, bit: bit.parse().ok()? })
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
        let mut first: HashMap<&str, usize> = HashMap::new();
        let rank = |(place, name): (usize, &Option<Named>), first: &HashMap<&str, usize>| match name {
            Some(name) => (first[name.variable], name.bit),
            None => (place, 0),
        };
        for (place, name) in names.iter().enumerate() {
            if let Some(name) = name {
                first.entry(name.variable).or_insert(place);
            }
        }
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_key(|&place| rank((place, &names[place]), &first));
        let split: Vec<Option<(Option<Party>, &str, usize)>> =
            order.iter().map(|&place| names[place].as_ref().map(|name| owned(name.variable, name.bit))).collect();
        // A name that both parties have stays whole.
        let (mut parties_of, mut shared) = (HashMap::new(), HashSet::new());
        for &(party, name, _) in split.iter().flatten() {
            if *parties_of.entry(name).or_insert(party) != party {
                shared.insert(name);
            }
        }
        let bits: Vec<Option<String>> = order
            .iter()
            .zip(&split)
            .map(|(&place, split)| {
                let (_, name, bit) = (*split)?;
                let whole = names[place].as_ref().filter(|_| shared.contains(name)).map(|name| name.variable);
                Some(format!("{}[{bit}]", whole.unwrap_or(name)))
            })
            .collect();
        let ports = grouped(&bits, default);
        let mut at = 0;
        let parties = ports.iter().map(|port| {
            let party = split[at].and_then(|(party, ..)| party);
            at += port.ty.width as usize;
            party
        });
        Ports { parties: parties.collect(), ports, order }
    }
}

/// The party that a variable begins with, and the rest: of one that is a party alone, the whole.
fn owned(variable: &str, bit: usize) -> (Option<Party>, &str, usize) {
    for (name, party) in PARTIES {
        match variable.strip_prefix(name) {
            Some("") => return (Some(party), variable, bit),
            Some(rest) if rest.starts_with('.') && rest.len() > 1 => return (Some(party), &rest[1..], bit),
            _ => {}
        }
    }
    (None, variable, bit)
}
