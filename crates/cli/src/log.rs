//! The log on standard error. What it says of a peer may be in the peer's words, so it goes through [`shown`].

use crate::io::shown;
use std::fmt::{self, Debug};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{FormatFields, Writer, debug_fn};

/// `RUST_LOG` decides what is logged, by default warnings. No message of any level holds a secret.
pub fn begin(quiet: bool) {
    let usual = if quiet { "error" } else { "warn" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .without_time()
        .fmt_fields(fields())
        .init();
}

/// The message, then names and values, each in one line without characters that cannot be seen.
fn fields() -> impl for<'a> FormatFields<'a> + Send + Sync + 'static {
    let write = |to: &mut Writer<'_>, name: &str, value: &dyn Debug| -> fmt::Result {
        let value = shown::line(&format!("{value:?}"));
        if name == "message" { to.write_str(&value) } else { write!(to, "{name}={value}") }
    };
    debug_fn(move |to, field, value| write(to, field.name(), value)).delimited(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The twin is the usual format of fields: there the line is turned around.
    #[test]
    fn a_peers_words_are_escaped() {
        let memory = Memory::default();
        let to = memory.clone();
        let log = tracing_subscriber::fmt()
            .with_writer(move || to.clone())
            .with_ansi(false)
            .with_target(false)
            .without_time()
            .fmt_fields(fields());
        let said = "the peer stopped: \u{202e}enod\u{200b}\n\u{5d0}";
        tracing::subscriber::with_default(log.finish(), || {
            tracing::warn!(from = %said, count = 3, "turned a stranger away: {said}");
        });
        let text = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
        let safe = r"the peer stopped: \u{202e}enod\u{200b}\n\u{5d0}";
        assert_eq!(text.trim(), format!("WARN turned a stranger away: {safe} from={safe} count=3"));
    }
}
