//! Sealed files by themselves: every length, every place, every byte, and known answers.

use super::super::entry::Keyed;
use super::super::fields::Owner;
use super::super::key::FileKey;
use super::super::piece::PIECE;
use super::super::seal::TAG;
use super::super::sealed::{FileWriter, HEAD, Head};
use super::*;
use data_encoding::HEXLOWER;
use zeroize::Zeroizing;

static CONTENT: Content =
    Content { code: 1, absent: "", makes: "", alone: "", kinds: &["labels"], bulk: Some("tables") };

const OWNER: Owner = Owner { identity: IDENTITY, party: Party::Alice, content: 1 };

/// Secrets, and bulk.
const KINDS: [u8; 2] = [0, 1];

fn keyed(folder: &Path) -> Keyed<'_> {
    Keyed { folder, content: &CONTENT, owner: OWNER, key: &[1; 32] }
}

fn key() -> FileKey {
    FileKey { id: [0x11; 16], key: Zeroizing::new([3; 32]) }
}

fn content(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * i / 7 + i / PIECE) as u8).collect()
}

fn head(kind: u8, bytes: usize) -> Head {
    Head { kind, first: 7, count: 1, bytes: bytes as u64, batch: BATCH, key: key().id }
}

/// A file written in parts of this many bytes.
fn write(folder: &Path, kind: u8, bytes: &[u8], part: usize) -> (PathBuf, Head) {
    let mut writer = FileWriter::create(&keyed(folder), &key(), head(kind, bytes.len())).unwrap();
    bytes.chunks(part).for_each(|part| writer.write(part).unwrap());
    writer.end().and_then(|()| writer.name()).unwrap();
    (writer.path.clone(), writer.head.clone())
}

fn reader(folder: &Path, head: &Head) -> Result<FileReader> {
    FileReader::open(&keyed(folder), &key(), head)
}

fn read_all(folder: &Path, head: &Head) -> Result<Vec<u8>> {
    let mut reader = reader(folder, head)?;
    reader.verify()?;
    let mut bytes = vec![0; head.bytes as usize];
    reader.read(0, &mut bytes).map(|()| bytes)
}

#[test]
fn every_length_comes_back_from_everywhere() {
    let place = TempDir::new().unwrap();
    for kind in KINDS {
        for len in [0, 1, 15, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5] {
            let bytes = content(len);
            for part in [len.max(1), 1000, PIECE, PIECE + 3] {
                let (path, head) = write(place.path(), kind, &bytes, part);
                assert_eq!(fs::metadata(&path).unwrap().len(), head.file_len());
                assert_eq!(Head::inspect(&path, &OWNER, &CONTENT).unwrap(), head);
                let mut reader = reader(place.path(), &head).unwrap();
                reader.verify().unwrap();
                for (from, to) in [(0, len), (len / 2, len), (len / 3, len / 2), (len, len), (0, len.min(1))] {
                    let mut came = vec![0; to - from];
                    reader.read(from as u64, &mut came).unwrap();
                    assert!(came == bytes[from..to], "{from}..{to} of {len}");
                }
                assert!(matches!(reader.read(len as u64, &mut [0]), Err(Error::Usage(_))));
                assert!(matches!(reader.read(u64::MAX, &mut [0; 2]), Err(Error::Usage(_))));
            }
        }
    }
}

#[test]
fn a_file_has_as_much_as_it_says() {
    let place = TempDir::new().unwrap();
    let begin = |bytes| FileWriter::create(&keyed(place.path()), &key(), head(0, bytes)).unwrap();
    assert!(matches!(begin(3).write(&[0; 4]), Err(Error::Usage(_))));
    let mut short = begin(3);
    short.write(&[0; 2]).unwrap();
    assert!(matches!(short.end(), Err(Error::Usage(_))));
}

/// Secrets are not in the file as they are; bulk may be.
#[test]
fn secrets_are_sealed() {
    let place = TempDir::new().unwrap();
    let secret = [0x77; 64];
    for (kind, clear) in [(0, false), (1, true)] {
        let (path, _) = write(place.path(), kind, &secret, 64);
        let file = fs::read(path).unwrap();
        assert_eq!(file.windows(8).any(|window| window == &secret[..8]), clear);
    }
}

