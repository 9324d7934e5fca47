//! The frames on the wire: a header of four bytes, then a body.
//!
//! ```text
//! kind: u8   length of the body: u24, little-endian   body
//!    1 data      1 ..= 2^20   bytes of the protocol
//!    2 abort     1 ..= 1025   code: u8, then a message in UTF-8
//!    3 progress  0            "I am alive and busy"
//!    4 end       0            "I have sent everything"
//! ```
//!
//! [`decode`] is a pure function of bytes, so that hostile input can be tested without a socket.
//! A data frame is never empty: an endless stream of frames without content would look alive.

use std::fmt;

use crate::error::{Error, Result};

/// The first bytes of a party that runs programs; the version follows.
pub const MAGIC: &[u8; 8] = b"duologue";

/// The first bytes of a party that only looks at the connection, as `duologue doctor` does; the version follows.
pub const DOCTOR: &[u8; 8] = b"duodoctr";

/// The first bytes of a driver of a job; the version of what drivers say follows.
pub const JOBS: &[u8; 8] = b"duojobs\0";

/// Bytes of a header.
pub const HEADER: usize = 4;
/// The most bytes that a data frame carries.
pub const MAX_BODY: usize = 1 << 20;
/// The most bytes of an abort's message.
pub const MAX_MESSAGE: usize = 1024;
/// The most bytes of a frame that is not data.
pub(super) const MAX_CONTROL: usize = HEADER + 1 + MAX_MESSAGE;

const DATA: u8 = 1;
const ABORT: u8 = 2;
const PROGRESS: u8 = 3;
const END: u8 = 4;

/// One message of a party to the channel at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The header of a data frame; its body of `len` bytes follows.
    Data {
        /// Bytes of the body, at least 1 and at most [`MAX_BODY`].
        len: usize,
    },
    /// The sender has stopped.
    Abort {
        /// Why, for programs.
        code: AbortCode,
        /// Why, for people; printable characters only.
        message: String,
    },
    /// The sender is alive.
    Progress,
    /// The sender has sent everything.
    End,
}

/// Why a party stopped, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AbortCode {
    /// A code that this version does not know.
    Unknown,
    /// A person or a program cancelled the computation.
    Cancelled,
    /// The other party broke the protocol.
    Misbehaved,
    /// The parties do not agree on what to compute.
    Incompatible,
    /// Something failed on this side: a disk, memory, a file.
    Failed,
    /// The channel was dropped before its end.
    Away,
    /// The other party was silent for too long.
    Timeout,
}

impl AbortCode {
    const ALL: [(u8, AbortCode, &'static str); 6] = [
        (1, AbortCode::Cancelled, "it was cancelled"),
        (2, AbortCode::Misbehaved, "it says that we misbehave"),
        (3, AbortCode::Incompatible, "it does not agree with us"),
        (4, AbortCode::Failed, "it failed"),
        (5, AbortCode::Away, "it went away"),
        (6, AbortCode::Timeout, "it lost patience with us"),
    ];

    /// The code that tells the peer about `error`.
    pub fn of(error: &Error) -> Self {
        match error {
            Error::Peer(_) => AbortCode::Misbehaved,
            Error::Incompatible { .. } => AbortCode::Incompatible,
            Error::Timeout { .. } => AbortCode::Timeout,
            Error::Cancelled => AbortCode::Cancelled,
            _ => AbortCode::Failed,
        }
    }

    fn to_byte(self) -> u8 {
        let known = Self::ALL.iter().find(|(_, code, _)| *code == self);
        known.map_or(0, |(byte, _, _)| *byte)
    }

    fn from_byte(byte: u8) -> Self {
        let known = Self::ALL.iter().find(|(b, _, _)| *b == byte);
        known.map_or(AbortCode::Unknown, |(_, code, _)| *code)
    }
}

impl fmt::Display for AbortCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::ALL.iter().find(|(_, code, _)| code == self);
        f.write_str(known.map_or("it gave no reason", |(_, _, text)| text))
    }
}

