# SPDX-License-Identifier: MIT
# cmake/split_debug.cmake: moves debug information of installed files into .debug/ beside them,
# where debuggers look for it.
#
# Run by `cmake --install`, with NEREID_OBJCOPY, NEREID_READELF and NEREID_SPLIT, a list of files
# relative to the prefix.
foreach(file IN LISTS NEREID_SPLIT)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
  set(file "$ENV{DESTDIR}${file}")
  cmake_path(GET file FILENAME name)
  cmake_path(GET file PARENT_PATH folder)
  execute_process(COMMAND "${NEREID_READELF}" -S --wide "${file}"
    OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
  if(sections MATCHES "gnu_debuglink")
    continue()  # was not copied again
  endif()
  set(debug "${folder}/.debug/${name}.debug")
  message(STATUS "Splitting: ${debug}")
  file(MAKE_DIRECTORY "${folder}/.debug")
  execute_process(COMMAND "${NEREID_OBJCOPY}" --only-keep-debug "${file}" "${debug}"
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${NEREID_OBJCOPY}" --strip-unneeded "--add-gnu-debuglink=${debug}"
    "${file}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
