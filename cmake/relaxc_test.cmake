# relaxc_test(NAME SOURCES a.cpp … LIBS relaxc_arith … DEFINITIONS A=1 …): one Catch2 program; each TEST_CASE is a CTest
# entry "NAME:case".
#
# Cases are separate entries so that a failure is named in CTest's own list and two cores share the work evenly. Where a
# program spends most of its time in a setup that all cases share, WHOLE makes it one entry instead.
#
# A program finds its data by RELAXC_TEST_DIR (its folder) and RELAXC_SOURCE_DIR (the repository's root), both compiled
# in, so that it also runs without CTest. `--warn NoTests` turns a filter that matches nothing into a failure: Catch2
# would otherwise report success for a case whose name it could not find.
#
# SANITIZED marks a program of which a build with sanitizers runs every case in full. Where such a build follows, as in
# `tests/run.sh` (RELAXC_SANITIZERS_FOLLOW), this one leaves the program out, which saves compiling it a second time.
find_package(Catch2 2.13 REQUIRED)
include(Catch)

option(RELAXC_SANITIZERS_FOLLOW "leave out the tests that a build with sanitizers runs in full" OFF)
set(RELAXC_FOLLOWS "" CACHE PATH "the folder of the build that leaves tests to this one")

function(relaxc_test name)
  cmake_parse_arguments(ARG "WHOLE;SANITIZED" "" "SOURCES;LIBS;DEFINITIONS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES)
    message(FATAL_ERROR
      "relaxc_test(${name}): expected SOURCES, LIBS, DEFINITIONS, WHOLE or SANITIZED, found '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if(ARG_SANITIZED AND RELAXC_SANITIZERS_FOLLOW)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE relaxc_catch_main ${ARG_LIBS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE
    RELAXC_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}" RELAXC_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${ARG_DEFINITIONS})
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name} --warn NoTests)
  else()
    catch_discover_tests(${name} TEST_PREFIX "${name}:" EXTRA_ARGS --warn NoTests)
  endif()
endfunction()

# relaxc_unsanitized_program(NAME): no test of a build with sanitizers runs this program, which is then built only by its name.
function(relaxc_unsanitized_program name)
  if(RELAXC_SANITIZE)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# relaxc_golden_tests(): one CTest entry for each .relax file below the current folder, run by tests/golden/run_golden.cpp.
function(relaxc_golden_tests)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.relax)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.relax$" "" name ${file})
    add_test(NAME ${folder}:${name} COMMAND run_golden ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()

# Real models and their reference data do not belong to the repository: RELAXC_MODELS (the environment variable, else the
# folder shared/models beside the repository) is where tests look for them. Without them such a test skips what needs them
# and says so, which relaxc_test_without_models(NAME COMMAND …) holds: the test NAME:without_models runs COMMAND with a
# RELAXC_MODELS that does not exist. Where a machine has no models this is what runs anyway, so there is no such entry; nor
# is there one under sanitizers, where it would be a part of what the other entry does.
set(RELAXC_MODELS $ENV{RELAXC_MODELS})
if(NOT RELAXC_MODELS)
  set(RELAXC_MODELS ${PROJECT_SOURCE_DIR}/../shared/models)
endif()
set(RELAXC_NO_MODELS ${PROJECT_BINARY_DIR}/no-models)

function(relaxc_test_without_models name)
  if(RELAXC_SANITIZE OR NOT EXISTS ${RELAXC_MODELS})
    return()
  endif()
  add_test(NAME ${name}:without_models ${ARGN})
  set_tests_properties(${name}:without_models PROPERTIES SKIP_RETURN_CODE 77
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;RELAXC_MODELS=${RELAXC_NO_MODELS}")
endfunction()

# relaxc_long_test(NAME COMMAND …): a test of the long run, `tests/run.sh all`, for what takes too long to run on every change.
# A sample of the same cases, drawn by seed, belongs into an ordinary test beside it.
option(RELAXC_LONG_TESTS "register the tests of the long run too" OFF)

function(relaxc_long_test name)
  if(RELAXC_LONG_TESTS)
    add_test(NAME ${name} ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS long TIMEOUT 7200 SKIP_RETURN_CODE 77
      ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;RELAXC_MODELS=${RELAXC_MODELS}")
  endif()
endfunction()
