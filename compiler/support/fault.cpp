// fault.cpp: classifies exceptions of the standard library and of relaxc.
#include "compiler/support/fault.h"

#include <new>
#include <stdexcept>
#include <system_error>

#include "compiler/support/termination.h"

namespace relaxc {

Fault current_fault() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {Fault::kMemory, out_of_memory_message()};
  } catch (const std::length_error&) {
    return {Fault::kMemory, "out of memory: a size is more than this machine can address"};
  } catch (const std::system_error& error) {
    // A thread that cannot be started fails with EAGAIN, usually since there is no memory for its stack.
    bool memory =
        error.code() == std::errc::resource_unavailable_try_again || error.code() == std::errc::not_enough_memory;
    return memory ? Fault{Fault::kMemory, out_of_memory_message()} : Fault{Fault::kSystem, error.what()};
  } catch (const std::exception& error) {
    return {Fault::kInternal, error.what()};
  } catch (...) {
    return {Fault::kInternal, "an exception of unknown type"};
  }
}

}  // namespace relaxc
