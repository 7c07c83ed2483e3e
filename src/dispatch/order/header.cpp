#include "dispatch/order/header.hpp"

#include <algorithm>
#include <unordered_map>

namespace gorgo::dispatch {
namespace {

/// Finds attributes by name. An event mostly has its attributes in the order of the type.
class AttributeFinder {
 public:
  explicit AttributeFinder(const EventType& type) : type_(type) {}

  std::optional<std::uint32_t> find(std::string_view name) {
    const auto& attributes = type_.attributes;
    if (next_ < attributes.size() && attributes[next_].name == name) return next_++;
    if (by_name_.empty()) {
      for (std::uint32_t i = 0; i < attributes.size(); ++i) by_name_.emplace(attributes[i].name, i);
    }
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return std::nullopt;
    next_ = found->second + 1;
    return found->second;
  }

 private:
  const EventType& type_;
  std::uint32_t next_ = 0;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
};

}  // namespace

Header::Header(std::string_view type, std::span<const std::string_view> names,
               Arrivals::Type& arrivals)
    : type_(type), arrivals_(arrivals), names_(names.begin(), names.end()) {}

bool Header::has_columns_of(const EventTable& table) const {
  // Compared by their characters, because comparing views has the processor find out which is less.
  return std::ranges::equal(
      names_, table.columns,
      [](const auto& name, const auto& other) { return std::ranges::equal(name, other); }, {},
      &EventColumn::name);
}

void Header::count(const EventType* known, const Datum* cells) {
  ++arrivals_.accepted;
  if (known == nullptr || known->strict()) return;
  const std::size_t attributes = known->attributes.size();
  std::size_t lacking = attributes;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const bool is_known = resolved_.exact || resolved_.cells[i] < attributes;
    if (is_known && cells[i].exists()) --lacking;
  }
  arrivals_.no_value += lacking;
}

void Header::find_twins() {
  if (searched_for_twins_) return;
  std::unordered_map<std::string_view, std::uint32_t> last;
  last.reserve(names_.size());
  for (std::uint32_t i = 0; i < names_.size(); ++i) {
    const auto [it, added] = last.emplace(names_[i], i);
    if (added) continue;
    if (twins_.empty()) twins_.assign(names_.size(), kNone);
    twins_[i] = it->second;
    it->second = i;
  }
  searched_for_twins_ = true;
}

const Header::Resolution& Header::resolve(const Schema& schema) {
  if (version_ != schema.version()) {
    const EventType* const type = schema.find(type_);
    resolved_ = find(type != nullptr && type->joint() ? nullptr : type);
    version_ = schema.version();
  }
  return resolved_;
}

const Header::Resolution& Header::unknown() {
  if (!unknown_) unknown_ = find(nullptr);
  return *unknown_;
}

Header::Resolution Header::find(const EventType* type) {
  Resolution found;
  if (type != nullptr) {
    found.type = type->id;
    found.width = static_cast<std::uint32_t>(type->attributes.size());
    found.exact = std::ranges::equal(names_, type->attributes, {}, {}, &AttributeType::name);
    found.complete = found.exact;
    if (found.exact) return found;
  }
  find_twins();
  static const EventType kNoAttributes;
  AttributeFinder attributes(type != nullptr ? *type : kNoAttributes);
  auto extras = std::make_shared<Extras>();
  found.cells.reserve(names_.size());
  for (const std::string& name : names_) {
    if (const auto index = attributes.find(name)) {
      found.cells.push_back(*index);
    } else if (type != nullptr && type->strict()) {
      found.cells.push_back(kNone);
    } else {
      found.cells.push_back(found.width++);
      extras->names.push_back(name);
    }
  }
  find_sources(type != nullptr ? type->attributes.size() : 0, found);
  if (type != nullptr && extras->names.empty()) return found;
  extras->type = type_;
  found.extras = std::move(extras);
  return found;
}

void Header::find_sources(std::size_t attributes, Resolution& found) const {
  found.sources.resize(found.width);
  found.complete = has_sources(found) && pair_further(attributes, found);
  if (!found.complete) found.sources.clear();
}

/// Notes the columns of each cell. False: some column goes nowhere, or a cell has none or three.
bool Header::has_sources(Resolution& found) const {
  for (std::uint32_t i = 0; i < names_.size(); ++i) {
    if (found.cells[i] == kNone || names_[i].empty()) return false;
    CellSource& source = found.sources[found.cells[i]];
    if (source.twin != kNone) return false;
    (source.column == kNone ? source.column : source.twin) = i;
  }
  return std::ranges::find(found.sources, kNone, &CellSource::column) == found.sources.end();
}

/// Has cells with the same further name know each other. False: there are more than two.
bool Header::pair_further(std::size_t attributes, Resolution& found) const {
  for (std::uint32_t i = 0; i < names_.size(); ++i) {
    if (found.cells[i] < attributes || twin(i) == kNone) continue;
    CellSource& one = found.sources[found.cells[i]];
    CellSource& other = found.sources[found.cells[twin(i)]];
    if (other.twin != kNone) return false;
    one.twin = other.column;
    other.twin = one.column;
  }
  return true;
}

}  // namespace gorgo::dispatch
