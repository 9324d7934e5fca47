//! Pictures and files as the inputs of `app:aes` and `app:aes_ctr`, and what comes out as pictures and files again.

use super::folder::{Folder, refuse_taken};
use super::pictures;
use crate::args::AesWhat;
use crate::failure::Failure;
use crate::io::console::{Console, count};
use crate::io::{input, output};
use apps::aes::{BLOCK, MOST_BLOCKS, counters};
use duologue::circuit::bits;
use image::GrayImage;
use std::fs;
use std::path::Path;

/// Bytes of a block.
const LENGTH: usize = BLOCK as usize / 8;

pub fn run(what: &AesWhat, console: &Console) -> Result<(), Failure> {
    match what {
        AesWhat::Image { image, to } => blocks_of_image(image, to, console),
        AesWhat::Counters { first, file, blocks, to } => {
            let blocks = match file {
                Some(file) => blocks_of_file(file)?,
                None => blocks.unwrap_or_default(),
            };
            let mut folder = Folder::new(to)?;
            folder.is_for("app:aes_ctr".into());
            folder.byte_rows("counters.npy", LENGTH, counters(*first, blocks).flatten().collect())?;
            folder.finish(console)
        }
        AesWhat::Picture { cipher, like, to } => picture(cipher, like, to),
        AesWhat::Xor { stream, file, to } => xor(stream, file, to),
    }
}

fn blocks_of_image(image: &Path, to: &Path, console: &Console) -> Result<(), Failure> {
    let pixels = pictures::decoded(image)?.pixels;
    if pixels.is_empty() || !pixels.len().is_multiple_of(LENGTH) {
        let why = format!("{} has {} pixels: expected a multiple of {LENGTH}", image.display(), pixels.len());
        return Err(Failure::input(why).hint("cut it to a width that is one, or encrypt its file by app:aes_ctr"));
    }
    let mut folder = Folder::new(to)?;
    folder.is_for("app:aes".into());
    folder.byte_rows("blocks.npy", LENGTH, pixels)?;
    folder.finish(console)
}

fn blocks_of_file(file: &Path) -> Result<u64, Failure> {
    let length = fs::metadata(file).map_err(Failure::io(format!("reading {}", file.display())))?.len();
    match length.div_ceil(LENGTH as u64) {
        0 => Err(Failure::input(format!("{} is empty", file.display()))),
        blocks if blocks > MOST_BLOCKS => {
            let most = MOST_BLOCKS * LENGTH as u64;
            let why = format!("{} has {length} bytes: at most {most} are encrypted at once", file.display());
            Err(Failure::input(why).hint("split it, and let the counters of a part follow those of the one before"))
        }
        blocks => Ok(blocks),
    }
}

fn picture(cipher: &str, like: &Path, to: &Path) -> Result<(), Failure> {
    refuse_taken(to)?;
    if !pictures::is_picture(to) {
        return Err(Failure::input(format!("{}: expected a name that ends in .png or .pgm", to.display())));
    }
    let (width, height) = pictures::decoded(like)?.shape.unwrap_or_default();
    let pixels = bytes(cipher)?;
    let length = pixels.len();
    let fits = length as u64 == u64::from(width) * u64::from(height);
    let image = GrayImage::from_raw(width, height, pixels).filter(|_| fits);
    let image = image.ok_or_else(|| {
        let blocks = count((length / LENGTH) as u64, "block");
        Failure::input(format!("{cipher} has {blocks}, but {} is {width} × {height} pixels", like.display()))
    })?;
    output::write_file(to, &pictures::encoded(&image, to)?)
}

fn xor(stream: &str, file: &Path, to: &Path) -> Result<(), Failure> {
    refuse_taken(to)?;
    let mut data = fs::read(file).map_err(Failure::io(format!("reading {}", file.display())))?;
    let key_stream = bytes(stream)?;
    if data.len().next_multiple_of(LENGTH) != key_stream.len() {
        let blocks = count((key_stream.len() / LENGTH) as u64, "block");
        let why = format!("{stream} has {blocks}, but {} has {} bytes", file.display(), data.len());
        return Err(Failure::input(why).hint("a run has a block for each 16 bytes of the file and for the rest"));
    }
    data.iter_mut().zip(key_stream).for_each(|(byte, key)| *byte ^= key);
    output::write_file(to, &data)
}

/// The blocks that a run wrote, one after another.
fn bytes(source: &str) -> Result<Vec<u8>, Failure> {
    Ok(input::lanes(source, bits(BLOCK))?.to_byte_rows())
}
