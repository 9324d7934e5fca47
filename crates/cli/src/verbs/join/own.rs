//! What a party brings to a join, from its table.

use super::columns::{Cells, Columns, Declared};
use crate::args::{Join, Repeated};
use crate::failure::Failure;
use crate::io::input;
use crate::verbs::psi::table::{Table, no_column};
use apps::join::{Column, Groups, Own, Query, Test};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use values::Wanted;

/// The cells of a column.
enum Read {
    Numbers(Vec<i64>),
    Texts(Vec<String>),
}

/// The rows of a table as the query needs them, and how many the table has.
pub fn read(args: &Join, table: &Table, query: &Query, columns: &Columns) -> Result<(Own, u64), Failure> {
    let mut strings = table.keys_as(args.normalise.unwrap_or_default())?;
    if args.repeated == Repeated::Refuse {
        table.check_repeated(&strings)?;
    }
    let rows = strings.len();
    let used = used(args, query, columns);
    let mut all = cells(table, &used)?;
    if all.iter().any(|read| read.len() != rows) {
        return Err(Failure::input(format!("{} changed while it was read", table.file())));
    }
    if args.repeated != Repeated::Refuse {
        join_repeated(args.repeated, &mut strings, &mut all).map_err(|(row, place)| {
            let why = match &all[place] {
                Read::Numbers(_) => "the numbers of its key, added up, have more than 64 bits",
                Read::Texts(_) => {
                    "its text is another one than in an earlier row of its key, and texts are not added up"
                }
            };
            Failure::input(format!(
                "{}, column '{}', row {row} (from 0 on): {why}",
                table.file(),
                used[place].column.name
            ))
        })?;
    }
    let of = |column: &Column| used.iter().position(|declared| declared.column == *column).map(|place| &all[place]);
    let party = args.peer.party;
    let own = Own {
        strings,
        tests: query
            .tests(party)
            .iter()
            .map(|test| of(&test.column).map_or(Vec::new(), |read| read.test(test)))
            .collect(),
        groups: query.groups(party).iter().map(|by| of(&by.column).map_or(Vec::new(), |read| read.group(by))).collect(),
        numbers: query
            .numbers(party)
            .iter()
            .map(|number| of(&number.column).map_or(Vec::new(), Read::numbers))
            .collect(),
    };
    Ok((own, rows as u64))
}

/// The columns of this party that the query speaks of.
fn used<'a>(args: &Join, query: &Query, columns: &'a Columns) -> Vec<&'a Declared> {
    let party = args.peer.party;
    let wanted = query.tests(party).into_iter().map(|test| test.column);
    let wanted = wanted.chain(query.groups(party).into_iter().map(|by| by.column));
    let wanted: Vec<Column> = wanted.chain(query.numbers(party).into_iter().map(|number| number.column)).collect();
    columns.all(party).filter(|declared| wanted.contains(&declared.column)).collect()
}

/// All columns: numbers in one pass, of texts each in one.
fn cells(table: &Table, used: &[&Declared]) -> Result<Vec<Read>, Failure> {
    let wanted = used.iter().filter_map(|declared| match &declared.cells {
        Cells::Numbers { ty, form, .. } => Some(Wanted { column: &declared.column.name, ty: *ty, form }),
        Cells::Text => None,
    });
    let mut numbers = input::columns(table.file(), &wanted.collect::<Vec<_>>())?.into_iter();
    let read = |declared: &&Declared| {
        let name = &declared.column.name;
        match &declared.cells {
            Cells::Text => table.texts(name).map(Read::Texts),
            Cells::Numbers { .. } => {
                let read = numbers.next().flatten().ok_or_else(|| no_column(table.file(), name))?;
                Ok(Read::Numbers(read.to_numbers()?))
            }
        }
    };
    used.iter().map(read).collect()
}

/// Makes the rows of each key one; where they cannot be, the row and the column.
fn join_repeated(how: Repeated, strings: &mut Vec<[u8; 16]>, all: &mut [Read]) -> Result<(), (usize, usize)> {
    let (mut places, mut kept) = (HashMap::with_capacity(strings.len()), Vec::new());
    for (row, string) in strings.iter().enumerate() {
        match places.entry(*string) {
            Entry::Vacant(place) => {
                place.insert(row);
                kept.push(row);
            }
            Entry::Occupied(first) if how == Repeated::Sum => {
                let added = all.iter_mut().map(|read| read.add(*first.get(), row));
                added.enumerate().try_for_each(|(place, added)| added.ok_or((row, place)))?;
            }
            Entry::Occupied(_) => {}
        }
    }
    all.iter_mut().for_each(|read| read.keep(&kept));
    *strings = kept.into_iter().map(|row| strings[row]).collect();
    Ok(())
}

impl Read {
    fn len(&self) -> usize {
        match self {
            Read::Numbers(numbers) => numbers.len(),
            Read::Texts(texts) => texts.len(),
        }
    }

    /// Adds a row to an earlier one.
    fn add(&mut self, to: usize, row: usize) -> Option<()> {
        match self {
            Read::Numbers(numbers) => numbers[to] = numbers[to].checked_add(numbers[row])?,
            Read::Texts(texts) => return (texts[to] == texts[row]).then_some(()),
        }
        Some(())
    }

    fn keep(&mut self, rows: &[usize]) {
        match self {
            Read::Numbers(numbers) => *numbers = rows.iter().map(|&row| numbers[row]).collect(),
            Read::Texts(texts) => *texts = rows.iter().map(|&row| std::mem::take(&mut texts[row])).collect(),
        }
    }

    fn numbers(&self) -> Vec<i64> {
        match self {
            Read::Numbers(numbers) => numbers.clone(),
            Read::Texts(_) => Vec::new(),
        }
    }

    fn test(&self, test: &Test) -> Vec<bool> {
        match self {
            Read::Numbers(numbers) => {
                let constant: i64 = test.value.parse().unwrap_or_default();
                numbers.iter().map(|number| test.passes(number.cmp(&constant))).collect()
            }
            Read::Texts(texts) => texts.iter().map(|text| test.passes(text.cmp(&test.value))).collect(),
        }
    }

    fn group(&self, by: &Groups) -> Vec<u32> {
        let places: HashMap<&str, u32> = by.values.iter().map(String::as_str).zip(0..).collect();
        let place = |value: &str| places.get(value).copied().unwrap_or(u32::MAX);
        match self {
            Read::Numbers(numbers) => numbers.iter().map(|number| place(&number.to_string())).collect(),
            Read::Texts(texts) => texts.iter().map(|text| place(text)).collect(),
        }
    }
}
