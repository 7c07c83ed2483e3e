#pragma once

#include "cuda/search.hpp"

/// Shapes: what the events of a scan are tested by, as types that kernels are made for. A shape has
///
///   Columns, columns(view, scan)   what finds the events' values
///   Values, load(view, columns, position)   what is read of an event, for any number of searches
///   Parameters, parameters(view, search)   what differs from search to search
///   passes(view, scan, parameters, values)
///   kAtATime                       events that a thread has in registers
///   kEager                         whether `passes` may be asked about `Values()`
///   kAll                           whether every event passes
///   kConfirms                      whether some of what passes still has to be confirmed, by
///   confirms(view, scan, parameters, values)   which may take long; only about what may be found
///   Negations                      what an event that passes is tested by then (negation.hpp)
///
/// What `decides` says of a shape is what `passes` of search.hpp says of its scan. A negation is a
/// shape, too, but its parameters depend on the event that it is tested on: parameters(view,
/// negation, chosen).
namespace gorgo::gpu {

/// The negations of a shape, by their numbers.
template <class... Each>
struct NegationsOf {
  static constexpr bool kAny = sizeof...(Each) > 0;
  /// Answers f for a value of the type of the negation with this number.
  template <class F>
  GORGO_HD static bool apply(unsigned number, const F& f) {
    [[maybe_unused]] unsigned i = 0;
    return ((i++ == number && f(Each{})) || ...);
  }
};

template <class Shape>
GORGO_HD bool decides(const View& view, const Scan& scan,
                      const typename Shape::Parameters& parameters,
                      const typename Shape::Values& values) {
  if (!Shape::passes(view, scan, parameters, values)) return false;
  if constexpr (Shape::kConfirms) return Shape::confirms(view, scan, parameters, values);
  return true;
}

/// Any scan: nothing is known before it runs.
struct AnyShape {
  using Negations = NegationsOf<>;
  static constexpr unsigned kAtATime = 8;
  static constexpr bool kEager = false;
  static constexpr bool kAll = false;
  static constexpr bool kConfirms = false;
  struct Columns {};
  struct Values {
    std::uint64_t position;
  };
  struct Parameters {
    std::uint32_t bounds, cells;
  };

  GORGO_HD static Columns columns(const View&, const Scan&) { return {}; }
  GORGO_HD static Values load(const View&, const Columns&, std::uint64_t position) {
    return {position};
  }
  GORGO_HD static Parameters parameters(const View&, const Search& search) {
    return {search.bounds, search.cells};
  }
  GORGO_HD static bool passes(const View& view, const Scan& scan, const Parameters& parameters,
                              const Values& values) {
    return gpu::passes(view, scan, view.bounds + parameters.bounds, view.cells + parameters.cells,
                       values.position);
  }
};

/// Any negation.
struct AnyNegation : AnyShape {
  struct Parameters {
    std::uint32_t bounds, cells;
    Chosen chosen;
  };

  GORGO_HD static Parameters parameters(const View&, const NegationSearch& negation,
                                        const Chosen& chosen) {
    return {negation.bounds, negation.cells, chosen};
  }
  GORGO_HD static bool passes(const View& view, const Scan& scan, const Parameters& parameters,
                              const Values& values) {
    return gpu::passes(view, scan, view.bounds + parameters.bounds, view.cells + parameters.cells,
                       values.position, parameters.chosen);
  }
};

/// Any scan with any negations.
struct AnyShapeWithNegations : AnyShape {
  struct Negations {
    static constexpr bool kAny = true;
    template <class F>
    GORGO_HD static bool apply(unsigned, const F& f) {
      return f(AnyNegation{});
    }
  };
};

/// What shapes have in common that read the scan's first attributes. All cells of the search exist.
template <unsigned kAttributes, unsigned kTests, unsigned kCells, bool kNullable>
struct ShapeOf {
  using Negations = NegationsOf<>;
  static constexpr unsigned kAtATime = kAttributes <= 1    ? 16
                                       : kAttributes <= 3  ? 8
                                       : kAttributes <= 6  ? 4
                                       : kAttributes <= 12 ? 2
                                                           : 1;
  static constexpr bool kEager = true;
  static constexpr bool kAll = false;
  static constexpr bool kConfirms = false;
  struct Columns {
    Attribute of[kAttributes == 0 ? 1 : kAttributes];
  };
  struct Values {
    std::uint64_t position = 0;
    std::uint64_t of[kAttributes == 0 ? 1 : kAttributes] = {};
    bool present[kNullable && kAttributes != 0 ? kAttributes : 1] = {};

