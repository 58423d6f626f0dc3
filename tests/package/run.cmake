# Installs BUILD_DIR into WORK_DIR and builds the consumer by find_package, pkg-config and
# add_subdirectory; each program must run. Run as a script by CTest.
set(consumer "${CMAKE_CURRENT_LIST_DIR}/consumer")
set(prefix "${WORK_DIR}/prefix")
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE rc OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT rc EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${rc}):\n${text}")
  endif()
  message(STATUS "${text}")
endfunction()

set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()
set(configure -G "${GENERATOR}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_BUILD_TYPE=${CONFIG}"
  "-DCMAKE_C_FLAGS=${flags}" "-DCMAKE_CXX_FLAGS=${flags}")

run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")

run("${CMAKE_COMMAND}" -S "${consumer}" -B "${WORK_DIR}/find_package" ${configure}
    "-DCMAKE_PREFIX_PATH=${prefix}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/find_package")
run("${WORK_DIR}/find_package/consumer")
run("${WORK_DIR}/find_package/consumer_c")

if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
  execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs nereid
    OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(options UNIX_COMMAND "${options}")
  run("${CXX_COMPILER}" -std=c++20 ${flags} "${consumer}/main.cpp" ${options}
      "-Wl,-rpath,${prefix}/${LIBDIR}" -o "${WORK_DIR}/by_pkg_config")
  run("${WORK_DIR}/by_pkg_config")
endif()

# Configure, and build nothing but the library and the consumer.
run("${CMAKE_COMMAND}" -S "${consumer}" -B "${WORK_DIR}/add_subdirectory" ${configure}
    "-DNEREID_SOURCE=${SOURCE_DIR}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/add_subdirectory" --target consumer --parallel 2)
run("${WORK_DIR}/add_subdirectory/consumer")
