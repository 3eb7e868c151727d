#include "userspace/tracer/type_table.h"

#include <array>
#include <cstring>

namespace hawk {
namespace {

/// What follows a type of one kind: as much in any case, and for each member.
struct KindLayout {
  bool is_known = false;
  std::uint8_t fixed_bytes = 0;
  std::uint8_t member_bytes = 0;
};

constexpr std::size_t kKinds = 32;  // BTF_INFO_KIND has five bits

constexpr std::array<KindLayout, kKinds> layouts() {
  std::array<KindLayout, kKinds> kinds = {};
  // The header has some of them as enumerators, and the others as macros.
  constexpr unsigned kAlone[] = {BTF_KIND_PTR,      BTF_KIND_FWD,  BTF_KIND_TYPEDEF, BTF_KIND_VOLATILE, BTF_KIND_CONST,
                                 BTF_KIND_RESTRICT, BTF_KIND_FUNC, BTF_KIND_FLOAT,   BTF_KIND_TYPE_TAG};
  for (const unsigned kind : kAlone) kinds[kind].is_known = true;
  kinds[BTF_KIND_INT] = {.is_known = true, .fixed_bytes = sizeof(std::uint32_t)};
  kinds[BTF_KIND_ARRAY] = {.is_known = true, .fixed_bytes = sizeof(struct btf_array)};
  kinds[BTF_KIND_VAR] = {.is_known = true, .fixed_bytes = sizeof(struct btf_var)};
  kinds[BTF_KIND_DECL_TAG] = {.is_known = true, .fixed_bytes = sizeof(struct btf_decl_tag)};
  kinds[BTF_KIND_STRUCT] = kinds[BTF_KIND_UNION] = {.is_known = true, .member_bytes = sizeof(struct btf_member)};
  kinds[BTF_KIND_ENUM] = {.is_known = true, .member_bytes = sizeof(struct btf_enum)};
  kinds[BTF_KIND_ENUM64] = {.is_known = true, .member_bytes = sizeof(struct btf_enum64)};
  kinds[BTF_KIND_FUNC_PROTO] = {.is_known = true, .member_bytes = sizeof(struct btf_param)};
  kinds[BTF_KIND_DATASEC] = {.is_known = true, .member_bytes = sizeof(struct btf_var_secinfo)};
  return kinds;
}

constexpr std::array<KindLayout, kKinds> kLayouts = layouts();

/// Bytes of a type and what follows it; nullopt: the kind is not known.
std::optional<std::size_t> bytes_of(std::uint32_t info) {
  const KindLayout layout = kLayouts[BTF_INFO_KIND(info)];
  if (!layout.is_known) return std::nullopt;
  return sizeof(btf_type) + layout.fixed_bytes + std::size_t{layout.member_bytes} * BTF_INFO_VLEN(info);
}

/// Whether `name`, and nothing more, is at `offset`.
bool is_name_at(Bytes names, std::uint64_t offset, std::string_view name) {
  if (offset >= names.size() || names[offset] != static_cast<std::uint8_t>(*name.data())) return false;
  const Bytes found = part_of(names, offset, name.size() + 1);
  return found.size() == name.size() + 1 && found.back() == 0 && text_of(found.first(name.size())) == name;
}

}  // namespace

std::optional<TypeTable> TypeTable::read(Bytes btf) {
  ByteCursor beginning(btf);
  const auto header = beginning.number<btf_header>();
  if (!beginning.ok() || header.magic != BTF_MAGIC) return std::nullopt;
  const Bytes content = part_of(btf, header.hdr_len);
  TypeTable table;
  table.names_ = part_of(content, header.str_off, header.str_len);
  table.types_ = part_of(content, header.type_off, header.type_len);
  if (table.types_.size() != header.type_len) return std::nullopt;
  constexpr std::size_t kUsualBytes = 24;
  table.starts_.reserve(table.types_.size() / kUsualBytes);
  table.starts_.push_back(0);
  for (std::size_t at = 0; at < table.types_.size();) {
    btf_type type = {};
    if (table.types_.size() - at < sizeof(type)) return std::nullopt;
    std::memcpy(&type, table.types_.data() + at, sizeof(type));
    const std::optional<std::size_t> bytes = bytes_of(type.info);
    if (!bytes || *bytes > table.types_.size() - at) return std::nullopt;
    table.starts_.push_back(static_cast<std::uint32_t>(at));
    at += *bytes;
  }
  return table;
}

TypeTable::Written TypeTable::at(std::uint32_t number) const {
  ByteCursor cursor(part_of(types_, starts_[number]));
  const auto type = cursor.number<btf_type>();
  return {type, cursor.take(bytes_of(type.info).value_or(sizeof(type)) - sizeof(type))};
}

std::uint32_t TypeTable::find(unsigned kind, std::string_view name) const {
  if (name.empty()) return 0;
  for (std::uint32_t number = 1; number < count(); ++number) {
    const btf_type type = type_at(number);
    if (BTF_INFO_KIND(type.info) == kind && is_name_at(names_, type.name_off, name)) return number;
  }
  return 0;
}

}  // namespace hawk
