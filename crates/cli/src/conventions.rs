//! How `duologue bench` measures and counts: the texts below its tables, which the pages of the book repeat.

/// The figures of the engines.
pub const ENGINES: &str = "\
R is the AES blocks a second of `openssl speed -evp aes-128-ctr` on one core, measured in between. Each party has one core
and one thread; the slower one counts, and the median of the runs. What runs alone has no channel: of two parties that take
turns on a core the time of each is counted for itself. End to end means all that a session does for a program, oblivious
transfers for its inputs too, but not the session's greeting and base OTs. Online counts from when both parties know that
they agree; the latency of a block is that of the whole call. What could be is the lower of the engine alone and of what
the channel carries one way while nobody computes.";

/// Circuits under protocols over lines.
pub const CIRCUITS: &str = "\
Of Yao the circuit with fewest ANDs is run, of GMW the one with fewest layers. A session (greeting, base OTs, the first
correlations) is made once and its time stands apart; setup and online are medians of its runs, of the slower party. Bytes
are those of the protocol in both directions together, memory that of the larger process, speed that of setup and online
together. What is garbled ahead of time counts as setup; larger programs are streamed, and count as online.";

/// The makers of correlations.
pub const CORRELATIONS: &str = "\
A COT figure counts the COTs of both directions: each party is sender of one half and receiver of the other, in the
same exchanges, on one core a party. With `_one_way` Alice alone sends, and her COTs alone are counted. A triple is of
both parties together. Bits are those of the protocol in both directions together, for each correlation. A run is over
when the slower party has its correlations; the median of the runs counts. Setup (greeting, base OTs, bootstrap and the
first batch) is apart. R is the AES blocks a second of `openssl speed -evp aes-128-ctr` on one core, measured in between.";
