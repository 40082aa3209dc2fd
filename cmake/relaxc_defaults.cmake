# What every target of the project has in common: language, warnings, ccache, where binaries go.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# The compiler's C++ takes 0.8 to 0.87 of -O3's time to compile (GCC 12, an operator's family and a unit of several
# passes). Four models then compiled in 0.7 to 1.07 of the time, with other changes in between. The C runtime keeps -O3.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# With CMAKE_UNITY_BUILD: 48 sources in a unit. Headers and templates that sources share are most of the work: two units
# of eight operators each take 27.8 s of the processor, the sixteen in one 18.6 s; four units of 24 sources of the ONNX
# importer 122 s, two of 48 109 s (GCC 12, -O2).
set(CMAKE_UNITY_BUILD_BATCH_SIZE 48)
# GCC takes up to 2.5 GB for such a unit, so that memory may allow fewer at once than there are processors.
cmake_host_system_information(RESULT megabytes QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR at_once "${megabytes} / 2500")
if(at_once LESS 1)
  set(at_once 1)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS relaxc_compile=${at_once})
set(CMAKE_JOB_POOL_COMPILE relaxc_compile)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC looks for unused memory from 128 MB on. From 1 GB on, a unit of operators takes 0.90 of the time and 0.67 GB in
  # place of 0.51.
  add_compile_options("SHELL:$<$<COMPILE_LANGUAGE:CXX>:--param ggc-min-heapsize=1048576>")
endif()

find_program(RELAXC_LLD ld.lld)

option(RELAXC_WERROR "treat warnings as errors" ON)
option(RELAXC_SANITIZE "build with address and undefined-behaviour sanitizers" OFF)
option(RELAXC_FUZZ "build tests/fuzz for libFuzzer; needs clang" OFF)

find_program(RELAXC_CCACHE ccache)
if(RELAXC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RELAXC_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${RELAXC_CCACHE})
endif()

add_compile_options(-Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 gives two false warnings when it optimizes: an overlap in "literal" + std::string (GCC bug 105651), and a read
  # of the string in an empty std::optional<std::string>. Debug builds keep the second.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  # With instrumentation it gives more of them, also in the standard library.
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<OR:$<CONFIG:Release>,$<BOOL:${RELAXC_SANITIZE}>>>:-Wno-maybe-uninitialized>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # std::stable_sort of GCC 12's library calls a function that C++17 deprecates.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
if(RELAXC_WERROR)
  add_compile_options(-Werror)
endif()
if(RELAXC_SANITIZE)
  # Checks iterators and indices of containers, whose memory may be larger than what they hold.
  add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  # A read through null or a wild pointer is a fault that the address sanitizer reports anyway, and every `->` pays for
  # asking twice: without these two checks the compiler's C++ compiles in 0.66 to 0.78 of the time (GCC 12, two units of
  # several sources). The C of the runtime, whose buffers come from users, keeps them.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment>)
  # Nor does the C++ ask whether a virtual call's object is of the right class, or guess the size of an object that the
  # address sanitizer knows: without these two GCC compiles a unit of passes with -Og in 9.1 s in place of 15.3.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr,object-size>)
  add_link_options(-fsanitize=address,undefined)
  # The program and the library as tests are linked (tests/CMakeLists.txt): 120 MB each.
  if(RELAXC_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
if(RELAXC_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