    GORGO_HD Cell cell(unsigned attribute) const {
      return {of[attribute], kNullable && !present[attribute] ? std::uint64_t{0} : 1};
    }
    GORGO_HD Text text(const View& view, const Scan& scan, unsigned attribute) const {
      return {of[attribute], view.attributes + scan.attributes + attribute, position,
              cell(attribute).exists != 0};
    }
  };
  struct Parameters {
    Bounds bounds[kTests == 0 ? 1 : kTests];
    std::uint64_t cells[kCells == 0 ? 1 : kCells];
    std::uint32_t first_cell;

    GORGO_HD Cell cell(unsigned i) const { return {cells[i], 1}; }
    GORGO_HD Text text(unsigned i) const { return {cells[i], nullptr, first_cell + i, true}; }
  };

  GORGO_HD static Columns columns(const View& view, const Scan& scan) {
    Columns columns;
    // Indices are signed, here and below, because an unsigned one is never less than a count of 0.
    for (int i = 0; i < static_cast<int>(kAttributes); ++i) {
      columns.of[i] = view.attributes[scan.attributes + i];
    }
    return columns;
  }
  GORGO_HD static Values load(const View& view, const Columns& columns, std::uint64_t position) {
    Values values;
    values.position = position;
    for (int i = 0; i < static_cast<int>(kAttributes); ++i) {
      const Attribute& attribute = columns.of[i];
      values.of[i] = gpu::load(view, attribute.pages, attribute.first_page, position);
      if (!kNullable) continue;
      values.present[i] = attribute.present == kNone ||
                          gpu::load(view, attribute.present, attribute.first_page, position) != 0;
    }
    return values;
  }
  /// `Of`: a search or a negation.
  template <class Of>
  GORGO_HD static Parameters parameters(const View& view, const Of& search) {
    Parameters parameters = {};
    parameters.first_cell = search.cells;
    for (int i = 0; i < static_cast<int>(kTests); ++i)
      parameters.bounds[i] = view.bounds[search.bounds + i];
    for (int i = 0; i < static_cast<int>(kCells); ++i)
      parameters.cells[i] = view.cells[search.cells + i].bits;
    return parameters;
  }
};

/// A shape as a negation that reads these attributes of the event that it is tested on.
template <class Shape, unsigned... kChosen>
struct NegationOf : Shape {
  struct Parameters : Shape::Parameters {
    Cell chosen[sizeof...(kChosen) + 1];
    Chosen event;

    /// The text of number `i` of `kChosen`, which is this attribute.
    GORGO_HD Text chosen_text(unsigned i, std::uint32_t attribute) const {
      return {chosen[i].bits, event.attributes + attribute, event.position, chosen[i].exists != 0};
    }
  };

  GORGO_HD static Parameters parameters(const View& view, const NegationSearch& negation,
                                        const Chosen& chosen) {
    return {Shape::parameters(view, negation), {chosen(view, kChosen)..., Cell{}}, chosen};
  }
};

/// A single test, of an attribute that no event lacks.
template <bool kFloats>
struct OneTest : ShapeOf<1, 1, 0, false> {
  GORGO_HD static bool passes(const View&, const Scan&, const Parameters& parameters,
                              const Values& values) {
    return gpu::passes({.attribute = 0, .floats = kFloats, .negated = false}, parameters.bounds[0],
                       values.of[0]);
  }
};

/// No condition.
struct NoTest : ShapeOf<0, 0, 0, false> {
  static constexpr bool kAll = true;
  GORGO_HD static bool passes(const View&, const Scan&, const Parameters&, const Values&) {
    return true;
  }
};

/// The numbers, in `Scan::shape`, of the shapes that every device has kernels for.
inline constexpr std::uint32_t kAnyShape = 0, kOneTestOfInts = 1, kOneTestOfFloats = 2,
                               kAnyShapeWithNegations = 3, kNoTest = 4;

}  // namespace gorgo::gpu
