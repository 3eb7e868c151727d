#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "userspace/code/function_walk.h"
#include "userspace/elf/elf_image.h"

namespace hawk::testing {

/// A change of a file's machine code.
struct Mutant {
  std::uint64_t file_offset = 0;
  std::vector<std::uint8_t> bytes;
  std::string text;  ///< "+0x15: another register", for messages
};

/// Makes changes of a function's instructions: some are left out, or use another register, or another condition; jumps
/// lead elsewhere, also into the middle of an instruction, or are put in place of something else; a bit is flipped.
class Mutator {
 public:
  Mutator(const ElfImage& image, FunctionExtent function, std::uint32_t seed);
  Mutant next();

 private:
  struct Candidate {
    std::uint64_t distance;  ///< from the function's first instruction
    std::size_t length;
    std::size_t opcode_at;     ///< of the byte with the condition of a branch
    std::size_t registers_at;  ///< of the byte that names registers; 0: it has none
    bool is_direct_jump;
    bool is_branch;
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool change(const Candidate& candidate, Mutant& mutant);
  bool lead_elsewhere(const Candidate& candidate, Mutant& mutant);
  bool replace_by_jump(const Candidate& candidate, Mutant& mutant);
  std::uint64_t some_target();

  std::vector<std::uint8_t> code_;
  std::uint64_t file_offset_ = 0;
  std::vector<Candidate> candidates_;
  std::mt19937 random_;
};

}  // namespace hawk::testing
