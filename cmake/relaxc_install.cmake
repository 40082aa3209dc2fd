# What `cmake --install` puts where: the program, the runtime and its header, and the package for find_package(relaxc).
# The folders have fixed names, since relaxc finds the runtime for a shared library in the lib/ beside its own bin/.
include(CMakePackageConfigHelpers)

set(package lib/cmake/relaxc)
install(TARGETS relaxc relax_rt relax_rt_memory relax_rt_hosted relax_rt_runner EXPORT relaxc-targets ARCHIVE DESTINATION lib
  INCLUDES DESTINATION include)
install(FILES ${PROJECT_SOURCE_DIR}/runtime-lite/include/relax_rt.h
  ${PROJECT_SOURCE_DIR}/runtime-lite/include/relax_rt_hosted.h DESTINATION include)
install(EXPORT relaxc-targets NAMESPACE relaxc:: DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/relaxc-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/relaxc-config.cmake ${PROJECT_BINARY_DIR}/relaxc-config-version.cmake
  DESTINATION ${package})
