//! Homomorphic encryption: keys, ciphertexts, numbers.

use clap::Subcommand;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct He {
    #[command(subcommand)]
    pub what: HeWhat,
}

#[derive(Subcommand)]
pub enum HeWhat {
    /// Make a key pair of Paillier's system, or show whose it is
    Keys(HeKeys),
    /// Encrypt numbers, by a public key or by the key pair of its owner
    Encrypt(HeEncrypt),
    /// Decrypt numbers
    Decrypt(HeDecrypt),
}

#[derive(clap::Args)]
pub struct HeKeys {
    /// The file of the private key; the public key lies beside it, in FILE.pub
    #[arg(value_name = "FILE")]
    pub key: PathBuf,
    /// Make a new key; a file that exists is never touched
    #[arg(long)]
    pub new: bool,
    /// The length of a new key: 2048 to 3072, a multiple of 64
    #[arg(long, value_name = "BITS", default_value_t = 3072, requires = "new")]
    pub bits: u32,
    #[command(flatten)]
    pub secret: HeSecret,
}

#[derive(clap::Args)]
pub struct HeSecret {
    /// The file of the key that the private key is sealed with: 32 random bytes or more
    #[arg(long, value_name = "FILE")]
    pub seal_key: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct HeEncrypt {
    /// A file of numbers from 0 to 2^128 - 1, one a line; - for standard input
    #[arg(value_name = "NUMBERS")]
    pub input: PathBuf,
    /// The public key of whoever is to decrypt
    #[arg(long, value_name = "FILE", required_unless_present = "key", conflicts_with = "key")]
    pub public: Option<PathBuf>,
    /// Your private key, if you are to decrypt: that is quicker
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The file of the ciphertexts, which is written anew
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Pack as many numbers of so many bits into a ciphertext as fit
    #[arg(long, value_name = "BITS")]
    pub width: Option<u32>,
    #[command(flatten)]
    pub secret: HeSecret,
}

#[derive(clap::Args)]
pub struct HeDecrypt {
    /// The file of the ciphertexts
    #[arg(value_name = "CIPHERTEXTS")]
    pub input: PathBuf,
    /// Your private key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The numbers have so many bits, and are packed
    #[arg(long, value_name = "BITS", requires = "count")]
    pub width: Option<u32>,
    /// How many numbers are packed
    #[arg(long, value_name = "NUMBER", requires = "width")]
    pub count: Option<usize>,
    #[command(flatten)]
    pub secret: HeSecret,
}
