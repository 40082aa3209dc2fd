# What `cmake --install` puts where: the program, the runtime and its header, and the package for find_package(relaxc).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/relaxc)
install(TARGETS relaxc relax_rt relax_rt_memory relax_rt_hosted EXPORT relaxc-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/runtime-lite/include/relax_rt.h
  ${PROJECT_SOURCE_DIR}/runtime-lite/include/relax_rt_hosted.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT relaxc-targets NAMESPACE relaxc:: DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/relaxc-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/relaxc-config.cmake ${PROJECT_BINARY_DIR}/relaxc-config-version.cmake
  DESTINATION ${package})
