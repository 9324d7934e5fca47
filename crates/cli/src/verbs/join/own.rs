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
    let how = args.repeated_of(args.peer.party);
    if how == Repeated::Refuse {
        table.check_repeated(&strings)?;
    }
    let rows = strings.len();
    let used = used(args, query, columns);
    let mut all = cells(table, &used)?;
    if all.iter().any(|read| read.len() != rows) {
        return Err(Failure::input(format!("{} changed while it was read", table.file())));
    }
    if how != Repeated::Refuse {
        let joined = join_repeated(how, &mut strings, &mut all, &bits_of(args, query, &used));
        joined.map_err(|(row, place, why)| refuse(table, used[place], row, &why))?;
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

/// Of each column the bits of a sum, if it is added up.
fn bits_of(args: &Join, query: &Query, used: &[&Declared]) -> Vec<Option<u32>> {
    let numbers = query.numbers(args.peer.party);
    let bits = |declared: &&Declared| Some(numbers.iter().find(|number| number.column == declared.column)?.bits);
    used.iter().map(bits).collect()
}

fn refuse(table: &Table, column: &Declared, row: usize, why: &str) -> Failure {
    let name = &column.column.name;
    match table.place_of(row) {
        Ok(place) => Failure::input(format!("{}, {place}, column '{name}': {why}", table.file())),
        Err(failure) => failure,
    }
}

const WIDE: &str = "the numbers of its key, added up, have more bits than the column's type";

/// A row, the place of a column, and why rows cannot be joined.
type Wrong = (usize, usize, String);

/// Makes the rows of each key one.
fn join_repeated(
    how: Repeated,
    strings: &mut Vec<[u8; 16]>,
    all: &mut [Read],
    bits: &[Option<u32>],
) -> Result<(), Wrong> {
    let (mut places, mut kept) = (HashMap::with_capacity(strings.len()), Vec::new());
    for (row, string) in strings.iter().enumerate() {
        match places.entry(*string) {
            Entry::Vacant(place) => {
                place.insert(row);
                kept.push(row);
            }
            Entry::Occupied(first) if how == Repeated::Sum => {
                for (place, (read, bits)) in all.iter_mut().zip(bits).enumerate() {
                    read.join(*first.get(), row, bits.is_some()).map_err(|why| (row, place, why))?;
                }
            }
            Entry::Occupied(_) => {}
        }
    }
    for (place, (read, bits)) in all.iter().zip(bits).enumerate() {
        let wide = bits.and_then(|bits| kept.iter().find(|&&row| !read.fits(row, bits)));
        wide.map_or(Ok(()), |&row| Err((row, place, WIDE.into())))?;
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

    /// Joins a row to an earlier one: its number is added up, or all is equal.
    fn join(&mut self, to: usize, row: usize, is_added: bool) -> Result<(), String> {
        match self {
            Read::Numbers(numbers) if is_added => {
                numbers[to] = numbers[to].checked_add(numbers[row]).ok_or(WIDE)?;
                Ok(())
            }
            Read::Numbers(numbers) if numbers[to] == numbers[row] => Ok(()),
            Read::Texts(texts) if texts[to] == texts[row] => Ok(()),
            _ => Err(
                "it is another one than in an earlier row of its key, and only what --sum or --mean is asked of is \
                      added up"
                    .into(),
            ),
        }
    }

    /// Whether a row has a number of so many bits.
    fn fits(&self, row: usize, bits: u32) -> bool {
        match self {
            Read::Numbers(numbers) => numbers[row] << (64 - bits) >> (64 - bits) == numbers[row],
            Read::Texts(_) => true,
        }
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
