//! The faces of the demo: those of `examples/faces`, and random ones where more are wanted.

use crate::failure::Failure;
use duologue::circuit::{BitMatrix, Type, bits, uint};
use kernels::generator::Generator;
use std::fs::File;
use std::io::{self, BufWriter, Cursor, Write};
use std::path::Path;
use values::npy;

/// Bits of a face.
pub const BITS: u32 = 900;

const QUERY: &[u8] = include_bytes!("../../../data/faces/query.npy");
const GALLERY: &[u8] = include_bytes!("../../../data/faces/gallery.npy");
const LIMITS: &[u8] = include_bytes!("../../../data/faces/limits.npy");

/// A query, a gallery, and a limit for each face of it.
pub struct Faces {
    pub query: BitMatrix,
    pub gallery: BitMatrix,
    pub limits: BitMatrix,
}

impl Faces {
    /// The first `count` faces. Beyond the real ones they are random, each with a real one's limit: about 450 bits from
    /// the query, they do not match.
    pub fn load(count: usize) -> Result<Faces, Failure> {
        let gallery = decode(GALLERY, bits(BITS))?;
        let limits = decode(LIMITS, limit())?;
        Ok(Faces {
            query: decode(QUERY, bits(BITS))?,
            gallery: pad_gallery(&gallery, count)?,
            limits: pad_limits(&limits, count),
        })
    }

    pub fn len(&self) -> usize {
        self.gallery.lanes()
    }

    /// Writes the inputs of both parties as files.
    pub fn save(&self, folder: &Path) -> Result<(), Failure> {
        let save = |name: &str, value: &BitMatrix, ty| {
            let path = folder.join(name);
            let write = || {
                let mut file = BufWriter::new(File::create(&path)?);
                npy::write(value, ty, &mut file)?;
                file.flush()
            };
            write().map_err(Failure::io(format!("writing {}", path.display())))
        };
        save("query.npy", &self.query, bits(BITS))?;
        save("gallery.npy", &self.gallery, bits(BITS))?;
        save("limits.npy", &self.limits, limit())
    }
}

fn limit() -> Type {
    uint(BITS.ilog2() + 1)
}

fn decode(file: &[u8], ty: Type) -> Result<BitMatrix, Failure> {
    Ok(npy::read(Cursor::new(file), file.len() as u64, "the built-in faces", ty)?)
}

fn pad_gallery(real: &BitMatrix, count: usize) -> Result<BitMatrix, Failure> {
    let random = Generator::from_os().map_err(io::Error::other);
    let mut random = random.map_err(Failure::io("the system's random generator"))?;
    let mut gallery = BitMatrix::zeros(real.rows(), count);
    random.words(gallery.words_mut());
    gallery.clear_padding();
    for row in 0..real.rows() {
        gallery.copy_bits(row, 0, real, row, 0, 1, count.min(real.lanes()));
    }
    Ok(gallery)
}

fn pad_limits(real: &BitMatrix, count: usize) -> BitMatrix {
    let mut limits = BitMatrix::zeros(real.rows(), count);
    for row in 0..real.rows() {
        for face in 0..count {
            limits.set(row, face, real.get(row, face % real.lanes()));
        }
    }
    limits
}
