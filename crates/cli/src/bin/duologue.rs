#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    duologue_cli::main()
}
