# Compiling up to twelve files as one. Most of the time for a file goes into the headers of the standard library and of
# googletest, and into instances of their templates that it shares with its neighbours: all twelve take what three or four took.
#
# HAWKTRACE_UNITY: OFF; "tests", the programs of the tests; "all", the rooms too. The preset "release" compiles the rooms file
# by file, where it shows when one of them does not include what it needs.
set(HAWKTRACE_UNITY OFF CACHE STRING "Compile files as one: OFF, tests, all")
set_property(CACHE HAWKTRACE_UNITY PROPERTY STRINGS OFF tests all)

# hawk_unity(<variable> tests|rooms <target> <source>...): what to compile for a target whose sources these are.
# Files stay apart where a name of one could change the meaning of another (scripts/compile_together.py). Where GCC sees
# -Wsubobject-linkage nevertheless, a class has a member whose type is its file's own: give that type linkage.
function(hawk_unity variable kind target)
  set(${variable} ${ARGN} PARENT_SCOPE)
  if(NOT HAWKTRACE_UNITY STREQUAL "all" AND NOT (HAWKTRACE_UNITY STREQUAL "tests" AND kind STREQUAL "tests"))
    return()
  endif()
  set(most 12)
  set(together ${ARGN})
  list(FILTER together INCLUDE REGEX "\\.cpp$")
  set(result ${ARGN})
  list(FILTER result EXCLUDE REGEX "\\.cpp$")
  list(TRANSFORM together PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  find_program(HAWK_PYTHON python3 REQUIRED)
  execute_process(COMMAND ${HAWK_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/compile_together.py ${most} ${together}
                  OUTPUT_VARIABLE units OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${together} ${PROJECT_SOURCE_DIR}/scripts/compile_together.py)
  string(REPLACE ";" "," units "${units}")
  string(REPLACE "\n" ";" units "${units}")
  set(number 0)
  foreach(unit ${units})
    string(REPLACE "," ";" files "${unit}")
    list(LENGTH files count)
    if(count EQUAL 1)
      list(APPEND result ${files})
      continue()
    endif()
    # By their names below the root, so that all checkouts have the same text, and ccache finds it.
    list(TRANSFORM files REPLACE "^${PROJECT_SOURCE_DIR}/(.*)$" "#include \"\\1\"")
    list(JOIN files "\n" text)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/unity/${target}_${number}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}\n" @ONLY)
    list(APPEND result ${file})
    math(EXPR number "${number} + 1")
  endforeach()
  set(${variable} ${result} PARENT_SCOPE)
endfunction()
