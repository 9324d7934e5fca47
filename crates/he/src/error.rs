//! What can be wrong with keys, ciphertexts and plaintexts, each by a name of its own. No message holds a secret.

/// The result of everything that can fail in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was refused. Nothing has been decrypted then, but where a plaintext is at fault
/// ([`Error::PlaintextOutOfRange`], [`Error::NoPlaintext`]); no plaintext is given out after any of these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A public key, ours or a peer's, is not one.
    #[error("not a public key: {0}")]
    PublicKey(KeyFault),
    /// A private key is not one.
    #[error("not a private key: {0}")]
    PrivateKey(KeyFault),
    /// A ciphertext is not one. The session ends, and the ciphertext is shown to nobody.
    #[error("ciphertext {index}: {fault}")]
    Ciphertext {
        /// Its place among those that came with it.
        index: usize,
        /// What is wrong with it.
        fault: CiphertextFault,
    },
    /// Bytes do not have the form of a batch of ciphertexts.
    #[error("malformed ciphertexts: {0}")]
    Form(&'static str),
    /// A batch is too long for bytes that can be read again.
    #[error("a batch has at most 16777216 ciphertexts, not {0}")]
    TooMany(usize),
    /// Ciphertexts of one key were used with another.
    #[error("the ciphertexts are of another key")]
    OtherKey,
    /// A plaintext, or a constant, is not less than the number of plaintexts.
    #[error("plaintext {index} is too large for the key")]
    PlaintextTooLarge {
        /// Its place in its batch.
        index: usize,
    },
    /// A value does not fit its slot.
    #[error("value {index} does not fit its slot of {width} bits")]
    SlotOverflow {
        /// Its place in its batch.
        index: usize,
        /// The width of its slot.
        width: u32,
    },
    /// A layout has no slots, or more bits than a plaintext.
    #[error("slots of {bits} bits do not fit a plaintext of {capacity}")]
    Layout {
        /// All its bits.
        bits: u64,
        /// Bits of a plaintext.
        capacity: u32,
    },
    /// A decrypted value is larger than whoever packed it may make it: the peer did not follow the protocol.
    #[error("the peer misbehaved: plaintext {index} is larger than its slots")]
    PlaintextOutOfRange {
        /// Its place in its batch.
        index: usize,
    },
    /// A plaintext is none that the key can decrypt: the peer did not follow the protocol.
    #[error("the peer misbehaved: ciphertext {index} holds no number of this key")]
    NoPlaintext {
        /// Its place in its batch.
        index: usize,
    },
    /// Batches that belong together differ in length.
    #[error("batches of {0} and {1}")]
    Lengths(usize, usize),
    /// A key of this length is not made or taken here.
    #[error("keys have 2048 to 3072 bits, a multiple of 64, not {0}")]
    KeySize(u32),
    /// A key that seals files is too short or too long.
    #[error("a key that seals a file has from 32 to 4096 random bytes")]
    SealKey,
    /// The operating system gave no random bytes.
    #[error("the system's random generator failed")]
    Random,
    /// Ciphertexts that wait in a temporary file could not be written there or read back.
    #[error("the temporary file of ciphertexts in {folder} failed ({0}): TMPDIR names another folder with more room",
        folder = std::env::temp_dir().display())]
    Storage(std::io::ErrorKind),
}

/// What is wrong with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// Its bytes do not have the form of a key.
    #[error("its bytes do not have their form")]
    Form,
    /// It is sealed, and was opened with the wrong key or with none; or somebody changed it.
    #[error("its seal does not open")]
    Seal,
    /// A key for its seal was given, and it is not sealed.
    #[error("it is not sealed, and a key for its seal was given")]
    NotSealed,
    /// Its modulus has another length than was agreed on.
    #[error("its modulus has another length")]
    Size,
    /// Its modulus is even.
    #[error("its modulus is even")]
    Even,
    /// Its modulus is a power of another number.
    #[error("its modulus is a power")]
    Power,
    /// Its modulus is a prime.
    #[error("its modulus is a prime")]
    Prime,
    /// Its modulus has a factor below 2²⁰.
    #[error("its modulus has a small factor")]
    SmallFactor,
    /// The base of its randomness is 0, 1 or −1.
    #[error("its base is 0, 1 or -1")]
    TrivialBase,
    /// The base of its randomness has a factor in common with the modulus.
    #[error("its base is not coprime to the modulus")]
    BaseNotCoprime,
    /// The base of its randomness has the Jacobi symbol −1.
    #[error("its base has the Jacobi symbol -1")]
    BaseJacobi,
    /// The base of its randomness is a square, which only the key's owner can see.
    #[error("its base is a square")]
    BaseSquare,
    /// A factor of its modulus is no prime.
    #[error("a factor of its modulus is no prime")]
    FactorNotPrime,
    /// The factors of its modulus are equal or close.
    #[error("the factors of its modulus are equal or close")]
    FactorsClose,
    /// Its modulus has a factor in common with the number of its units.
    #[error("its modulus and the order of its units have a common factor")]
    NotCoprimeToOrder,
    /// A factor of its modulus is not 3 modulo 4, or the factors minus 1 have a small factor.
    #[error("a factor of its modulus minus 1 has a small factor, or is a multiple of 4")]
    SmallSubgroups,
    /// The prime u of a key of DGK is no prime, or too small for the width, or has 16 bits or more.
    #[error("its prime u is composite, or of another length than the width wants")]
    U,
    /// The orders of the bases of a key of DGK are not what they should be.
    #[error("its bases do not have their orders")]
    Orders,
}

/// What is wrong with a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CiphertextFault {
    /// It is 0.
    #[error("it is zero")]
    Zero,
    /// It is not less than the modulus.
    #[error("it is not less than the modulus")]
    TooLarge,
    /// It has a factor in common with the modulus.
    #[error("it is not coprime to the modulus")]
    NotCoprime,
    /// Its Jacobi symbol is −1: re-randomisation by h^α would leave it, and with it one bit that links ciphertexts.
    #[error("its Jacobi symbol is -1")]
    Jacobi,
}
