#include "userspace/tracer/relocation_types.h"

#include <linux/btf.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace hawk {
namespace {

constexpr std::uint32_t kVoid = 0;
/// Where a type's kind begins in btf_type::info.
constexpr unsigned kKindShift = 24;

bool may_be_wanted(std::uint32_t kind) {
  return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION || kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64 ||
         kind == BTF_KIND_TYPEDEF;
}

/// libbpf has functions of these names.
using ArrayRecord = struct btf_array;
using EnumRecord = struct btf_enum;
using WideEnumRecord = struct btf_enum64;

/// Calls `change` for each number of a type, and each offset of a name, in a type and what follows it.
template <class ChangeType, class ChangeName>
void for_all_in(btf_type& type, std::vector<std::uint8_t>& after, ChangeType change_type, ChangeName change_name) {
  const auto change_each = [&](auto record, auto change) {
    for (std::size_t at = 0; at + sizeof(record) <= after.size(); at += sizeof(record)) {
      std::memcpy(&record, after.data() + at, sizeof(record));
      change(record);
      std::memcpy(after.data() + at, &record, sizeof(record));
    }
  };
  change_name(type.name_off);
  switch (BTF_INFO_KIND(type.info)) {
    case BTF_KIND_PTR:
    case BTF_KIND_FUNC:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_TYPE_TAG:
      change_type(type.type);
      break;
    case BTF_KIND_ARRAY:
      change_each(ArrayRecord{}, [&](ArrayRecord& array) {
        change_type(array.type);
        change_type(array.index_type);
      });
      break;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
      change_each(btf_member{}, [&](btf_member& member) {
        change_name(member.name_off);
        change_type(member.type);
      });
      break;
    case BTF_KIND_FUNC_PROTO:
      change_type(type.type);
      change_each(btf_param{}, [&](btf_param& parameter) {
        change_name(parameter.name_off);
        change_type(parameter.type);
      });
      break;
    case BTF_KIND_ENUM:
      change_each(EnumRecord{}, [&](EnumRecord& value) { change_name(value.name_off); });
      break;
    case BTF_KIND_ENUM64:
      change_each(WideEnumRecord{}, [&](WideEnumRecord& value) { change_name(value.name_off); });
      break;
    default:
      break;
  }
}

/// What may be among names, by their beginnings up to an underscore: nearly all types are none of them, and to look
/// each up takes long.
class Beginnings {
 public:
  explicit Beginnings(const std::set<std::string, std::less<>>& names) {
    for (const std::string& name : names) {
      if (!name.empty()) may_be_[place_of(name)] = true;
    }
  }
  /// `name`, up to its end or further.
  bool may_have(Bytes name) const { return !name.empty() && may_be_[place_of(text_of(name))]; }

 private:
  static constexpr std::size_t kLetters = 4;

  static std::size_t place_of(std::string_view name) {
    constexpr std::size_t kFactor = 31;
    std::size_t place = 0;
    for (std::size_t i = 0; i < kLetters && i < name.size() && name[i] != '\0' && name[i] != '_'; ++i)
      place = place * kFactor + static_cast<std::uint8_t>(name[i]);
    return place % kPlaces;
  }

  static constexpr std::size_t kPlaces = 1U << 13;
  std::bitset<kPlaces> may_be_;
};

/// A type that is taken over: as what its members are, or to compare the parameters of functions by.
struct Taken {
  bool in_signature = false;
  std::uint32_t number = 0;

  bool operator==(const Taken&) const = default;
  bool operator<(const Taken& other) const {
    return std::tie(in_signature, number) < std::tie(other.in_signature, other.number);
  }
};

/// As it is to be written, with the numbers that the kernel has: without what a pointer leads to, or where parameters
/// are compared, and so their kinds alone, without what a structure is made of.
std::pair<btf_type, std::vector<std::uint8_t>> form_of(const TypeTable& types, const Taken& taken) {
  auto [type, bytes] = types.at(taken.number);
  std::vector<std::uint8_t> after(bytes.begin(), bytes.end());
  const unsigned kind = BTF_INFO_KIND(type.info);
  if (taken.in_signature && may_be_wanted(kind) && kind != BTF_KIND_TYPEDEF) {
    // Without a name, by which accesses are fitted.
    type.name_off = 0;
    type.info = kind << kKindShift;
    after.clear();
  }
  if (!taken.in_signature && kind == BTF_KIND_PTR) type.type = kVoid;
  return {type, std::move(after)};
}

/// What is wanted, and what that is made of.
class Needed {
 public:
  Needed(const TypeTable& types, const WantedTypes& wanted)
      : types_(types), is_needed_{std::vector<bool>(types.count()), std::vector<bool>(types.count())} {
    look_for(wanted);
    while (!pending_.empty()) {
      const Taken taken = pending_.back();
      pending_.pop_back();
      auto [type, after] = form_of(types, taken);
      for_all_in(
          type, after, [&](std::uint32_t number) { need(taken.in_signature, number); }, [](std::uint32_t) {});
    }
    std::sort(all_.begin(), all_.end());
  }

  const std::vector<Taken>& all() const { return all_; }
  const std::set<std::string_view>& functions() const { return functions_; }

