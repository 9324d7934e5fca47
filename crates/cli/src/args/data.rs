//! A party's own files, prepared for an application.

use apps::proximity::Metric;
use clap::{Subcommand, ValueEnum};
use duologue::Party;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Data {
    #[command(subcommand)]
    pub what: DataWhat,
}

#[derive(Subcommand)]
pub enum DataWhat {
    /// Pictures and files to encrypt under the other party's key, for app:aes and app:aes_ctr
    #[command(subcommand)]
    Aes(AesWhat),
    /// Places on Earth, for app:proximity_haversine, app:proximity_ecef or app:proximity_utm
    Proximity(Places),
    /// Pictures of faces, for app:eigenfaces
    #[command(subcommand)]
    Eigenfaces(EigenfacesWhat),
    /// Iris codes, for app:iris or app:iris_masked
    #[command(subcommand)]
    Iris(IrisWhat),
    /// People with their places and interests, for app:social
    Social(People),
}

#[derive(clap::Args)]
pub struct Places {
    /// A table of places: CSV, or Parquet and Arrow if this build has them
    #[arg(value_name = "PLACES", required_unless_present = "place", conflicts_with = "place")]
    pub table: Option<String>,
    /// The columns of the table that have the coordinates
    #[arg(long, value_delimiter = ',', value_name = "LAT,LON", default_values = ["lat", "lon"])]
    pub columns: Vec<String>,
    /// One place, in place of a table. Others on this machine can see command lines
    #[arg(long, value_delimiter = ',', value_name = "LAT,LON", allow_hyphen_values = true)]
    pub place: Option<Vec<f64>>,
    /// How distances are measured: haversine and ecef take degrees, utm metres on a plane (east, north)
    #[arg(long, value_enum)]
    pub metric: PlacesMetric,
    /// Bob: the distance below which a place is near: 500m, 2.5km
    #[arg(long, value_name = "DISTANCE", value_parser = distance)]
    pub limit: Option<f64>,
    /// Which party the places are of: Alice has one
    #[arg(long = "as", value_name = "PARTY", value_parser = super::values::party())]
    pub party: Party,
    /// The folder that is made, for `duologue run --input FOLDER`
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlacesMetric {
    Haversine,
    Ecef,
    Utm,
}

impl From<PlacesMetric> for Metric {
    fn from(metric: PlacesMetric) -> Metric {
        match metric {
            PlacesMetric::Haversine => Metric::Haversine,
            PlacesMetric::Ecef => Metric::Ecef,
            PlacesMetric::Utm => Metric::Utm,
        }
    }
}

/// Metres.
fn distance(text: &str) -> Result<f64, &'static str> {
    let (number, unit) = match (text.strip_suffix("km"), text.strip_suffix('m')) {
        (Some(number), _) => (number, 1000.0),
        (None, Some(number)) => (number, 1.0),
        (None, None) => return Err("write metres or kilometres: 500m, 2.5km"),
    };
    let metres = number.parse::<f64>().map_or(f64::NAN, |number| number * unit);
    let fits = metres > 0.0 && metres.is_finite();
    if fits { Ok(metres) } else { Err("expected a number above 0 before the unit: 500m, 2.5km") }
}

#[derive(Subcommand)]
pub enum EigenfacesWhat {
    /// Bob: make a gallery of pictures, by their principal components
    Train(FaceTraining),
    /// Alice: make the inputs of one picture
    Query(FaceQuery),
    /// Print the name of a face of a gallery by its number
    Name(FaceName),
}

