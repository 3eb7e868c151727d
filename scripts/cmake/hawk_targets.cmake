# What belongs to one processor is in folders arch/<name>; the sources of the others are not compiled.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  message(FATAL_ERROR "hawktrace runs on x86-64 only, not on ${CMAKE_SYSTEM_PROCESSOR}\n"
                      "hint: bpf/arch/x86_64/README.md lists what another processor needs")
endif()
set(HAWK_ARCH x86_64)

# Flags shared by every target, and one function per kind of target.
add_library(hawk_flags INTERFACE)
target_compile_options(hawk_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                                            $<$<BOOL:${HAWKTRACE_WERROR}>:-Werror>)
# GCC 12 sees overlapping copies in "text" + std::string where there are none (GCC bug 105651, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(hawk_flags INTERFACE -Wno-restrict)
endif()
target_compile_definitions(hawk_flags INTERFACE HAWKTRACE_VERSION="${PROJECT_VERSION}")
target_include_directories(hawk_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(hawk_flags INTERFACE Threads::Threads)
if(HAWKTRACE_SANITIZE)
  target_compile_options(hawk_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # At fixed addresses: UBSan describes each of its checks in data with addresses, for which a position-independent program
  # begins with 3.7 million relocations. Half of the 0.35 s that a test took to begin, and a third of its file.
  target_link_options(hawk_flags INTERFACE -fsanitize=address,undefined
                      $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  find_program(HAWK_LLD ld.lld)
  if(HAWK_LLD)
    target_link_options(hawk_flags INTERFACE -fuse-ld=lld) # 2.5 s of CPU for a program with which GNU ld takes 9
  endif()
endif()

# hawk_room(<name> SOURCES ... LINK ...): static library hawk_<name>. Sources are listed, never globbed.
function(hawk_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINK" ${ARGN})
  hawk_unity(sources hawk_${name} ${ROOM_SOURCES})
  add_library(hawk_${name} STATIC ${sources})
  target_link_libraries(hawk_${name} PUBLIC hawk_flags ${ROOM_LINK})
endfunction()

# hawk_program(<name> SOURCES ... LINK ...): executable, placed at the root of the build directory where users look for it.
function(hawk_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_link_libraries(${name} PRIVATE hawk_flags ${PROGRAM_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()
