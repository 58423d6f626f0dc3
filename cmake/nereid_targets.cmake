# What every target of the project shares: language level, warnings, sanitizers, visibility.
add_library(nereid_flags INTERFACE)
target_compile_features(nereid_flags INTERFACE cxx_std_20 c_std_11)
target_include_directories(nereid_flags INTERFACE
  "$<BUILD_INTERFACE:${nereid_SOURCE_DIR}/src>"
  "$<BUILD_INTERFACE:${nereid_SOURCE_DIR}/include>"
  "$<BUILD_INTERFACE:${nereid_BINARY_DIR}/include>")
target_compile_options(nereid_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wno-missing-field-initializers>"
  "$<$<AND:$<BOOL:${NEREID_WERROR}>,$<COMPILE_LANGUAGE:C,CXX>>:-Werror>")
if(NEREID_SANITIZE)
  target_compile_options(nereid_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${NEREID_SANITIZE};-fno-omit-frame-pointer>")
  target_link_options(nereid_flags INTERFACE "-fsanitize=${NEREID_SANITIZE}")
endif()

# Unity builds (all presets but clang) join the sources of a target, so that their headers are read
# once. Sources whose names would clash stay on their own. That each source has what it includes, the
# linter sees.
function(nereid_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# nereid_add_stage(base SOURCES error.cpp ... USES machine ops LIBRARIES nereid_fmt)
# One static library a folder of src/. USES names stages earlier in the link order.
function(nereid_add_stage name)
  cmake_parse_arguments(PARSE_ARGV 1 STAGE "" "" "SOURCES;USES;LIBRARIES")
  add_library(nereid_${name} STATIC ${STAGE_SOURCES})
  set_target_properties(nereid_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  list(TRANSFORM STAGE_USES PREPEND nereid_)
  target_link_libraries(nereid_${name} PUBLIC nereid_flags ${STAGE_USES} ${STAGE_LIBRARIES})
endfunction()
