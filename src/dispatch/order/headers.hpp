#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/order/arrivals.hpp"
#include "dispatch/order/header.hpp"
#include "gorgo/event_batch.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::dispatch {

/// Makes the headers of tables, and keeps those that most batches share.
class Headers {
 public:
  /// Headers count into `arrivals`, which must outlive them.
  explicit Headers(Arrivals& arrivals) : arrivals_(arrivals) {}

  std::shared_ptr<Header> of(const EventTable& table, const Schema& schema);

 private:
  // Others are kept within these bounds, because publishers choose their names.
  static constexpr std::size_t kMostOthers = 256, kMostBytes = 4096;

  /// The header of a table that differs from those. Further names say of columns which types they
  /// have, too, so that events of one header can stand in the same columns.
  struct Other {
    std::shared_ptr<Header> header;
    std::vector<ValueType> types;

    bool is_of(const EventTable& table) const;
  };

  std::shared_ptr<Header> make(const EventTable& table);
  void keep(const EventTable& table, const std::shared_ptr<Header>& header);

  Arrivals& arrivals_;
  // By TypeId: the header of tables whose columns are the attributes of the type, in their order.
  // Publishers cannot make these headers large, because rules and declarations name the attributes.
  std::vector<std::shared_ptr<Header>> exact_;
  std::map<std::string, Other, std::less<>> others_;  // by type: the last one
  std::vector<std::string_view> names_;               // scratch
};

}  // namespace gorgo::dispatch
