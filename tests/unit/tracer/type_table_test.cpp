#include "userspace/tracer/type_table.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>
#include <linux/btf.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/tracer/made_types.h"

namespace hawk {
namespace {

/// One type of each kind, each with members where it has such; functions and tracepoints before, between and behind.
OwnedBtf types_of_every_kind() {
  OwnedBtf all(btf__new_empty());
  btf* const t = all.get();
  const int number = btf__add_int(t, "int", 4, BTF_INT_SIGNED);
  const auto add_function = [t, number](const char* name) {
    const int prototype = btf__add_func_proto(t, number);
    btf__add_func_param(t, "first", number);
    btf__add_func_param(t, "second", number);
    return btf__add_func(t, name, BTF_FUNC_STATIC, prototype);
  };
  add_function("before_all");
  btf__add_ptr(t, number);
  btf__add_array(t, number, number, 8);
  btf__add_struct(t, "structure", 8);
  btf__add_field(t, "low", number, 0, 0);
  btf__add_field(t, "high", number, 32, 0);
  btf__add_union(t, "either", 4);
  btf__add_field(t, "one", number, 0, 0);
  btf__add_enum(t, "few", 4);
  btf__add_enum_value(t, "FEW_ONE", 1);
  btf__add_enum64(t, "many", 8, false);
  btf__add_enum64_value(t, "MANY_ONE", 1);
  btf__add_enum64_value(t, "MANY_TWO", 2);
  btf__add_fwd(t, "elsewhere", BTF_FWD_STRUCT);
  add_function("between");
  btf__add_typedef(t, "btf_trace_between", number);
  btf__add_typedef(t, "between_as_well", number);
  btf__add_volatile(t, number);
  btf__add_const(t, number);
  btf__add_restrict(t, number);
  btf__add_float(t, "real", 8);
  const int variable = btf__add_var(t, "variable", BTF_VAR_STATIC, number);
  btf__add_datasec(t, ".data", 4);
  btf__add_datasec_var_info(t, variable, 0, 4);
  btf__add_decl_tag(t, "tag", variable, -1);
  btf__add_type_tag(t, "tag", number);
  add_function("behind_al");
  add_function("behind_all");
  btf__add_typedef(t, "btf_trace_behind_all", number);
  return all;
}

TEST(TypeTable, FindsWhatLibbpfFindsBehindEveryKind) {
  const OwnedBtf all = types_of_every_kind();
  const TypeTable table = table_of(all.get());
  EXPECT_EQ(table.count(), btf__type_cnt(all.get()));
  for (const char* name : {"before_all", "between", "behind_al", "behind_all"}) {
    const int known = btf__find_by_name_kind(all.get(), name, BTF_KIND_FUNC);
    ASSERT_GT(known, 0) << name;
    EXPECT_EQ(table.find(BTF_KIND_FUNC, name), static_cast<unsigned>(known)) << name;
  }
  for (const char* name : {"btf_trace_between", "btf_trace_behind_all"}) {
    const int known = btf__find_by_name_kind(all.get(), name, BTF_KIND_TYPEDEF);
    ASSERT_GT(known, 0) << name;
    EXPECT_EQ(table.find(BTF_KIND_TYPEDEF, name), static_cast<unsigned>(known)) << name;
  }
}

TEST(TypeTable, HasEachTypeAsLibbpfHasIt) {
  const OwnedBtf all = types_of_every_kind();
  const TypeTable table = table_of(all.get());
  for (__u32 number = 1; number < btf__type_cnt(all.get()); ++number) {
    const btf_type* const known = btf__type_by_id(all.get(), number);
    const TypeTable::Written found = table.at(number);
    EXPECT_EQ(std::memcmp(&found.type, known, sizeof(*known)), 0) << number;
    EXPECT_EQ(table.name_at(found.type.name_off), btf__name_by_offset(all.get(), known->name_off)) << number;
    // It is followed by the next one.
    const bool is_last = number + 1 == btf__type_cnt(all.get());
    if (is_last) break;
    const auto* const next = reinterpret_cast<const std::uint8_t*>(btf__type_by_id(all.get(), number + 1));
    EXPECT_EQ(sizeof(*known) + found.after.size(), next - reinterpret_cast<const std::uint8_t*>(known)) << number;
  }
}

TEST(TypeTable, KnowsNoPartOfANameAndNoOtherKind) {
  const OwnedBtf all = types_of_every_kind();
  const TypeTable table = table_of(all.get());
  for (const char* name : {"", "before", "before_all_", "structure", "behind_a", "btf_trace_between"}) {
    EXPECT_EQ(table.find(BTF_KIND_FUNC, name), 0U) << name;
  }
}

TEST(TypeTable, DoesNotGuessBehindAKindThatItDoesNotKnow) {
  const OwnedBtf all = types_of_every_kind();
  const Bytes whole = bytes_of(all.get());
  std::vector<std::uint8_t> changed(whole.begin(), whole.end());
  btf_type* const first = reinterpret_cast<btf_type*>(changed.data() + sizeof(btf_header));
  first->info = 31U << 24;
  EXPECT_FALSE(TypeTable::read(changed));
}

/// However the bytes end: nothing is invented, and nothing beyond them is read.
TEST(TypeTable, IsNoneOfTypesThatAreCutOff) {
  const OwnedBtf all = types_of_every_kind();
  const Bytes whole = bytes_of(all.get());
  btf_header header = {};
  std::memcpy(&header, whole.data(), sizeof(header));
  const std::size_t types_end = header.hdr_len + header.type_off + header.type_len;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const std::optional<TypeTable> table = TypeTable::read(part);
    EXPECT_EQ(table.has_value(), size >= types_end) << size;
    if (!table) continue;
    const auto known = static_cast<unsigned>(btf__find_by_name_kind(all.get(), "behind_all", BTF_KIND_FUNC));
    const std::uint32_t found = table->find(BTF_KIND_FUNC, "behind_all");
    EXPECT_TRUE(found == 0 || found == known) << size;
  }
}

}  // namespace
}  // namespace hawk
