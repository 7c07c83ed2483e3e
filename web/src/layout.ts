// Where the boxes of the graph stand: types, the rules that read them, the types that these make.
import dagre from '@dagrejs/dagre';

export interface Box {
  id: string;
  kind: 'type' | 'rule' | 'group';
  name: string;
  rules: string[];  // of a rule itself; of a group all that it stands for
  x: number;
  y: number;
  width: number;
}
export interface Edge {
  id: string;
  from: string;
  to: string;
  points: {x: number; y: number}[];
  // Whose rate it shows: that of the type, or of what the rules make.
  type: string | null;
  rules: string[];
}
export interface Picture {
  boxes: Box[];
  edges: Edge[];
  width: number;
  height: number;
}
export interface RuleShape {
  name: string;
  type: string;
  reads: string[];
}

export const kBoxHeight = 26;
// More rules than these are shown as one box for each deployment.
const kMostRules = 600;

const widthOf = (name: string) => Math.min(240, 26 + 6.8 * name.length);
const groupOf = (rule: string) => rule.slice(0, Math.max(0, rule.lastIndexOf('.'))) || rule;

/// The rules as boxes: each its own, or those of a deployment together, except in `open`.
function groups(shapes: readonly RuleShape[], open: string): Map<string, RuleShape[]> {
  const grouped = new Map<string, RuleShape[]>();
  for (const shape of shapes) {
    const group = groupOf(shape.name);
    const id = shapes.length <= kMostRules || group === open ? `rule ${shape.name}` : `group ${group}`;
    grouped.set(id, [...(grouped.get(id) ?? []), shape]);
  }
  return grouped;
}

export function layOut(shapes: readonly RuleShape[], open = ''): Picture {
  const graph = new dagre.graphlib.Graph({multigraph: false});
  graph.setGraph({rankdir: 'LR', nodesep: 12, ranksep: 70, marginx: 16, marginy: 16, ranker: shapes.length > 200 ? 'longest-path' : 'network-simplex'});
  graph.setDefaultEdgeLabel(() => ({}));
  const boxes = new Map<string, Omit<Box, 'x' | 'y'>>();
  const edges = new Map<string, Omit<Edge, 'points'>>();
  const addType = (name: string) => {
    boxes.set(`type ${name}`, {id: `type ${name}`, kind: 'type', name, rules: [], width: widthOf(name)});
    return `type ${name}`;
  };
  const join = (from: string, to: string, type: string | null, rule: string) => {
    const id = `${from} > ${to}`, known = edges.get(id);
    if (known) known.rules.push(rule);
    else edges.set(id, {id, from, to, type, rules: [rule]});
  };
  for (const [id, members] of groups(shapes, open)) {
    const kind = id.startsWith('group ') ? 'group' : 'rule';
    const name = kind === 'group' ? groupOf(members[0]!.name) : members[0]!.name;
    boxes.set(id, {id, kind, name, rules: members.map((rule) => rule.name), width: widthOf(name) + (kind === 'group' ? 40 : 0)});
    for (const rule of members) {
      for (const type of rule.reads) join(addType(type), id, type, rule.name);
      join(id, addType(rule.type), null, rule.name);
    }
  }
  for (const box of boxes.values()) graph.setNode(box.id, {width: box.width, height: kBoxHeight});
  for (const edge of edges.values()) graph.setEdge(edge.from, edge.to);
  dagre.layout(graph);
  const {width = 0, height = 0} = graph.graph() as {width?: number; height?: number};
  return {
    boxes: [...boxes.values()].map((box) => ({...box, x: graph.node(box.id).x, y: graph.node(box.id).y})),
    edges: [...edges.values()].map((edge) => ({...edge, points: graph.edge(edge.from, edge.to).points})),
    width,
    height,
  };
}
