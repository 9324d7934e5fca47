//! What a party brings to a join, from its table. All that is read of it is overwritten when it is not needed any more, but for what the
//! reader of the file has in hand.

use super::columns::{Cells, Columns, Declared};
use crate::args::{Join, Repeated};
use crate::failure::Failure;
use crate::io::input;
use crate::verbs::psi::table::{Table, no_column, push};
use apps::join::{Column, Groups, Number, Own, Query, Test};
use std::collections::HashMap;
use std::mem;
use values::Wanted;
use zeroize::{Zeroize, Zeroizing};

/// The cells of a column.
enum Read {
    Numbers(Zeroizing<Vec<i64>>),
    Texts(Texts),
}

/// Cells of text: of each row the place of its text among those that there are.
struct Texts {
    rows: Zeroizing<Vec<u32>>,
    all: Zeroizing<Vec<String>>,
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
    let place = |column: &Column| used.iter().position(|declared| declared.column == *column);
    let (party, mut own) = (args.peer.party, Own::default());
    own.strings = mem::take(&mut *strings);
    let test = |test: &Test| place(&test.column).map_or(Vec::new(), |at| all[at].test(test));
    own.tests = query.tests(party).iter().map(test).collect();
    let group = |by: &Groups| place(&by.column).map_or(Vec::new(), |at| all[at].group(by));
    own.groups = query.groups(party).iter().map(group).collect();
    // A column's numbers are asked for once, and after all else.
    let mut take = |number: &Number| place(&number.column).map_or(Vec::new(), |at| all[at].take());
    own.numbers = query.numbers(party).iter().map(&mut take).collect();
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
    let numbers = input::columns(table.file(), &wanted.collect::<Vec<_>>())?.into_iter();
    // All are overwritten, whatever becomes of one of them.
    let numbers: Vec<_> = numbers.map(|read| read.map(Zeroizing::new)).collect();
    let mut numbers = numbers.into_iter();
    let read = |declared: &&Declared| {
        let name = &declared.column.name;
        match &declared.cells {
            Cells::Text => Texts::read(table, name).map(Read::Texts),
            Cells::Numbers { .. } => {
                let read = numbers.next().flatten().ok_or_else(|| no_column(table.file(), name))?;
                Ok(Read::Numbers(Zeroizing::new(read.to_numbers()?)))
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
    strings: &mut Zeroizing<Vec<[u8; 16]>>,
    all: &mut [Read],
    bits: &[Option<u32>],
) -> Result<(), Wrong> {
    let mut kept = Vec::new();
    for (row, first) in first_rows(strings).into_iter().enumerate() {
        if first as usize == row {
            kept.push(row);
        } else if how == Repeated::Sum {
            for (place, (read, bits)) in all.iter_mut().zip(bits).enumerate() {
                read.join(first as usize, row, bits.is_some()).map_err(|why| (row, place, why))?;
            }
        }
    }
    for (place, (read, bits)) in all.iter().zip(bits).enumerate() {
        let wide = bits.and_then(|bits| kept.iter().find(|&&row| !read.fits(row, bits)));
        wide.map_or(Ok(()), |&row| Err((row, place, WIDE.into())))?;
    }
    all.iter_mut().for_each(|read| read.keep(&kept));
    keep(strings, &kept);
    Ok(())
}

/// Of each row the first one with its key.
fn first_rows(strings: &[[u8; 16]]) -> Vec<u32> {
    let string = |&row: &u32| strings[row as usize];
    let mut order: Vec<u32> = (0..strings.len() as u32).collect();
    order.sort_unstable_by_key(|row| (string(row), *row));
    let mut first = vec![0; strings.len()];
    for rows in order.chunk_by(|one, other| string(one) == string(other)) {
        rows.iter().for_each(|&row| first[row as usize] = rows[0]);
    }
    first
}

/// Keeps these rows, which ascend.
fn keep<T: Copy + Zeroize>(list: &mut Zeroizing<Vec<T>>, rows: &[usize]) {
    rows.iter().enumerate().for_each(|(to, &row)| list[to] = list[row]);
    list[rows.len()..].iter_mut().zeroize();
    list.truncate(rows.len());
}

impl Texts {
    fn read(table: &Table, column: &str) -> Result<Texts, Failure> {
        let (mut places, mut rows) = (HashMap::new(), Zeroizing::default());
        table.texts(column, |text| {
            let place = match places.get(text) {
                Some(&place) => place,
                None => {
                    let place = places.len() as u32;
                    places.insert(text.to_owned(), place);
                    place
                }
            };
            push(&mut rows, place);
        })?;
        let mut all = Zeroizing::new(vec![String::new(); places.len()]);
        places.into_iter().for_each(|(text, place)| all[place as usize] = text);
        Ok(Texts { rows, all })
    }

    /// Of each row what there is of its text.
    fn map<T: Copy>(&self, of: impl Fn(&str) -> T) -> Vec<T> {
        let all: Vec<T> = self.all.iter().map(|text| of(text)).collect();
        self.rows.iter().map(|&place| all[place as usize]).collect()
    }
}

impl Read {
    fn len(&self) -> usize {
        match self {
            Read::Numbers(numbers) => numbers.len(),
            Read::Texts(texts) => texts.rows.len(),
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
            Read::Texts(texts) if texts.rows[to] == texts.rows[row] => Ok(()),
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
            Read::Numbers(numbers) => keep(numbers, rows),
            Read::Texts(texts) => keep(&mut texts.rows, rows),
        }
    }

    /// The numbers; none stay here.
    fn take(&mut self) -> Vec<i64> {
        match self {
            Read::Numbers(numbers) => mem::take(&mut **numbers),
            Read::Texts(_) => Vec::new(),
        }
    }

    fn test(&self, test: &Test) -> Vec<bool> {
        match self {
            Read::Numbers(numbers) => {
                let constant: i64 = test.value.parse().unwrap_or_default();
                numbers.iter().map(|number| test.passes(number.cmp(&constant))).collect()
            }
            Read::Texts(texts) => texts.map(|text| test.passes(text.cmp(&test.value))),
        }
    }

    fn group(&self, by: &Groups) -> Vec<u32> {
        match self {
            Read::Numbers(numbers) => {
                let value = |value: &String| value.parse::<i64>().ok();
                let places: HashMap<i64, u32> =
                    by.values.iter().zip(0..).filter_map(|(text, place)| Some((value(text)?, place))).collect();
                numbers.iter().map(|number| places.get(number).copied().unwrap_or(u32::MAX)).collect()
            }
            Read::Texts(texts) => {
                let places: HashMap<&str, u32> = by.values.iter().map(String::as_str).zip(0..).collect();
                texts.map(|text| places.get(text).copied().unwrap_or(u32::MAX))
            }
        }
    }
}
