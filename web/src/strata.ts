// Places the nodes of a graph in columns, so that what a node depends on stands to the left of it. The usual way
// (Sugiyama): columns by the longest way to a node, order within a column by the mean place of neighbours, and heights
// as close to those of neighbours as boxes may stand.

export interface Node {
  id: string;
  width: number;
}
export interface Link {
  from: string;
  to: string;
}
export interface Point {
  x: number;
  y: number;
}
export interface Placed {
  at: Map<string, Point>;
  /// The points that a link goes through, from box to box.
  ways: Point[][];
  width: number;
  height: number;
}

interface Spot {
  id: string;      // of the node; '' for a point that a long link goes through
  width: number;
  column: number;
  order: number;   // within the column
  x: number;
  y: number;
  before: Spot[];  // neighbours in the columns to the left
  after: Spot[];
}

const kRow = 38, kPassing = 14, kGap = 70, kMargin = 16;
const kTallest = 40;  // rows of a column; what has more is laid in several beside each other
const kSweeps = 6;

/// The links without those that close a cycle.
function acyclic(nodes: readonly Node[], links: readonly Link[]): Link[] {
  const targets = new Map<string, Link[]>(nodes.map((node) => [node.id, []]));
  for (const link of links) targets.get(link.from)!.push(link);
  const state = new Map<string, 'open' | 'done'>(), kept: Link[] = [];
  for (const {id} of nodes) {
    if (state.has(id)) continue;
    const path: {id: string; next: number}[] = [{id, next: 0}];
    state.set(id, 'open');
    while (path.length > 0) {
      const top = path[path.length - 1]!, link = targets.get(top.id)![top.next++];
      if (link === undefined) {
        state.set(top.id, 'done');
        path.pop();
      } else if (state.get(link.to) !== 'open') {
        kept.push(link);
        if (!state.has(link.to)) {
          state.set(link.to, 'open');
          path.push({id: link.to, next: 0});
        }
      }
    }
  }
  return kept;
}

/// The longest way to each node, in links.
function columnsOf(nodes: readonly Node[], links: readonly Link[]): Map<string, number> {
  const column = new Map<string, number>(nodes.map((node) => [node.id, 0]));
  const left = new Map<string, number>(), targets = new Map<string, string[]>();
  for (const {from, to} of links) {
    left.set(to, (left.get(to) ?? 0) + 1);
    targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const ready = nodes.filter((node) => !left.has(node.id)).map((node) => node.id);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    for (const to of targets.get(id) ?? []) {
      column.set(to, Math.max(column.get(to)!, column.get(id)! + 1));
      left.set(to, left.get(to)! - 1);
      if (left.get(to) === 0) ready.push(to);
    }
  }
  return column;
}

class Layout {
  readonly spots = new Map<string, Spot>();
  readonly columns: Spot[][] = [];
  private readonly passing = new Map<Link, Spot[]>();

  constructor(nodes: readonly Node[], private readonly links: readonly Link[]) {
    const forward = acyclic(nodes, links), column = columnsOf(nodes, forward);
    for (const node of nodes) this.spots.set(node.id, this.add(node.id, node.width, column.get(node.id)!));
    this.join(forward);
  }

  private add(id: string, width: number, column: number): Spot {
    while (this.columns.length <= column) this.columns.push([]);
    const spot = {id, width, column, order: this.columns[column]!.length, x: 0, y: 0, before: [], after: []};
    this.columns[column]!.push(spot);
    return spot;
  }

  /// A link that passes columns has a spot in each, as long as these have room for them.
  private join(forward: readonly Link[]) {
    const crowds = this.columns.map((column) => column.length);
    for (const link of forward) {
      const from = this.spots.get(link.from)!, to = this.spots.get(link.to)!;
      for (let i = from.column + 1; i < to.column; ++i) crowds[i]!++;
    }
    const has_room = Math.max(0, ...crowds) <= kTallest;
    for (const link of forward) {
      const to = this.spots.get(link.to)!, way: Spot[] = [];
      let last = this.spots.get(link.from)!;
      for (let i = last.column + 1; has_room && i < to.column; ++i) {
        const spot = this.add('', 0, i);
        last.after.push(spot);
        spot.before.push(last);
        way.push((last = spot));
      }
      last.after.push(to);
      to.before.push(last);
      if (way.length > 0) this.passing.set(link, way);
    }
  }

