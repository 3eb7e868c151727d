#include "userspace/tracer/relocation_types.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>
#include <linux/btf.h>

#include <string>
#include <vector>

#include "tests/unit/tracer/made_types.h"

namespace hawk {
namespace {

/// A structure with a pointer, an array of structures, a bit field and a union without a name; and what it is not made
/// of.
OwnedBtf kernel_types() {
  OwnedBtf all(btf__new_empty());
  btf* const t = all.get();
  btf__add_struct(t, "stranger", 64);
  const int number = btf__add_int(t, "int", 4, BTF_INT_SIGNED);
  const int prototype = btf__add_func_proto(t, number);
  btf__add_func(t, "function", BTF_FUNC_STATIC, prototype);
  const int pointer = btf__add_ptr(t, 1);
  const int inner = btf__add_struct(t, "inner", 8);
  btf__add_field(t, "low", number, 0, 0);
  btf__add_field(t, "high", number, 32, 0);
  const int constant = btf__add_const(t, inner);
  const int named = btf__add_typedef(t, "inner_t", constant);
  const int several = btf__add_array(t, number, named, 3);
  const int either = btf__add_union(t, nullptr, 4);
  btf__add_field(t, "one", number, 0, 0);
  btf__add_field(t, "other", number, 0, 0);
  btf__add_struct(t, "outer", 48);
  btf__add_field(t, "link", pointer, 0, 0);
  btf__add_field(t, "parts", several, 64, 0);
  btf__add_field(t, "", either, 256, 0);
  btf__add_field(t, "flag", number, 291, 3);
  btf__add_enum(t, "work_bit", 4);
  btf__add_enum_value(t, "BIT_ONE", 5);
  btf__add_enum64(t, "wide_bit", 8, false);
  btf__add_enum64_value(t, "WIDE_ONE", 1ULL << 40);
  btf__add_typedef(t, "calls", prototype);
  return all;
}

OwnedBtf as_btf(const ReducedTypes& types) {
  return OwnedBtf(btf__new(types.btf.data(), static_cast<__u32>(types.btf.size())));
}

ReducedTypes reduce(const btf* types, const WantedTypes& wanted) { return reduce_types(table_of(types), wanted); }

OwnedBtf reduced(const WantedTypes& wanted) {
  const OwnedBtf all = kernel_types();
  return as_btf(reduce(all.get(), wanted));
}

std::uint32_t number_of(const btf* types, const char* name, unsigned kind) {
  const int number = btf__find_by_name_kind(types, name, kind);
  EXPECT_GT(number, 0) << name;
  return static_cast<std::uint32_t>(number);
}

std::string text_at(const btf* types, std::uint32_t offset) { return btf__name_by_offset(types, offset); }

TEST(RelocationTypes, HasWhatAStructureIsMadeOfWhereItIs) {
  const OwnedBtf made = reduced({.types = {"outer"}, .functions = {}});
  ASSERT_TRUE(made);
  const btf* const t = made.get();
  const int outer = btf__find_by_name_kind(t, "outer", BTF_KIND_STRUCT);
  ASSERT_GT(outer, 0);
  const btf_type* const type = btf__type_by_id(t, static_cast<__u32>(outer));
  ASSERT_EQ(btf_vlen(type), 4);
  EXPECT_EQ(type->size, 48U);
  const btf_member* const members = btf_members(type);
  EXPECT_EQ(text_at(t, members[0].name_off), "link");
  EXPECT_TRUE(btf_is_ptr(btf__type_by_id(t, members[0].type)));
  const btf_type* const parts = btf__type_by_id(t, members[1].type);
  ASSERT_TRUE(btf_is_array(parts));
  EXPECT_EQ(btf_array(parts)->nelems, 3U);
  EXPECT_EQ(btf__resolve_size(t, members[1].type), 24);
  EXPECT_EQ(btf_member_bit_offset(type, 1), 64U);
  EXPECT_TRUE(btf_is_union(btf__type_by_id(t, members[2].type)));
  EXPECT_EQ(btf_vlen(btf__type_by_id(t, members[2].type)), 2);
  EXPECT_EQ(btf_member_bit_offset(type, 3), 291U);
  EXPECT_EQ(btf_member_bitfield_size(type, 3), 3U);
}

TEST(RelocationTypes, LeavesOutWhatNobodyNamesAndWherePointersLead) {
  const OwnedBtf made = reduced({.types = {"outer", "calls", "function", "missing"}, .functions = {}});
  ASSERT_TRUE(made);
  EXPECT_LT(btf__find_by_name(made.get(), "stranger"), 0);
  EXPECT_LT(btf__find_by_name(made.get(), "function"), 0);
  EXPECT_LT(btf__find_by_name(made.get(), "work_bit"), 0);
  // Of what stands for a function only the name.
  const int calls = btf__find_by_name_kind(made.get(), "calls", BTF_KIND_TYPEDEF);
  ASSERT_GT(calls, 0);
  EXPECT_EQ(btf__type_by_id(made.get(), static_cast<__u32>(calls))->type, 0U);
}

TEST(RelocationTypes, HasTheValuesOfEnumerations) {
  const OwnedBtf made = reduced({.types = {"work_bit", "wide_bit"}, .functions = {}});
  ASSERT_TRUE(made);
  const int narrow = btf__find_by_name_kind(made.get(), "work_bit", BTF_KIND_ENUM);
  const int wide = btf__find_by_name_kind(made.get(), "wide_bit", BTF_KIND_ENUM64);
  ASSERT_GT(narrow, 0);
  ASSERT_GT(wide, 0);
  const struct btf_enum* const one = btf_enum(btf__type_by_id(made.get(), static_cast<__u32>(narrow)));
  EXPECT_EQ(text_at(made.get(), one->name_off), "BIT_ONE");
  EXPECT_EQ(one->val, 5);
  const struct btf_enum64* const other = btf_enum64(btf__type_by_id(made.get(), static_cast<__u32>(wide)));
  EXPECT_EQ(text_at(made.get(), other->name_off), "WIDE_ONE");
  EXPECT_EQ(btf_enum64_value(other), 1ULL << 40);
}

TEST(RelocationTypes, HasFunctionsWithTheKindsOfTheirParameters) {
  const OwnedBtf all = kernel_types();
  btf* const t = all.get();
  const int outer = btf__find_by_name_kind(t, "outer", BTF_KIND_STRUCT);
  const int parameters = btf__add_func_proto(t, 0);
  btf__add_func_param(t, "first", btf__find_by_name_kind(t, "int", BTF_KIND_INT));
  const int pointer = btf__add_ptr(t, outer);
  const int takes = btf__add_func_proto(t, 0);
  btf__add_func_param(t, "of", pointer);
  const int wanted = btf__add_func(t, "takes_outer", BTF_FUNC_STATIC, takes);
  btf__add_func(t, "takes_outer", BTF_FUNC_STATIC, parameters);
  const ReducedTypes types = reduce(t, {.types = {"outer"}, .functions = {"takes_outer"}});
  const OwnedBtf made = as_btf(types);
  ASSERT_TRUE(made);
  const std::uint32_t function = number_of(made.get(), "takes_outer", BTF_KIND_FUNC);
  EXPECT_EQ(types.kernel_numbers.at(function), static_cast<std::uint32_t>(wanted));
  const btf_type* const signature = btf__type_by_id(made.get(), btf__type_by_id(made.get(), function)->type);
  ASSERT_TRUE(btf_is_func_proto(signature));
  ASSERT_EQ(btf_vlen(signature), 1);
  const btf_type* const parameter = btf__type_by_id(made.get(), btf_params(signature)->type);
  ASSERT_TRUE(btf_is_ptr(parameter));
  EXPECT_TRUE(btf_is_struct(btf__type_by_id(made.get(), parameter->type)));
  // What accesses are fitted by is still whole, and there once more.
  EXPECT_EQ(btf_vlen(btf__type_by_id(made.get(), number_of(made.get(), "outer", BTF_KIND_STRUCT))), 4);
}

TEST(RelocationTypes, HasFunctionsThatTheKernelDoesNotHaveWithMoreParametersThanAny) {
  const OwnedBtf all = kernel_types();
  const ReducedTypes types = reduce(all.get(), {.types = {}, .functions = {"missing"}});
  const OwnedBtf made = as_btf(types);
  ASSERT_TRUE(made);
  const std::uint32_t missing = number_of(made.get(), "missing", BTF_KIND_FUNC);
  EXPECT_EQ(types.kernel_numbers.at(missing), 0U);
  EXPECT_GT(btf_vlen(btf__type_by_id(made.get(), btf__type_by_id(made.get(), missing)->type)), 12);
}

TEST(EssentialName, IsWithoutTheFlavor) {
  EXPECT_EQ(essential_name("mm_struct___before_6_4"), "mm_struct");
  EXPECT_EQ(essential_name("mm_struct"), "mm_struct");
  EXPECT_EQ(essential_name("___odd"), "___odd");
}

}  // namespace
}  // namespace hawk
