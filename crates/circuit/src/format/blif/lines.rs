//! Lines as the format has them: without comments, and whole where they go on after a backslash.

/// Words of a file, a line at a time.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Lines<'a> {
    pub fn new(file: &'a [u8]) -> Self {
        Lines { rest: file, line: 0 }
    }

    /// The words of the next line that has any, and the number of the line that it begins in.
    pub fn next(&mut self, words: &mut Vec<&'a [u8]>) -> Option<usize> {
        words.clear();
        let (mut first, mut goes_on) = (0, false);
        while (words.is_empty() || goes_on) && !self.rest.is_empty() {
            let line = self.physical();
            goes_on = line.last() == Some(&b'\\');
            let line = if goes_on { &line[..line.len() - 1] } else { line };
            if words.is_empty() {
                first = self.line;
            }
            words.extend(line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()));
        }
        (!words.is_empty()).then_some(first)
    }

    /// The line that the file ends in.
    pub fn last(&self) -> usize {
        self.line.max(1)
    }

    /// The next line, as it stands but for a comment.
    fn physical(&mut self) -> &'a [u8] {
        let length = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let line = &self.rest[..length];
        self.rest = self.rest.get(length + 1..).unwrap_or_default();
        self.line += 1;
        let end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
        line[..end].trim_ascii_end()
    }
}
