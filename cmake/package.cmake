# SPDX-License-Identifier: Apache-2.0
# What is installed besides targets and headers, and the Debian package: cmake --preset deb,
# cmake --build --preset deb, cpack --preset deb.
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/taproot)
install(EXPORT taproot-targets NAMESPACE taproot:: DESTINATION ${cmake_folder})
configure_package_config_file(cmake/taproot-config.cmake.in taproot-config.cmake
  INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(taproot-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/taproot-config.cmake
              ${PROJECT_BINARY_DIR}/taproot-config-version.cmake DESTINATION ${cmake_folder})

# Behind a static library come the libraries that it uses; a shared one brings them itself.
set(TAPROOT_PC_REQUIRES)
set(TAPROOT_PC_LIBS)
if(NOT BUILD_SHARED_LIBS)
  set(TAPROOT_PC_LIBS -pthread)
  if(TAPROOT_SYSTEM_HIGHWAY)
    string(APPEND TAPROOT_PC_REQUIRES " libhwy")
  endif()
  if(TAPROOT_TBB)
    string(APPEND TAPROOT_PC_REQUIRES " tbb")
  endif()
  if(TAPROOT_CUDA)
    string(APPEND TAPROOT_PC_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
  endif()
endif()
file(RELATIVE_PATH TAPROOT_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/taproot.pc.in taproot.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/taproot.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE THIRD_PARTY_LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_CONTACT "The Taproot authors")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  include(CPack)
endif()
