//! The error of a call.
use crate::abi::rlx_error;
use core::fmt;

/// A status other than RLX_OK, and the error record of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    pub status: i32,
    /// Indices are -1 if they do not apply; outputs count after inputs.
    pub record: rlx_error,
}

pub(crate) const NOTHING: rlx_error =
    rlx_error { code: 0, tensor: -1, axis: -1, symbol: -1, node: -1, expected: 0, actual: 0 };
pub(crate) const TOO_LARGE: Error = Error { status: 20, record: NOTHING };

impl Error {
    pub(crate) fn check(status: i32, record: rlx_error) -> Result<(), Error> {
        if status == 0 { Ok(()) } else { Err(Error { status, record }) }
    }

    pub(crate) fn of_count(actual: usize, expected: u32) -> Error {
        Error { status: 2, record: rlx_error { code: 2, expected: expected.into(), actual: actual as i64, ..NOTHING } }
    }

    /// Returns the error for a slice of `actual` elements if its shape has `expected`.
    pub(crate) fn of_length(actual: usize, expected: usize) -> Error {
        let record = rlx_error { code: 12, expected: expected as i64, actual: actual as i64, ..NOTHING };
        Error { status: 12, record }
    }

    /// Returns the name of the status in relax_rt.h, without RLX_.
    pub fn name(&self) -> &'static str {
        NAMES.iter().find(|(status, _)| *status == self.status).map_or("UNKNOWN", |(_, name)| name)
    }
}

const NAMES: &[(i32, &str)] = &[
    (0, "OK"),
    (1, "NULL_POINTER"),
    (2, "TENSOR_COUNT"),
    (3, "DEVICE"),
    (4, "DTYPE"),
    (5, "RANK"),
    (6, "STATIC_DIM"),
    (7, "SYMBOL_EQUALITY"),
    (8, "DERIVED_DIM"),
    (9, "DIM_BOUNDS"),
    (10, "STRIDES"),
    (11, "ALIGNMENT"),
    (12, "CAPACITY"),
    (13, "OVERLAP"),
    (14, "ARENA_SIZE"),
    (15, "ARENA_ALIGNMENT"),
    (16, "WEIGHTS_SIZE"),
    (17, "WEIGHTS_HASH"),
    (18, "WEIGHTS_ALIGNMENT"),
    (19, "ABI_MISMATCH"),
    (20, "SIZE_OVERFLOW"),
    (21, "BROADCAST"),
    (22, "NEEDS_DATA"),
    (23, "CPU_FEATURES"),
    (24, "POOL_SIZE"),
    (25, "POOL_ALIGNMENT"),
    (32, "INDEX_RANGE"),
    (33, "DATA_CAPACITY"),
    (34, "ASSERTION"),
    (35, "EXTERNAL_FAILED"),
    (36, "RECURSION_DEPTH"),
    (37, "NO_ALLOCATOR"),
    (38, "OUT_OF_MEMORY"),
    (39, "POLLED"),
    (40, "DATA_BOUND"),
    (41, "OBJECT_KIND"),
    (42, "SELFTEST"),
    (43, "NODE_LIMIT"),
    (64, "FILE_IO"),
    (65, "FILE_FORMAT"),
    (0, "STATUS_WIDTH_"),
];

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())?;
        if self.record.code != self.status {
            return Ok(());
        }
        if self.record.tensor >= 0 {
            write!(out, " at tensor {}", self.record.tensor)?;
        }
        if self.record.axis >= 0 {
            write!(out, ", dim {}", self.record.axis)?;
        }
        write!(out, ": found {}, expected {}", self.record.actual, self.record.expected)
    }
}
