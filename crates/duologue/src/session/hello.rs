//! Hellos: the first bytes of a session, by which strangers, other versions and the same party are found out.

use crate::channel::Channel;
use crate::{Error, Party, Result};
use kernels::generator::Generator;

/// The version of what travels; another one is refused by name.
pub const VERSION: u16 = 1;

const MAGIC: &[u8; 8] = b"duologue";

/// Computational and statistical security in bits.
const SECURITY: [u8; 2] = [128, 40];

/// Bytes of a hello: magic and version, then party, security and nonce.
const HELLO_HEAD: usize = 10;
const HELLO_REST: usize = 1 + 2 + 32;

/// Who we are and what we speak, with a nonce that makes the session fresh.
pub(super) fn hello(party: Party, secrets: &Generator) -> Vec<u8> {
    let mut hello = MAGIC.to_vec();
    hello.extend(VERSION.to_le_bytes());
    hello.push(party as u8);
    hello.extend(SECURITY);
    let mut nonce = [0; 32];
    secrets.derive(b"nonce   ", 0).fill(&mut nonce);
    hello.extend(nonce);
    hello
}

/// Exchanges hellos. The head tells a stranger from another version before more is read.
pub(super) fn greet(channel: &mut Channel, hello: &[u8]) -> Result<Vec<u8>> {
    channel.send(hello)?;
    let mut theirs = channel.recv(HELLO_HEAD)?;
    check_head(&theirs)?;
    theirs.extend(channel.recv(HELLO_REST)?);
    check_hello(hello, &theirs)?;
    Ok(theirs)
}

fn check_head(theirs: &[u8]) -> Result<()> {
    if theirs[..8] != *MAGIC {
        return Err(Error::peer("it does not speak duologue (is a simulated link set on one side only?)"));
    }
    let version = u16::from_le_bytes([theirs[8], theirs[9]]);
    if version != VERSION {
        let (ours, theirs) = (VERSION.to_string(), version.to_string());
        return Err(Error::Incompatible { what: "the version of the protocol", ours, theirs });
    }
    Ok(())
}

/// Checks the peer's hello against ours; both are complete.
pub fn check_hello(ours: &[u8], theirs: &[u8]) -> Result<()> {
    if theirs.len() != HELLO_HEAD + HELLO_REST {
        return Err(Error::peer("its hello has a wrong length"));
    }
    check_head(theirs)?;
    let party = |hello: &[u8]| match hello[HELLO_HEAD] {
        0 => Ok(Party::Alice),
        1 => Ok(Party::Bob),
        other => Err(Error::peer(format!("it is party {other}"))),
    };
    let (us, them) = (party(ours)?, party(theirs)?);
    if us == them {
        let what = "who is who (one must be alice, the other bob)";
        return Err(Error::Incompatible { what, ours: us.to_string(), theirs: them.to_string() });
    }
    let security = |hello: &[u8]| format!("{} and {} bits", hello[HELLO_HEAD + 1], hello[HELLO_HEAD + 2]);
    if security(ours) != security(theirs) {
        let (ours, theirs) = (security(ours), security(theirs));
        return Err(Error::Incompatible { what: "the security parameters", ours, theirs });
    }
    if ours[HELLO_HEAD + 3..] == theirs[HELLO_HEAD + 3..] {
        return Err(Error::peer("it sent our own nonce back"));
    }
    Ok(())
}
