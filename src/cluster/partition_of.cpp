#include "cluster/partition_of.hpp"

namespace gorgo::cluster {

std::string key_text(const Datum& key) {
  switch (key.tag) {
    case Datum::Tag::integer:
      return std::to_string(key.integer);
    case Datum::Tag::boolean:
      return key.boolean ? "true" : "false";
    case Datum::Tag::string:
      return std::string(key.text());
    default:
      return "";
  }
}

}  // namespace gorgo::cluster
