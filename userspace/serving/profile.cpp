#include "userspace/serving/profile.h"

#include "userspace/export/exchange_formats.h"

namespace hawk {

std::string profile_of(const Snapshot& snapshot, Symbolizer& symbolizer, ProfileKind kind, ProfileForm form) {
  ReportRequest request = {.snapshot = snapshot, .symbolizer = symbolizer};
  request.selection = {.sort = kind == ProfileKind::kHeap ? SortKey::kLive : SortKey::kAllocated, .top = 0};
  return text_of_document([&](const TextSink& sink) {
    if (form == ProfileForm::kPprof) {
      write_pprof(request, sink);
    } else {
      write_gperftools(request, sink);
    }
  });
}

}  // namespace hawk
