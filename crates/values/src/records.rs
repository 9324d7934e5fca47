//! Records of CSV, each with the line that it begins in: the reader of the crate `csv` counts from the end of the record before,
//! which is another line where lines are empty or end in CRLF.

use crate::{Error, Place, Result};
use csv_core::{ReadRecordResult, Reader};
use std::io::{self, ErrorKind, Read};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// Bytes that are there at least, if there are: a mark of the order of bytes, and one behind it.
const LEAST: usize = 4;

/// The records of a file, one after another; empty lines are passed over, and counted.
pub(crate) struct Records<'a, R> {
    from: R,
    /// The name of the file, for errors.
    file: &'a str,
    core: Reader,
    /// What was read; what is used of it; what there is of it.
    buffer: Vec<u8>,
    used: usize,
    end: usize,
    /// The last byte of the record before.
    last: u8,
    fields: Vec<u8>,
    ends: Vec<usize>,
}

/// Where the reader is in the last record.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    /// Before the end of the file.
    Ahead,
    /// Behind it, and behind the end of a line.
    Ended,
    /// Behind both, and that was not the end of the record.
    Over,
}

const NO_QUOTE: &str = "a double quote that closes the one which this record opens, before the end of the file";

/// The fields of a record.
pub(crate) struct Record<'a> {
    /// The line that it begins in, counted from 1.
    pub line: u64,
    /// Empty lines right before it.
    pub empty_lines: u64,
    fields: &'a [u8],
    ends: &'a [usize],
}

impl Record<'_> {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn field(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.fields[start..self.ends[place]]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|place| self.field(place))
    }
}

impl<'a, R: Read> Records<'a, R> {
    pub fn new(from: R, file: &'a str) -> Self {
        let [buffer, fields] = [vec![0; BUFFER], vec![0; 1 << 10]];
        let (core, ends) = (Reader::new(), vec![0; 1 << 4]);
        Records { from, file, core, buffer, used: 0, end: 0, last: 0, fields, ends }
    }

    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        let Some(empty_lines) = self.skip_empty_lines().map_err(Error::read(self.file))? else { return Ok(None) };
        let (line, mut written, mut ended, mut tail) = (self.core.line(), 0, 0, Tail::Ahead);
        loop {
            let input = &self.buffer[self.used..self.end];
            let (fields, ends) = (&mut self.fields[written..], &mut self.ends[ended..]);
            let (result, used, fields, ends) = self.core.read_record(input, fields, ends);
            (self.used, written, ended) = (self.used + used, written + fields, ended + ends);
            match result {
                ReadRecordResult::InputEmpty => {
                    if !self.fill().map_err(Error::read(self.file))? {
                        tail = self.end_line(tail);
                    }
                }
                ReadRecordResult::OutputFull => self.fields.resize(2 * self.fields.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::End => return Ok(None),
                ReadRecordResult::Record if tail == Tail::Over => {
                    let place = Place { file: Some(self.file.into()), line: Some(line), ..Place::default() };
                    return Err(Error::value(place, NO_QUOTE));
                }
                ReadRecordResult::Record => {
                    self.last = self.buffer[self.used.saturating_sub(1)];
                    let (fields, ends) = (&self.fields[..written], &self.ends[..ended]);
                    return Ok(Some(Record { line, empty_lines, fields, ends }));
                }
            }
        }
    }

    /// Ends the last line, if it does not end. Where that ends no record there is an open quote, or nothing but a mark of the
    /// order of bytes: the reader knows, without any input.
    fn end_line(&mut self, tail: Tail) -> Tail {
        if tail != Tail::Ahead {
            return Tail::Over;
        }
        (self.buffer[0], self.end) = (b'\n', 1);
        Tail::Ended
    }

