# Installs BUILD_DIR into WORK_DIR and builds the consumer by find_package, pkg-config and
# add_subdirectory, with the shared and the static library; each program must run. What is installed
# must be stripped, and its debug information be found. Run as a script by CTest.
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

foreach(notice LICENSE THIRD_PARTY_NOTICES.txt)
  if(NOT EXISTS "${prefix}/${DOCDIR}/${notice}")
    message(FATAL_ERROR "${notice} is not installed into ${DOCDIR}")
  endif()
endforeach()

# Who asks for the line of an address finds it through .gnu_debuglink.
function(check_debug_files file symbol)
  execute_process(COMMAND "${READELF}" -S --wide "${file}" OUTPUT_VARIABLE sections
    COMMAND_ERROR_IS_FATAL ANY)
  if(sections MATCHES "[.](debug_info|symtab)" OR NOT sections MATCHES "gnu_debuglink")
    message(FATAL_ERROR "${file} is not stripped, or does not name its debug file:\n${sections}")
  endif()
  execute_process(COMMAND "${NM}" -D "${file}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(NOT symbols MATCHES "([0-9a-f]+) T ${symbol}[@\n]")
    message(FATAL_ERROR "no ${symbol} in ${file}")
  endif()
  execute_process(COMMAND "${ADDR2LINE}" -e "${file}" "0x${CMAKE_MATCH_1}" OUTPUT_VARIABLE line
    COMMAND_ERROR_IS_FATAL ANY)
  if(NOT line MATCHES "[.]cpp:[0-9]+")
    message(FATAL_ERROR "${ADDR2LINE} says of ${symbol}: ${line}")
  endif()
  message(STATUS "${symbol} is ${line}")
endfunction()
execute_process(COMMAND "${READELF}" -S --wide "${BUILD_DIR}/src/api/libnereid.so"
  OUTPUT_VARIABLE built COMMAND_ERROR_IS_FATAL ANY)
if(built MATCHES "[.]debug_info")
  check_debug_files("${prefix}/${LIBDIR}/libnereid.so" nereid_version)
  run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")  # again: nothing is lost
  check_debug_files("${prefix}/${LIBDIR}/libnereid.so" nereid_version)
endif()

run("${CMAKE_COMMAND}" -S "${consumer}" -B "${WORK_DIR}/find_package" ${configure}
    "-DCMAKE_PREFIX_PATH=${prefix}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/find_package")
run("${WORK_DIR}/find_package/consumer")
run("${WORK_DIR}/find_package/consumer_c")
if(STATIC)
  foreach(program consumer_static consumer_c_static)
    run("${WORK_DIR}/find_package/${program}")
    execute_process(COMMAND "${READELF}" -d "${WORK_DIR}/find_package/${program}"
      OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
    if(dynamic MATCHES "libnereid")
      message(FATAL_ERROR "${program} needs libnereid:\n${dynamic}")
    endif()
  endforeach()
endif()

if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
  execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs nereid
    OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(options UNIX_COMMAND "${options}")
  run("${CXX_COMPILER}" -std=c++20 -O1 ${flags} "${consumer}/main.cpp" ${options}
      "-Wl,-rpath,${prefix}/${LIBDIR}" -o "${WORK_DIR}/by_pkg_config")
  run("${WORK_DIR}/by_pkg_config")
  if(STATIC)  # from C, which brings no C++ runtime of its own
    execute_process(COMMAND "${PKG_CONFIG}" --static --cflags --libs nereid
      OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "-lnereid" "-l:libnereid.a" options "${options}")
    separate_arguments(options UNIX_COMMAND "${options}")
    run("${C_COMPILER}" ${flags} "${consumer}/main.c" ${options} -o "${WORK_DIR}/static_by_pkg_config")
    run("${WORK_DIR}/static_by_pkg_config")
  endif()
endif()

# Configure, and build nothing but the library and the consumer, in the shortest way: what is tested
# is that our CMake files serve a project of somebody else.
run("${CMAKE_COMMAND}" -S "${consumer}" -B "${WORK_DIR}/add_subdirectory" ${configure}
    -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-O0" "-DCMAKE_CXX_FLAGS_DEBUG=-O0"
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 "-DNEREID_SOURCE=${SOURCE_DIR}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/add_subdirectory" --target consumer --parallel 2)
run("${WORK_DIR}/add_subdirectory/consumer")
