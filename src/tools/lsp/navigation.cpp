#include "tools/lsp/navigation.hpp"

#include <algorithm>
#include <map>

namespace gorgo::tools::lsp {

using language::Occurrence;
using language::Symbol;
using language::SymbolKind;

namespace {

/// Types and their attributes mean the same everywhere, the others only in their rule.
bool is_global(const Symbol& symbol) {
  return symbol.kind == SymbolKind::type || symbol.kind == SymbolKind::attribute;
}

std::vector<const View*> range_of(const Workspace& workspace, const View& view,
                                  const Symbol& symbol) {
  return is_global(symbol) ? workspace.related(view) : std::vector<const View*>{&view};
}

/// What the symbol would be with another name.
Symbol renamed(Symbol symbol, const std::string& name) {
  symbol.name = name;
  return symbol;
}

bool is_taken(const View& view, const Symbol& symbol) {
  const auto same = [&](const Occurrence& o) { return o.symbol == symbol; };
  const auto& list = view.symbols.occurrences;
  return std::any_of(list.begin(), list.end(), same);
}

/// The text of the view with the places, which are in it, replaced by `name`.
std::string replaced(const View& view, const std::vector<Place>& places, const std::string& name) {
  std::string text = view.document.text();
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    text.replace(view.document.offset(place->at), place->at.length, name);
  }
  return text;
}

}  // namespace

const Occurrence* occurrence_at(const View& view, Position position) {
  const std::size_t offset = view.document.offset(position);
  for (const auto& occurrence : view.symbols.occurrences) {
    const std::size_t begin = view.document.offset(occurrence.at);
    if (offset >= begin && offset <= begin + occurrence.at.length) return &occurrence;
  }
  return nullptr;
}

std::vector<Place> definitions(const Workspace& workspace, const View& view, const Symbol& symbol) {
  std::vector<Place> places;
  for (const View* other : range_of(workspace, view, symbol)) {
    for (const auto& occurrence : other->symbols.occurrences) {
      if (occurrence.defines && occurrence.symbol == symbol) {
        places.push_back({other, occurrence.at});
      }
    }
  }
  return places;
}

std::vector<Place> references(const Workspace& workspace, const View& view, const Symbol& symbol,
                              bool with_definitions) {
  std::vector<Place> places;
  for (const View* other : range_of(workspace, view, symbol)) {
    for (const auto& occurrence : other->symbols.occurrences) {
      const bool wanted = with_definitions || !occurrence.defines;
      if (wanted && occurrence.symbol == symbol) places.push_back({other, occurrence.at});
    }
  }
  return places;
}

Result<Renaming> rename(const Workspace& workspace, const View& view, const Symbol& symbol,
                        std::string name) {
  if (symbol.kind == SymbolKind::parameter && !name.starts_with('$')) name = "$" + name;
  if (auto refusal = language::refuse_name(symbol.kind, name); !refusal.empty()) {
    return Error{std::move(refusal), ""};
  }
  Renaming result{name, references(workspace, view, symbol, true)};
  std::map<const View*, std::vector<Place>> by_view;
  for (const Place& place : result.places) by_view[place.view].push_back(place);
  for (const auto& [changed, places] : by_view) {
    if (is_taken(*changed, renamed(symbol, name))) {
      return Error{"`" + name + "` is there already", "take another name"};
    }
    // What is renamed in several documents cannot be checked in one of them.
    if (by_view.size() > 1 || changed->diagnostics.failed()) continue;
    const auto diagnostics = workspace.check(*changed, replaced(*changed, places, name));
    if (diagnostics.failed()) {
      return Error{"the rules would not be right any more: " + diagnostics.list.front().message,
                   ""};
    }
  }
  return result;
}

}  // namespace gorgo::tools::lsp
