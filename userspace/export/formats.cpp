#include "userspace/export/format.h"
#include "userspace/export/json_report.h"
#include "userspace/export/text_report.h"

namespace hawk {
namespace {

constexpr Format kFormats[] = {
    {"text", "txt", "for people", true, write_text_report},
    {"json", "json", "for programs: one document, or one a line", false, write_json_report},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

}  // namespace hawk
