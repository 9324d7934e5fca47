//! The control port: the other party's driver and this party's workers come to it, told apart by their keys.

use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::peer;
use duologue::channel::{Canceller, Channel, Identity, Limits, PublicKey};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

/// How long it is open: as long as the driver.
const ALWAYS: Duration = Duration::from_secs(1 << 30);

/// Whoever comes proves to hold one of two keys; dropped, it is closed.
pub struct Reception {
    pub address: SocketAddr,
    came: Receiver<Result<Channel, duologue::Error>>,
    canceller: Canceller,
    crossed: Arc<AtomicBool>,
}

impl Reception {
    /// Listens, and says where. Whoever has the key `elsewhere` is met elsewhere, and turned away.
    pub fn open(
        address: &str,
        identity: Arc<Identity>,
        keys: [PublicKey; 2],
        elsewhere: Option<PublicKey>,
        limits: Limits,
        console: &Console,
    ) -> Result<Reception, Failure> {
        let mut listener = peer::bind(address, console)?;
        let address = listener.local_addr()?;
        let (tell, came) = mpsc::channel();
        let (canceller, limits) = (Canceller::new(), limits.meet(ALWAYS));
        let (closed, crossed) = (canceller.clone(), Arc::new(AtomicBool::new(false)));
        let turned_away = crossed.clone();
        let accept = move || {
            let met = |mut channel: Channel| {
                if elsewhere.is_some() && channel.peer_key() == elsewhere {
                    turned_away.store(true, Ordering::Relaxed);
                    return channel.abort_after(&both_connect());
                }
                // From its first operation on a channel sends heartbeats: whoever came early is not to lose patience. If it is gone
                // already, the driver finds that out.
                let _ = channel.flush();
                drop(tell.send(Ok(channel)));
            };
            if let Err(why) = listener.accept_each(&identity, &keys, &limits, &closed, met) {
                // Nobody misses it if the driver has ended.
                let _ = tell.send(Err(why));
            }
        };
        let thread = thread::Builder::new().name("duologue-control-port".into()).spawn(accept);
        thread.map_err(Failure::io("starting the control port's thread"))?;
        Ok(Reception { address, came, canceller, crossed })
    }

    /// Whether somebody who is met elsewhere came: the other driver connects to us as we to it, and each would wait for the other.
    pub fn is_crossed(&self) -> bool {
        self.crossed.load(Ordering::Relaxed)
    }

    /// Why the drivers did not meet: because both connect, if they do.
    pub fn cause(&self, why: duologue::Error) -> duologue::Error {
        if self.is_crossed() { both_connect() } else { why }
    }

    /// Who has come, if somebody has.
    pub fn poll(&self) -> Result<Option<Channel>, Failure> {
        match self.came.try_recv() {
            Ok(came) => Ok(Some(came?)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(closed()),
        }
    }

    /// Waits for whoever holds this key. All others are given to `others`.
    pub fn wait_for(
        &self,
        key: PublicKey,
        wait: Duration,
        canceller: &Canceller,
        mut others: impl FnMut(Channel),
    ) -> Result<Channel, Failure> {
        let until = Instant::now() + wait;
        while Instant::now() < until {
            if canceller.is_cancelled() {
                return Err(duologue::Error::Cancelled.into());
            }
            match self.came.recv_timeout(Duration::from_millis(20)) {
                Ok(came) => match came? {
                    channel if channel.peer_key() == Some(key) => return Ok(channel),
                    channel => others(channel),
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(closed()),
            }
        }
        Err(duologue::Error::Timeout { what: "connection", seconds: wait.as_secs() }.into())
    }
}

fn both_connect() -> duologue::Error {
    let what = "who connects (one of the two drivers leaves out --connect)";
    duologue::Error::Incompatible { what, ours: "we do".into(), theirs: "the other driver".into(), place: None }
}

fn closed() -> Failure {
    Failure::new(Exit::Machine, "the control port closed")
}

impl Drop for Reception {
    fn drop(&mut self) {
        self.canceller.cancel();
    }
}