/// The header of a data frame.
pub(super) fn data_header(len: usize) -> [u8; HEADER] {
    debug_assert!((1..=MAX_BODY).contains(&len));
    header(DATA, len)
}

/// A whole progress frame.
pub(super) fn progress() -> [u8; HEADER] {
    header(PROGRESS, 0)
}

/// A whole end frame.
pub(super) fn end() -> [u8; HEADER] {
    header(END, 0)
}

/// A whole abort frame; a long message is cut.
pub(super) fn abort(code: AbortCode, message: &str) -> Vec<u8> {
    let message = cut(message);
    let mut frame = header(ABORT, 1 + message.len()).to_vec();
    frame.push(code.to_byte());
    frame.extend_from_slice(message.as_bytes());
    frame
}

/// As many whole characters as fit.
fn cut(message: &str) -> &str {
    let ends = message.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|&end| end <= MAX_MESSAGE).last();
    &message[..end.unwrap_or(0)]
}

fn header(kind: u8, len: usize) -> [u8; HEADER] {
    let [low, middle, high, ..] = (len as u32).to_le_bytes();
    [kind, low, middle, high]
}

/// Reads the frame at the start of `bytes` and says how many bytes it took: the header alone of a
/// data frame, all of any other. `None` if more bytes are needed to tell.
pub fn decode(bytes: &[u8]) -> Result<Option<(Frame, usize)>> {
    let Some((&[kind, low, middle, high], rest)) = bytes.split_first_chunk::<HEADER>() else {
        // A wrong kind is told at its first byte: garbage may be shorter than a header.
        return bytes.first().map_or(Ok(()), |&kind| known(kind)).map(|()| None);
    };
    known(kind)?;
    let len = u32::from_le_bytes([low, middle, high, 0]) as usize;
    let allowed = match kind {
        DATA => 1..=MAX_BODY,
        ABORT => 1..=1 + MAX_MESSAGE,
        _ => 0..=0,
    };
    if !allowed.contains(&len) {
        return Err(Error::peer(format!(
            "a {} frame has {} to {} bytes, this one claims {len}",
            name(kind),
            allowed.start(),
            allowed.end()
        )));
    }
    Ok(match kind {
        DATA => Some((Frame::Data { len }, HEADER)),
        ABORT => rest.get(..len).map(|body| (decode_abort(body), HEADER + len)),
        PROGRESS => Some((Frame::Progress, HEADER)),
        _ => Some((Frame::End, HEADER)),
    })
}

fn decode_abort(body: &[u8]) -> Frame {
    let (code, message) = body.split_first().map_or((0, body), |(c, m)| (*c, m));
    Frame::Abort { code: AbortCode::from_byte(code), message: sanitise(&String::from_utf8_lossy(message)) }
}

/// Keeps letters, digits and what is ASCII. Whatever could move a terminal's cursor, reverse the direction of writing, hide
/// or join what stands before it is written by its number.
fn sanitise(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmless(c) { safe.push(c) } else { safe.extend(c.escape_default()) }
    }
    safe
}

fn is_harmless(c: char) -> bool {
    match c {
        ' '..='~' => true,
        // Letters that look like a space.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => false,
        c => c.is_alphanumeric() && c.escape_debug().len() == 1,
    }
}

fn known(kind: u8) -> Result<()> {
    match kind {
        DATA..=END => Ok(()),
        _ => Err(Error::peer(format!("no frame is of kind {kind:#04x}: whatever answered does not speak duologue"))),
    }
}

/// Whether a party's first bytes are those of a session in the open.
pub(super) fn is_session(bytes: &[u8]) -> bool {
    let head = bytes.get(HEADER..HEADER + MAGIC.len());
    bytes.first() == Some(&DATA) && [MAGIC, DOCTOR, JOBS].iter().any(|magic| head == Some(&magic[..]))
}

