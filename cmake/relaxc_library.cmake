# relaxc_library(NAME DEPS a b …): the library of the current folder, made of every .cpp below it.
# Includes are written from the repository's root ("compiler/arith/expr.h"), so an include names its component.
function(relaxc_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
endfunction()

# relaxc_runs_once(): what the current folder adds is compiled with -O1 in a release. It is for what a compilation does once,
# or once for each node of a model: -O2 takes 1.3 to 1.5 times as long to compile it (GCC 12: a unit of compiler/api 57.5
# and 37.5 s of the processor, of the ONNX importer 38.8 and 25.9 s, of the program 44.3 and 32.1 s).
macro(relaxc_runs_once)
  string(REPLACE "-O2" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
endmacro()
