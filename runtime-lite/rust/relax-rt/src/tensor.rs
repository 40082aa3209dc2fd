//! Converts slices to the tensor records of the interface.
use crate::abi::rlx_tensor;
use crate::error::{Error, TOO_LARGE};
use core::ffi::c_void;
use core::marker::PhantomData;

/// A type for elements of some dtypes. Elements of bool, float8, float16 and bfloat16 are given as bits.
///
/// # Safety
/// Any bits must be a valid value of the type, and `BITS` must be its size in bits.
pub unsafe trait Element: Copy + 'static {
    const BITS: u8;
}

macro_rules! elements {
    ($($type:ty),*) => {
        $(// SAFETY: numbers have no invalid bits.
        unsafe impl Element for $type {
            const BITS: u8 = 8 * core::mem::size_of::<$type>() as u8;
        })*
    };
}
elements!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

/// Elements with their shape, for inputs whose dims do not follow from the call's dims.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a, T, const RANK: usize> {
    pub data: &'a [T],
    pub shape: [i64; RANK],
}

/// A tensor that a call reads.
#[repr(transparent)]
pub struct Input<'a>(rlx_tensor, PhantomData<&'a [u8]>);

/// A tensor that a call writes.
#[repr(transparent)]
pub struct Output<'a>(rlx_tensor, PhantomData<&'a mut [u8]>);

impl<'a> Input<'a> {
    /// Takes compact row-major elements of DLPack's dtype `code`. Fails unless there are as many as the shape says.
    pub fn new<T: Element>(code: u8, data: &'a [T], shape: &'a [i64]) -> Result<Self, Error> {
        let length = elements(shape)?;
        if length != data.len() {
            return Err(Error::of_length(data.len(), length));
        }
        Ok(Input(record::<T>(code, data.as_ptr() as *mut T, shape.as_ptr() as *mut i64, shape.len()), PhantomData))
    }
}

impl<'a> Output<'a> {
    /// Takes room for at least the elements of the shape, which the call replaces by the shape of its result.
    pub fn new<T: Element>(code: u8, data: &'a mut [T], shape: &'a mut [i64]) -> Result<Self, Error> {
        let length = elements(shape)?;
        if length > data.len() {
            return Err(Error::of_length(data.len(), length));
        }
        Ok(Output(record::<T>(code, data.as_mut_ptr(), shape.as_mut_ptr(), shape.len()), PhantomData))
    }
}

/// Makes the tensors of a state that a call reads and replaces in place.
pub fn state<'a, T: Element>(
    code: u8, data: &'a mut [T], before: &'a [i64], after: &'a mut [i64],
) -> Result<(Input<'a>, Output<'a>), Error> {
    let length = elements(before)?;
    if length != data.len() || elements(after)? != length {
        return Err(Error::of_length(data.len(), length));
    }
    let place = data.as_mut_ptr();
    let read = record::<T>(code, place, before.as_ptr() as *mut i64, before.len());
    let written = record::<T>(code, place, after.as_mut_ptr(), after.len());
    Ok((Input(read, PhantomData), Output(written, PhantomData)))
}

fn elements(shape: &[i64]) -> Result<usize, Error> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let mut product = 1usize;
    for &dim in shape {
        product = usize::try_from(dim).ok().and_then(|dim| product.checked_mul(dim)).ok_or(TOO_LARGE)?;
    }
    Ok(product)
}

fn record<T: Element>(code: u8, data: *mut T, shape: *mut i64, rank: usize) -> rlx_tensor {
    rlx_tensor {
        data: data as *mut c_void,
        device_type: 1,
        device_id: 0,
        ndim: rank as i32,
        dtype_code: code,
        dtype_bits: T::BITS,
        dtype_lanes: 1,
        shape,
        strides: core::ptr::null_mut(),
        byte_offset: 0,
    }
}