/// Every byte of a small file, and some of a large one.
#[test]
fn every_byte_counts() {
    let place = TempDir::new().unwrap();
    for kind in KINDS {
        for (len, step) in [(0, 1), (40, 1), (2 * PIECE + 40, 4801)] {
            let (path, head) = write(place.path(), kind, &content(len), 1000);
            let whole = fs::read(&path).unwrap();
            for at in (0..whole.len()).step_by(step) {
                let mut harmed = whole.clone();
                harmed[at] ^= 1 << (at % 8);
                fs::write(&path, &harmed).unwrap();
                assert!(matches!(read_all(place.path(), &head), Err(Error::Malformed { .. })), "{kind}, byte {at}");
            }
            for cut in (0..whole.len()).step_by(step) {
                fs::write(&path, &whole[..cut]).unwrap();
                assert!(read_all(place.path(), &head).is_err(), "{kind}, cut at {cut}");
            }
            fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
            assert!(read_all(place.path(), &head).is_err());
            fs::write(&path, &whole).unwrap();
            assert_eq!(read_all(place.path(), &head).unwrap(), content(len));
        }
    }
}

/// Two pieces of one file change places; a piece of another number, of another batch, of another key, or of a file that
/// goes on after it takes the place of one.
#[test]
fn a_piece_belongs_to_its_place() {
    let place = TempDir::new().unwrap();
    for kind in KINDS {
        let bytes = vec![9; 3 * PIECE];
        let (path, first) = write(place.path(), kind, &bytes, PIECE);
        let whole = fs::read(&path).unwrap();
        let mut foreign = Vec::new();
        for (head, key) in [
            (Head { first: 8, ..first.clone() }, key()),
            (Head { batch: [1; 32], ..first.clone() }, key()),
            (Head { count: 2, ..first.clone() }, key()),
            (first.clone(), FileKey { id: [0x11; 16], key: Zeroizing::new([4; 32]) }),
            (Head { bytes: 4 * PIECE as u64, ..first.clone() }, key()),
        ] {
            let mut writer = FileWriter::create(&keyed(place.path()), &key, head.clone()).unwrap();
            writer.write(&vec![9; head.bytes as usize]).and_then(|()| writer.end()).unwrap();
            foreign.push(fs::read(files::part_of(&writer.path)).unwrap());
        }
        let cut = |file: &[u8]| -> Vec<Vec<u8>> { file[HEAD..].chunks(PIECE + TAG).map(<[u8]>::to_vec).collect() };
        let put = |pieces: &[Vec<u8>]| [&whole[..HEAD], &pieces.concat()].concat();
        let own = cut(&whole);
        let mut harmed: Vec<Vec<u8>> =
            [[1, 0, 2], [0, 2, 1], [0, 0, 2]].iter().map(|order| put(&order.map(|i| own[i].clone()))).collect();
        for other in foreign {
            for (i, piece) in cut(&other).into_iter().take(3).enumerate() {
                let mut pieces = own.clone();
                pieces[i] = piece;
                harmed.push(put(&pieces));
            }
        }
        for harmed in harmed {
            fs::write(&path, harmed).unwrap();
            assert!(matches!(read_all(place.path(), &first), Err(Error::Malformed { .. })));
        }
        fs::write(&path, whole).unwrap();
        read_all(place.path(), &first).unwrap();
    }
}

/// A file whose head claims fewer pieces, or more: cut off and gone on with by somebody who can make the head anew, but
/// has no key. The broken twin leaves the length out of the key and the mark out of the last piece, and takes it.
#[test]
fn the_last_piece_is_marked() {
    use super::super::piece::{Cover, Position};
    for secret in [true, false] {
        let (cover, mut text) = (Cover::new(secret, &[3; 32], b"a head without a length"), vec![5; 64]);
        let [more, last] = [false, true].map(|last| Position { number: 0, last });
        let tag = cover.close(more, &mut text);
        assert!(cover.open(last, &mut text.clone(), tag).is_none());
        assert!(cover.open(more, &mut text, tag).is_some(), "the twin, which marks nothing");
        assert_eq!(text, [5; 64]);
    }
    let place = TempDir::new().unwrap();
    for kind in KINDS {
        let (path, long) = write(place.path(), kind, &content(2 * PIECE), PIECE);
        let (mut whole, short) = (fs::read(&path).unwrap(), head(kind, PIECE));
        whole.truncate(HEAD + PIECE + TAG);
        whole[64..72].copy_from_slice(&short.bytes.to_le_bytes());
        fs::write(&path, &whole).unwrap();
        assert!(matches!(read_all(place.path(), &short), Err(Error::Malformed { .. })));
        assert!(read_all(place.path(), &long).is_err());
    }
}

