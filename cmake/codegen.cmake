# The libraries behind lift/ and jit/. Debian ships no CMake files for them.
# A missing one switches its part off: without AsmJit there is no generated code and `cpu` is
# `autovec`, without the decoder of the target's machine users' functions are not lifted.
# NEREID_CODEGEN=ON makes their absence an error; the presets do.
option(NEREID_CODEGEN "Fail when a library that the compiler needs is missing" OFF)
set(NEREID_WITHOUT "" CACHE STRING "Build as if these were missing: asmjit, zydis, capstone")

function(nereid_find_codegen name header library)
  find_path(NEREID_${name}_INCLUDE "${header}")
  find_library(NEREID_${name}_FILE NAMES ${ARGN} "${library}")
  if("${name}" IN_LIST NEREID_WITHOUT)
    set(NEREID_HAS_${name} OFF PARENT_SCOPE)
  elseif(NEREID_${name}_INCLUDE AND NEREID_${name}_FILE)
    add_library(nereid_${name} INTERFACE)
    target_include_directories(nereid_${name} SYSTEM INTERFACE "${NEREID_${name}_INCLUDE}")
    target_link_libraries(nereid_${name} INTERFACE "${NEREID_${name}_FILE}")
    set(NEREID_HAS_${name} ON PARENT_SCOPE)
  else()
    set(NEREID_HAS_${name} OFF PARENT_SCOPE)
    if(NEREID_CODEGEN)
      message(FATAL_ERROR "${header} or ${library} is missing; `./run setup` installs it")
    endif()
    message(STATUS "Without ${library}: part of the compiler is switched off")
  endif()
endfunction()

nereid_find_codegen(asmjit asmjit/asmjit.h asmjit)
nereid_find_codegen(zydis Zydis/Zydis.h Zydis)
nereid_find_codegen(capstone capstone/capstone.h capstone libcapstone.a)  # linked in where it can be

# Zydis has no archive in Debian. It is loaded when code is first read (base/zydis.h), by the name
# under which a program would find it.
if(NEREID_HAS_zydis)
  execute_process(COMMAND "${CMAKE_READELF}" -d "${NEREID_zydis_FILE}"
    OUTPUT_VARIABLE dynamic_section COMMAND_ERROR_IS_FATAL ANY)
  if(NOT dynamic_section MATCHES "SONAME[^\n]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${NEREID_zydis_FILE} has no soname; the shared library is needed")
  endif()
  set(NEREID_ZYDIS_SONAME "${CMAKE_MATCH_1}")
  set_target_properties(nereid_zydis PROPERTIES INTERFACE_LINK_LIBRARIES "")
endif()

# The decoder of the machine that we build for: it reads the catalogue and users' functions.
set(NEREID_HAS_decoder OFF)
if((NEREID_ARCH STREQUAL "x86" AND NEREID_HAS_zydis)
   OR (NEREID_ARCH STREQUAL "a64" AND NEREID_HAS_capstone))
  set(NEREID_HAS_decoder ON)
endif()

# Debian's libasmjit.a is made for programs: its one reference to `stderr` does not link into a
# shared library. We take a copy in which the reference has another name, a variable of ours
# (jit/asmjit_stderr.cpp).
if(NEREID_HAS_asmjit)
  set(asmjit_copy "${nereid_BINARY_DIR}/generated/libasmjit_shared.a")
  if(NOT EXISTS "${asmjit_copy}")
    file(MAKE_DIRECTORY "${nereid_BINARY_DIR}/generated")
    execute_process(COMMAND "${CMAKE_OBJCOPY}" --redefine-sym stderr=nereid_asmjit_stderr
      "${NEREID_asmjit_FILE}" "${asmjit_copy}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
  add_library(nereid_asmjit_stderr STATIC "${nereid_SOURCE_DIR}/src/jit/asmjit_stderr.cpp")
  set_target_properties(nereid_asmjit_stderr PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
  set_target_properties(nereid_asmjit PROPERTIES
    INTERFACE_LINK_LIBRARIES "${asmjit_copy};nereid_asmjit_stderr")
endif()
