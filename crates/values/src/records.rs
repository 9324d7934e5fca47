//! Records of CSV, each with the line that it begins in: the reader of the crate `csv` counts from the end of the record before,
//! which is another line where lines are empty or end in CRLF.

use csv_core::{ReadRecordResult, Reader};
use std::io::{self, ErrorKind, Read};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// Bytes that are there at least, if there are: a mark of the order of bytes, and one behind it.
const LEAST: usize = 4;

/// The records of a file, one after another; empty lines are passed over.
pub(crate) struct Records<R> {
    from: R,
    core: Reader,
    /// What was read; what is used of it; what there is of it.
    buffer: Vec<u8>,
    used: usize,
    end: usize,
    fields: Vec<u8>,
    ends: Vec<usize>,
}

/// The fields of a record.
pub(crate) struct Record<'a> {
    /// The line that it begins in, counted from 1.
    pub line: u64,
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

impl<R: Read> Records<R> {
    pub fn new(from: R) -> Self {
        let [buffer, fields] = [vec![0; BUFFER], vec![0; 1 << 10]];
        Records { from, core: Reader::new(), buffer, used: 0, end: 0, fields, ends: vec![0; 1 << 4] }
    }

    pub fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        if !self.skip_empty_lines()? {
            return Ok(None);
        }
        let (line, mut written, mut ended) = (self.core.line(), 0, 0);
        loop {
            let input = &self.buffer[self.used..self.end];
            let (fields, ends) = (&mut self.fields[written..], &mut self.ends[ended..]);
            let (result, used, fields, ends) = self.core.read_record(input, fields, ends);
            (self.used, written, ended) = (self.used + used, written + fields, ended + ends);
            match result {
                // Without any input the last record ends.
                ReadRecordResult::InputEmpty => drop(self.fill()?),
                ReadRecordResult::OutputFull => self.fields.resize(2 * self.fields.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::End => return Ok(None),
                ReadRecordResult::Record => {
                    return Ok(Some(Record { line, fields: &self.fields[..written], ends: &self.ends[..ended] }));
                }
            }
        }
    }

    /// Whether there is more behind them.
    fn skip_empty_lines(&mut self) -> io::Result<bool> {
        loop {
            while let Some(byte) = self.buffer[..self.end].get(self.used) {
                match byte {
                    b'\n' => self.core.set_line(self.core.line() + 1),
                    b'\r' => {}
                    _ => return Ok(true),
                }
                self.used += 1;
            }
            if !self.fill()? {
                return Ok(false);
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
        let mut records = Records::new(Pieces(text.as_bytes(), piece));
        let mut all = Vec::new();
        while let Some(record) = records.next().unwrap() {
            all.push((record.line, record.iter().map(|field| String::from_utf8(field.into()).unwrap()).collect()));
        }
        all
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
