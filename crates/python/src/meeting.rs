//! How a party meets its peer: where, how long it waits, how the connection is protected.

use crate::errors::{raised, usage};
use duologue::Result;
use duologue::channel::{self, Channel, Identity, Limits, Link};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Ends what a party waits for or does, from any thread.
#[pyclass(frozen, module = "duologue._core")]
pub struct Canceller(pub channel::Canceller);

#[pymethods]
impl Canceller {
    #[new]
    fn new() -> Self {
        Canceller(channel::Canceller::new())
    }

    fn cancel(&self) {
        self.0.cancel();
    }

    #[getter]
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// How the connection is protected.
#[pyclass(frozen, module = "duologue._core")]
pub struct Security(channel::Security);

#[pymethods]
impl Security {
    /// By a private key of ours in a file, and the public key that the peer must have.
    #[staticmethod]
    fn tls(file: PathBuf, peer: &str) -> PyResult<Self> {
        let tls = || -> Result<channel::Security> {
            Ok(channel::Security::Tls { peer: peer.parse()?, identity: Arc::new(Identity::load(&file)?) })
        };
        tls().map(Security).map_err(raised)
    }

    #[staticmethod]
    fn plaintext() -> Self {
        Security(channel::Security::PlaintextForBenchmarks)
    }
}

/// For how many seconds the peer is waited for, and how long it may be silent.
fn limits((wait, silence): (f64, f64)) -> PyResult<Limits> {
    let seconds = |name: &str, value: f64| {
        let number = Duration::try_from_secs_f64(value).ok().filter(|number| !number.is_zero());
        number.ok_or_else(|| usage(format!("{name}: expected a number of seconds above 0")))
    };
    let (wait, silence, usual) = (seconds("wait", wait)?, seconds("silence", silence)?, Limits::default());
    // A peer with the same limit of silence hears a heartbeat in time.
    let (heartbeat, progress) = (usual.heartbeat.min(silence / 4), usual.progress.max(silence));
    Ok(usual.meet(wait).silence(silence).heartbeat(heartbeat).progress(progress))
}

/// A party that waits for its peer to come.
#[pyclass(frozen, module = "duologue._core")]
pub struct Listener {
    listener: Arc<Mutex<channel::Listener>>,
    #[pyo3(get)]
    address: String,
}

#[pymethods]
impl Listener {
    #[new]
    fn new(address: &str) -> PyResult<Self> {
        let bound = || -> Result<Listener> {
            let listener = channel::Listener::bind(address)?;
            let address = listener.local_addr()?.to_string();
            Ok(Listener { listener: Arc::new(Mutex::new(listener)), address })
        };
        bound().map_err(raised)
    }
}

/// How a party meets its peer.
#[pyclass(frozen, module = "duologue._core")]
pub struct Meeting {
    place: Place,
    security: channel::Security,
    limits: Limits,
    /// A line that is simulated.
    link: Option<Link>,
}

enum Place {
    At(String),
    Here(Arc<Mutex<channel::Listener>>),
}

#[pymethods]
impl Meeting {
    /// At the peer's address.
    #[staticmethod]
    fn connect(address: String, security: &Security, times: (f64, f64), link: Option<&str>) -> PyResult<Self> {
        Meeting::new(Place::At(address), security, times, link)
    }

    /// At one's own.
    #[staticmethod]
    fn accept(listener: &Listener, security: &Security, times: (f64, f64), link: Option<&str>) -> PyResult<Self> {
        Meeting::new(Place::Here(listener.listener.clone()), security, times, link)
    }
}

impl Meeting {
    fn new(place: Place, security: &Security, times: (f64, f64), link: Option<&str>) -> PyResult<Self> {
        let link = link.map(str::parse).transpose().map_err(raised)?;
        Ok(Meeting { place, security: security.0.clone(), limits: limits(times)?, link })
    }

    /// Waits for the peer.
    pub fn channel(&self, canceller: &channel::Canceller) -> Result<Channel> {
        let channel = match &self.place {
            Place::At(address) => Channel::connect_with(address, &self.security, &self.limits, canceller)?,
            Place::Here(listener) => {
                let busy = |_| duologue::Error::usage("another thread waits for the peer already");
                let mut listener = listener.try_lock().map_err(busy)?;
                listener.accept_with(&self.security, &self.limits, canceller)?
            }
        };
        if let Some(link) = self.link { channel.shaped(link) } else { Ok(channel) }
    }
}
