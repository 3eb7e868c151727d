#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/report.h"

namespace hawk {

/// The innermost of these frames that is a function of a ledger program (in_...); empty: none.
std::string site_of(const std::vector<ReportFrame>& frames);

/// Expects that every function in_... has mapped and unmapped what `values` say (tests/kernel/ledgers/regions.h), of
/// the kind and in the name that they say, and that no other has.
void expect_regions(const Report& report, const std::map<std::string, std::uint64_t>& values);

/// Expects that of each kind so much is mapped (mapped_by_kind) in a process that does nothing meanwhile.
void expect_mapped(const Report& report, std::map<std::string, std::uint64_t> known);

}  // namespace hawk
