# find_package(relaxc) gives the program relaxc::relaxc, the runtime (relaxc::relax_rt, relax_rt_hosted), and this function:
#
# relaxc_add_model(TARGET MODEL [NAME name] [FLAGS flag …])
#   A library TARGET of the model that a C or C++ target links with; it brings NAME.h and the runtime along. NAME is the
#   prefix of the model's functions, TARGET if not given. The model is compiled again when a file it refers to changes.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/relaxc-targets.cmake)

function(relaxc_add_model target model)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "NAME" "FLAGS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "relaxc_add_model(${target}): expected NAME or FLAGS, found '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT ARG_NAME)
    set(ARG_NAME ${target})
  endif()
  get_filename_component(model ${model} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.model)
  set(stem ${folder}/${ARG_NAME})
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${stem}.o ${stem}.h
    COMMAND relaxc::relaxc ${ARG_FLAGS} -MD -MF ${stem}.d ${model} -o ${stem}.o
    DEPENDS ${model} DEPFILE ${stem}.d COMMENT "Compiling model ${ARG_NAME}" VERBATIM)
  add_library(${target} STATIC ${stem}.o ${stem}.h)
  set_source_files_properties(${stem}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${target} INTERFACE ${folder})
  target_link_libraries(${target} INTERFACE relaxc::relax_rt)
endfunction()
