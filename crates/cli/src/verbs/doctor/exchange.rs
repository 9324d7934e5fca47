//! How doctors greet each other, in bytes:
//!
//! | bytes | |
//! |--:|---|
//! | 8 | `duodoctr`; a party that runs programs says `duologue` |
//! | 2 | the version of what programs send, little-endian; a party that runs programs has it here too |
//! | 1 | the version of what doctors send |
//! | 16 | the version of the command, ASCII, filled up with zeros |
//!
//! Then the clocks are compared. Nothing here is a party's input.

use crate::failure::{Exit, Failure};
use duologue::channel::{AbortCode, Channel};
use duologue::session::{DOCTOR, MAGIC};

/// Bytes that every party sends first.
const HEAD: usize = 10;
/// Bytes that follow in a doctor's greeting.
const REST: usize = 17;
/// The version of what doctors send.
const FORM: u8 = 1;

/// Who the peer is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Other {
    Doctor {
        protocol: u16,
        version: String,
    },
    /// A party that runs programs.
    Program {
        protocol: u16,
    },
}

/// Says who we are, and reads who the peer is.
pub fn greet(channel: &mut Channel, protocol: u16, version: &str) -> Result<Other, Failure> {
    channel.send(&greeting(protocol, version))?;
    let head = channel.recv(HEAD)?;
    match read_head(&head)? {
        (true, protocol) => Ok(Other::Doctor { protocol, version: read_rest(&channel.recv(REST)?)? }),
        (false, protocol) => Ok(Other::Program { protocol }),
    }
}

/// Tells a party that runs programs why nothing follows.
pub fn leave(channel: &mut Channel) {
    channel.abort(AbortCode::Incompatible, "what to do: this is `duologue doctor`, which runs no program");
}

fn greeting(protocol: u16, version: &str) -> Vec<u8> {
    let mut bytes = DOCTOR.to_vec();
    bytes.extend(protocol.to_le_bytes());
    bytes.push(FORM);
    bytes.extend(version.bytes().take(REST - 1));
    bytes.resize(HEAD + REST, 0);
    bytes
}

/// Whether it is a doctor, and the version of what its programs send.
fn read_head(head: &[u8]) -> Result<(bool, u16), Failure> {
    let (magic, protocol) = head.split_at(MAGIC.len());
    let protocol = protocol.try_into().map(u16::from_le_bytes);
    match protocol {
        Ok(protocol) if magic == DOCTOR => Ok((true, protocol)),
        Ok(protocol) if magic == MAGIC => Ok((false, protocol)),
        _ => Err(Failure::new(Exit::Peer, "the peer answers, but does not speak duologue")
            .hint("does something else have that port there?")),
    }
}

fn read_rest(rest: &[u8]) -> Result<String, Failure> {
    let (form, version) = rest.split_first().map_or((0, rest), |(form, version)| (*form, version));
    if form != FORM {
        let why = format!("its doctor speaks version {form} of what doctors say, ours version {FORM}");
        return Err(Failure::new(Exit::Incompatible, why).hint("install the same version of duologue at both sides"));
    }
    let text = version.iter().take_while(|byte| **byte != 0);
    match text.clone().all(u8::is_ascii_graphic) {
        true => Ok(text.map(|byte| char::from(*byte)).collect()),
        false => Err(Failure::new(Exit::Peer, "the version in its doctor's greeting is no text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_greeting_is_read_as_it_was_written() {
        let bytes = greeting(7, "0.1.0");
        assert_eq!(bytes.len(), HEAD + REST);
        assert_eq!(read_head(&bytes[..HEAD]).unwrap(), (true, 7));
        assert_eq!(read_rest(&bytes[HEAD..]).unwrap(), "0.1.0");
        let long = greeting(7, "1234567890123456789");
        assert_eq!((long.len(), read_rest(&long[HEAD..]).unwrap()), (HEAD + REST, "1234567890123456".into()));
    }

    #[test]
    fn whoever_is_no_doctor_is_told_apart() {
        assert_eq!(read_head(b"duologue\x03\x01").unwrap(), (false, 0x103));
        assert_eq!(read_head(b"SSH-2.0-Op").unwrap_err().exit, Exit::Peer);
        assert_eq!(read_rest(&[[2].as_slice(), &[0; 16]].concat()).unwrap_err().exit, Exit::Incompatible);
        assert_eq!(read_rest(b"\x01\x1b[2J\0\0\0\0\0\0\0\0\0\0\0\0").unwrap_err().exit, Exit::Peer);
    }

    proptest! {
        #[test]
        fn no_bytes_of_a_peer_are_shown_raw(head in prop::collection::vec(any::<u8>(), HEAD), rest in prop::collection::vec(any::<u8>(), REST)) {
            let _ = read_head(&head);
            let _ = read_head(&[DOCTOR.as_slice(), &head[..2]].concat());
            for first in [rest[0], FORM] {
                let rest = [&[first], &rest[1..]].concat();
                if let Ok(version) = read_rest(&rest) {
                    prop_assert!(version.len() <= 16 && version.bytes().all(|byte| byte.is_ascii_graphic()));
                }
            }
        }
    }
}
