//! Which instructions are used: found once, in one place.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use lanes::Kernel;
use limbs::LimbLoop;

#[cfg(target_arch = "aarch64")]
#[allow(unsafe_code)]
mod aarch64;
pub(crate) mod blake3;
pub(crate) mod lanes;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) mod limbs;
pub(crate) mod table;
pub(crate) mod transpose;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86;

/// A set of instructions that the kernels are written for. All give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// x86-64 with AVX-512 (F, BW, DQ, VL), VAES, VPCLMULQDQ and GFNI: 4 blocks a register. With AVX-512 IFMA too, which
    /// all such processors have so far, eight numbers are multiplied side by side.
    Vaes512,
    /// x86-64 with AVX2, VAES and VPCLMULQDQ: 2 blocks a register.
    Vaes256,
    /// x86-64 with AVX2, AES-NI and PCLMULQDQ: 1 block a register.
    AesNi,
    /// x86-64 with AES-NI, PCLMULQDQ and SSE4.1, without AVX2: 1 block a register.
    AesNiSse,
    /// 64-bit Arm with the AES extension: 1 block a register.
    Armv8,
    /// No special instructions needed: RustCrypto's `aes`, which is constant-time in software.
    Portable,
}

/// The backend that this process uses.
static USED: OnceLock<Backend> = OnceLock::new();

impl Backend {
    /// The one that this process uses: the fastest that the processor has, unless [`choose`](Self::choose) came first.
    pub fn detect() -> Self {
        *USED.get_or_init(|| Self::available()[0])
    }

    /// Uses this one for the whole process, to compare it with others; called before anything is computed. Whether it
    /// is used: not if the processor lacks it, or another one has been used already.
    pub fn choose(self) -> bool {
        Self::available().contains(&self) && *USED.get_or_init(|| self) == self
    }

    /// All that this processor has, the fastest first; `Portable` is always among them.
    pub fn available() -> Vec<Self> {
        let all = [Backend::Vaes512, Backend::Vaes256, Backend::AesNi, Backend::AesNiSse, Backend::Armv8];
        let mut found: Vec<_> = all.into_iter().filter(|b| Cpu::new(*b).is_some()).collect();
        found.push(Backend::Portable);
        found
    }

    /// The proof that the instructions are there; `None` stands for the portable code.
    ///
    /// # Panics
    /// If the processor lacks the instructions: the caller forced a backend that is not available.
    pub(crate) fn cpu(self) -> Option<Cpu> {
        let cpu = Cpu::new(self);
        assert!(cpu.is_some() || self == Backend::Portable, "this processor has no {self}");
        cpu
    }

    /// The proof that the processor multiplies limbs of 52 bits, where this backend is of its generation; `None` stands
    /// for the portable code.
    ///
    /// # Panics
    /// If the processor lacks the backend: the caller forced one that is not available.
    pub(crate) fn multiplier(self) -> Option<Multiplier> {
        self.cpu();
        match self {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => x86::Ifma::detect().map(Multiplier::Ifma),
            _ => None,
        }
    }
}

/// Their names for machines.
const NAMES: [(Backend, &str); 6] = [
    (Backend::Vaes512, "vaes512"),
    (Backend::Vaes256, "vaes256"),
    (Backend::AesNi, "aesni"),
    (Backend::AesNiSse, "aesni-sse"),
    (Backend::Armv8, "armv8"),
    (Backend::Portable, "portable"),
];

impl Backend {
    /// Its name in lower case, which can be parsed.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(backend, _)| *backend == self).map_or("", |(_, name)| name)
    }
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(_, name)| *name == text);
        let names = || NAMES.map(|(_, name)| name).join(", ");
        found.map(|(backend, _)| *backend).ok_or_else(|| format!("it is one of {}", names()))
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Backend::Vaes512 => "VAES-512",
            Backend::Vaes256 => "VAES-256",
            Backend::AesNi => "AES-NI",
            Backend::AesNiSse => "AES-NI without AVX2",
            Backend::Armv8 => "ARMv8 AES",
            Backend::Portable => "portable AES",
        })
    }
}

/// A token that exists only where run-time detection has found the instructions.
#[derive(Clone, Copy)]
pub enum Cpu {
    #[cfg(target_arch = "x86_64")]
    Vaes512(x86::Vaes512),
    #[cfg(target_arch = "x86_64")]
    Vaes256(x86::Vaes256),
    #[cfg(target_arch = "x86_64")]
    AesNi(x86::AesNi<true>),
    #[cfg(target_arch = "x86_64")]
    AesNiSse(x86::AesNi<false>),
    #[cfg(target_arch = "aarch64")]
    Armv8(aarch64::Armv8),
}

impl Cpu {
    fn new(backend: Backend) -> Option<Self> {
        match backend {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 => x86::Vaes512::detect().map(Cpu::Vaes512),
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 => x86::Vaes256::detect().map(Cpu::Vaes256),
            #[cfg(target_arch = "x86_64")]
            Backend::AesNi => x86::AesNi::<true>::detect().map(Cpu::AesNi),
            #[cfg(target_arch = "x86_64")]
            Backend::AesNiSse => x86::AesNi::<false>::detect().map(Cpu::AesNiSse),
            #[cfg(target_arch = "aarch64")]
            Backend::Armv8 => aarch64::Armv8::detect().map(Cpu::Armv8),
            _ => None,
        }
    }

    /// Runs a loop compiled for these instructions.
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(unused_variables))]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Cpu::Vaes512(cpu) => cpu.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Cpu::Vaes256(cpu) => cpu.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Cpu::AesNi(cpu) => cpu.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Cpu::AesNiSse(cpu) => cpu.run(kernel),
            #[cfg(target_arch = "aarch64")]
            Cpu::Armv8(cpu) => cpu.run(kernel),
        }
    }
}

/// A token that exists only where run-time detection has found instructions that multiply eight limbs.
#[derive(Clone, Copy)]
pub enum Multiplier {
    #[cfg(target_arch = "x86_64")]
    Ifma(x86::Ifma),
    #[cfg(test)]
    Checked(limbs::Checked),
}

impl Multiplier {
    /// Runs a loop compiled for these instructions.
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
    pub(crate) fn run<L: LimbLoop>(self, job: L) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Multiplier::Ifma(cpu) => cpu.run(job),
            #[cfg(test)]
            Multiplier::Checked(cpu) => job.run(cpu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_available_and_portable_always_is() {
        let all = Backend::available();
        assert_eq!(Backend::detect(), all[0]);
        assert_eq!(all.last(), Some(&Backend::Portable));
        assert!(all.iter().all(|b| b.cpu().is_some() == (*b != Backend::Portable)));
    }

    #[test]
    fn names_are_read_back() {
        for backend in Backend::available() {
            assert_eq!(backend.name().parse(), Ok(backend));
        }
        assert!("sse9".parse::<Backend>().is_err());
    }

    #[test]
    fn another_is_not_chosen_after_the_first() {
        let used = Backend::detect();
        assert!(used.choose());
        assert!(Backend::available()[1..].iter().all(|other| !other.choose()));
    }

    #[test]
    fn a_missing_backend_is_refused() {
        let missing = if cfg!(target_arch = "x86_64") { Backend::Armv8 } else { Backend::AesNi };
        assert!(std::panic::catch_unwind(|| missing.cpu()).is_err());
    }
}
