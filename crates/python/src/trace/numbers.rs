//! Plain numbers of Python as constants of a type. They are part of the program, and public.

use super::node::{Constant, shown};
use duologue::circuit::{Kind, Type};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

/// The number as a constant of the type; none if it is no plain number of Python.
pub fn constant(number: &Bound<'_, PyAny>, ty: Type) -> PyResult<Option<Result<Constant, String>>> {
    // Members of enumerations are integers too.
    if number.is_instance_of::<PyInt>() {
        return Ok(Some(integer(number, ty)?));
    }
    match number.cast_exact::<PyFloat>() {
        Ok(float) => Ok(Some(of_float(float.extract()?, ty))),
        Err(_) => Ok(None),
    }
}

fn integer(number: &Bound<'_, PyAny>, ty: Type) -> PyResult<Result<Constant, String>> {
    if let Ok(number) = number.extract::<i64>() {
        return Ok(of_integer(number.into(), ty));
    }
    Ok(match (number.extract::<i128>(), number.extract::<u128>()) {
        (Ok(number), _) => of_integer(number, ty),
        (_, Ok(low)) if ty.kind == Kind::UInt && ty.width >= 128 => Ok(Constant { low, above: false }),
        _ if ty.width > 127 => Err("a plain number has at most 127 bits: join words, duo.concat".into()),
        _ => Err(misfit(ty)),
    })
}

fn misfit(ty: Type) -> String {
    let (name, width) = (shown(ty), ty.width);
    match ty.kind {
        _ if name == "bit" => {
            "the number is no bit: expected True, False, 0 or 1, or duo.cast(x, u8) of the bit".into()
        }
        Kind::Bits | Kind::UInt => format!("the number does not fit {name}: expected 0 to 2^{width} - 1"),
        Kind::Int => format!("the number does not fit {name}: expected -2^{0} to 2^{0} - 1", width - 1),
        _ => format!("the number does not fit {name}"),
    }
}

/// A whole number of the type.
pub fn of_integer(number: i128, ty: Type) -> Result<Constant, String> {
    let fits = match ty.kind {
        Kind::Bits | Kind::UInt => number >= 0 && (ty.width >= 127 || number >> ty.width == 0),
        Kind::Int => ty.width >= 128 || (-1 << (ty.width - 1)..1 << (ty.width - 1)).contains(&number),
        Kind::Fixed { fraction } => {
            return match number.checked_shl(fraction).filter(|units| fraction < 127 && units >> fraction == number) {
                Some(units) => of_integer(units, duologue::circuit::int(ty.width)).map_err(|_| misfit(ty)),
                None => Err(misfit(ty)),
            };
        }
        Kind::Float { .. } if number.unsigned_abs() <= 1 << 53 => return of_float(number as f64, ty),
        Kind::Float { .. } => false,
    };
    if fits { Ok(masked(number, ty.width)) } else { Err(misfit(ty)) }
}

fn masked(number: i128, width: u32) -> Constant {
    let mask = if width < 128 { (1 << width) - 1 } else { u128::MAX };
    Constant { low: number as u128 & mask, above: width > 128 && number < 0 }
}

/// The nearest number of the type.
fn of_float(number: f64, ty: Type) -> Result<Constant, String> {
    let of_bits = |low: u128| Ok(Constant { low, above: false });
    match (ty.kind, ty.width) {
        (Kind::Float { exponent: 11 }, 64) => of_bits(number.to_bits().into()),
        (Kind::Float { exponent: 8 }, 32) if (number as f32).is_finite() || !number.is_finite() => {
            of_bits((number as f32).to_bits().into())
        }
        (Kind::Fixed { fraction }, ..=64) if number.is_finite() => {
            let units = (number * 2f64.powi(fraction as i32)).round();
            let most = 2f64.powi(ty.width as i32 - 1);
            if (-most..most).contains(&units) { Ok(masked(units as i128, ty.width)) } else { Err(misfit(ty)) }
        }
        (Kind::UInt | Kind::Int | Kind::Bits, _) => {
            let name = shown(ty);
            Err(format!("a number with a point and {name}: write duo.cast(x, f64), or round the number"))
        }
        _ => Err(misfit(ty)),
    }
}
