//! Calls models that relaxc compiled, without `unsafe` code in the calling program.
//!
//! `relaxc --rust m.rs --rust-api safe` writes for each model the types of its inputs, outputs, states and dims, and a
//! `run` that uses this crate; the crate `relaxc-build` calls relaxc from build.rs. Calls are safe because this crate
//! checks each slice against its shape, and the model checks dtypes, ranks, shapes, overlaps and memory before it
//! writes anything (docs/abi.md). This crate only needs `core`.
#![no_std]

pub mod abi;
mod error;
mod tensor;

use abi::{rlx_context, rlx_error, rlx_function, rlx_model, rlx_tensor};
use core::ffi::c_void;
pub use error::Error;
pub use tensor::{state, Array, Element, Input, Output};

/// Includes the file that `relaxc_build::Model` wrote for the model of this name.
#[macro_export]
macro_rules! include_model {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}

/// An entry point of a model.
#[derive(Clone, Copy)]
pub struct Function(&'static rlx_function);

// SAFETY: the tables of a model are constants, and its functions may run on any threads at once.
unsafe impl Send for Function {}
unsafe impl Sync for Function {}

impl Function {
    /// Returns the function at `index` of the model's table.
    ///
    /// # Safety
    /// `model` must be the descriptor of an object that relaxc wrote, linked into this program, with such a function.
    pub unsafe fn of(model: *const rlx_model, index: usize) -> Self {
        let model = &*model;
        assert!(model.abi_version == abi::ABI_VERSION, "the model is of another version of relaxc's interface");
        let table = model.functions as *const u8;
        Function(&*(table.add(index * model.function_size as usize) as *const rlx_function))
    }

    /// Returns the bytes of arena that a call with these dims needs, including room for aligning a slice of bytes.
    pub fn arena_bytes(&self, symbols: &[i64]) -> Result<usize, Error> {
        self.count(symbols.len(), self.0.num_symbols)?;
        let mut bytes = 0;
        // SAFETY: there are as many symbols as the function reads.
        let status = unsafe { (self.0.arena_bytes)(symbols.as_ptr(), &mut bytes) };
        Error::check(status, error::NOTHING)?;
        usize::try_from(bytes).ok().and_then(|all| all.checked_add(self.align() - 1)).ok_or(error::TOO_LARGE)
    }

    /// Checks inputs, and writes the dims that they have to `symbols`, in the order of the model's table.
    pub fn bind(&self, inputs: &[Input<'_>], symbols: &mut [i64]) -> Result<(), Error> {
        self.count(inputs.len(), self.0.num_inputs)?;
        self.count(symbols.len(), self.0.num_symbols)?;
        let mut record = error::NOTHING;
        let mut context = context(&mut record);
        let given = inputs.as_ptr() as *const rlx_tensor;
        // SAFETY: an Input is an rlx_tensor whose data are as large as it says.
        let status = unsafe { (self.0.bind)(&mut context, given, inputs.len() as u32, symbols.as_mut_ptr(), &mut record) };
        Error::check(status, record)
    }

    /// Writes the dims of an output; i64::MAX if the data decides and nothing bounds them.
    ///
    /// # Safety
    /// `dims` must be as long as that output has dims.
    pub unsafe fn output_shape(&self, symbols: &[i64], index: usize, dims: &mut [i64]) -> Result<(), Error> {
        self.count(symbols.len(), self.0.num_symbols)?;
        Error::check((self.0.output_shape)(symbols.as_ptr(), index as u32, dims.as_mut_ptr()), error::NOTHING)
    }

    /// Runs the function. The shapes of `outputs` are their capacities before the call and their sizes after it.
    pub fn run(&self, arena: &mut [u8], inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<(), Error> {
        self.count(inputs.len(), self.0.num_inputs)?;
        self.count(outputs.len(), self.0.num_outputs)?;
        let mut record = error::NOTHING;
        let mut context = context(&mut record);
        let skipped = arena.as_ptr().align_offset(self.align()).min(arena.len());
        let arena = &mut arena[skipped..];
        context.arena = arena.as_mut_ptr() as *mut c_void;
        context.arena_bytes = arena.len() as u64;
        let (given, made) = (inputs.as_ptr() as *const rlx_tensor, outputs.as_mut_ptr() as *mut rlx_tensor);
        // SAFETY: Input and Output are rlx_tensors whose data are as large as they say; the model checks the rest.
        let status = unsafe { (self.0.run)(&mut context, given, inputs.len() as u32, made, outputs.len() as u32) };
        Error::check(status, record)
    }

    fn align(&self) -> usize {
        self.0.arena_align.max(1) as usize
    }

    fn count(&self, given: usize, expected: u32) -> Result<(), Error> {
        if given == expected as usize { Ok(()) } else { Err(Error::of_count(given, expected)) }
    }
}

fn context(record: &mut rlx_error) -> rlx_context {
    // SAFETY: all fields are numbers and pointers, for which zero means none.
    let mut context: rlx_context = unsafe { core::mem::zeroed() };
    context.abi_version = abi::ABI_VERSION;
    context.struct_size = core::mem::size_of::<rlx_context>() as u32;
    context.error = record;
    context
}
