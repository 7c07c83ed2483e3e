#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "language/language.hpp"
#include "language/symbols.hpp"
#include "tools/lsp/document.hpp"
#include "tools/rule_sources.hpp"

namespace gorgo::tools::lsp {

/// A document and what is known about it.
struct View {
  std::string uri;  ///< as the client spells it
  Document document;
  bool open = false;    ///< in the editor
  bool common = false;  ///< its types are known to all others
  language::Symbols symbols;
  Diagnostics diagnostics;
  /// The document and the common files as they were when it last had no errors; null before.
  std::shared_ptr<const RuleSources> good;

  language::Source source() const { return {path_of(uri), document.text()}; }
};

/// The documents in the editor, and the files that are deployed before each of them.
class Workspace {
 public:
  /// Reads the common files, given in the order of deployment. An error: one cannot be read.
  Result<void> add_common(const std::vector<std::string>& paths);
  /// Adds a further one, with a URI, which need not be that of a file.
  void add_common(const std::string& uri, std::string text);

  /// The document is in the editor and has this text. Returns those whose diagnostics may have
  /// changed.
  std::vector<const View*> set(const std::string& uri, std::string text);
  /// The document has left the editor. A common file then counts as it is on disk.
  std::vector<const View*> close(const std::string& uri);

  /// Null: it is not open.
  const View* find(const std::string& uri) const;
  /// The documents in which names mean the same as in `view`: itself and the common ones, or all if
  /// it is a common one.
  std::vector<const View*> related(const View& view) const;
  /// The errors that the document would have with another text.
  Diagnostics check(const View& view, const std::string& text) const;

 private:
  void check(View& view) const;
  void add_common_before(const View& view, RuleSources& sources) const;
  std::vector<const View*> refresh(View& changed);

  std::map<std::string, View> views_;  // by path
  std::vector<std::string> common_;    // paths, in the order of deployment
};

}  // namespace gorgo::tools::lsp
