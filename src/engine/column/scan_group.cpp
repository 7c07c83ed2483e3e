#include "engine/column/scan_group.hpp"

#include <algorithm>
#include <limits>

namespace gorgo::engine {
namespace {

/// So many events are tested together at most, counted for each member: that bounds how long nobody
/// looks whether to stop, and the memory.
constexpr std::uint64_t kMostTests = std::uint64_t{1} << 26;

}  // namespace

void ScanGroup::announce(std::span<const Search> searches) {
  searches_ = searches;
  words_.reset();
  next_ = first_ = scanned_ = 0;
}

std::optional<std::size_t> ScanGroup::find(const Search& search) {
  const history::Slot terminator = search.sequence[0].slot;
  while (next_ < searches_.size() && searches_[next_].sequence[0].slot != terminator) ++next_;
  if (next_ == searches_.size()) return std::nullopt;
  return next_;
}

/// Finds the windows of the searches from this one on, as far as there is room. Returns what covers
/// them all.
history::Range ScanGroup::look_at_windows(std::size_t first, const history::Timeline& timeline) {
  history::Range all{std::numeric_limits<std::uint64_t>::max(), 0};
  std::size_t count = 0;
  for (const Search& search : searches_.subspan(first)) {
    const auto window = timeline.window(search.interval.after, search.interval.before);
    const history::Range wider{std::min(all.first, window.first), std::max(all.last, window.last)};
    if (wider.last > wider.first && wider.size() * (count + 1) > kMostTests) break;
    all = wider;
    if (members_.size() == count) members_.emplace_back();
    members_[count++].window = window;
  }
  first_ = first;
  scanned_ = first + count;
  return all;
}

bool ScanGroup::scan(std::size_t member, const history::Timeline& timeline,
                     std::span<BlockCondition> conditions) {
  const history::Range all = look_at_windows(member, timeline);
  if (scanned_ < member + 2) {
    scanned_ = member;
    return false;
  }
  base_ = all.first;
  const std::uint64_t size = all.last > all.first ? all.size() : 0;
  words_each_ = (size + kBlock - 1) / kBlock * (kBlock / 64) + 1;
  words_ = std::make_unique_for_overwrite<std::uint64_t[]>(words_each_ * (scanned_ - member));
  for (std::size_t m = member; m < scanned_; ++m) {
    bind(members_[m - member], searches_[m], conditions);
  }
  for (std::uint64_t first = base_; first < base_ + size; first += kBlock) {
    const std::uint64_t count = std::min<std::uint64_t>(kBlock, all.last - first);
    for (BlockCondition& condition : conditions) condition.enter(timeline, first, count);
    for (std::size_t m = member; m < scanned_; ++m) test(m, first, count, conditions);
  }
  return true;
}

void ScanGroup::bind(Member& member, const Search& search,
                     std::span<const BlockCondition> conditions) {
  const history::Scope scope{.candidate = {}, .states = search.sequence, .aggregates = {}};
  member.bindings.resize(conditions.size());
  member.possible = true;
  for (std::size_t i = 0; i < conditions.size() && member.possible; ++i) {
    conditions[i].bind(scope, member.bindings[i]);
    member.possible = member.bindings[i].possible;
  }
}

void ScanGroup::test(std::size_t number, std::uint64_t first, std::uint64_t count,
                     std::span<BlockCondition> conditions) {
  const Member& member = members_[number - first_];
  if (!member.possible || first + count <= member.window.first || first >= member.window.last) {
    return;
  }
  BlockMask passed;
  passed.fill(~std::uint64_t{0});
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    conditions[i].test(member.bindings[i], passed);
  }
  std::copy(passed.begin(), passed.end(), words_of(number) + (first - base_) / 64);
}

BlockMask ScanGroup::mask(std::size_t member, std::uint64_t first, std::uint64_t count) const {
  const std::uint64_t* const words = words_of(member) + (first - base_) / 64;
  const auto shift = static_cast<unsigned>((first - base_) % 64);
  BlockMask mask{};
  for (std::uint64_t w = 0; w * 64 < count; ++w) {
    mask[w] = words[w] >> shift;
    if (shift != 0) mask[w] |= words[w + 1] << (64 - shift);
    if (count - w * 64 < 64) mask[w] &= (std::uint64_t{1} << (count - w * 64)) - 1;
  }
  return mask;
}

}  // namespace gorgo::engine
