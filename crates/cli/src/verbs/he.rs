//! `duologue he`: keys, encryption and decryption by Paillier's system, as files.

use crate::args::{He, HeDecrypt, HeEncrypt, HeKeys, HeSecret, HeWhat};
use crate::failure::{Exit, Failure};
use crate::io::console::{self, Console};
use crate::io::private;
use he::packing::Layout;
use he::paillier::{PublicKey, SecretKey};
use he::{Additive, Error, KeySize, Plaintexts, SealKey};
use kernels::generator::Generator;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Most bytes of a file of a key that seals, of a key, of numbers, of ciphertexts.
const SEAL_KEY: u64 = 4096;
const KEY_FILE: u64 = 1 << 16;
const NUMBERS: u64 = 1 << 30;
const CIPHERTEXTS: u64 = 1 << 30;
/// Bytes of ciphertexts before the first of them.
const HEAD: u64 = 44;

pub fn run(args: &He, console: &Console) -> Result<(), Failure> {
    match &args.what {
        HeWhat::Keys(args) => keys(args, console),
        HeWhat::Encrypt(args) => encrypt(args, console),
        HeWhat::Decrypt(args) => decrypt(args, console),
    }
}

fn keys(args: &HeKeys, console: &Console) -> Result<(), Failure> {
    let public_file = public_file(&args.key);
    if args.new {
        let size = KeySize::new(args.bits).map_err(|why| failed(&args.key, why))?;
        // Both names are looked at before minutes are spent on primes.
        if let Some(taken) = [&args.key, &public_file].into_iter().find(|path| path.exists()) {
            return Err(Failure::input(format!("{} exists: a key is never overwritten", taken.display())));
        }
        let secret = SecretKey::generate(size, &mut random()?).map_err(|why| failed(&args.key, why))?;
        let file = secret.to_file(args.secret.seal_key()?.as_ref()).map_err(|why| failed(&args.key, why))?;
        private::write_new(&args.key, &file)?;
        write(&public_file, &secret.public().to_bytes())?;
        let seal = if args.secret.seal_key.is_some() { "sealed" } else { "unsealed" };
        console.note(format_args!("Made the private key {}, {seal}: keep it to yourself.", args.key.display()));
    }
    let secret = args.secret.load(&args.key)?;
    console.show(&KeyReport {
        key: console::hex(&secret.public().id()),
        bits: secret.public().size().bits(),
        sealed: args.secret.seal_key.is_some(),
        public_file: public_file.display().to_string(),
    })
}

fn encrypt(args: &HeEncrypt, console: &Console) -> Result<(), Failure> {
    let secret = args.key.as_ref().map(|file| args.secret.load(file)).transpose()?;
    let public = match (&secret, &args.public) {
        (Some(secret), _) => secret.public().clone(),
        (None, Some(file)) => load_public(file)?,
        (None, None) => {
            return Err(Failure::new(Exit::CommandLine, "--public FILE or --key FILE says whose key it is"));
        }
    };
    let numbers = numbers(&args.input)?;
    let layout = args.width.map(|width| Layout::uniform(width, &public)).transpose();
    let layout = layout.map_err(|why| failed(&args.input, why))?;
    let ciphertexts = numbers.len().div_ceil(layout.as_ref().map_or(1, Layout::len));
    check_length(&args.output, ciphertexts, &public)?;
    let plain = layout.as_ref().map_or_else(|| Ok(numbers.clone()), |layout| layout.pack(&numbers));
    let plain = plain.map_err(|why| failed(&args.input, why))?;
    let encrypted = match &secret {
        Some(secret) => secret.encrypt(&plain, &mut random()?),
        None => public.encrypt(&plain, &mut random()?),
    };
    let bytes = encrypted.and_then(|encrypted| public.write(&encrypted));
    let bytes = bytes.map_err(|why| failed(&args.input, why))?;
    write(&args.output, &bytes)?;
    let report = EncryptReport { numbers: numbers.len(), ciphertexts, bytes: bytes.len() };
    console.show(&report)
}

fn decrypt(args: &HeDecrypt, console: &Console) -> Result<(), Failure> {
    let secret = args.secret.load(&args.key)?;
    let plain = decrypted(args, &secret)?;
    let numbers = plain.to_u128s().ok_or_else(|| {
        let why = Failure::malformed(args.input.display(), "a plaintext has more than 128 bits");
        why.hint("packed numbers are read with --width and --count")
    })?;
    console.show(&DecryptReport { numbers: numbers.iter().map(u128::to_string).collect() })
}

fn decrypted(args: &HeDecrypt, secret: &SecretKey) -> Result<Plaintexts, Failure> {
    let failed = |why| failed(&args.input, why);
    let ciphertexts = secret.read(&read(&args.input, CIPHERTEXTS)?).map_err(failed)?;
    let (Some(width), Some(count)) = (args.width, args.count) else {
        return secret.decrypt(&ciphertexts).map_err(failed);
    };
    let layout = Layout::uniform(width, secret.public()).map_err(failed)?;
    let (has, want) = (ciphertexts.len(), count.div_ceil(layout.len()));
    if has != want {
        let path = args.input.display();
        let why = format!("{path}: --count {count} numbers of --width {width} bits are {want} ciphertexts, not {has}");
        return Err(Failure::input(why));
    }
    let plain = secret.decrypt(&ciphertexts).map_err(failed)?;
    layout.unpack(&plain, count).map_err(failed)
}

