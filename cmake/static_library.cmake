# libnereid.a: the same code as libnereid.so, as one object whose only global symbols are nereid_*.
#
# A plain archive of the stages would put the names of {fmt}, AsmJit and Capstone into the user's
# program, where they may meet another version of themselves. So the stages are joined first (ld -r),
# and then all other names are made local. objcopy does that to weak names, but not to those of GCC's
# "unique" variables: these are made weak before.
add_executable(nereid_joined $<TARGET_OBJECTS:nereid_api>)
target_link_libraries(nereid_joined PRIVATE nereid_dispatch)
target_link_options(nereid_joined PRIVATE -r -nostdlib LINKER:--force-group-allocation)
set_target_properties(nereid_joined PROPERTIES SUFFIX ".o")

set(static_object "${CMAKE_CURRENT_BINARY_DIR}/nereid_static.o")
add_custom_command(OUTPUT "${static_object}"
  COMMAND "${CMAKE_OBJCOPY}" --strip-debug --wildcard "--weaken-symbol=_Z*"
          $<TARGET_FILE:nereid_joined> "${static_object}"
  COMMAND "${CMAKE_OBJCOPY}" --wildcard "--keep-global-symbol=nereid_*" "${static_object}"
  DEPENDS nereid_joined
  COMMENT "Hiding the symbols of libnereid.a" VERBATIM)
set_source_files_properties("${static_object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

add_library(nereid_static STATIC "${static_object}")
add_library(nereid::nereid_static ALIAS nereid_static)
add_dependencies(nereid_static nereid_generated_headers)
target_compile_features(nereid_static INTERFACE cxx_std_20)
target_include_directories(nereid_static INTERFACE
  "$<BUILD_INTERFACE:${nereid_SOURCE_DIR}/include>"
  "$<BUILD_INTERFACE:${nereid_BINARY_DIR}/include>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
# By name: a C program brings no C++ runtime, and no one need look for CMake's Threads.
target_link_libraries(nereid_static INTERFACE stdc++ m pthread ${CMAKE_DL_LIBS})
set_target_properties(nereid_static PROPERTIES
  OUTPUT_NAME nereid
  EXPORT_NAME nereid_static
  LINKER_LANGUAGE CXX)
