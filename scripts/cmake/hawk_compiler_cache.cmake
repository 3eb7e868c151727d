# Compiling by ccache if it is installed. A launcher that the user gives (CMAKE_CXX_COMPILER_LAUNCHER) is used instead.
# Paths below the source directory are hashed as relative ones, so that checkouts in several directories share what was
# compiled; its debug information then names the directory of the checkout that was compiled first.
option(HAWKTRACE_CCACHE "Compile by ccache if it is installed" ON)

find_program(HAWK_CCACHE ccache)
mark_as_advanced(HAWK_CCACHE)
if(HAWKTRACE_CCACHE AND HAWK_CCACHE)
  foreach(language C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER
          env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${HAWK_CCACHE})
    endif()
  endforeach()
endif()
