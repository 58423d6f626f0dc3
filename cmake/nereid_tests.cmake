# nereid_add_test(unit dtype SOURCES dtype_test.cpp USES base)
# One GoogleTest program; its label is the kind, which is the folder's name.
include(GoogleTest)
function(nereid_add_test kind name)
  cmake_parse_arguments(PARSE_ARGV 2 TEST "" "TIMEOUT" "SOURCES;USES;LIBRARIES;ENVIRONMENT")
  set(target "test_${kind}_${name}")
  add_executable(${target} ${TEST_SOURCES})
  list(TRANSFORM TEST_USES PREPEND nereid_)
  target_link_libraries(${target} PRIVATE nereid_flags ${TEST_USES} ${TEST_LIBRARIES}
                        GTest::gtest_main)
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  add_test(NAME ${kind}/${name} COMMAND ${target})
  set_tests_properties(${kind}/${name} PROPERTIES
    LABELS ${kind} TIMEOUT ${TEST_TIMEOUT} ENVIRONMENT "${TEST_ENVIRONMENT}")
endfunction()
