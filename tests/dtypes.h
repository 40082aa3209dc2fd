// dtypes.h: every dtype that fills whole bytes, for tests that go through all of them.
#pragma once

#include "compiler/support/dtype.h"

namespace relaxc::testing {

inline constexpr DType kEveryDType[] = {DType::boolean(),
                                        DType::i(8),
                                        DType::i(16),
                                        DType::i(32),
                                        DType::i(64),
                                        DType::u(8),
                                        DType::u(16),
                                        DType::u(32),
                                        DType::u(64),
                                        DType::f(16),
                                        DType::bf16(),
                                        DType::f(32),
                                        DType::f(64),
                                        {TypeCode::kFloat8E4M3FN, 8},
                                        {TypeCode::kFloat8E4M3FNUZ, 8},
                                        {TypeCode::kFloat8E5M2, 8},
                                        {TypeCode::kFloat8E5M2FNUZ, 8},
                                        {TypeCode::kFloat8E8M0FNU, 8},
                                        {TypeCode::kFloat4E2M1FN, 4}};

}  // namespace relaxc::testing
