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
use std::io::Read;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Most bytes of a file of a key, of numbers, of ciphertexts.
const KEY_FILE: u64 = 1 << 16;
const NUMBERS: u64 = 1 << 30;

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
        let size = args.secret.size(args.bits).map_err(|why| failed(&args.key, why))?;
        // Both names are looked at before minutes are spent on primes.
        if let Some(taken) = [&args.key, &public_file].into_iter().find(|path| path.exists()) {
            return Err(Failure::input(format!("{} exists: a key is never overwritten", taken.display())));
        }
        let secret = SecretKey::generate(size, &mut random()?).map_err(|why| failed(&args.key, why))?;
        let file = secret.to_file(args.secret.seal_key()?.as_ref()).map_err(|why| failed(&args.key, why))?;
        private::write_new(&args.key, &file)?;
        write(&public_file, &secret.public().to_bytes())?;
        console.note(format_args!("Made the private key {}: keep it to yourself.", args.key.display()));
    }
    let secret = args.secret.load(&args.key)?;
    console.show(&KeyReport {
        key: console::hex(&secret.public().id()),
        bits: secret.public().size().bits(),
        public_file: public_file.display().to_string(),
    })
}

fn encrypt(args: &HeEncrypt, console: &Console) -> Result<(), Failure> {
    let secret = args.key.as_ref().map(|file| args.secret.load(file)).transpose()?;
    let public = match (&secret, &args.public) {
        (Some(secret), _) => secret.public().clone(),
        (None, Some(file)) => args.secret.load_public(file)?,
        (None, None) => {
            return Err(Failure::new(Exit::CommandLine, "--public FILE or --key FILE says whose key it is"));
        }
    };
    let numbers = numbers(&args.input)?;
    let layout = args.width.map(|width| Layout::uniform(width, &public)).transpose();
    let layout = layout.map_err(|why| failed(&args.input, why))?;
    let plain = layout.as_ref().map_or_else(|| Ok(numbers.clone()), |layout| layout.pack(&numbers));
    let plain = plain.map_err(|why| failed(&args.input, why))?;
    let ciphertexts = match &secret {
        Some(secret) => secret.encrypt(&plain, &mut random()?),
        None => public.encrypt(&plain, &mut random()?),
    };
    let bytes = ciphertexts.and_then(|ciphertexts| public.write(&ciphertexts));
    let bytes = bytes.map_err(|why| failed(&args.input, why))?;
    write(&args.output, &bytes)?;
    let ciphertexts = numbers.len().div_ceil(layout.map_or(1, |layout| layout.len()));
    let report = EncryptReport { numbers: numbers.len(), ciphertexts, bytes: bytes.len() };
    console.show(&report)
}

fn decrypt(args: &HeDecrypt, console: &Console) -> Result<(), Failure> {
    let secret = args.secret.load(&args.key)?;
    let plain = decrypted(args, &secret, &read(&args.input, NUMBERS)?);
    let plain = plain.map_err(|why| failed(&args.input, why))?;
    let numbers = plain.to_u128s().ok_or_else(|| {
        let why = Failure::malformed(args.input.display(), "a plaintext has more than 128 bits");
        why.hint("packed numbers are read with --width and --count")
    })?;
    console.show(&DecryptReport { numbers: numbers.iter().map(u128::to_string).collect() })
}

fn decrypted(args: &HeDecrypt, secret: &SecretKey, bytes: &[u8]) -> he::Result<Plaintexts> {
    let plain = secret.decrypt(&secret.read(bytes)?)?;
    match (args.width, args.count) {
        (Some(width), Some(count)) => Layout::uniform(width, secret.public())?.unpack(&plain, count),
        _ => Ok(plain),
    }
}

impl HeSecret {
    fn size(&self, bits: u32) -> he::Result<KeySize> {
        if self.breakable { KeySize::even_if_it_can_be_broken(bits) } else { KeySize::new(bits) }
    }

    fn seal_key(&self) -> Result<Option<SealKey>, Failure> {
        let Some(file) = &self.seal_key else { return Ok(None) };
        let bytes = Zeroizing::new(private::read(file, 4097)?);
        SealKey::new(&bytes).map(Some).map_err(|why| failed(file, why))
    }

    fn load(&self, file: &Path) -> Result<SecretKey, Failure> {
        let bytes = Zeroizing::new(private::read(file, KEY_FILE)?);
        let secret = SecretKey::from_file(&bytes, self.seal_key()?.as_ref(), |bits| self.size(bits));
        secret.map_err(|why| failed(file, why))
    }

    fn load_public(&self, file: &Path) -> Result<PublicKey, Failure> {
        PublicKey::from_bytes_of(&read(file, KEY_FILE)?, |bits| self.size(bits)).map_err(|why| failed(file, why))
    }
}

/// Who is to blame: bytes that somebody wrote, or the command line.
fn failed(file: &Path, why: Error) -> Failure {
    let hint = match &why {
        Error::KeySize(256..2048) => Some("--breakable takes shorter keys, which can be broken"),
        Error::PrivateKey(he::KeyFault::Seal) => Some("--seal-key FILE gives the key that it is sealed with"),
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
    let text = Zeroizing::new(read(file, NUMBERS)?);
    let text = std::str::from_utf8(&text).map_err(|_| Failure::malformed(file.display(), "it is no text"))?;
    let mut numbers = Zeroizing::new(Vec::new());
    for (line, text) in (1..).zip(text.lines()) {
        let number = text.trim().parse::<u128>();
        numbers.push(number.map_err(|_| {
            Failure::input(format!("{}, line {line}: not a number from 0 to 2^128 - 1", file.display()))
        })?);
    }
    Ok(Plaintexts::new(&numbers))
}

fn read(file: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let doing = || format!("reading {}", file.display());
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(most).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map_err(Failure::io(doing()))?;
    Ok(bytes)
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes).map_err(Failure::io(format!("writing {}", file.display())))
}

#[derive(Serialize)]
struct KeyReport {
    /// The digest of the public key, in hexadecimal.
    key: String,
    bits: u32,
    public_file: String,
}

impl fmt::Display for KeyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} Paillier, {} bits, public key in {}", self.key, self.bits, self.public_file)
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
