# nereid_tests_need(workbench nereid_cli)
# What the tests of a kind run, as one target, tests_workbench: the presets that run some kinds build
# no others.
function(nereid_tests_need kind)
  if(NOT TARGET tests_${kind})
    add_custom_target(tests_${kind})
  endif()
  add_dependencies(tests_${kind} ${ARGN})
endfunction()

# nereid_add_test(unit dtype SOURCES dtype_test.cpp USES base)
# One GoogleTest program; its label is the kind, which is the folder's name. THREADS names those of its
# tests that use several threads: under the thread sanitizer they are a test of their own, labelled
# `threads`.
include(GoogleTest)
function(nereid_add_test kind name)
  cmake_parse_arguments(PARSE_ARGV 2 TEST "" "TIMEOUT;THREADS" "SOURCES;USES;LIBRARIES;ENVIRONMENT")
  set(target "test_${kind}_${name}")
  add_executable(${target} ${TEST_SOURCES})
  target_include_directories(${target} PRIVATE "${nereid_SOURCE_DIR}")  # for tests/seed.h
  # A quarter less time to compile, and what takes time in a test is the library. With less inlined
  # GCC 12 takes copies of vectors for overflows.
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O1>"
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>")
  list(TRANSFORM TEST_USES PREPEND nereid_)
  target_link_libraries(${target} PRIVATE nereid_flags ${TEST_USES} ${TEST_LIBRARIES}
                        GTest::gtest_main)
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 900)
  endif()
  nereid_tests_need(${kind} ${target})
  add_test(NAME ${kind}/${name} COMMAND ${target})
  set_tests_properties(${kind}/${name} PROPERTIES
    LABELS ${kind} TIMEOUT ${TEST_TIMEOUT} ENVIRONMENT "${TEST_ENVIRONMENT}")
  if(TEST_THREADS AND NEREID_SANITIZE MATCHES "thread")
    nereid_tests_need(threads ${target})
    add_test(NAME ${kind}/${name}_threads COMMAND ${target} "--gtest_filter=${TEST_THREADS}")
    set_tests_properties(${kind}/${name}_threads PROPERTIES
      LABELS threads TIMEOUT ${TEST_TIMEOUT} ENVIRONMENT "${TEST_ENVIRONMENT}")
  endif()
endfunction()

# Whether `./run setup test` was asked for what tests need beyond a compiler: then a test that lacks
# something fails; otherwise it is skipped.
option(NEREID_EXPECT_TEST_TOOLS "Tests that lack a compiler or another tool fail" OFF)

# nereid_add_missing_test(compiler/foreign_code aarch64-linux-gnu-gcc)
# Stands in for a test that cannot be built without the tool.
function(nereid_add_missing_test name tool)
  add_test(NAME ${name} COMMAND sh -c
    "echo '${tool} is not here: ./run setup test installs it'; exit $<IF:$<BOOL:${NEREID_EXPECT_TEST_TOOLS}>,1,77>")
  string(REGEX REPLACE "/.*" "" kind ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${kind} SKIP_RETURN_CODE 77)
endfunction()
