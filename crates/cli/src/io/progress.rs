//! A progress bar for what takes longer than a second, if standard error is a terminal.

use duologue::{Phase, Progress};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how far a run is; it goes on whatever happens here.
pub fn bar(title: String) -> impl FnMut(&Progress) -> ControlFlow<()> + Send + use<> {
    let start = Instant::now();
    let mut bar: Option<ProgressBar> = None;
    move |&Progress { phase, done, total, .. }| {
        if start.elapsed() >= PATIENCE {
            let bar = bar.get_or_insert_with(|| make(total));
            bar.set_message(format!("{title}, {}", name(phase)));
            bar.set_length(total);
            bar.set_position(done);
        }
        ControlFlow::Continue(())
    }
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "setup ",
        Phase::Online => "online",
    }
}

fn make(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}  {wide_bar}  {human_pos} of {human_len}  {elapsed}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(total).with_finish(ProgressFinish::AndClear);
    bar.with_style(style)
}
