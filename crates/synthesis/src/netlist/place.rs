//! Where gates stand in the source, in twelve bytes each.

use rustc_hash::FxHashMap;

/// A place in the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    /// The file, or the name of what stands in none.
    name: u32,
    line: u32,
    column: u32,
}

/// The names that places have.
#[derive(Default, Debug)]
pub(crate) struct Places {
    names: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u32>,
}

impl Places {
    /// The place of a text: `file:line.column-line.column`, or a name.
    pub fn add(&mut self, text: &str) -> Place {
        let (name, line, column) = parsed(text).unwrap_or((text, 0, 0));
        let next = self.names.len() as u32;
        let name = match self.numbers.get(name) {
            Some(&number) => number,
            None => {
                self.names.push(name.into());
                // Names stand for themselves alone, so they need not be found again.
                if line > 0 {
                    self.numbers.insert(name.into(), next);
                }
                next
            }
        };
        Place { name, line, column }
    }

    /// The place as people read it.
    pub fn text(&self, place: Place) -> String {
        let name = self.names.get(place.name as usize).map_or("", |name| name);
        match (place.line, place.column) {
            (0, _) => name.to_string(),
            (line, 0) => format!("{name}:{line}"),
            (line, column) => format!("{name}:{line}.{column}"),
        }
    }
}

fn parsed(text: &str) -> Option<(&str, u32, u32)> {
    let (file, rest) = text.rsplit_once(':')?;
    let begin = rest.split('-').next()?;
    let (line, column) = begin.split_once('.').unwrap_or((begin, "0"));
    let line = line.parse().ok().filter(|line| *line > 0)?;
    Some((file, line, column.parse().ok()?))
}
