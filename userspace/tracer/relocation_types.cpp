#include "userspace/tracer/relocation_types.h"

#include <linux/btf.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <map>
#include <string_view>

#include "userspace/tracer/kernel_types.h"

namespace hawk {
namespace {

constexpr std::uint32_t kVoid = 0;

/// One type as it is written.
struct Written {
  btf_type type = {};
  Bytes after;  ///< what follows it: members, values, dimensions
};

/// Types by number. The kernel has more than a hundred thousand, of which next to none are looked at.
class Types {
 public:
  /// False: not understood.
  bool read(Bytes btf) {
    ByteCursor beginning(btf);
    const auto header = beginning.number<btf_header>();
    if (!beginning.ok() || header.magic != BTF_MAGIC) return false;
    const Bytes content = part_of(btf, header.hdr_len);
    names_ = part_of(content, header.str_off, header.str_len);
    types_ = part_of(content, header.type_off, header.type_len);
    constexpr std::size_t kUsualBytes = 24;
    starts_.reserve(types_.size() / kUsualBytes);
    starts_.push_back(0);  // void, which is not written
    ByteCursor cursor(types_);
    while (!cursor.at_end()) {
      starts_.push_back(static_cast<std::uint32_t>(cursor.next() - types_.data()));
      const auto type = cursor.number<btf_type>();
      const std::optional<std::uint64_t> after = bytes_after(BTF_INFO_KIND(type.info), BTF_INFO_VLEN(type.info));
      if (!after) return false;
      cursor.skip(*after);
    }
    return cursor.ok();
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(starts_.size()); }
  Written at(std::uint32_t number) const {
    ByteCursor cursor(part_of(types_, starts_[number]));
    const auto type = cursor.number<btf_type>();
    return {type, cursor.take(bytes_after(BTF_INFO_KIND(type.info), BTF_INFO_VLEN(type.info)).value_or(0))};
  }
  btf_type type_at(std::uint32_t number) const {
    return ByteCursor(part_of(types_, starts_[number])).number<btf_type>();
  }
  Bytes text_at(std::uint32_t offset) const { return part_of(names_, offset); }
  std::string_view name_at(std::uint32_t offset) const { return ByteCursor(part_of(names_, offset)).text(); }

 private:
  Bytes types_, names_;
  std::vector<std::uint32_t> starts_;
};

bool may_be_wanted(std::uint32_t kind) {
  return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION || kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64 ||
         kind == BTF_KIND_TYPEDEF;
}

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
      type.type = kVoid;
      break;
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_TYPE_TAG:
      change_type(type.type);
      break;
    case BTF_KIND_ARRAY:
      change_each(btf_array{}, [&](btf_array& array) {
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
    case BTF_KIND_ENUM:
      change_each(btf_enum{}, [&](btf_enum& value) { change_name(value.name_off); });
      break;
    case BTF_KIND_ENUM64:
      change_each(btf_enum64{}, [&](btf_enum64& value) { change_name(value.name_off); });
      break;
    default:
      break;
  }
}

/// Of functions nothing is taken over: no access goes through one.
bool is_kept(const Types& types, std::uint32_t number) {
  return number != kVoid && number < types.count() && BTF_INFO_KIND(types.type_at(number).info) != BTF_KIND_FUNC_PROTO;
}

/// What may be among names, by their beginnings up to an underscore: nearly all types are none of them, and to look
/// each up takes long.
class Beginnings {
 public:
  explicit Beginnings(const std::set<std::string_view>& names) {
    for (const std::string_view name : names) {
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

/// What is wanted, and what that is made of.
std::vector<std::uint32_t> needed_of(const Types& types, const std::set<std::string_view>& names) {
  const Beginnings beginnings(names);
  std::vector<bool> is_needed(types.count());
  std::vector<std::uint32_t> pending;
  const auto need = [&](std::uint32_t number) {
    if (!is_kept(types, number) || is_needed[number]) return;
    is_needed[number] = true;
    pending.push_back(number);
  };
  for (std::uint32_t number = 1; number < types.count(); ++number) {
    const btf_type type = types.type_at(number);
    if (may_be_wanted(BTF_INFO_KIND(type.info)) && beginnings.may_have(types.text_at(type.name_off)) &&
        names.contains(essential_name(types.name_at(type.name_off))))
      need(number);
  }
  while (!pending.empty()) {
    Written written = types.at(pending.back());
    pending.pop_back();
    std::vector<std::uint8_t> after(written.after.begin(), written.after.end());
    for_all_in(written.type, after, need, [](std::uint32_t) {});
  }
  std::vector<std::uint32_t> needed;
  for (std::uint32_t number = 0; number < types.count(); ++number) {
    if (is_needed[number]) needed.push_back(number);
  }
  return needed;
}

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

}  // namespace

std::string_view essential_name(std::string_view name) {
  const std::size_t flavor = name.rfind("___");
  return flavor == std::string_view::npos || flavor == 0 ? name : name.substr(0, flavor);
}

std::optional<std::vector<std::uint8_t>> types_for_relocations(Bytes btf, const std::set<std::string_view>& names) {
  Types types;
  if (!types.read(btf)) return std::nullopt;
  const std::vector<std::uint32_t> needed = needed_of(types, names);
  const auto new_number = [&](std::uint32_t& number) {
    const auto found = std::lower_bound(needed.begin(), needed.end(), number);
    const bool is_there = found != needed.end() && *found == number;
    number = is_there ? static_cast<std::uint32_t>(found - needed.begin()) + 1 : kVoid;
  };
  Names kept;
  std::vector<std::uint8_t> written;
  for (const std::uint32_t number : needed) {
    btf_type type = types.at(number).type;
    std::vector<std::uint8_t> after(types.at(number).after.begin(), types.at(number).after.end());
    for_all_in(type, after, new_number, [&](std::uint32_t& offset) { offset = kept.offset_of(types.name_at(offset)); });
    append(written, &type, sizeof(type));
    append(written, after.data(), after.size());
  }
  btf_header header = {};
  header.magic = BTF_MAGIC;
  header.version = BTF_VERSION;
  header.hdr_len = sizeof(header);
  header.type_len = header.str_off = static_cast<std::uint32_t>(written.size());
  header.str_len = static_cast<std::uint32_t>(kept.text().size());
  std::vector<std::uint8_t> made;
  append(made, &header, sizeof(header));
  append(made, written.data(), written.size());
  append(made, kept.text().data(), kept.text().size());
  return made;
}

}  // namespace hawk
