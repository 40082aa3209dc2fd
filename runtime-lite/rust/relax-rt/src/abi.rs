//! The records of relax_rt.h. A test compares the offsets of all fields with those of a C compiler.
#![allow(non_camel_case_types)]
use core::ffi::c_void;

pub const ABI_VERSION: u32 = 1;

#[repr(C)]
pub struct rlx_tensor {
    pub data: *mut c_void,
    pub device_type: i32,
    pub device_id: i32,
    pub ndim: i32,
    pub dtype_code: u8,
    pub dtype_bits: u8,
    pub dtype_lanes: u16,
    pub shape: *mut i64,
    pub strides: *mut i64,
    pub byte_offset: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct rlx_error {
    pub code: i32,
    pub tensor: i32,
    pub axis: i32,
    pub symbol: i32,
    pub node: i32,
    pub expected: i64,
    pub actual: i64,
}

#[repr(C)]
pub struct rlx_memory_pool {
    pub data: *mut c_void,
    pub bytes: u64,
}

#[repr(C)]
pub struct rlx_context {
    pub abi_version: u32,
    pub struct_size: u32,
    pub arena: *mut c_void,
    pub arena_bytes: u64,
    pub weights: *const c_void,
    pub weights_bytes: u64,
    pub error: *mut rlx_error,
    pub parallel_for: *const c_void,
    pub parallel_user: *mut c_void,
    pub num_threads: i32,
    pub alloc: *const c_void,
    pub alloc_user: *mut c_void,
    pub trace: *const c_void,
    pub trace_user: *mut c_void,
    pub poll: *const c_void,
    pub poll_user: *mut c_void,
    pub cpu_features: u64,
    pub pools: *const rlx_memory_pool,
    pub num_pools: u32,
}

#[repr(C)]
pub struct rlx_function {
    pub name: *const u8,
    pub num_inputs: u32,
    pub num_outputs: u32,
    pub num_symbols: u32,
    pub num_nodes: u32,
    pub inputs: *const c_void,
    pub outputs: *const c_void,
    pub symbols: *const c_void,
    pub nodes: *const c_void,
    pub arena_max: u64,
    pub stack_max: u64,
    pub arena_align: u32,
    pub bind: unsafe extern "C" fn(*mut rlx_context, *const rlx_tensor, u32, *mut i64, *mut rlx_error) -> i32,
    pub output_shape: unsafe extern "C" fn(*const i64, u32, *mut i64) -> i32,
    pub arena_bytes: unsafe extern "C" fn(*const i64, *mut u64) -> i32,
    pub run: unsafe extern "C" fn(*mut rlx_context, *const rlx_tensor, u32, *mut rlx_tensor, u32) -> i32,
    pub pools: *const c_void,
    pub num_pools: u32,
}

#[repr(C)]
pub struct rlx_model {
    pub abi_version: u32,
    pub function_size: u16,
    pub spec_size: u16,
    pub num_functions: u32,
    pub functions: *const rlx_function,
    pub name: *const u8,
    pub producer: *const u8,
    pub target: *const u8,
    pub hash: *const u8,
    pub weights_bytes: u64,
}