  order() {
    const mean = (spots: Spot[], otherwise: number) => (spots.length === 0 ? otherwise : spots.reduce((sum, spot) => sum + spot.order / Math.max(1, this.columns[spot.column]!.length), 0) / spots.length);
    for (let sweep = 0; sweep < kSweeps; ++sweep) {
      const forth = sweep % 2 === 0, columns = forth ? this.columns : [...this.columns].reverse();
      for (const column of columns) {
        const weights = new Map(column.map((spot) => [spot, mean(forth ? spot.before : spot.after, spot.order / column.length)]));
        column.sort((a, b) => weights.get(a)! - weights.get(b)!);
        column.forEach((spot, i) => (spot.order = i));
      }
    }
  }

  place(): Placed {
    let x = kMargin;
    for (const column of this.columns) x = this.placeColumn(column, x) + kGap;
    for (let sweep = 0; sweep < kSweeps; ++sweep) {
      const forth = sweep % 2 === 0;
      for (const column of forth ? this.columns : [...this.columns].reverse()) if (column.length <= kTallest) settle(column, forth);
    }
    const all = this.columns.flat(), top = Math.min(...all.map((spot) => spot.y), 0);
    for (const spot of all) spot.y += kMargin + kRow / 2 - top;
    return {
      at: new Map([...this.spots].map(([id, {x: left, y}]) => [id, {x: left, y}])),
      ways: this.links.map((link) => this.wayOf(link)),
      width: x - kGap + kMargin,
      height: Math.max(0, ...all.map((spot) => spot.y)) + kRow / 2 + kMargin,
    };
  }

  /// Lays a column from `x` on, row by row where it is too tall for one. Returns where it ends.
  private placeColumn(column: Spot[], x: number): number {
    const beside = Math.ceil(column.length / kTallest), rows = Math.ceil(column.length / beside);
    const widest = Math.max(0, ...column.map((spot) => spot.width)), step = widest + kGap / 3;
    column.forEach((spot, i) => {
      const row = beside === 1 ? i : Math.floor(i / beside);
      spot.x = x + (beside === 1 ? 0 : (i % beside) * step) + widest / 2;
      spot.y = (row - rows / 2) * kRow;
    });
    return x + (beside - 1) * step + widest;
  }

  private wayOf(link: Link): Point[] {
    const from = this.spots.get(link.from)!, to = this.spots.get(link.to)!;
    const between = (this.passing.get(link) ?? []).map(({x, y}) => ({x, y}));
    return [{x: from.x + from.width / 2, y: from.y}, ...between, {x: to.x - to.width / 2, y: to.y}];
  }
}

/// Moves the spots of a column as near to the mean of their neighbours as order and room let them: least squares, by
/// pooling neighbours that would stand in each other's way.
function settle(column: Spot[], forth: boolean) {
  const offsets: number[] = [];
  let offset = 0;
  column.forEach((spot, i) => {
    if (i > 0) offset += spot.id !== '' && column[i - 1]!.id !== '' ? kRow : (kRow + kPassing) / 2;
    offsets.push(offset);
  });
  const pools: {sum: number; count: number}[] = [];
  column.forEach((spot, i) => {
    const near = forth ? spot.before : spot.after;
    const wanted = near.length === 0 ? spot.y : near.reduce((sum, other) => sum + other.y, 0) / near.length;
    pools.push({sum: wanted - offsets[i]!, count: 1});
    while (pools.length > 1) {
      const last = pools[pools.length - 1]!, before = pools[pools.length - 2]!;
      if (before.sum / before.count <= last.sum / last.count) break;
      pools.pop();
      before.sum += last.sum;
      before.count += last.count;
    }
  });
  let i = 0;
  for (const {sum, count} of pools) for (const end = i + count; i < end; ++i) column[i]!.y = sum / count + offsets[i]!;
}

export function strata(nodes: readonly Node[], links: readonly Link[]): Placed {
  const layout = new Layout(nodes, links);
  layout.order();
  return layout.place();
}