/// Whether `decrypt` would read as many ciphertexts.
fn check_length(file: &Path, ciphertexts: usize, key: &PublicKey) -> Result<(), Failure> {
    let bytes = HEAD + ciphertexts as u64 * u64::from(key.size().bits() / 4);
    if bytes <= CIPHERTEXTS {
        return Ok(());
    }
    let why =
        format!("{}: {ciphertexts} ciphertexts are {bytes} bytes, and at most {CIPHERTEXTS} are read", file.display());
    Err(Failure::input(why).hint("--width packs several numbers into a ciphertext; or encrypt the numbers in parts"))
}

fn load_public(file: &Path) -> Result<PublicKey, Failure> {
    PublicKey::from_bytes_of(&read(file, KEY_FILE)?, KeySize::new).map_err(|why| failed(file, why))
}

impl HeSecret {
    fn seal_key(&self) -> Result<Option<SealKey>, Failure> {
        let Some(file) = &self.seal_key else { return Ok(None) };
        let bytes = private::read(file, SEAL_KEY)?;
        SealKey::new(&bytes).map(Some).map_err(|why| failed(file, why))
    }

    /// The private key in a file.
    pub fn load(&self, file: &Path) -> Result<SecretKey, Failure> {
        let bytes = private::read(file, KEY_FILE)?;
        let secret = SecretKey::from_file(&bytes, self.seal_key()?.as_ref(), KeySize::new);
        secret.map_err(|why| failed(file, why))
    }
}

/// Who is to blame: bytes that somebody wrote, or the command line.
fn failed(file: &Path, why: Error) -> Failure {
    let hint = match &why {
        Error::PrivateKey(he::KeyFault::Seal) => Some("--seal-key FILE gives the key that it is sealed with"),
        Error::PrivateKey(he::KeyFault::NotSealed) => Some("leave --seal-key out"),
        Error::PlaintextOutOfRange { .. } => Some("--width and --count are those of whoever encrypted the numbers"),
        _ => None,
    };
    let failure = match why {
        Error::PublicKey(_) | Error::PrivateKey(_) | Error::Ciphertext { .. } | Error::Form(_) | Error::OtherKey => {
            Failure::malformed(file.display(), why)
        }
        Error::PlaintextOutOfRange { .. } => Failure::malformed(file.display(), why),
        Error::Random => Failure::new(Exit::Machine, why),
        _ => Failure::input(format!("{}: {why}", file.display())),
    };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn random() -> Result<Generator, Failure> {
    Generator::from_os().map_err(|_| Failure::new(Exit::Machine, "the system's random generator failed"))
}

fn public_file(key: &Path) -> PathBuf {
    let mut name = OsString::from(key);
    name.push(".pub");
    name.into()
}

/// Numbers, one a line.
fn numbers(file: &Path) -> Result<Plaintexts, Failure> {
    let text = read(file, NUMBERS)?;
    let text = std::str::from_utf8(&text).map_err(|_| Failure::malformed(file.display(), "it is no text"))?;
    let mut numbers = Zeroizing::new(Vec::with_capacity(text.lines().count()));
    for (line, text) in (1..).zip(text.lines()) {
        let number = text.trim().parse::<u128>();
        numbers.push(number.map_err(|_| {
            Failure::input(format!("{}, line {line}: not a number from 0 to 2^128 - 1", file.display()))
        })?);
    }
    Ok(Plaintexts::new(&numbers))
}

fn read(file: &Path, most: u64) -> Result<Zeroizing<Vec<u8>>, Failure> {
    if file == Path::new("-") {
        return private::erased(std::io::stdin().lock(), most, file);
    }
    let opened = std::fs::File::open(file).map_err(Failure::io(format!("reading {}", file.display())))?;
    private::erased(opened, most, file)
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes).map_err(Failure::io(format!("writing {}", file.display())))
}

#[derive(Serialize)]
struct KeyReport {
    /// The digest of the public key, in hexadecimal.
    key: String,
    bits: u32,
    /// Whether whoever has the file needs another one to use the private key.
    sealed: bool,
    public_file: String,
}

impl fmt::Display for KeyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seal = if self.sealed { "sealed" } else { "unsealed" };
        writeln!(f, "{} Paillier, {} bits, {seal}, public key in {}", self.key, self.bits, self.public_file)
    }
}

#[derive(Serialize)]
struct EncryptReport {
    numbers: usize,
    ciphertexts: usize,
    bytes: usize,
}

impl fmt::Display for EncryptReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} numbers in {} ciphertexts, {} bytes", self.numbers, self.ciphertexts, self.bytes)
    }
}

#[derive(Serialize)]
struct DecryptReport {
    /// In decimal: numbers of JSON have 53 bits in many programs.
    numbers: Vec<String>,
}

impl fmt::Display for DecryptReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.numbers.iter().try_for_each(|number| writeln!(f, "{number}"))
    }
}
