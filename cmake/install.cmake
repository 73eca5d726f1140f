# The install tree: libpartita, libpartita_testing, public headers, the program and a CMake package.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/partita)

set(installed_libraries partita_library)
if(PARTITA_TESTING)
  list(APPEND installed_libraries partita_testing)
endif()
foreach(library IN LISTS installed_libraries)
  get_target_property(type ${library} TYPE)
  set(headers FILE_SET HEADERS)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(headers "")
  endif()
  install(TARGETS ${library} EXPORT partitaTargets ${headers})
endforeach()

# The optional headers travel as files: their targets are made by the config, for those who ask.
foreach(name IN ITEMS asio caf)
  if(EXISTS ${PROJECT_SOURCE_DIR}/api/partita/${name}.hpp)
    install(FILES ${PROJECT_SOURCE_DIR}/api/partita/${name}.hpp
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/partita)
  endif()
endforeach()

if(TARGET partita_program)
  install(TARGETS partita_program)
endif()

install(EXPORT partitaTargets NAMESPACE partita:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/partitaConfig.cmake.in
  ${PROJECT_BINARY_DIR}/partitaConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/partitaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/partitaConfig.cmake ${PROJECT_BINARY_DIR}/partitaConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/partitaDependencies.cmake ${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake
  DESTINATION ${package_dir})
