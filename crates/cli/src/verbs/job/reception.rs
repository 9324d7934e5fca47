//! The control port: the other party's driver and this party's workers come to it, told apart by their keys.

use crate::failure::{Exit, Failure};
use crate::io::console::Console;
use crate::peer;
use duologue::channel::{Canceller, Channel, Identity, Limits, PublicKey};
use std::net::SocketAddr;
use std::sync::Arc;
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
}

impl Reception {
    /// Listens, and says where.
    pub fn open(
        address: &str,
        identity: Arc<Identity>,
        keys: [PublicKey; 2],
        limits: Limits,
        console: &Console,
    ) -> Result<Reception, Failure> {
        let mut listener = peer::bind(address, console)?;
        let address = listener.local_addr()?;
        let (tell, came) = mpsc::channel();
        let (canceller, limits) = (Canceller::new(), limits.meet(ALWAYS));
        let closed = canceller.clone();
        let accept = move || {
            let met = |mut channel: Channel| {
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
        Ok(Reception { address, came, canceller })
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

fn closed() -> Failure {
    Failure::new(Exit::Machine, "the control port closed")
}

impl Drop for Reception {
    fn drop(&mut self) {
        self.canceller.cancel();
    }
}
