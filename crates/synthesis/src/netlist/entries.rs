//! Objects in JSON that are longer than the memory: their entries one by one.
//!
//! A value is taken as a slice of a buffer that moves along the file, and read from there. Slices are read three times as
//! fast as files are by `serde_json`, which looks at each of their bytes by itself.

use crate::error::{Error, Result};
use serde::Deserialize;
use std::io::Read;

/// How much is read at once.
const CHUNK: usize = 1 << 20;

/// A file of JSON, up to a place.
pub(super) struct Entries<R> {
    from: R,
    buffer: Vec<u8>,
    at: usize,
    /// The lines that have left the buffer.
    lines: u64,
    ended: bool,
}

impl<R: Read> Entries<R> {
    pub fn new(from: R) -> Self {
        Entries { from, buffer: Vec::new(), at: 0, lines: 0, ended: false }
    }

    /// Goes over the entries of the object that begins here. Each time it is called, `take` takes the value of a key.
    pub fn each(&mut self, mut take: impl FnMut(&mut Self, String) -> Result<()>) -> Result<()> {
        self.expect(b'{', "an object")?;
        if self.peek()? == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = match self.peek()? {
                Some(b'"') => self.value()?,
                _ => return Err(self.error("a key is missing")),
            };
            self.expect(b':', "':'")?;
            take(self, key)?;
            match self.peek()? {
                Some(b',') => self.at += 1,
                Some(b'}') => break self.at += 1,
                _ => return Err(self.error("neither ',' nor '}' stands behind a value")),
            }
        }
        Ok(())
    }

    /// The value that begins here.
    pub fn value<'a, T: Deserialize<'a>>(&'a mut self) -> Result<T> {
        let (begin, end) = self.span()?;
        self.at = end;
        serde_json::from_slice(&self.buffer[begin..end]).map_err(|why| {
            let line = self.lines + newlines(&self.buffer[..begin]) + why.line().max(1) as u64;
            let why = why.to_string();
            let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why);
            Error::netlist(format!("no netlist in JSON: line {line}: {why}"))
        })
    }

    /// Passes over the value that begins here.
    pub fn skip(&mut self) -> Result<()> {
        self.value::<serde::de::IgnoredAny>().map(drop)
    }

    /// Nothing may follow.
    pub fn end(&mut self) -> Result<()> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.error("more behind the end of the netlist")),
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<()> {
        match self.peek()? == Some(byte) {
            true => {
                self.at += 1;
                Ok(())
            }
            false => Err(self.error(&format!("{what} is missing"))),
        }
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let space = |byte: &u8| byte.is_ascii_whitespace();
            let spaces = self.buffer[self.at..].iter().take_while(|byte| space(byte)).count();
            self.at += spaces;
            if let Some(&byte) = self.buffer.get(self.at) {
                return Ok(Some(byte));
            }
            if !self.more(self.at)? {
                return Ok(None);
            }
        }
    }

    /// Where the value that begins here begins and ends in the buffer.
    fn span(&mut self) -> Result<(usize, usize)> {
        self.peek()?;
        let mut scan = Scan::default();
        let mut seen = 0;
        loop {
            if let Some(length) = scan.over(&self.buffer[self.at + seen..]) {
                return Ok((self.at, self.at + seen + length));
            }
            seen = self.buffer.len() - self.at;
            if !self.more(self.at)? {
                return match seen > 0 && scan.depth == 0 && !scan.text {
                    true => Ok((self.at, self.buffer.len())),
                    false => Err(self.error("the file ends too early")),
                };
            }
        }
    }

    /// Reads on, and forgets what stands before a place; whether there was more.
    fn more(&mut self, keep: usize) -> Result<bool> {
        self.lines += newlines(&self.buffer[..keep]);
        self.buffer.drain(..keep);
        self.at -= keep;
        let before = self.buffer.len();
        // As much as is there already, so that a long value is not moved for each chunk of it.
        let most = CHUNK.max(before) as u64;
        let read = if self.ended { Ok(0) } else { self.from.by_ref().take(most).read_to_end(&mut self.buffer) };
        let read = read.map_err(|why| Error::Tool {
            why: format!("reading a netlist: {why}"),
            hint: "can the file be read?".into(),
        })?;
        self.ended = read == 0;
        Ok(read > 0)
    }

    fn error(&self, why: &str) -> Error {
        let line = self.lines + 1 + newlines(&self.buffer[..self.at]);
        Error::netlist(format!("no netlist in JSON: line {line}: {why}"))
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// How far into a value a scan has come.
#[derive(Default)]
struct Scan {
    depth: usize,
    /// Within a text, and behind a backslash there.
    text: bool,
    escaped: bool,
    begun: bool,
}

impl Scan {
    /// The bytes up to the end of the value, if it ends here.
    fn over(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                _ if self.text => match self.text_until(&bytes[at..]) {
                    (end, true) if self.depth == 0 => return Some(at + end),
                    (end, _) => {
                        at += end;
                        continue;
                    }
                },
                _ if self.depth == 0 && self.begun && ENDS[usize::from(byte)] => return Some(at),
                b'"' => self.text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth == 0 => return Some(at),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            self.begun = true;
            at += 1;
            if self.depth > 0 && !self.text {
                at += bytes[at..].iter().take_while(|byte| !NESTS[usize::from(**byte)]).count();
            }
        }
        None
    }

    /// Goes on within a text: how far, and whether it ends there.
    fn text_until(&mut self, bytes: &[u8]) -> (usize, bool) {
        if std::mem::take(&mut self.escaped) {
            return (1, false);
        }
        match bytes.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            Some(at) if bytes[at] == b'"' => {
                self.text = false;
                (at + 1, true)
            }
            Some(at) => {
                self.escaped = true;
                (at + 1, false)
            }
            None => (bytes.len(), false),
        }
    }
}

/// What begins or ends something within an object or a list.
const NESTS: [bool; 256] = among(b"\"{}[]");
/// What stands behind a number or a word.
const ENDS: [bool; 256] = among(b"\"{}[],: \t\r\n");

const fn among(bytes: &[u8]) -> [bool; 256] {
    let (mut table, mut i) = ([false; 256], 0);
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
}