    /// How many there were, unless nothing is behind them.
    fn skip_empty_lines(&mut self) -> io::Result<Option<u64>> {
        let mut count = 0;
        loop {
            while let Some(&byte) = self.buffer[..self.end].get(self.used) {
                match byte {
                    b'\n' => self.core.set_line(self.core.line() + 1),
                    b'\r' => {}
                    _ => return Ok(Some(count)),
                }
                count += u64::from((self.last, byte) != (b'\r', b'\n'));
                (self.last, self.used) = (byte, self.used + 1);
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Reads on; whether there was more.
    fn fill(&mut self) -> io::Result<bool> {
        (self.used, self.end) = (0, 0);
        while self.end < LEAST {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        Ok(self.end > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives so many bytes at a time.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(to.len());
            self.0.read(&mut to[..most])
        }
    }

    fn all(text: &str, piece: usize) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(Pieces(text.as_bytes(), piece), "t.csv");
        let mut all = Vec::new();
        while let Some(record) = records.next().unwrap() {
            all.push((record.line, record.iter().map(|field| String::from_utf8(field.into()).unwrap()).collect()));
        }
        all
    }

    #[test]
    fn empty_lines_are_counted() {
        for (text, expected) in [
            ("a\nb\n\nc\n\n\n", vec![0, 0, 1]),
            ("a\r\nb\r\n\r\nc", vec![0, 0, 1]),
            ("\n\r\na\n\r\n\n\"\"\r\n", vec![2, 2]),
            ("a\rb\r\rc\r", vec![0, 0, 1]),
        ] {
            for piece in [1, 4, usize::MAX] {
                let mut records = Records::new(Pieces(text.as_bytes(), piece), "t.csv");
                let mut came = Vec::new();
                while let Some(record) = records.next().unwrap() {
                    came.push(record.empty_lines);
                }
                assert_eq!(came, expected, "{text:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn a_quote_that_nothing_closes_is_refused_with_its_line() {
        for (text, line) in [("a,\"b", 1), ("a\n\n\"b\n\nc\n", 3), ("a\n\"", 2), ("a\n\"b\"\"\n", 2)] {
            for piece in [1, 4, usize::MAX] {
                let mut records = Records::new(Pieces(text.as_bytes(), piece), "t.csv");
                let why = loop {
                    match records.next() {
                        Ok(record) => assert!(record.is_some(), "{text:?}"),
                        Err(why) => break why.to_string(),
                    }
                };
                assert!(why.starts_with(&format!("t.csv, line {line}: ")), "{text:?}: {why}");
            }
        }
        for text in ["a\n\"b\"", "a\nb\"", "\u{feff}", "\"a\"\"\""] {
            all(text, 1);
        }
    }

    #[test]
    fn every_record_has_its_line() {
        let long = "x".repeat(5000);
        let wide = ",".repeat(100);
        for (text, expected) in [
            ("", vec![]),
            ("\n\r\n", vec![]),
            ("a\nb\nc", vec![(1, vec!["a"]), (2, vec!["b"]), (3, vec!["c"])]),
            ("a\r\nb\r\n\r\n\r\nc\r\n", vec![(1, vec!["a"]), (2, vec!["b"]), (5, vec!["c"])]),
            ("\n\na,\"b\n\nc\"\n\nd,e\n", vec![(3, vec!["a", "b\n\nc"]), (7, vec!["d", "e"])]),
            ("\u{feff}\"a\"\"b\",\"\"\r\n , c ", vec![(1, vec!["a\"b", ""]), (2, vec![" ", " c "])]),
            (&format!("{long}\n{wide}\n\"\""), vec![(1, vec![&long]), (2, vec![""; 101]), (3, vec![""])]),
        ] {
            for piece in [1, 2, 3, 7, usize::MAX] {
                let came = all(text, piece);
                let came: Vec<_> =
                    came.iter().map(|(line, record)| (*line, record.iter().map(|s| &**s).collect())).collect();
                assert_eq!(came, expected, "{text:?} in pieces of {piece}");
            }
        }
    }
}