/// Whether a party's first bytes are a TLS record: its handshake, or an alert about ours.
pub(super) fn is_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15 | 0x16, 3, ..])
}

fn name(kind: u8) -> &'static str {
    match kind {
        DATA => "data",
        ABORT => "abort",
        PROGRESS => "progress",
        _ => "end",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headers_are_what_the_module_says() {
        assert_eq!(data_header(0x012345), [1, 0x45, 0x23, 0x01]);
        assert_eq!(progress(), [3, 0, 0, 0]);
        assert_eq!(end(), [4, 0, 0, 0]);
        assert_eq!(abort(AbortCode::Cancelled, "no"), [2, 3, 0, 0, 1, b'n', b'o']);
    }

    #[test]
    fn lengths_and_kinds_outside_the_table_are_the_peers_fault() {
        for bytes in [
            [1, 0, 0, 0],       // an empty data frame
            [1, 1, 0, 0x10],    // one byte over 1 MiB
            [1, 255, 255, 255], // the largest claim
            [2, 0, 0, 0],       // an abort without a code
            [2, 2, 4, 0],       // a message of 1025 bytes
            [3, 1, 0, 0],
            [4, 0, 1, 0],
            [0, 0, 0, 0],
            *b"GET ",
        ] {
            assert!(matches!(decode(&bytes), Err(Error::Peer(_))), "{bytes:?}");
        }
        assert!(matches!(decode(b"G"), Err(Error::Peer(_))));
    }

    #[test]
    fn a_message_is_cut_at_a_character_and_printed_harmlessly() {
        let long = "é".repeat(MAX_MESSAGE);
        let (frame, len) = decode(&abort(AbortCode::Failed, &long)).unwrap().unwrap();
        assert_eq!(len, MAX_CONTROL);
        let expected = "é".repeat(MAX_MESSAGE / 2);
        assert_eq!(frame, Frame::Abort { code: AbortCode::Failed, message: expected });
        for (said, shown) in [
            ("a\x1b[2Jb\u{202e}c\r\n", r"a\u{1b}[2Jb\u{202e}c\r\n"),
            ("größe \u{5d0}\u{5d1} 7", "größe \u{5d0}\u{5d1} 7"),
            ("\u{200f}\u{2066}x\u{2069}\u{61c}", r"\u{200f}\u{2066}x\u{2069}\u{61c}"),
            ("a\u{3164}b\u{ffa0}", r"a\u{3164}b\u{ffa0}"),
            ("e\u{345}\u{378}\u{200b}\u{e0041}", r"e\u{345}\u{378}\u{200b}\u{e0041}"),
        ] {
            let (frame, _) = decode(&abort(AbortCode::Failed, said)).unwrap().unwrap();
            let Frame::Abort { message, .. } = frame else { panic!("an abort") };
            assert_eq!(message, shown);
        }
    }

    #[test]
    fn every_code_survives_the_wire() {
        for (byte, code, _) in AbortCode::ALL {
            assert_eq!(AbortCode::from_byte(byte), code);
            assert_eq!(code.to_byte(), byte);
        }
        assert_eq!(AbortCode::from_byte(200), AbortCode::Unknown);
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_fail_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..1100)) {
            if let Ok(Some((frame, used))) = decode(&bytes) {
                prop_assert!(used <= bytes.len());
                if let Frame::Data { len } = frame {
                    prop_assert!((1..=MAX_BODY).contains(&len));
                    prop_assert_eq!(&data_header(len), &bytes[..HEADER]);
                }
            }
        }

        #[test]
        fn a_prefix_never_decodes_differently(bytes in prop::collection::vec(any::<u8>(), 0..40), kind in 1u8..=4, len in 0u8..20) {
            let whole = [&[kind, len, 0, 0], bytes.as_slice()].concat();
            for cut in 0..whole.len() {
                if let Ok(Some(early)) = decode(&whole[..cut]) {
                    prop_assert_eq!(Some(early), decode(&whole).unwrap());
                }
            }
        }
    }
}
