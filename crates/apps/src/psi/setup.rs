//! Setup: the VOLE, and a key for tags that is this call's own.

use crate::vole::{Evaluator, Keeper, Parameters};
use duologue::Result;
use duologue::call::{Context, Drawn, Outbox, Stage, Zeroizing};
use duologue::circuit::Party;

/// Setup of either party; nothing if a set is empty.
pub struct Setup {
    role: Option<Role>,
    exchange: usize,
    stored: Zeroizing<Vec<u8>>,
}

enum Role {
    Receiver(Box<Evaluator>),
    /// Until its message is written.
    Sender(Box<Keeper>),
}

impl Setup {
    /// So many bytes are stored; the receiver is the one with a and c.
    pub fn new(vole: Option<(Parameters, Party)>, stored: usize, context: &Context) -> Result<Setup> {
        let mut setup = Setup { role: None, exchange: 0, stored: Zeroizing::new(Vec::with_capacity(stored)) };
        let Some((vole, receiver)) = vole else { return Ok(setup) };
        setup.stored.extend(blake3::derive_key("duologue v1 PSI: tags", &context.domain));
        let domain = blake3::derive_key("duologue v1 PSI: VOLE", &context.domain);
        setup.role = Some(match context.party == receiver {
            true => Role::Receiver(Box::new(Evaluator::new(vole, &domain))),
            false => Role::Sender(Box::new(Keeper::new(vole, &domain)?)),
        });
        Ok(setup)
    }

    /// The sender's last step, with what came in the first exchange.
    fn close_sender(&mut self, inbox: &[u8], outbox: &mut Outbox) {
        if let Some(Role::Sender(keeper)) = self.role.take_if(|role| matches!(role, Role::Sender(_))) {
            keeper.close(inbox, outbox, &mut self.stored);
        }
    }
}

impl Stage for Setup {
    type Output = Zeroizing<Vec<u8>>;

    fn step(&mut self, drawn: Drawn, inbox: &[u8], outbox: &mut Outbox) -> Result<()> {
        self.exchange += 1;
        match (&mut self.role, self.exchange) {
            (Some(Role::Receiver(evaluator)), 1) => evaluator.open(&drawn, outbox)?,
            (Some(Role::Sender(keeper)), 1) => keeper.open(&drawn),
            _ => self.close_sender(inbox, outbox),
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, inbox: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        self.close_sender(inbox, &mut Outbox::default());
        if let Some(Role::Receiver(evaluator)) = self.role.take() {
            evaluator.close(inbox, &mut self.stored);
        }
        Ok(self.stored)
    }
}
