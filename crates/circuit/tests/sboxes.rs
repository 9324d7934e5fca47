//! Tables that are an inversion in GF(2^8) between affine maps: published S-boxes, their like, and tables that are nearly so.

use crate::common::checks::{Draw, Random, check_all};
use circuit::blocks::{Goal, table};
use circuit::{Builder, Circuit, UInt};

/// FIPS 197, figure 7.
const AES: &str = "\
    637c777bf26b6fc53001672bfed7ab76ca82c97dfa5947f0add4a2af9ca472c0b7fd9326363ff7cc34a5e5f171d83115\
    04c723c31896059a071280e2eb27b27509832c1a1b6e5aa0523bd6b329e32f8453d100ed20fcb15b6acbbe394a4c58cf\
    d0efaafb434d338545f9027f503c9fa851a3408f929d38f5bcb6da2110fff3d2cd0c13ec5f974417c4a77e3d645d1973\
    60814fdc222a908846eeb814de5e0bdbe0323a0a4906245cc2d3ac629195e479e7c8376d8dd54ea96c56f4ea657aae08\
    ba78252e1ca6b4c6e8dd741f4bbd8b8a703eb5664803f60e613557b986c11d9ee1f8981169d98e949b1e87e9ce5528df\
    8ca1890dbfe6426841992d0fb054bb16";

/// GB/T 32907, table 1; also RFC 8998.
const SM4: &str = "\
    d690e9fecce13db716b614c228fb2c052b679a762abe04c3aa441326498606999c4250f491ef987a33540b43edcfac62\
    e4b31ca9c908e89580df94fa758f3fa64707a7fcf37317ba83593c19e6854fa8686b81b27164da8bf8eb0f4b70569d35\
    1e240e5e6358d1a225227c3b01217887d40046579fd327524c3602e7a0c4c89eeabf8ad240c738b5a3f7f2cef96115a1\
    e0ae5da49b341a55ad933230f58cb1e31df6e22e8266ca60c02923ab0d534e6fd5db3745defd8e2f03ff6a726d6c5b51\
    8d1baf92bbddbc7f11d95c411f105ad80ac13188a5cd7bbd2d74d012b8e5b4b08969974a0c96777e65b9f109c56ec684\
    18f07dec3adc4d2079ee5f3ed7cb3948";

/// RFC 3713, section 2.4.1: SBOX1.
const CAMELLIA: &str = "\
    70822cecb327c0e5e4855735ea0cae4123ef6b934519a521ed0e4f4e1d6592bd86b8af8f7ceb1fce3e30dc5f5ec50b1a\
    a6e139cad5475d3dd9015ad651566c4d8b0d9a66fbccb02d74122b20f0b18499df4ccbc2347e76056db7a931d11704d7\
    14583a61de1b111c320f9c165318f222fe44cfb2c3b57a912408e8a860fc6950aad0a07da1896297545b1e95e0ff64d2\
    10c40048a3f775db8a03e6da093fdd94875c8302cd4a90337367f6f39d7fbfe2529bd826c837c63b81966f4b13be632e\
    e979a78c9f6ebc8e29f5f9b62ffdb4597898066ae74671bad425ab4288a28dfa7207b955f8eeac0a36492a683c38f1a4\
    4028d37bbbc943c115e3adf477c7809e";

fn bytes(hex: &str) -> Vec<u128> {
    let byte = |i: usize| u128::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
    (0..hex.len() / 2).map(byte).collect()
}

fn inverse(table: &[u128]) -> Vec<u128> {
    (0..table.len()).map(|value| table.iter().position(|&y| y == value as u128).unwrap() as u128).collect()
}

fn looked_up(table: &[u128], width: usize, goal: Goal) -> Circuit {
    let mut c = Builder::new("lookup");
    let index = c.uint("index", 8);
    let entry = table::lookup(&mut c, &index.0, table, width, goal);
    c.output("entry", &UInt(entry));
    c.finish()
}

/// The circuit, of which every value was compared with the table's.
fn checked(table: &[u128], width: usize) -> Circuit {
    for goal in [Goal::Size, Goal::Depth] {
        let circuit = looked_up(table, width, goal);
        check_all(&circuit, |index, entry| assert_eq!(entry[0], table[index[0] as usize], "{goal}"));
    }
    looked_up(table, width, Goal::Size)
}

/// A random invertible linear map of bytes, as its values.
fn linear(random: &mut Random) -> Vec<u128> {
    loop {
        let columns: Vec<u128> = (0..8).map(|_| random.bits(8)).collect();
        let value = |x: usize| (0..8).filter(|i| x >> i & 1 == 1).fold(0, |sum, i| sum ^ columns[i]);
        let map: Vec<u128> = (0..256).map(value).collect();
        if (1..256).all(|x| map[x] != 0) {
            return map;
        }
    }
}

#[test]
fn published_s_boxes_have_32_ands() {
    for table in [bytes(AES), inverse(&bytes(AES)), bytes(SM4), bytes(CAMELLIA)] {
        let circuit = checked(&table, 8);
        assert_eq!((circuit.and_count(), circuit.depth()), (32, 6));
    }
}

#[test]
fn affine_maps_on_both_sides_cost_nothing() {
    let mut random = Random(5);
    for _ in 0..20 {
        let (inner, outer) = (linear(&mut random), linear(&mut random));
        let (before, after) = (random.bits(8), random.bits(8));
        let aes = bytes(AES);
        let value = |x: usize| outer[aes[inner[x ^ before as usize] as usize] as usize] ^ after;
        let table: Vec<u128> = (0..256).map(value).collect();
        assert_eq!(checked(&table, 8).and_count(), 32);
    }
}

/// The tables of fast software, of four bytes: twice, once, once and three times the S-box.
#[test]
fn more_outputs_that_are_sums_of_eight_cost_nothing() {
    let double = |x: u128| ((x << 1) ^ ((x >> 7) * 0x11b)) & 0xff;
    let table: Vec<u128> = bytes(AES).iter().map(|&s| double(s) | s << 8 | s << 16 | (double(s) ^ s) << 24).collect();
    assert_eq!(checked(&table, 32).and_count(), 32);
    let with_index: Vec<u128> = (0..).zip(bytes(AES)).map(|(x, s)| (x ^ s ^ 1) << 8 | s).collect();
    assert_eq!(checked(&with_index, 16).and_count(), 32);
}

/// Two values that change places, one value that is there twice, and no structure at all: right, and not taken for one.
#[test]
fn what_is_nearly_an_inversion_is_none() {
    let (mut swapped, mut doubled) = (bytes(AES), bytes(AES));
    swapped.swap(17, 202);
    doubled[9] = doubled[99];
    let mut random = Random(6);
    let shuffled: Vec<u128> = random.permutation(256).into_iter().map(|x| x as u128).collect();
    for table in [swapped, doubled, shuffled] {
        let ands = checked(&table, 8).and_count();
        assert!((60..=81).contains(&ands), "{ands} ANDs");
    }
}
