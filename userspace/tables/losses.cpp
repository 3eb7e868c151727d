#include "userspace/tables/losses.h"

#include <numeric>

namespace hawk {
namespace {

// As bpf/losses.h names them.
constexpr Promise NUMBERS = Promise::kNumbers;
constexpr Promise STACKS = Promise::kStacks;
constexpr Promise CHILDREN = Promise::kChildren;

constexpr std::array<LossText, HAWK_LOSS_COUNT> kTexts = {{
#define HAWK_LOSS_TEXT(symbol, name, promise, text) {name, promise, text},
    HAWK_LOSSES(HAWK_LOSS_TEXT)
#undef HAWK_LOSS_TEXT
}};

}  // namespace

std::uint64_t Losses::total() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

bool Losses::keep(Promise promise) const {
  for (std::size_t cause = 0; cause < counts.size(); ++cause) {
    if (counts[cause] != 0 && kTexts[cause].promise == promise) return false;
  }
  return true;
}

std::span<const LossText, HAWK_LOSS_COUNT> loss_texts() { return kTexts; }

std::string_view no_allocator_hint(bool is_go) {
  return is_go ? "a Go program without cgo has a heap of its own, without allocator functions to probe: use "
                 "net/http/pprof and go tool pprof"
               : "stripped static programs cannot be traced: the functions to probe are found by the symbol table";
}

}  // namespace hawk
