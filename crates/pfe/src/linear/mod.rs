//! Katz and Malka's protocol with an additively homomorphic scheme, as Holz, Kiss, Rathee, Schneider make it practical
//! (*Linear-complexity private function evaluation is practical*, ESORICS 2020): ElGamal, BFV, or Damgård, Jurik and Nielsen's
//! form of Paillier's system. The function is NANDs of two wires, which Alice alone knows.
//!
//! ```text
//! Alice, f as NANDs                                    Bob, x: a key of his, of each wire j a label s_j of 0, r; that of 1 is s_j + r
//!                                ◀── E(s_j) of all wires that are read ──
//! gate i reads wires j and k
//!   ── E(s_j) + E(b), E(s_k) + E(b′) ──▶               decrypts L = s_j + b and R = s_k + b′
//!                                ◀── table ──          the label of the NAND under those of L and R
//!                                ◀── labels of x ──
//! opens gate after gate          ── labels of outputs ──▶   compares
//! ```
//!
//! **What differs from the paper**: tables have colours and no trial decryption (`rows.rs`), and are half-gates for labels
//! under XOR (`halves.rs`); answers of Paillier's system hold 18 labels, of BFV 16. Everything is sent step by step, so that
//! encryption, answers and tables overlap.
//!
//! **Cost** a gate: a ciphertext from Bob, two operands' answers from Alice, a table from Bob. A further run costs the same.
//!
//! **Security**: semi-honest parties; Bob's privacy by the scheme's assumption and hashes as random oracles, the function's
//! by the blindings (`he::linear`). **An Alice who departs from the protocol learns data, unseen**, and a Bob who does
//! learns wiring. Every run is a query of the function. How long Alice takes from step to step shows roughly how many layers
//! a step has, and where the gates that pad it begin.
//!
//! ```
//! use duologue::channel::Channel;
//! use duologue::circuit::{Bits, Builder, private::nands};
//! use he::elgamal::ElGamal;
//! use pfe::linear::{Alice, Bob, Netlist};
//!
//! let mut c = Builder::new("both");
//! let x = c.bits("x", 2);
//! let both = c.and(x.0[0], x.0[1]);
//! c.output("both", &Bits(vec![both]));
//! let netlist = Netlist::new(&nands(&c.finish())?, Some(20))?;
//!
//! let (to_bob, to_alice) = Channel::pair(); // between two machines: Listener and Channel::connect
//! let result = std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let mut alice = Alice::<ElGamal>::connect(to_bob, &netlist, 1)?;
//!         while alice.serve()? {}
//!         alice.close()
//!     });
//!     let mut bob = Bob::<ElGamal>::connect(to_alice, 2)?;
//!     assert_eq!(bob.offer().sizes.gates, 20); // all that he learns of it
//!     let result = bob.run(&[true, true])?;
//!     bob.close().map(|_| result)
//! })?;
//! assert_eq!(result, [true]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod halves;
mod method;
mod netlist;
mod party;
mod rows;
mod run;

pub use halves::Halves;
pub use method::{Linear, Tables};
pub use netlist::Netlist;
pub use party::{Alice, Bob, Garbled};
pub use rows::Rows;
pub use run::traffic;
pub(crate) use run::{Evaluation, Garbling, Key, PeerKey, Steps};

#[cfg(test)]
mod tests;
