#include "server/rules/declaration.hpp"

namespace gorgo::server {

Result<void> declare(Processor& processor, const wire::Declare& request) {
  std::vector<AttributeType> attributes;
  if (request.attributes() != nullptr) {
    for (const auto* a : *request.attributes()) {
      if (a->type() > wire::ValueType::MAX) {
        return Error{"attribute '" + a->name()->str() + "' has no known type", ""};
      }
      attributes.push_back({a->name()->str(), static_cast<ValueType>(a->type())});
    }
  }
  return processor.declare(request.name()->str(), std::move(attributes));
}

}  // namespace gorgo::server
