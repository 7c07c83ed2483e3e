// What becomes of what: types, rules, and the types that they make.
import {computed, useComputed, useSignal} from '@preact/signals';
import {useRef} from 'preact/hooks';
import {count} from '../format';
import {type Box, type Edge, groupOf, kBoxHeight, layOut, type RuleShape} from '../layout';
import {Panel, Table} from '../parts';
import {go, pathTo, place} from '../route';
import {RuleDetail} from '../rule_detail';
import {classOf, type Rule, rules, shapes, types} from '../store';

const shapeText = computed(() => JSON.stringify([...shapes.value.values()].map(({name, type, reads}) => ({name, type, reads})).sort((a, b) => (a.name < b.name ? -1 : 1))));

interface Laid {
  picture: ReturnType<typeof layOut>;
  group: string;  // whose rules are shown one by one
  milliseconds: number;
}
const asked = computed(() => ['open', 'rule'].map((key) => place.value.query.get(key) ?? '').join('\n'));
// It is laid out anew only when rules come and go, not when rates change.
const laid = computed<Laid>(() => {
  const list = JSON.parse(shapeText.value) as RuleShape[], [open = '', rule = ''] = asked.value.split('\n');
  const began = performance.now();
  const group = open !== '' || rule === '' ? open : groupOf(list, rule), picture = layOut(list, group);
  return {picture, group, milliseconds: performance.now() - began};
});

const sum = (names: string[], of: (rule: Rule) => number) => names.reduce((all, name) => all + (rules.value.has(name) ? of(rules.value.get(name)!) : 0), 0);

const ratesOf = (names: string[]) => names.reduce((all, name) => all + (types.value.get(name)?.per_second ?? 0), 0);

function rateOf(edge: Edge): number {
  return edge.types.length === 0 ? sum(edge.rules, (rule) => rule.composites_per_second) : ratesOf(edge.types);
}

const curve = (points: {x: number; y: number}[]) =>
  points.map(({x, y}, i) => {
    if (i === 0) return `M${x},${y}`;
    const before = points[i - 1]!, middle = (before.x + x) / 2;
    return `C${middle},${before.y} ${middle},${y} ${x},${y}`;
  }).join('');

function Line(props: {edge: Edge}) {
  const rate = rateOf(props.edge);
  return (
    <path class={rate > 0 ? 'edge flows' : 'edge'} d={curve(props.edge.points)} stroke-width={1 + 1.1 * Math.log10(1 + rate)}>
      <title>{`${props.edge.from} → ${props.edge.to}: ${count(rate)}/s`}</title>
    </path>
  );
}

function troubleOf(box: Box): string {
  if (box.kind === 'type') {
    const late = box.types.reduce((all, name) => all + (types.value.get(name)?.late ?? 0) + (types.value.get(name)?.too_late ?? 0), 0);
    return late > 0 ? `${count(late)} late` : '';
  }
  if (sum(box.rules, (rule) => (rule.alarm === '' ? 0 : 1)) > 0) return 'alarm';
  if (sum(box.rules, (rule) => (rule.suspended ? 1 : 0)) > 0) return 'suspended';
  const declined = sum(box.rules, (rule) => rule.declined);
  return declined > 0 ? `${count(declined)} declined` : '';
}

function engineOf(box: Box): string {
  const engines = new Set(box.rules.map((rule) => classOf(rules.value.get(rule)?.engine ?? '')));
  return engines.size > 1 ? 'both' : ([...engines][0] ?? 'none');
}

function describe(box: Box, trouble: string): string {
  const rate = box.kind === 'type' ? ratesOf(box.types) : sum(box.rules, (rule) => rule.composites_per_second);
  return `${box.kind} ${box.name}, ${count(rate)} in a second${trouble === '' ? '' : `, ${trouble}`}`;
}

function Node(props: {box: Box; chosen: boolean; choose: (box: Box) => void}) {
  const {box} = props, trouble = troubleOf(box);
  const kind = box.kind === 'type' ? 'type' : `rule ${engineOf(box)}`;
  const most = Math.floor(box.width / 6.8) - 2;
  const label = box.name.length > most ? `${box.name.slice(0, most)}…` : box.name;
  const act = box.kind === 'type' ? {} : {
    role: 'button' as const,
    tabindex: 0,  // as SVG spells it
    onClick: () => props.choose(box),
    onKeyDown: (event: KeyboardEvent) => (event.key === 'Enter' || event.key === ' ') && props.choose(box),
  };
  return (
    <g class={`node ${kind} ${props.chosen ? 'chosen' : ''}`} transform={`translate(${box.x - box.width / 2},${box.y - kBoxHeight / 2})`} aria-label={describe(box, trouble)} {...act}>
      <title>{describe(box, trouble)}</title>
      <rect width={box.width} height={kBoxHeight} rx={box.kind === 'type' ? kBoxHeight / 2 : 4} />
      <text x={box.width / 2} y={kBoxHeight / 2 + 4}>{box.kind === 'group' ? `${label} · ${box.rules.length}` : label}</text>
      {trouble !== '' && <circle class="trouble" cx={box.width - 3} cy={3} r={5} />}
    </g>
  );
}

