//! How `app:argmin` finds the least of many values.

use super::values::party;
use clap::ValueEnum;
use duologue::Party;
use duologue::channel::Link;
use std::path::PathBuf;

/// What `app:argmin` is; other programs take none of it but consent.
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "The least of many values, app:argmin (both parties give the same)")]
pub struct Least {
    /// How the values are held: shared by addition, each by one party, or shared by XOR; shared by addition unless told
    #[arg(long, value_enum)]
    pub form: Option<Form>,
    /// The protocol; auto is the fastest by prediction of those that leak nothing, and taken unless told
    #[arg(long, value_enum)]
    pub method: Option<Method>,
    /// Of forms shared and encrypted, and of xor by --method duologue, who sends the OTs: both parties take the fewest of them; one
    /// party alone sends fewer bytes in a new session by the maker silent, and is taken where --correlations names it and there is no --pool
    #[arg(long, value_enum)]
    pub ots: Option<Ots>,
    /// Consent to a method, or to a program of another, that shows a party more than the result, as huang does; both consent
    #[arg(long)]
    pub leaky: bool,
    /// Of form encrypted, who has the ciphertexts and gets the result; the other party has their key
    #[arg(long, value_name = "PARTY", value_parser = party())]
    pub server: Option<Party>,
    /// Of form encrypted, your private key, which `duologue he keys` made, if the ciphertexts are of it
    #[arg(long, value_name = "FILE")]
    pub he_key: Option<PathBuf>,
    /// The file of the key that this private key is sealed with
    #[arg(long, value_name = "FILE", requires = "he_key")]
    pub seal_key: Option<PathBuf>,
    /// Of form encrypted, for costs: the bits of the key; 3,072 unless told
    #[arg(long, value_name = "BITS")]
    pub key_bits: Option<u32>,
    /// Bits of an argument that each value has and that is found with it, in place of its index
    #[arg(long, value_name = "BITS")]
    pub argument: Option<u32>,
    /// Compare as many values at once as suits this line, '200ms,10Mbit' or internet; pairs unless told. With form xor it is the
    /// line by which auto predicts, internet unless told. For --size values=N, 1,000 unless told
    #[arg(long, value_name = "LINK")]
    pub schedule: Option<Link>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Form {
    /// Alice's and Bob's number of each value add up to it modulo 2^(bits + 1)
    Shared,
    /// Each party knows values of its own; both learn the least one
    Halves,
    /// Alice's and Bob's bits of each value add up to it bit by bit
    Xor,
    /// One party has ciphertexts of the values, and the other their key; the result is ciphertexts, too
    Encrypted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Method {
    Auto,
    /// Ours: comparisons by OT on shares; with form xor, pairs by GMW with the fewest bytes
    Duologue,
    /// Pairs in a garbled circuit, with the index; for --size values=N
    Kolesnikov,
    /// Pairs in a garbled circuit, and a walk to the argument that shows Bob its place: --leaky; for --size values=N
    Huang,
    /// Pairs in a garbled circuit, with arguments
    AbyYao,
    /// Pairs by GMW with few rounds, with the index; for --size values=N
    Schneider,
    /// Pairs by GMW with few rounds, with arguments
    AbyGmw,
    /// Of ciphertexts: blinded differences, which tell the key's owner their sizes: --leaky
    Boma,
    /// Of ciphertexts: comparisons by a second system of encryption, bit by bit
    Erkin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Ots {
    Both,
    One,
}
