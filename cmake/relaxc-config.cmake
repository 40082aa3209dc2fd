# find_package(relaxc) gives the program relaxc::relaxc, for a native build the compiler as a library (relaxc::compiler) and the
# runtime (relaxc::relax_rt, relaxc::relax_rt_hosted), and this function:
#
# relaxc_add_model(TARGET MODEL … [NAME name] [DIMS dim=range …] [STATES in:out …] [PARAMS file …] [TARGET machine]
#                  [RAM_BUDGET bytes] [FLAGS flag …] [OBJECT] [SELFTEST] [NO_RUNTIME])
#   A library TARGET of the model that a C or C++ target links with; it brings NAME.h and the runtime along. NAME is the
#   prefix of the model's functions, TARGET if not given. Several models share one library, their weights and kernels. The
#   library is a static one; with OBJECT there is none, and what links with TARGET gets the object itself. A model is
#   compiled again when it or a file it refers to changes; its header keeps its time when it says the same as before.
#   With GCC and Clang it is found before any header of that name in the include directories of what links with TARGET.
#   A header beside the source file that includes it is found first, by the rules of C; this function warns of one.
#
#   The machine is the one that the project's C compiler (C++, if it has no C) compiles for with the project's flags, read
#   off the compiler; a TARGET given here must be one whose objects link with those, which is checked now and not when
#   linking fails. Where no flag of C or C++ says which x86-64, code is what relaxc writes by default: for x86-64-v3, and a
#   call returns RLX_CPU_FEATURES on a CPU without it.
#
# relaxc is a program of the machine that builds. Where a toolchain file lets CMake look for packages in a sysroot only,
# name the package: cmake -Drelaxc_DIR="$(relaxc --cmake-dir)". The runtime of a cross build is compiled from its sources by
# the project's compiler.
include(${CMAKE_CURRENT_LIST_DIR}/relaxc-program.cmake)
get_filename_component(relaxc_RUNTIME_SOURCES "${CMAKE_CURRENT_LIST_DIR}/../../../share/relaxc/runtime-lite" ABSOLUTE)

if(NOT CMAKE_CROSSCOMPILING)
  include(CMakeFindDependencyMacro)
  find_dependency(Threads)
  include(${CMAKE_CURRENT_LIST_DIR}/relaxc-runtime.cmake)
  include(${CMAKE_CURRENT_LIST_DIR}/relaxc-library.cmake)
endif()

# A library of the runtime's C sources. A compiler for C++ compiles C as well, if it is told.
function(relaxc_runtime_library name)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
  target_compile_options(${name} PRIVATE -ffreestanding -ffunction-sections -fdata-sections)
  if(NOT CMAKE_C_COMPILER)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)
    set_property(TARGET ${name} PROPERTY CXX_STANDARD)
    target_compile_options(${name} PRIVATE -x c -std=c99)
  endif()
endfunction()

