# relaxc_test(NAME SOURCES a.cpp … LIBS relaxc_arith …): one Catch2 program; each TEST_CASE is a CTest entry "NAME:case".
#
# Cases are separate entries so that a failure is named in CTest's own list and two cores share the work evenly. Where a
# program spends most of its time in a setup that all cases share, WHOLE makes it one entry instead.
#
# A program finds its data by RELAXC_TEST_DIR (its folder) and RELAXC_SOURCE_DIR (the repository's root), both compiled
# in, so that it also runs without CTest. `--warn NoTests` turns a filter that matches nothing into a failure: Catch2
# would otherwise report success for a case whose name it could not find.
find_package(Catch2 2.13 REQUIRED)
include(Catch)

function(relaxc_test name)
  cmake_parse_arguments(ARG "WHOLE" "" "SOURCES;LIBS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES)
    message(FATAL_ERROR "relaxc_test(${name}): expected SOURCES, LIBS or WHOLE, found '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE relaxc_catch_main ${ARG_LIBS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE
    RELAXC_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}" RELAXC_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name} --warn NoTests)
  else()
    catch_discover_tests(${name} TEST_PREFIX "${name}:" EXTRA_ARGS --warn NoTests)
  endif()
endfunction()

# relaxc_golden_tests(): one CTest entry for each .relax file below the current folder, run by tests/golden/run_golden.
function(relaxc_golden_tests)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.relax)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.relax$" "" name ${file})
    add_test(NAME ${folder}:${name} COMMAND run_golden ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()
