//! Raw public keys in TLS: each side shows one and takes no other than the one it expects.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::{cipher_suite, default_provider};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, SignatureScheme};

use super::super::{Identity, PublicKey};
use crate::error::Error;

/// Checks that the peer shows a key that we expect, and that it holds it.
#[derive(Debug)]
pub(super) struct Pin {
    pub expected: Vec<PublicKey>,
    /// The key that was shown instead.
    refused: Mutex<Option<PublicKey>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pin {
    pub fn new(expected: Vec<PublicKey>) -> Self {
        let algorithms = provider().signature_verification_algorithms;
        Pin { expected, refused: Mutex::new(None), algorithms }
    }

    fn check(&self, shown: &CertificateDer<'_>) -> std::result::Result<(), rustls::Error> {
        let shown = PublicKey::from_spki(shown).ok_or(CertificateError::BadEncoding)?;
        if self.expected.contains(&shown) {
            return Ok(());
        }
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
        let why = Error::usage("another key is pinned");
        Err(CertificateError::Other(rustls::OtherError(Arc::new(why))).into())
    }

    pub fn refused(&self) -> Option<PublicKey> {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verify(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let spki = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &spki, signature, &self.algorithms)
    }
}

/// The methods that rustls wants in both roles' traits.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
            Err(rustls::PeerIncompatible::Tls12NotOffered.into())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            key: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
            self.verify(message, key, signature)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        key: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        self.check(key).map(|()| ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Pin {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        key: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> std::result::Result<ClientCertVerified, rustls::Error> {
        self.check(key).map(|()| ClientCertVerified::assertion())
    }

    signatures!();
}

/// 128 bits are the security of everything above: AES-128 comes first.
pub(super) fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS13_AES_256_GCM_SHA384,
            cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ],
        ..default_provider()
    }
}

pub(super) fn certified(identity: &Identity) -> Arc<CertifiedKey> {
    let spki = CertificateDer::from(identity.public().to_spki());
    Arc::new(CertifiedKey::new(vec![spki], identity.signer()))
}