# The runtime for the project's machine: the installed one, or a library of its sources.
function(relaxc_runtime result)
  if(NOT CMAKE_CROSSCOMPILING)
    set(${result} relaxc::relax_rt PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET relaxc_runtime)
    file(GLOB sources ${relaxc_RUNTIME_SOURCES}/core/*.c)
    list(REMOVE_ITEM sources ${relaxc_RUNTIME_SOURCES}/core/memory.c)
    relaxc_runtime_library(relaxc_runtime ${sources})
    target_include_directories(relaxc_runtime PUBLIC ${relaxc_RUNTIME_SOURCES}/include)
    # memcpy, memmove and memset for programs without a C library; apart, so that it never hides a faster one.
    relaxc_runtime_library(relaxc_runtime_memory ${relaxc_RUNTIME_SOURCES}/core/memory.c)
    target_include_directories(relaxc_runtime_memory PRIVATE ${relaxc_RUNTIME_SOURCES}/include)
    target_compile_options(relaxc_runtime_memory PRIVATE -fno-builtin)
    add_library(relaxc::relax_rt_memory ALIAS relaxc_runtime_memory)
  endif()
  set(${result} relaxc_runtime PARENT_SCOPE)
endfunction()

# Gives the flags that choose the machine, as relaxc asks the compiler for them, once for each set of flags.
function(relaxc_machine_flags result asked)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(language C)
  if(NOT CMAKE_C_COMPILER)
    set(language CXX)
  endif()
  set(command "${CMAKE_${language}_COMPILER} ${CMAKE_${language}_COMPILER_ARG1} ${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${type}}")
  if(CMAKE_${language}_COMPILER_TARGET)
    string(APPEND command " --target=${CMAKE_${language}_COMPILER_TARGET}")
  endif()
  # Flags of C++ alone and options of the folder count as well.
  get_directory_property(options COMPILE_OPTIONS)
  if(language STREQUAL C AND CMAKE_CXX_COMPILER AND NOT command MATCHES "(^| )-(march|mcpu)=")
    separate_arguments(for_cxx NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
    list(APPEND options ${for_cxx})
  endif()
  foreach(option IN LISTS options)
    if(option MATCHES "^-m[^ $<>]*$")
      string(APPEND command " ${option}")
    endif()
  endforeach()
  set(flags --target-from-cc=${command})
  if(asked)
    list(APPEND flags --target=${asked})
  endif()
  get_target_property(program relaxc::relaxc LOCATION)
  execute_process(COMMAND ${program} ${flags} --print-target OUTPUT_VARIABLE printed ERROR_VARIABLE why
    RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "relaxc_add_model: ${why}")
  endif()
  separate_arguments(printed UNIX_COMMAND "${printed}")
  set(${result} ${printed} PARENT_SCOPE)
endfunction()

# A header in quotes is first looked for beside the file that includes it; no option of a compiler changes that.
function(relaxc_warn_of_stray_header path)
  if(EXISTS ${path})
    file(STRINGS ${path} first LIMIT_COUNT 1)
    if(first MATCHES "Written by relaxc")
      message(WARNING "relaxc_add_model: ${path}, left by another compilation, hides the header of this build from the "
        "sources beside it; remove it")
    endif()
  endif()
endfunction()

function(relaxc_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "OBJECT;SELFTEST;NO_RUNTIME" "NAME;TARGET;RAM_BUDGET" "DIMS;STATES;PARAMS;FLAGS")
  if(NOT ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "relaxc_add_model(${target}): expected a model")
  endif()
  foreach(model IN LISTS ARG_UNPARSED_ARGUMENTS)
    if(NOT model MATCHES "\\.")  # a file has an extension, a misspelt word has none
      message(FATAL_ERROR "relaxc_add_model(${target}): expected a model, NAME, DIMS, STATES, PARAMS, TARGET, RAM_BUDGET, FLAGS, "
        "OBJECT, SELFTEST or NO_RUNTIME, found '${model}'")
    endif()
    get_filename_component(model ${model} ABSOLUTE)
    list(APPEND models ${model})
  endforeach()
  if(NOT ARG_NAME)
    set(ARG_NAME ${target})
  endif()
  relaxc_machine_flags(flags "${ARG_TARGET}")
  foreach(dim IN LISTS ARG_DIMS)
    list(APPEND flags --dim ${dim})
  endforeach()
  foreach(state IN LISTS ARG_STATES)
    list(APPEND flags --state ${state})
  endforeach()
  foreach(params IN LISTS ARG_PARAMS)
    get_filename_component(params ${params} ABSOLUTE)
    list(APPEND flags --params ${params})
  endforeach()
  if(DEFINED ARG_RAM_BUDGET)
    list(APPEND flags --ram-budget ${ARG_RAM_BUDGET})
  endif()
  if(ARG_SELFTEST)
    list(APPEND flags --emit-selftest)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.model)
  set(stem ${folder}/${ARG_NAME})
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${stem}.o BYPRODUCTS ${stem}.h
    COMMAND relaxc::relaxc ${flags} ${ARG_FLAGS} -MD -MF ${stem}.d ${models} -o ${stem}.o
    DEPENDS ${models} DEPFILE ${stem}.d COMMENT "Compiling model ${ARG_NAME}" VERBATIM)
  if(ARG_OBJECT)
    add_custom_target(${target}_object DEPENDS ${stem}.o)
    add_library(${target} INTERFACE)
    add_dependencies(${target} ${target}_object)
    target_link_libraries(${target} INTERFACE ${stem}.o)
  else()
    add_library(${target} STATIC ${stem}.o)
    set_source_files_properties(${stem}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    if(CMAKE_C_COMPILER)
      set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
    else()
      set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    endif()
  endif()
  target_include_directories(${target} INTERFACE ${folder})
  # Directories of -iquote are searched before those of -I, wherever they are given and in whatever order.
  target_compile_options(${target} INTERFACE
    $<$<OR:$<COMPILE_LANG_AND_ID:C,GNU,Clang,AppleClang>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>>:-iquote${folder}>)
  relaxc_warn_of_stray_header(${CMAKE_CURRENT_SOURCE_DIR}/${ARG_NAME}.h)
  if(NOT ARG_NO_RUNTIME)
    relaxc_runtime(runtime)
    target_link_libraries(${target} INTERFACE ${runtime})
  endif()
endfunction()