#[derive(clap::Args)]
pub struct FaceTraining {
    /// A folder of .pgm or .png pictures of one size (folders in it too), or an .npy of bytes, images × pixels
    #[arg(value_name = "FACES")]
    pub faces: PathBuf,
    /// The largest squared distance at which a face is found; by default that of half the largest distance of two faces
    #[arg(long, value_name = "NUMBER")]
    pub threshold: Option<u64>,
    /// The folder that is made, for `duologue run --input FOLDER`
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

#[derive(clap::Args)]
pub struct FaceQuery {
    /// A .pgm or .png picture of the size of the faces, or an .npy of bytes, 1 × pixels
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// The folder that is made, for `duologue run --input FOLDER`
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

#[derive(clap::Args)]
pub struct FaceName {
    /// The folder that `train` made
    #[arg(value_name = "FOLDER")]
    pub gallery: PathBuf,
    /// The output `face` of a run
    #[arg(value_name = "NUMBER")]
    pub number: usize,
}

#[derive(clap::Args)]
pub struct People {
    /// A table of people: CSV, or Parquet and Arrow if this build has them
    #[arg(value_name = "PEOPLE")]
    pub table: String,
    /// The columns of both coordinates, whole numbers from 0 on in a unit of yours, and of the interests, with `;` between them
    #[arg(long, value_delimiter = ',', value_name = "X,Y,INTERESTS", default_values = ["x", "y", "interests"])]
    pub columns: Vec<String>,
    /// All interests that there are, a line each, the same file on both sides; so many are the width of the program
    #[arg(long, value_name = "FILE")]
    pub interests: PathBuf,
    /// Alice: the largest distance that is near, along x and along y together
    #[arg(long, value_name = "NUMBER")]
    pub limit: Option<u64>,
    /// Which party the people are of: Alice's table has one row, her own
    #[arg(long = "as", value_name = "PARTY", value_parser = super::values::party())]
    pub party: Party,
    /// The folder that is made, for `duologue run --input FOLDER`
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

#[derive(Subcommand)]
pub enum AesWhat {
    /// Alice: the pixels of a picture as blocks, for app:aes
    Image {
        /// A .pgm or .png picture, taken in shades of grey; its pixels are a multiple of 16
        #[arg(value_name = "IMAGE")]
        image: PathBuf,
        /// The folder that is made, for `duologue run --input FOLDER`
        #[arg(long, value_name = "FOLDER")]
        to: PathBuf,
    },
    /// Both: the public counters of a file, for app:aes_ctr. No counter may ever come twice under one key
    Counters {
        /// The first counter block, 32 hex digits; the next ones are greater by one each
        #[arg(long, value_name = "HEX", value_parser = block)]
        first: [u8; 16],
        /// Alice: the file that is to be encrypted, of which only the length is used
        #[arg(long, value_name = "FILE", required_unless_present = "blocks", conflicts_with = "blocks")]
        file: Option<PathBuf>,
        /// Bob: how many blocks Alice has, of 16 bytes each
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=apps::aes::MOST_BLOCKS))]
        blocks: Option<u64>,
        /// The folder that is made, for `duologue run --input FOLDER`
        #[arg(long, value_name = "FOLDER")]
        to: PathBuf,
    },
    /// Alice: the output of app:aes as a picture
    Picture {
        /// The output `cipher` of a run: an .npy, or a .csv of hex
        #[arg(value_name = "CIPHER")]
        cipher: String,
        /// The picture that was encrypted, of the same size
        #[arg(long, value_name = "IMAGE")]
        like: PathBuf,
        /// The .png or .pgm file that is made
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Alice: adds the output of app:aes_ctr to a file, which encrypts or decrypts it
    Xor {
        /// The output `stream` of a run: an .npy, or a .csv of hex
        #[arg(value_name = "STREAM")]
        stream: String,
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The file that is made
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
}

/// A block of AES.
fn block(text: &str) -> Result<[u8; 16], &'static str> {
    let plain = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u128::from_str_radix(text, 16).ok().filter(|_| plain);
    number.map(u128::to_be_bytes).ok_or("expected 32 hex digits: openssl rand -hex 16 draws some")
}

#[derive(Subcommand)]
pub enum IrisWhat {
    /// For app:iris: one public mask for all codes, or none
    Common {
        #[command(flatten)]
        codes: IrisCodes,
        /// The public mask, the same on both sides, as codes are given: bits where it is 0 are left out
        #[arg(long, value_name = "MASK")]
        mask: Option<String>,
    },
    /// For app:iris_masked: a secret mask for each code
    Masked {
        #[command(flatten)]
        codes: IrisCodes,
        /// The masks of the codes, in their order and given alike; 1 is a bit that can be used
        #[arg(long, value_name = "MASKS", required_unless_present = "random", conflicts_with = "random")]
        masks: Option<String>,
    },
}

#[derive(clap::Args)]
pub struct IrisCodes {
    /// Codes: an .npy (people × bytes as numpy.packbits(…, bitorder="little") makes them, or people × bits), a .csv of hex, a
    /// column FILE.csv:COLUMN, or pictures with a pixel for each bit, of which white is 1: a .png or .pgm, or a folder of them
    #[arg(value_name = "CODES", required_unless_present = "random", conflicts_with = "random")]
    pub codes: Option<String>,
    /// Codes for trials, the same every time: Bob gets so many people, Alice another picture of the one in the middle
    #[arg(long, value_name = "PEOPLE", value_parser = clap::value_parser!(u64).range(1..=apps::iris::MOST_PEOPLE))]
    pub random: Option<u64>,
    /// Bits of a code as it is given
    #[arg(long, value_name = "NUMBER", default_value_t = apps::iris::BITS, value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    pub bits: u32,
    /// Bob: somebody is found if less than this part of the bits differs (0.32 if not given); at most three digits behind the point
    #[arg(long, value_name = "PART", value_parser = thousandths)]
    pub threshold: Option<u64>,
    /// Which party the codes are of: Alice has one
    #[arg(long = "as", value_name = "PARTY", value_parser = super::values::party())]
    pub party: Party,
    /// The folder that is made, for `duologue run --input FOLDER`
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
}

/// A part of the whole.
fn thousandths(text: &str) -> Result<u64, &'static str> {
    let (whole, digits) = text.split_once('.').unwrap_or((text, ""));
    let number = format!("{whole}{digits:0<3}");
    let plain = digits.len() <= 3 && number.bytes().all(|digit| digit.is_ascii_digit());
    let thousandths = number.parse().ok().filter(|number| plain && (1..=1000).contains(number));
    thousandths.ok_or("expected a part above 0 and up to 1, with at most three digits behind the point: 0.32")
}
