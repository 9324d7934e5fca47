use super::*;
use crate::Party;
use tempfile::TempDir;

const OWNER: Owner = Owner { identity: [0x5a; 32], party: Party::Alice };
const KEY_OF_DATA: [u8; KEY] = [3; KEY];

fn content(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * i / 7 + i / PIECE) as u8).collect()
}

/// A reel written in parts of this many bytes.
fn write(folder: &Path, content: Content, bytes: &[u8], part: usize) -> Head {
    let head = Head::new(content, 7, bytes.len() as u64, [0xba; 32]).unwrap();
    let mut writer = Writer::create(folder, &OWNER, &KEY_OF_DATA, head).unwrap();
    bytes.chunks(part).for_each(|part| writer.write(part).unwrap());
    writer.end().unwrap();
    writer.name().unwrap()
}

fn reader(folder: &Path, head: &Head) -> Reader {
    Reader::open(folder, &OWNER, &KEY_OF_DATA, head).unwrap()
}

#[test]
fn every_length_comes_back_from_everywhere() {
    let place = TempDir::new().unwrap();
    for what in Content::ALL {
        for len in [0, 1, 15, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5] {
            let bytes = content(len);
            for part in [len.max(1), 1000, PIECE, PIECE + 3] {
                let head = write(place.path(), what, &bytes, part);
                assert_eq!(fs::metadata(head.path(place.path())).unwrap().len(), head.file_len());
                assert_eq!(Head::inspect(&head.path(place.path()), &OWNER).unwrap(), head);
                let mut reader = reader(place.path(), &head);
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
fn a_reel_has_as_much_as_it_says() {
    let place = TempDir::new().unwrap();
    let begin = |bytes| {
        let head = Head::new(Content::Labels, 0, bytes, [0; 32]).unwrap();
        Writer::create(place.path(), &OWNER, &KEY_OF_DATA, head).unwrap()
    };
    assert!(matches!(begin(3).write(&[0; 4]), Err(Error::Usage(_))));
    let mut short = begin(3);
    short.write(&[0; 2]).unwrap();
    assert!(matches!(short.end(), Err(Error::Usage(_))));
    drop(short);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "what is not whole leaves nothing");
}

/// Labels are not in the file as they are; tables may be.
#[test]
fn labels_are_sealed() {
    let place = TempDir::new().unwrap();
    let secret = [0x77; 64];
    for (what, clear) in [(Content::Labels, false), (Content::Tables, true)] {
        let head = write(place.path(), what, &secret, 64);
        let file = fs::read(head.path(place.path())).unwrap();
        assert_eq!(file.windows(8).any(|window| window == &secret[..8]), clear);
    }
}

/// Every byte of a small file, and some of a large one.
#[test]
fn every_byte_counts() {
    let place = TempDir::new().unwrap();
    for what in Content::ALL {
        for (len, step) in [(40, 1), (2 * PIECE + 40, 4801)] {
            let head = write(place.path(), what, &content(len), 1000);
            let path = head.path(place.path());
            let whole = fs::read(&path).unwrap();
            for at in (0..whole.len()).step_by(step) {
                let mut harmed = whole.clone();
                harmed[at] ^= 1 << (at % 8);
                fs::write(&path, &harmed).unwrap();
                assert!(matches!(read_all(place.path(), &head), Err(Error::Malformed { .. })), "{what:?}, byte {at}");
            }
            for cut in (0..whole.len()).step_by(step) {
                fs::write(&path, &whole[..cut]).unwrap();
                assert!(read_all(place.path(), &head).is_err(), "{what:?}, cut at {cut}");
            }
            fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
            assert!(read_all(place.path(), &head).is_err());
            fs::write(&path, &whole).unwrap();
            assert_eq!(read_all(place.path(), &head).unwrap(), content(len));
        }
    }
}

fn read_all(folder: &Path, head: &Head) -> Result<Vec<u8>> {
    let mut reader = Reader::open(folder, &OWNER, &KEY_OF_DATA, head)?;
    let mut bytes = vec![0; head.bytes as usize];
    reader.read(0, &mut bytes).map(|()| bytes)
}

/// Two pieces of one file change places, and a piece of another file takes the place of one.
#[test]
fn a_piece_belongs_to_its_place() {
    let place = TempDir::new().unwrap();
    for what in Content::ALL {
        let bytes = vec![9; 2 * PIECE];
        let other = fs::read(write(place.path(), what, &bytes, PIECE).path(place.path())).unwrap();
        let head = write(place.path(), what, &bytes, PIECE);
        let path = head.path(place.path());
        let whole = fs::read(&path).unwrap();
        let (first, second) = (HEAD..HEAD + PIECE + TAG, HEAD + PIECE + TAG..whole.len());
        let swapped = [&whole[..HEAD], &whole[second.clone()], &whole[first.clone()]].concat();
        let foreign = [&whole[..first.end], &other[second]].concat();
        for harmed in [swapped, foreign] {
            fs::write(&path, harmed).unwrap();
            assert!(matches!(read_all(place.path(), &head), Err(Error::Malformed { .. })));
        }
    }
}

/// A wrong nonce for every piece would show where two have the same text; so would a nonce that is counted anew.
#[test]
fn equal_pieces_have_different_texts() {
    let place = TempDir::new().unwrap();
    let head = write(place.path(), Content::Labels, &vec![0; 2 * PIECE], PIECE);
    let again = write(&TempDir::new().unwrap().keep(), Content::Labels, &vec![0; 2 * PIECE], PIECE);
    assert_ne!(head.nonce, again.nonce);
    let file = fs::read(head.path(place.path())).unwrap();
    assert_ne!(file[HEAD..][..64], file[HEAD + PIECE + TAG..][..64]);
}
