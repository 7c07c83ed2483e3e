#include "tools/lsp/workspace.hpp"

#include <utility>

#include "base/file.hpp"

namespace gorgo::tools::lsp {

Result<void> Workspace::add_common(const std::vector<std::string>& paths) {
  for (const auto& path : paths) {
    auto text = read_regular_file(path);
    if (!text) return text.error();
    add_common(uri_of(path), std::move(*text));
  }
  return {};
}

void Workspace::add_common(const std::string& uri, std::string text) {
  const auto [it, added] =
      views_.emplace(path_of(uri), View{.uri = uri, .document = Document(std::move(text))});
  if (!added) return;
  it->second.common = true;
  common_.push_back(it->first);
  check(it->second);
}

std::vector<const View*> Workspace::set(const std::string& uri, std::string text) {
  const auto it = views_.emplace(path_of(uri), View{.uri = uri, .document = Document("")}).first;
  View& view = it->second;
  view.uri = uri;
  view.open = true;
  view.document = Document(std::move(text));
  return refresh(view);
}

std::vector<const View*> Workspace::close(const std::string& uri) {
  const auto it = views_.find(path_of(uri));
  if (it == views_.end()) return {};
  View& view = it->second;
  if (!view.common) {
    views_.erase(it);
    return {};
  }
  view.open = false;
  if (auto text = read_regular_file(it->first)) view.document = Document(std::move(*text));
  return refresh(view);
}

std::vector<const View*> Workspace::refresh(View& changed) {
  std::vector<const View*> refreshed;
  for (auto& [path, view] : views_) {
    if (&view != &changed && !changed.common) continue;
    check(view);
    if (view.open) refreshed.push_back(&view);
  }
  return refreshed;
}

const View* Workspace::find(const std::string& uri) const {
  const auto it = views_.find(path_of(uri));
  return it == views_.end() || !it->second.open ? nullptr : &it->second;
}

std::vector<const View*> Workspace::related(const View& view) const {
  std::vector<const View*> list;
  for (const auto& [path, other] : views_) {
    if (&other == &view || other.common || view.common) list.push_back(&other);
  }
  return list;
}

void Workspace::add_common_before(const View& view, RuleSources& sources) const {
  for (const auto& path : common_) {
    const View& common = views_.at(path);
    if (&common == &view) return;
    sources.add(common.source());
  }
}

Diagnostics Workspace::check(const View& view, const std::string& text) const {
  RuleSources sources;
  add_common_before(view, sources);
  return sources.add(language::Source{path_of(view.uri), text});
}

void Workspace::check(View& view) const {
  auto sources = std::make_shared<RuleSources>();
  add_common_before(view, *sources);
  view.diagnostics = sources->add(view.source());
  view.symbols = language::symbols_of(view.source());
  if (!view.diagnostics.failed()) view.good = std::move(sources);
}

}  // namespace gorgo::tools::lsp
