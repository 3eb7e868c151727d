# Read by ctest before it runs: adds a test for each suite of `program`, which `room` and `without` (a filter of gtest's, or
# nothing) describe. A process for each case took 0.2 s under the sanitizers, and there are 1,900.
if(NOT EXISTS "${program}")
  add_test(unit.${room}_NOT_BUILT unit.${room}_NOT_BUILT)
  return()
endif()
set(except "")
if(NOT without STREQUAL "")
  set(except "-${without}")
endif()
execute_process(COMMAND "${program}" --gtest_list_tests "--gtest_filter=*${except}" OUTPUT_VARIABLE listing
                TIMEOUT 60 COMMAND_ERROR_IS_FATAL ANY)
# "Suite.", or "Suite/0.  # TypeParam = int"; its cases follow, indented.
string(REGEX MATCHALL "(^|\n)[^ \n]+\\.(\n|  #)" lines "\n${listing}")
if(NOT lines)
  message(FATAL_ERROR "${program} lists no tests")
endif()
foreach(line ${lines})
  string(REGEX REPLACE "^\n*([^ \n]+)\\.(\n|  #)$" "\\1" suite "${line}")
  set(name "unit.${room}.${suite}")
  add_test("${name}" "${program}" "--gtest_filter=${suite}.*${except}")
  set_tests_properties("${name}" PROPERTIES LABELS unit TIMEOUT 300 WORKING_DIRECTORY "${source_directory}")
endforeach()
