# Installs the library, its headers, and what find_package(nereid) and pkg-config need.
include(CMakePackageConfigHelpers)

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/nereid")
install(TARGETS nereid_library EXPORT nereidTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET nereid_static)
  install(TARGETS nereid_static EXPORT nereidTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(EXPORT nereidTargets NAMESPACE nereid:: DESTINATION "${config_dir}")

configure_package_config_file("${nereid_SOURCE_DIR}/cmake/nereidConfig.cmake.in"
  "${nereid_BINARY_DIR}/nereidConfig.cmake" INSTALL_DESTINATION "${config_dir}")
write_basic_package_version_file("${nereid_BINARY_DIR}/nereidConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${nereid_BINARY_DIR}/nereidConfig.cmake"
              "${nereid_BINARY_DIR}/nereidConfigVersion.cmake"
  DESTINATION "${config_dir}")

# Paths relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH NEREID_PC_PREFIX
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file("${nereid_SOURCE_DIR}/cmake/nereid.pc.in" "${nereid_BINARY_DIR}/nereid.pc" @ONLY)
install(FILES "${nereid_BINARY_DIR}/nereid.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(split "${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:nereid_library>")
if(TARGET nereid_cli)
  install(TARGETS nereid_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  list(APPEND split "${CMAKE_INSTALL_BINDIR}/$<TARGET_FILE_NAME:nereid_cli>")
endif()

# After the files are there: install rules run in their order.
if(NEREID_SPLIT_DEBUG)
  install(CODE "
    set(NEREID_OBJCOPY [[${CMAKE_OBJCOPY}]])
    set(NEREID_READELF [[${CMAKE_READELF}]])
    set(NEREID_SPLIT [[${split}]])
    include([[${nereid_SOURCE_DIR}/cmake/split_debug.cmake]])")
endif()
