# hawk_bpf_object(<name>): <name>.bpf.c -> target hawk_<name>_skeleton, header <name>.skel.h.
function(hawk_bpf_object name)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/${name}.linked.o) # bpftool gen object drops DWARF and keeps BTF
  set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/include/${name}.skel.h)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/include)
  # -mcpu=v3: atomics that return values, which every kernel from 5.12 on runs; pinned because LLVM's default moves.
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${HAWK_BPF_CLANG} -target bpf -mcpu=v3 -O2 -g -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter
            -fno-ident -D__TARGET_ARCH_x86 -DHAWK_BPF -I${PROJECT_SOURCE_DIR} -isystem ${PROJECT_SOURCE_DIR}/vmlinux/x86
            -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -MD -MF ${object}.d -c
            ${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c -o ${object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c
    DEPFILE ${object}.d
    VERBATIM)
  # bpftool writes to its standard output even when it fails: a half header must never carry the final name.
  add_custom_command(
    OUTPUT ${skeleton}
    COMMAND ${HAWK_BPFTOOL} gen object ${linked} ${object}
    COMMAND sh -c "'${HAWK_BPFTOOL}' gen skeleton '${linked}' name ${name} > '${skeleton}.tmp' && mv '${skeleton}.tmp' '${skeleton}'"
    DEPENDS ${object}
    VERBATIM)
  add_custom_target(hawk_${name}_skeleton_file DEPENDS ${skeleton})
  add_library(hawk_${name}_skeleton INTERFACE)
  add_dependencies(hawk_${name}_skeleton hawk_${name}_skeleton_file)
  target_include_directories(hawk_${name}_skeleton SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/include)
endfunction()
