#include "userspace/tables/losses.h"

#include <numeric>

namespace hawk {
namespace {

constexpr std::array<LossText, HAWK_LOSS_COUNT> kTexts = {{
#define HAWK_LOSS_TEXT(symbol, name, text) {name, text},
    HAWK_LOSSES(HAWK_LOSS_TEXT)
#undef HAWK_LOSS_TEXT
}};

}  // namespace

std::uint64_t Losses::total() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

std::span<const LossText, HAWK_LOSS_COUNT> loss_texts() { return kTexts; }

}  // namespace hawk
