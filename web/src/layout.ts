// What the graph shows, and where: types, the rules that read them, the types that these make. Where there are too many
// rules to look at, boxes stand for many of them.
import {type Point, strata} from './strata';

export interface Box {
  id: string;
  kind: 'type' | 'rule' | 'group';
  name: string;
  rules: string[];  // of a rule itself; of a group all that it stands for
  types: string[];  // that a box of types stands for
  x: number;
  y: number;
  width: number;
}
export interface Edge {
  id: string;
  from: string;
  to: string;
  points: Point[];
  // Whose rate it shows: that of the types, or of what the rules make.
  types: string[];
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
const kMostRules = 600;   // more than these are shown as groups
const kLargest = 300;     // rules of a group
const kMostGroups = 150;
const kMostTypes = 300;   // boxes of types, where there are groups

const widthOf = (name: string) => Math.min(240, 26 + 6.8 * name.length);
const deploymentOf = (rule: string) => rule.slice(0, Math.max(0, rule.lastIndexOf('.'))) || rule;

interface Group {
  name: string;
  rules: RuleShape[];
}

const byName = (a: {name: string}, b: {name: string}) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/// The rules of each deployment; large ones in several groups, and many small ones together.
function groupsOf(shapes: readonly RuleShape[]): Group[] {
  const deployments = new Map<string, RuleShape[]>();
  for (const shape of [...shapes].sort(byName)) {
    const name = deploymentOf(shape.name), known = deployments.get(name);
    if (known) known.push(shape);
    else deployments.set(name, [shape]);
  }
  const cut: Group[] = [];
  for (const [name, rules] of deployments) {
    for (let first = 0; first < rules.length; first += kLargest) {
      const part = rules.slice(first, first + kLargest);
      cut.push({name: rules.length <= kLargest ? name : `${name} ${first + 1}–${first + part.length}`, rules: part});
    }
  }
  if (cut.length <= kMostGroups) return cut;
  const joined: Group[] = [], size = Math.ceil(shapes.length / kMostGroups);
  for (const group of cut) {
    const last = joined[joined.length - 1];
    if (last && last.rules.length + group.rules.length <= size) last.rules.push(...group.rules);
    else joined.push({name: group.name, rules: [...group.rules]});
  }
  return joined.map(({name, rules}) => {
    const end = deploymentOf(rules[rules.length - 1]!.name);
    return {name: end === name || name.includes(' ') ? name : `${name} … ${end}`, rules};
  });
}

/// The group that a rule is shown in; '': rules are shown one by one.
export function groupOf(shapes: readonly RuleShape[], rule: string): string {
  if (shapes.length <= kMostRules) return '';
  return groupsOf(shapes).find((group) => group.rules.some((each) => each.name === rule))?.name ?? '';
}

/// The box that each rule is shown as: its own, or that of its group unless this is `open`.
function boxesOf(shapes: readonly RuleShape[], open: string): Map<string, Omit<Box, 'x' | 'y'>> {
  const boxes = new Map<string, Omit<Box, 'x' | 'y'>>();
  const alone = ({name}: RuleShape) => boxes.set(name, {id: `rule ${name}`, kind: 'rule', name, rules: [name], types: [], width: widthOf(name)});
  if (shapes.length <= kMostRules) {
    shapes.forEach(alone);
    return boxes;
  }
  for (const {name, rules} of groupsOf(shapes)) {
    if (name === open || rules.length === 1) rules.forEach(alone);
    else {
      const box: Omit<Box, 'x' | 'y'> = {id: `group ${name}`, kind: 'group', name, rules: rules.map((rule) => rule.name), types: [], width: widthOf(name) + 40};
      for (const rule of rules) boxes.set(rule.name, box);
    }
  }
  return boxes;
}

interface TypeUse {
  name: string;
  readers: Set<string>;  // ids of boxes
  makers: Set<string>;
}

function grouped<T>(items: readonly T[], keyOf: (item: T, index: number) => string): T[][] {
  const groups = new Map<string, T[]>();
  items.forEach((item, i) => {
    const key = keyOf(item, i), known = groups.get(key);
    if (known) known.push(item);
    else groups.set(key, [item]);
  });
  return [...groups.values()];
}

/// The types that are shown as one box: those of one use, and if these are too many, those of a similar one.
function alikeTypes(uses: TypeUse[], inGroups: boolean): TypeUse[][] {
  if (!inGroups) return uses.map((use) => [use]);
  const list = (boxes: Set<string>) => [...boxes].sort().join();
  const size = Math.ceil(uses.length / kMostTypes), sorted = [...uses].sort(byName);
  const ways = [
    grouped(uses, (use) => `${list(use.makers)} > ${list(use.readers)}`),
    grouped(uses, (use) => (use.makers.size > 0 ? `makers ${list(use.makers)}` : `readers ${list(use.readers)}`)),
    grouped(uses, (use) => [...use.makers].sort()[0] ?? `readers ${[...use.readers].sort()[0]}`),
    grouped(sorted, (_, i) => String(Math.floor(i / size))),
  ];
  return ways.find((way) => way.length <= kMostTypes) ?? ways[ways.length - 1]!;
}

/// The types; where there are groups, those that the same boxes read and make are shown as one.
function typeBoxes(shapes: readonly RuleShape[], boxOf: Map<string, {id: string}>): Map<string, Omit<Box, 'x' | 'y'>> {
  const uses = new Map<string, TypeUse>();
  const use = (name: string) => {
    const known = uses.get(name) ?? {name, readers: new Set(), makers: new Set()};
    uses.set(name, known);
    return known;
  };
  for (const shape of shapes) {
    const {id} = boxOf.get(shape.name)!;
    for (const type of shape.reads) use(type).readers.add(id);
    use(shape.type).makers.add(id);
  }
  const boxes = new Map<string, Omit<Box, 'x' | 'y'>>();
  for (const types of alikeTypes([...uses.values()], shapes.length > kMostRules)) {
    const first = types[0]!.name, name = types.length === 1 ? first : `${first} and ${types.length - 1} more`;
    const box: Omit<Box, 'x' | 'y'> = {id: `type ${first}`, kind: 'type', name, rules: [], types: types.map((type) => type.name), width: widthOf(name)};
    for (const type of types) boxes.set(type.name, box);
  }
  return boxes;
}

export function layOut(shapes: readonly RuleShape[], open = ''): Picture {
  const rules = boxesOf(shapes, open), types = typeBoxes(shapes, rules);
  const edges = new Map<string, Omit<Edge, 'points'>>();
  const join = (from: string, to: string, type: string | null, rule: string) => {
    const id = `${from} > ${to}`, known = edges.get(id) ?? {id, from, to, types: [], rules: []};
    edges.set(id, known);
    if (type === null) known.rules.push(rule);
    else if (!known.types.includes(type)) known.types.push(type);
  };
  for (const shape of shapes) {
    const box = rules.get(shape.name)!.id;
    for (const type of shape.reads) join(types.get(type)!.id, box, type, shape.name);
    join(box, types.get(shape.type)!.id, null, shape.name);
  }
  const boxes = [...new Set([...types.values(), ...rules.values()])], links = [...edges.values()];
  const {at, ways, width, height} = strata(boxes, links);
  return {
    boxes: boxes.map((box) => ({...box, ...at.get(box.id)!})),
    edges: links.map((edge, i) => ({...edge, points: ways[i]!})),
    width,
    height,
  };
}
