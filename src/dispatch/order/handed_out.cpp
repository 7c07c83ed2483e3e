#include "dispatch/order/handed_out.hpp"

namespace gorgo::dispatch {

bool HandedOut::ask(TypeId type, const Schema& schema) {
  if (type >= known_.size()) known_.resize(schema.size(), Answer::unknown);
  asked_about_.push_back(type);
  known_[type] = has(schema.at(type).name) ? Answer::yes : Answer::no;
  return known_[type] == Answer::yes;
}

bool HandedOut::ask(std::uint32_t extras, std::string_view type) {
  if (extras >= by_extras_.size()) by_extras_.resize(extras + std::size_t{1}, Answer::unknown);
  const bool is_wanted = asked_(type);
  by_extras_[extras] = is_wanted ? Answer::yes : Answer::no;
  return is_wanted;
}

}  // namespace gorgo::dispatch
