#include "userspace/tracer/kernel_types.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>
#include <linux/btf.h>

#include <memory>
#include <string>
#include <vector>

#include "userspace/base/owned.h"

namespace hawk {
namespace {

using OwnedBtf = std::unique_ptr<btf, Freer<btf__free>>;

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

Bytes bytes_of(const btf* types) {
  __u32 size = 0;
  const void* const data = btf__raw_data(types, &size);
  return {static_cast<const std::uint8_t*>(data), size};
}

TEST(FindType, FindsWhatLibbpfFindsBehindEveryKind) {
  const OwnedBtf all = types_of_every_kind();
  for (const char* name : {"before_all", "between", "behind_al", "behind_all"}) {
    const int known = btf__find_by_name_kind(all.get(), name, BTF_KIND_FUNC);
    ASSERT_GT(known, 0) << name;
    EXPECT_EQ(find_type(bytes_of(all.get()), BTF_KIND_FUNC, name), static_cast<unsigned>(known)) << name;
  }
  for (const char* name : {"btf_trace_between", "btf_trace_behind_all"}) {
    const int known = btf__find_by_name_kind(all.get(), name, BTF_KIND_TYPEDEF);
    ASSERT_GT(known, 0) << name;
    EXPECT_EQ(find_type(bytes_of(all.get()), BTF_KIND_TYPEDEF, name), static_cast<unsigned>(known)) << name;
  }
}

TEST(FindType, KnowsNoPartOfANameAndNoOtherKind) {
  const OwnedBtf all = types_of_every_kind();
  for (const char* name : {"", "before", "before_all_", "structure", "behind_a", "btf_trace_between"}) {
    EXPECT_EQ(find_type(bytes_of(all.get()), BTF_KIND_FUNC, name), 0U) << name;
  }
}

TEST(FindType, DoesNotGuessBehindAKindThatItDoesNotKnow) {
  const OwnedBtf all = types_of_every_kind();
  const Bytes whole = bytes_of(all.get());
  std::vector<std::uint8_t> changed(whole.begin(), whole.end());
  btf_type* const first = reinterpret_cast<btf_type*>(changed.data() + sizeof(btf_header));
  first->info = 31U << 24;
  EXPECT_EQ(find_type(changed, BTF_KIND_FUNC, "behind_all"), std::nullopt);
}

/// However the bytes end: nothing is invented, and nothing beyond them is read.
TEST(FindType, EndsWithTheBytes) {
  const OwnedBtf all = types_of_every_kind();
  const Bytes whole = bytes_of(all.get());
  const auto known = static_cast<unsigned>(btf__find_by_name_kind(all.get(), "before_all", BTF_KIND_FUNC));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const std::uint32_t found = find_type(part, BTF_KIND_FUNC, "before_all").value_or(0);
    EXPECT_TRUE(found == 0 || found == known) << size;
  }
  EXPECT_EQ(find_type({}, BTF_KIND_FUNC, "before_all"), std::nullopt);
}

}  // namespace
}  // namespace hawk
