//! Which method both parties take, and what Alice announces of her function under it.

use super::Held;
use super::choice::{Case, choose, predict, probe};
use crate::args::{Private, PrivateMethod};
use crate::failure::Failure;
use crate::io::console::{Console, seconds};
use duologue::channel::{AbortCode, Channel};
use duologue::circuit::universal::Size;
use duologue::{Conditions, Error, Party, session};
use pfe::{Agreed, Announced, Counts, Method, Methods, Proposal, Purpose, Sizes, Threads};

/// What both parties hold to.
pub struct Terms {
    pub method: Method,
    pub function: Announced,
}

impl Terms {
    /// The function's sizes under the method.
    pub fn counts(&self) -> Counts {
        self.function.counts(self.method)
    }

    /// The same, with the bits in and out.
    pub fn sizes(&self) -> Sizes {
        let (Announced { inputs, outputs, .. }, Counts { gates, additions }) = (self.function, self.counts());
        Sizes { inputs, outputs, gates, additions }
    }

    /// The size of the universal circuit.
    pub fn size(&self) -> Result<Size, Failure> {
        size(&self.function).map_err(|why| Error::peer(format!("it announces what no function has: {why}")).into())
    }
}

/// The size of a function's universal circuit.
pub fn size(function: &Announced) -> duologue::circuit::Result<Size> {
    let gates = u32::try_from(function.counts(Method::Universal).gates).unwrap_or(u32::MAX);
    Size::new(function.inputs, gates, function.outputs)
}

/// The methods that the command line allows.
pub fn methods(args: &Private) -> Vec<Method> {
    match args.method {
        PrivateMethod::Universal => vec![Method::Universal],
        PrivateMethod::Dh => vec![Method::Dh],
        PrivateMethod::Elgamal => vec![Method::ElGamal],
        PrivateMethod::Bfv => vec![Method::Bfv],
        PrivateMethod::Djn => vec![Method::Djn],
        PrivateMethod::Auto if args.prepared.is_some() => vec![Method::Dh],
        PrivateMethod::Auto if args.allow_linear => vec![Method::Universal, Method::Dh],
        PrivateMethod::Auto => vec![Method::Universal],
    }
}

/// What this party proposes; nothing of it depends on the peer.
///
/// # Errors
/// If the function cannot be announced.
pub fn propose(args: &Private, held: Option<&Held>, threads: &Threads, purpose: Purpose) -> Result<Proposal, Failure> {
    let methods = methods(args);
    let speed = if methods.len() > 1 { pfe::gates_per_second(threads)? } else { 0 };
    let methods: Methods = methods.into_iter().collect();
    let function = held.map(|held| held.function);
    let proposal = Proposal { methods, function, speed, assumed: args.assume_link, purpose };
    proposal.check()?;
    Ok(proposal)
}

/// Agrees with the peer on a method: where there are several, the one that is predicted to be done first.
pub fn agree(channel: &mut Channel, party: Party, ours: &Proposal, console: &Console) -> Result<Terms, Failure> {
    let Agreed { function, methods, speeds } = ours.trade(channel)?;
    let method = match methods[..] {
        [method] => method,
        _ => {
            let conditions = match ours.assumed {
                Some(line) => Conditions::of(&line),
                None => session::measure(channel, party, probe(&function))?,
            };
            let case = Case { function, speeds, conditions };
            let times =
                methods.iter().map(|&method| format!("{method} {}", seconds(predict(method, &case).as_secs_f64())));
            console.note(format!("predicted for {conditions}: {}", times.collect::<Vec<_>>().join(", ")));
            choose(&methods, &case)
        }
    };
    let terms = Terms { method, function };
    if method == Method::Universal
        && let Err(why) = terms.size()
    {
        // Before anybody consents.
        channel.abort(AbortCode::Failed, "");
        return Err(why);
    }
    Ok(terms)
}
