// onednn.cpp: the functions that onednn.txt names, by oneDNN. Their prototypes are in the header that relaxc writes.
//
// Tensors are compact and in the order of the program, which oneDNN is told. It makes a primitive at each call; oneDNN
// keeps those that it made for the same sizes.
#include <exception>
#include <oneapi/dnnl/dnnl.hpp>

extern "C" {
#include "digits_onednn.h"
}

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory memory_of(const rlx_tensor* tensor, const memory::dims& dims, Tag tag) {
  char* first = static_cast<char*>(tensor->data) + tensor->byte_offset;
  return memory({dims, memory::data_type::f32, tag}, cpu(), first);
}

memory::dims dims_of(const rlx_tensor* tensor) {
  return memory::dims(tensor->shape, tensor->shape + tensor->ndim);
}

/// The numbers of an attribute that is a list.
const int64_t* list_of(const rlx_tensor* tensor) {
  return reinterpret_cast<const int64_t*>(static_cast<const char*>(tensor->data) + tensor->byte_offset);
}

/// Nothing is thrown into the object: what fails is a status of its own.
template <typename Work>
int32_t status_of(const Work& work) {
  try {
    dnnl::stream stream(cpu());
    work(stream);
    stream.wait();
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

}  // namespace

extern "C" int32_t onednn_conv_relu(rlx_context*, const rlx_tensor* x, const rlx_tensor* w, const rlx_tensor* b,
                                    const rlx_tensor* strides, const rlx_tensor* padding, const rlx_tensor* y) {
  return status_of([&](dnnl::stream& stream) {
    const int64_t *s = list_of(strides), *p = list_of(padding);
    memory source = memory_of(x, dims_of(x), Tag::nchw), weights = memory_of(w, dims_of(w), Tag::oihw),
           bias = memory_of(b, {b->shape[0]}, Tag::x), result = memory_of(y, dims_of(y), Tag::nchw);
    dnnl::convolution_forward::desc what(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                         source.get_desc(), weights.get_desc(), bias.get_desc(), result.get_desc(),
                                         {s[0], s[1]}, {p[0], p[1]}, {p[2], p[3]});
    dnnl::post_ops after;
    after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    dnnl::convolution_forward(dnnl::convolution_forward::primitive_desc(what, attributes, cpu()))
        .execute(stream,
                 {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, result}});
  });
}

extern "C" int32_t onednn_dense(rlx_context*, const rlx_tensor* x, const rlx_tensor* w, const rlx_tensor* b,
                                const rlx_tensor* y) {
  return status_of([&](dnnl::stream& stream) {
    memory source = memory_of(x, dims_of(x), Tag::ab), weights = memory_of(w, dims_of(w), Tag::ab),
           bias = memory_of(b, {1, b->shape[0]}, Tag::ab), result = memory_of(y, dims_of(y), Tag::ab);
    dnnl::matmul::desc what(source.get_desc(), weights.get_desc(), bias.get_desc(), result.get_desc());
    dnnl::matmul(dnnl::matmul::primitive_desc(what, cpu()))
        .execute(stream,
                 {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, result}});
  });
}
