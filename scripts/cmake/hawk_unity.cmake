# Compiling up to twelve files as one. Most of the time for a file goes into the headers of the standard library and of
# googletest, and into instances of their templates that it shares with its neighbours: all twelve take what three or four took.
#
# A cold build of the program takes half the time: 414 s instead of 900 on two processors. The preset "dev" compiles file by
# file, where it shows when one of them does not include what it needs, and where a change compiles one file.
option(HAWKTRACE_UNITY "Compile up to twelve files as one" OFF)

# hawk_unity(<variable> <target> <source>...): what to compile for a target whose sources these are.
# Files stay apart where a name of one could change the meaning of another (scripts/compile_together.py). Where GCC sees
# -Wsubobject-linkage nevertheless, a class has a member whose type is its file's own: give that type linkage.
function(hawk_unity variable target)
  set(${variable} ${ARGN} PARENT_SCOPE)
  if(NOT HAWKTRACE_UNITY)
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
