# relaxc_families(TARGET TABLE SUFFIX TYPE [FOLDER]): a table gathered from file names. Each FOLDER/*.cpp is a family that
# declares `std::span<const TYPE> <file>_<SUFFIX>()`; TABLE.cpp.in, beside the CMakeLists.txt, becomes a source of TARGET with
# the declarations and the calls in it. So a new file is all that a new family takes. Families name their tables and functions
# alike; each has a namespace of its own, <file>_family, so that a unity build can compile several in one unit.
function(relaxc_families target table suffix type)
  set(folder .)
  if(ARGC GREATER 4)
    set(folder ${ARGV4})
  endif()
  file(GLOB families CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/*.cpp)
  set(declarations "")
  set(calls "")
  foreach(file IN LISTS families)
    get_filename_component(family ${file} NAME_WE)
    string(APPEND declarations "std::span<const ${type}> ${family}_${suffix}();\n")
    string(APPEND calls "${family}_${suffix}(), ")
  endforeach()
  configure_file(${table}.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/${table}.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${table}.cpp)
endfunction()