function Canvas(props: {chosen: string; choose: (box: Box) => void}) {
  const {picture, group, milliseconds} = laid.value;
  const scale = useSignal(1), box = useRef<HTMLDivElement>(null);
  const fit = () => (scale.value = Math.min(1.4, Math.max(0.15, (box.current!.clientWidth - 8) / Math.max(1, picture.width))));
  const zoom = (by: number) => (scale.value = Math.min(3, Math.max(0.1, scale.value * by)));
  const grouped = picture.boxes.some((each) => each.kind === 'group');
  const find = (event: Event) => {
    const {value} = event.currentTarget as HTMLInputElement;
    if (shapes.value.has(value)) go(pathTo('graph', '', {rule: value}));
  };
  const tools = (
    <>
      <input type="search" list="rules-of-graph" aria-label="Find a rule" placeholder="find a rule" onChange={find} />
      <datalist id="rules-of-graph">{[...shapes.value.keys()].slice(0, 1000).map((name) => <option key={name} value={name} />)}</datalist>
      {group !== '' && <a class="button" href="/graph">Close {group}</a>}
      <span class="legend"><i class="cpu" />CPU <i class="gpu" />GPU <i class="both" />both <i class="trouble" />look here</span>
      <button aria-label="Smaller" onClick={() => zoom(1 / 1.25)}>−</button>
      <button aria-label="Larger" onClick={() => zoom(1.25)}>+</button>
      <button onClick={fit}>Fit</button>
    </>
  );
  return (
    <Panel title="Graph" note={`${count(shapes.value.size)} rules${grouped ? ' in groups; a click opens one' : ''}, laid out in ${milliseconds.toFixed(0)} ms`} tools={tools}>
      <div class="canvas" ref={box} tabIndex={0} role="region" aria-label="Graph of types and rules" data-layout={milliseconds.toFixed(1)}>
        <svg width={picture.width * scale.value} height={picture.height * scale.value} viewBox={`0 0 ${picture.width} ${picture.height}`}>
          {picture.edges.map((edge) => <Line key={edge.id} edge={edge} />)}
          {picture.boxes.map((each) => <Node key={each.id} box={each} chosen={each.kind === 'rule' && each.name === props.chosen} choose={props.choose} />)}
        </svg>
      </div>
    </Panel>
  );
}

/// The same in words, for those who cannot see the picture or want to sort it.
function List() {
  return (
    <Panel title="Connections between types">
      <Table label="Connections between types" rows={[...shapes.value.values()]} id={(shape) => shape.name} sorted={1} most={100} empty="There are no rules."
        columns={[
          {title: 'Reads', cell: (shape) => shape.reads.join(', '), sort: (shape) => shape.reads.join()},
          {title: 'Rule', cell: (shape) => <a href={pathTo('graph', '', {rule: shape.name})}>{shape.name}</a>, sort: (shape) => shape.name},
          {title: 'Makes', cell: (shape) => shape.type, sort: (shape) => shape.type},
        ]} />
    </Panel>
  );
}

export function Graph() {
  const chosen = useComputed(() => place.value.query.get('rule') ?? '');
  const choose = (box: Box) => {
    const open = place.value.query.get('open') ?? '';
    go(pathTo('graph', '', box.kind === 'group' ? {open: box.name} : {rule: box.name, open}), box.kind === 'rule');
  };
  if (shapes.value.size === 0) return <Panel title="Graph"><p class="empty">No rule is deployed. <a href="/editor">Write one</a>.</p></Panel>;
  return (
    <>
      <div class={chosen.value === '' ? 'beside' : 'beside with-side'}>
        <Canvas chosen={chosen.value} choose={choose} />
        {chosen.value !== '' && <RuleDetail key={chosen.value} name={chosen.value} narrow />}
      </div>
      <List />
    </>
  );
}
