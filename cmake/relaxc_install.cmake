# What `cmake --install` puts where: the program, the compiler as a library, the runtime as libraries of this machine and as sources for any other, the
# headers and loaders for programs in other languages, and the packages for find_package(relaxc) and pkg-config.
#
# The folders have fixed names, since relaxc finds the runtime for a shared library in the lib/ beside its own bin/. The
# program and the runtime are exported apart: a cross build takes the program and leaves the libraries alone.
include(CMakePackageConfigHelpers)

# Two components, which are two packages of Debian: the compiler, and the runtime that programs are linked with.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME compiler)

set(package lib/cmake/relaxc)
set(runtime ${PROJECT_SOURCE_DIR}/runtime-lite)
install(TARGETS relaxc EXPORT relaxc-program RUNTIME DESTINATION bin)
install(TARGETS relax_rt relax_rt_memory relax_rt_hosted relax_rt_runner EXPORT relaxc-runtime ARCHIVE DESTINATION lib
  COMPONENT runtime INCLUDES DESTINATION include)
# Whoever builds the compiler alone can install it: what goes with it is built with it.
add_dependencies(relaxc relax_rt relax_rt_memory relax_rt_hosted relax_rt_threads relax_rt_runner relaxc_compiler)
install(TARGETS relax_rt_threads LIBRARY DESTINATION lib/relaxc)
install(TARGETS relaxc_compiler EXPORT relaxc-library LIBRARY DESTINATION lib)
install(FILES ${PROJECT_SOURCE_DIR}/compiler/library/include/relaxc.h DESTINATION include)
install(EXPORT relaxc-library DESTINATION ${package} NAMESPACE relaxc::)
install(FILES ${runtime}/include/relax_rt.h ${runtime}/include/relax_rt_hosted.h ${runtime}/include/rlx_internal.h
  ${runtime}/include/rlx_libc.h ${runtime}/cpp/relax_rt.hpp DESTINATION include COMPONENT runtime)
install(DIRECTORY ${runtime}/include ${runtime}/core ${runtime}/hosted ${runtime}/runner DESTINATION share/relaxc/runtime-lite
  FILES_MATCHING PATTERN *.c PATTERN *.h PATTERN *.hpp)
install(FILES ${runtime}/python/relax_rt.py ${PROJECT_SOURCE_DIR}/compiler/driver/tools/onnxruntime_values.py
  DESTINATION share/relaxc/python)
install(FILES ${runtime}/javascript/relax_rt.mjs ${runtime}/javascript/relax_rt.d.mts
  ${runtime}/javascript/relax_rt_threads.mjs ${runtime}/javascript/relax_rt_threads.d.mts
  ${runtime}/javascript/relax_rt_worker.mjs DESTINATION share/relaxc/javascript)
install(DIRECTORY ${runtime}/rust/relax-rt ${runtime}/rust/relaxc-build DESTINATION share/relaxc/rust
  PATTERN target EXCLUDE PATTERN Cargo.lock EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/python/relaxc DESTINATION share/relaxc/python
  FILES_MATCHING PATTERN *.py PATTERN *.pyi PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(EXPORT relaxc-program DESTINATION ${package} NAMESPACE relaxc::)
install(EXPORT relaxc-runtime DESTINATION ${package} NAMESPACE relaxc:: COMPONENT runtime)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/relaxc-config-version.cmake COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/relaxc-config.cmake ${PROJECT_BINARY_DIR}/relaxc-config-version.cmake
  DESTINATION ${package})
foreach(name relax_rt relaxc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/relax_rt.pc DESTINATION lib/pkgconfig COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/relaxc.pc DESTINATION lib/pkgconfig)

# The page for man and the completions say what the program itself says.
set(pages --man share/man/man1/relaxc.1 --completion=bash share/bash-completion/completions/relaxc
  --completion=zsh share/zsh/vendor-completions/_relaxc --completion=fish share/fish/vendor_completions.d/relaxc.fish)
while(pages)
  list(POP_FRONT pages flag page)
  install(CODE "
    set(page \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${page}\")
    get_filename_component(folder \"\${page}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:relaxc>\" ${flag} OUTPUT_FILE \"\${page}\" COMMAND_ERROR_IS_FATAL ANY)")
endwhile()

# `cpack -G DEB` in the build folder makes the packages relaxc and librelax-rt-dev.
set(CPACK_PACKAGE_NAME relaxc)
set(CPACK_PACKAGE_VENDOR relaxc)
set(CPACK_PACKAGE_CONTACT "relaxc developers <relaxc@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL compiler runtime)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME relaxc)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "librelax-rt-dev (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_COMPILER_PACKAGE_RECOMMENDS "gcc, libc6-dev")
set(CPACK_DEBIAN_COMPILER_PACKAGE_SUGGESTS "clang, lld, cmake, python3-numpy")
set(CPACK_DEBIAN_COMPILER_DESCRIPTION "ahead-of-time compiler from ONNX and Relax to object files
relaxc reads a model and writes an object file with a C header, a shared
library or a program, for this machine, for microcontrollers and others.")
set(CPACK_DEBIAN_COMPILER_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME librelax-rt-dev)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "runtime of compiled models, headers and static libraries
What objects that relaxc wrote are linked with: checks of arguments, error
messages, and helpers for threads and mapped weights.")
# What Debian's policy asks for beside the installed files.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
include(CPack)