  /// The number that a type has among those that are needed, which begin with 1.
  std::uint32_t place_of(const Taken& taken) const {
    const auto found = std::lower_bound(all_.begin(), all_.end(), taken);
    const bool is_there = found != all_.end() && *found == taken;
    return is_there ? static_cast<std::uint32_t>(found - all_.begin()) + 1 : kVoid;
  }

 private:
  void look_for(const WantedTypes& wanted) {
    const Beginnings types(wanted.types), functions(wanted.functions);
    for (std::uint32_t number = 1; number < types_.count(); ++number) {
      const btf_type type = types_.type_at(number);
      const bool is_function = BTF_INFO_KIND(type.info) == BTF_KIND_FUNC;
      if ((!is_function && !may_be_wanted(BTF_INFO_KIND(type.info))) ||
          !(is_function ? functions : types).may_have(types_.text_at(type.name_off)))
        continue;
      const std::string_view name = types_.name_at(type.name_off);
      if (!is_function && wanted.types.contains(essential_name(name))) need(false, number);
      if (is_function && wanted.functions.contains(name) && functions_.insert(name).second) need(true, number);
    }
  }

  /// No access goes through a function: of these nothing is taken over where they are members.
  void need(bool in_signature, std::uint32_t number) {
    if (number == kVoid || number >= types_.count() || is_needed_[in_signature][number]) return;
    if (!in_signature && BTF_INFO_KIND(types_.type_at(number).info) == BTF_KIND_FUNC_PROTO) return;
    is_needed_[in_signature][number] = true;
    pending_.push_back({in_signature, number});
    all_.push_back({in_signature, number});
  }

  const TypeTable& types_;
  std::array<std::vector<bool>, 2> is_needed_;
  std::vector<Taken> pending_, all_;
  std::set<std::string_view> functions_;  ///< that there are; as libbpf does, the first of each name
};

/// The names that are in use, each once.
class Names {
 public:
  std::uint32_t offset_of(std::string_view name) {
    const auto [at, is_new] = offsets_.emplace(name, static_cast<std::uint32_t>(text_.size()));
    if (is_new) text_.append(name).push_back('\0');
    return at->second;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = std::string(1, '\0');
  std::map<std::string_view, std::uint32_t> offsets_ = {{"", 0}};
};

void append(std::vector<std::uint8_t>& bytes, const void* data, std::size_t size) {
  const auto* const begin = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

/// BTF that is being made.
class Writer {
 public:
  std::uint32_t offset_of(std::string_view name) { return names_.offset_of(name); }

  /// Numbered in this order, from 1 on.
  void add(const btf_type& type, std::span<const std::uint8_t> after, std::uint32_t kernel_number) {
    append(types_, &type, sizeof(type));
    append(types_, after.data(), after.size());
    kernel_numbers_.push_back(kernel_number);
  }

  /// A function that the kernel does not have.
  void add_absent(std::string_view name) {
    const std::vector<btf_param> parameters(kMoreParametersThanAny);
    add({.name_off = 0, .info = BTF_KIND_FUNC_PROTO << kKindShift | kMoreParametersThanAny, .type = kVoid},
        {reinterpret_cast<const std::uint8_t*>(parameters.data()), parameters.size() * sizeof(btf_param)}, 0);
    const auto prototype = static_cast<std::uint32_t>(kernel_numbers_.size() - 1);
    add({.name_off = offset_of(name), .info = BTF_KIND_FUNC << kKindShift, .type = prototype}, {}, 0);
  }

  ReducedTypes finish() && {
    btf_header header = {};
    header.magic = BTF_MAGIC;
    header.version = BTF_VERSION;
    header.hdr_len = sizeof(header);
    header.type_len = header.str_off = static_cast<std::uint32_t>(types_.size());
    header.str_len = static_cast<std::uint32_t>(names_.text().size());
    std::vector<std::uint8_t> made;
    append(made, &header, sizeof(header));
    append(made, types_.data(), types_.size());
    append(made, names_.text().data(), names_.text().size());
    return {.btf = std::move(made), .kernel_numbers = std::move(kernel_numbers_)};
  }

 private:
  static constexpr std::uint32_t kMoreParametersThanAny = 16;

  Names names_;
  std::vector<std::uint8_t> types_;
  std::vector<std::uint32_t> kernel_numbers_ = {kVoid};
};

}  // namespace

std::string_view essential_name(std::string_view name) {
  const std::size_t flavor = name.rfind("___");
  return flavor == std::string_view::npos || flavor == 0 ? name : name.substr(0, flavor);
}

ReducedTypes reduce_types(const TypeTable& types, const WantedTypes& wanted) {
  const Needed needed(types, wanted);
  Writer writer;
  for (const Taken& taken : needed.all()) {
    auto [type, after] = form_of(types, taken);
    for_all_in(
        type, after,
        [&](std::uint32_t& number) {
          number = needed.place_of({taken.in_signature, number});
        },
        [&](std::uint32_t& offset) { offset = writer.offset_of(types.name_at(offset)); });
    writer.add(type, after, taken.number);
  }
  for (const std::string& name : wanted.functions) {
    if (!needed.functions().contains(name)) writer.add_absent(name);
  }
  return std::move(writer).finish();
}

}  // namespace hawk
