// op_name.cpp: what the C++ compiler must accept, and with RELAXC_WRONG_NAME refuse; see ops:wrong_name in CTest.
#include "compiler/relax/op_name.h"

using relaxc::relax::OpName;

bool is_product(OpName name);
bool is_product(OpName name) {
#ifdef RELAXC_WRONG_NAME
  return name == "matmul" || name == "nn.conf";
#else
  return name == "matmul" || name == "nn.conv";
#endif
}
