# SPDX-License-Identifier: MIT
# cmake/write_version.cmake: version.h with the commit that is being built.
#
#   cmake -D SOURCE=... -D TEMPLATE=... -D HEADER=... -D nereid_VERSION=... ... -P write_version.cmake
#
# Runs with every build, not when CMake is configured: results name the commit they come from. The
# header is written only where it changes.
set(NEREID_GIT_REVISION "")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${SOURCE}" describe --always --dirty
    OUTPUT_VARIABLE NEREID_GIT_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
configure_file("${TEMPLATE}" "${HEADER}" @ONLY)
