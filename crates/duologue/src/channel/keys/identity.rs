//! A key pair that proves who a party is, and the file in which it lies.
//!
//! The private key lies in a PEM file (PKCS#8, RFC 8410) that only its owner may read; `openssl pkey` reads it too.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use data_encoding::BASE64;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::SigningKey;
use zeroize::Zeroizing;

use super::PublicKey;
use crate::error::{Error, Result};
use crate::private_files::{others_may, write_new};

/// PKCS#8 of an Ed25519 seed, RFC 8410 section 7, up to the seed.
const PKCS8: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// SubjectPublicKeyInfo of an Ed25519 key, RFC 8410 section 4, up to the key.
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

impl PublicKey {
    /// The key in the form in which TLS carries it (RFC 7250).
    pub(in crate::channel) fn to_spki(self) -> Vec<u8> {
        [&SPKI[..], self.as_bytes()].concat()
    }

    pub(in crate::channel) fn from_spki(spki: &[u8]) -> Option<Self> {
        let key = spki.strip_prefix(&SPKI)?;
        PublicKey::from_bytes(key.try_into().ok()?).ok()
    }
}

/// A key pair. It has no `Debug`: nothing can print it.
pub struct Identity {
    /// PKCS#8, 48 bytes when made here.
    private: Zeroizing<Vec<u8>>,
    signer: Arc<dyn SigningKey>,
    public: PublicKey,
}

impl Identity {
    /// A new key pair from the operating system's generator.
    pub fn generate() -> Result<Self> {
        let mut private = Zeroizing::new(vec![0; PKCS8.len() + 32]);
        private[..PKCS8.len()].copy_from_slice(&PKCS8);
        getrandom::fill(&mut private[PKCS8.len()..])
            .map_err(|e| Error::io("the system's random generator")(io::Error::other(e)))?;
        Self::from_pkcs8(private)
    }

    fn from_pkcs8(private: Zeroizing<Vec<u8>>) -> Result<Self> {
        // The signer keeps a copy of its own for as long as it lives.
        let der = PrivatePkcs8KeyDer::from(private.as_slice());
        let signer =
            rustls::crypto::ring::sign::any_eddsa_type(&der).map_err(|_| no_private_key("it holds no Ed25519 key"))?;
        let public = signer.public_key().and_then(|spki| PublicKey::from_spki(spki.as_ref()));
        let public = public.ok_or_else(|| no_private_key("it has no valid public key"))?;
        Ok(Identity { private, signer, public })
    }

    /// The half that everybody may know.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    pub(in crate::channel) fn signer(&self) -> Arc<dyn SigningKey> {
        self.signer.clone()
    }

    /// Reads a key from a PEM file that nobody else may read.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let what = || format!("reading the key {}", path.display());
        let mut file = File::open(path).map_err(Error::io(what()))?;
        refuse_readable_by_others(&file, path)?;
        let mut pem = Zeroizing::new(Vec::with_capacity(1024));
        (&mut file).take(1 << 16).read_to_end(&mut pem).map_err(Error::io(what()))?;
        Self::from_pem(&pem).map_err(|e| match e {
            Error::Malformed { why, .. } => no_private_key(format!("{}: {why}", path.display())),
            other => other,
        })
    }

    /// The key in the text of a PEM file.
    pub fn from_pem(pem: &[u8]) -> Result<Self> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem)
            .map_err(|e| no_private_key(format!("it is not a PEM file: {e}")))?;
        Self::from_pkcs8(Zeroizing::new(der.secret_pkcs8_der().to_vec()))
    }

    /// Writes the key to a PEM file for its owner's eyes. A file that exists is never touched.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        write_new(path, self.to_pem().as_bytes()).map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => {
                Error::usage(format!("{} exists: a key is never overwritten, move it away first", path.display()))
            }
            _ => Error::io(format!("writing the key {}", path.display()))(e),
        })
    }

    fn to_pem(&self) -> Zeroizing<String> {
        let body = Zeroizing::new(BASE64.encode(&self.private));
        let mut pem = Zeroizing::new(String::with_capacity(512));
        pem.push_str("-----BEGIN PRIVATE KEY-----\n");
        for line in body.as_bytes().chunks(64) {
            pem.extend(line.iter().map(|&c| char::from(c)));
            pem.push('\n');
        }
        pem.push_str("-----END PRIVATE KEY-----\n");
        pem
    }
}

fn no_private_key(why: impl Into<String>) -> Error {
    Error::Malformed { what: "private key".into(), why: why.into() }
}

fn refuse_readable_by_others(file: &File, path: &Path) -> Result<()> {
    let metadata = file.metadata().map_err(Error::io("reading a key's permissions"))?;
    let Some(mode) = others_may(&metadata) else { return Ok(()) };
    let path = path.display();
    Err(Error::usage(format!(
        "others may read or write the key {path} (mode {mode:03o}): run `chmod 600 {path}`, or make a new key if somebody may have read it"
    )))
}
