//! `--protocol auto`: the protocol that is predicted to be best over the line that both parties assume.

use crate::args::Run;
use crate::failure::{Exit, Failure};
use crate::io::console::{Console, bytes, seconds};
use crate::verbs::options_of;
use duologue::call::Calls;
use duologue::circuit::Binding;
use duologue::cost::choice::{Candidate, candidates, rank};
use duologue::{Options, Scheme};

/// The options of the best candidate; what is told of garbling, garbler, timing and correlations restricts them.
///
/// # Errors
/// If no line is assumed, or correlations come from a pool.
pub(super) fn choose(binding: &Binding, args: &Run, calls: &Calls, console: &Console) -> Result<Options, Failure> {
    let settings = &args.settings;
    let Some(link) = settings.assume_link else {
        let why = "--protocol auto chooses for a line that both parties name, and none is named";
        let hint = "--assume-link lan, internet, transatlantic or such as 10ms,100Mbit; or name a protocol";
        return Err(Failure::new(Exit::CommandLine, why).hint(hint));
    };
    if settings.pool.is_some() {
        let why = "--protocol auto does not choose for a pool: it predicts that correlations are made";
        return Err(Failure::new(Exit::CommandLine, why).hint("name a protocol, or leave out --pool"));
    }
    let wish = args.wish.unwrap_or_default();
    let usual = options_of(Scheme::Yao, settings).timing(args.timing);
    let all = candidates(&usual, args.garbling_is_given.then_some(settings.garbling));
    let ranked = rank(binding, &all, calls, &link, wish)?;
    let [best, others @ ..] = &ranked[..] else { return Err(Failure::input("no protocol is a candidate")) };
    let next = others.first().map_or(String::new(), |next| format!("; next {}", predicted(next)));
    console.note(format!("chosen for {link}, by {wish}: {}{next}", predicted(best)));
    Ok(best.options)
}

/// `gmw, 12 ms, 3 ms of them online, 34 kB`.
fn predicted(candidate: &Candidate) -> String {
    let [all, online] = [candidate.total(), candidate.online].map(|time| seconds(time.as_secs_f64()));
    format!("{candidate}, predicted {all}, {online} of them online, {}", bytes(candidate.bytes()))
}