/// A wrong nonce for every piece would show where two have the same text.
#[test]
fn equal_pieces_have_different_texts() {
    let place = TempDir::new().unwrap();
    let (path, _) = write(place.path(), 0, &vec![0; 3 * PIECE], PIECE);
    let file = fs::read(path).unwrap();
    assert_ne!(file[HEAD..][..64], file[HEAD + PIECE + TAG..][..64]);
}

/// Files as a program in another language writes them by the book's page on storage, with libraries of its own.
#[test]
fn files_are_as_documented() {
    let place = TempDir::new().unwrap();
    for (kind, len, tag, digest) in [
        (0, 0, "5820cde2b0a526b1171ebb66ce5290c9", "7ced1a7048ba01c9fcc7cda81983cf96ce3175ccfeb9e89ad595a2b4dfe849a4"),
        (1, 0, "af353e721b7ae27f6e814219158377c4", "b1624fcc92547626956bf6be5920c095415f8d23d41255572f4479d014501027"),
        (0, 40, "d47d3fdc3e61d12226ef8096f21a7763", "e85efc131d8150ca99469680d23f3fcb9e59266acb1bab42c17a4a31b364d2f1"),
        (1, 40, "79234f241a3b6da7ef60ad1f2e31ecb2", "625708683ba77381b3531b37e484fe3a1914487468cbeb81cf73e8a433f9b46f"),
        (
            0,
            PIECE,
            "b612f8b584497564d7c17c7257e0d9ff",
            "9c592f828c20691da2b92cd39e9581c2409ff03639f5b1e058fe9df73157c437",
        ),
        (
            1,
            PIECE,
            "d85e568d670a1dc973b23d2c889a1027",
            "ed61526d8ba63e20f0c11163ffee7c663d85b3ba31323fffff5c7fd58fcc2752",
        ),
        (
            0,
            PIECE + 40,
            "0ae94e59577c61455ea3d79e25334b78",
            "30c0c0ec166b659123611ea7a8ad5456ccd29d562a8a43704fae721a8408aaa0",
        ),
        (
            1,
            PIECE + 40,
            "5c9eb15139fdfc022b0517cb1453261d",
            "52d9ea31681e35579a459c276ae7e1095ec75c1ade696bd3057c65dabd0ac14f",
        ),
    ] {
        let (path, _) = write(place.path(), kind, &content(len), 1000);
        let file = fs::read(path).unwrap();
        assert_eq!(HEXLOWER.encode(&file[file.len() - TAG..]), tag, "the last tag of {len} bytes, kind {kind}");
        assert_eq!(blake3::hash(&file).to_hex().as_str(), digest, "{len} bytes, kind {kind}");
    }
}

/// The sum of bulk by its definition: shift and add, block by block.
#[test]
fn sums_are_those_of_the_definition() {
    use super::super::piece::{Cover, Position};
    use kernels::Block;
    use kernels::generator::Generator;
    let times = |x: u128, y: u128| {
        (0..128).rev().fold(0u128, |sum, bit| {
            let doubled = sum << 1 ^ if sum >> 127 == 1 { 0x87 } else { 0 };
            doubled ^ if y >> bit & 1 == 1 { x } else { 0 }
        })
    };
    let seed = {
        let mut hasher = blake3::Hasher::new_derive_key("duologue 2 storage: key of bulk");
        let key = hasher.update(&[3; 32]).update(b"head").finalize();
        Generator::from_seed(Block::from_bytes(*key.as_bytes().first_chunk().unwrap()))
    };
    for (len, number, last) in [(0, 0, true), (1, 0, true), (16, 5, false), (1000, 1 << 40, true), (PIECE, 2, false)] {
        let mut text = content(len);
        let mut weights = seed.derive(b"weights ", 0);
        let mut sum = seed.derive(if last { b"last    " } else { b"piece   " }, number).block().get();
        for block in text.chunks(16) {
            let mut padded = [0; 16];
            padded[..block.len()].copy_from_slice(block);
            sum ^= times(weights.block().get(), u128::from_le_bytes(padded));
        }
        let tag = Cover::new(false, &[3; 32], b"head").close(Position { number, last }, &mut text);
        assert_eq!(u128::from_le_bytes(tag), sum, "{len} bytes, piece {number}");
    }
}
