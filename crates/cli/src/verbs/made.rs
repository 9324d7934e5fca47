//! The costs of making correlations or prepared runs.

use duologue::PhaseReport;
use serde::Serialize;

/// Time and traffic of what was just made.
#[derive(Serialize)]
pub struct Made {
    pub seconds: f64,
    pub sent: u64,
    pub received: u64,
}

impl From<&PhaseReport> for Made {
    fn from(made: &PhaseReport) -> Self {
        Made { seconds: made.time.as_secs_f64(), sent: made.sent, received: made.received }
    }
}
