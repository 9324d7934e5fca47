//! `duologue completions` and `duologue man`: the command's words for shells, and its pages for `man`.

use crate::args::{Args, Completions, Man};
use crate::failure::Failure;
use crate::io::console::{self, Console};
use clap_mangen::generate_to;
use std::fs;

pub fn completions(args: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::whole(), "duologue", &mut script);
    console::print(&script)
}

pub fn man(args: &Man, console: &Console) -> Result<(), Failure> {
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Args::whole()).render(&mut page).map_err(Failure::io("making the page"))?;
        return console::print(&page);
    };
    let writing = || Failure::io(format!("writing into {}", folder.display()));
    fs::create_dir_all(folder).map_err(writing())?;
    generate_to(Args::whole(), folder).map_err(writing())?;
    console.note(format_args!("Read them by `man {}/duologue.1`.", folder.display()));
    Ok(())
}
