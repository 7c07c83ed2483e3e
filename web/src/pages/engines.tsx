// Who evaluates, at what cost, and on which devices.
import {clock, count, nanoseconds} from '../format';
import {Engine, Panel, RuleLink, Table} from '../parts';
import {Plot} from '../plot';
import {type Device, deviceRates, devices, evaluationOf, moves, past, type Rule, rules} from '../store';
import {Timeline} from '../timeline';
import {percent, shareOf} from './overview';

interface Sum {
  name: string;
  rules: number;
  terminators: number;
  share: number;
  declined: number;
}

function sums(): Sum[] {
  const known = new Map<string, Sum>();
  for (const rule of rules.value.values()) {
    const sum = known.get(rule.engine) ?? {name: rule.engine, rules: 0, terminators: 0, share: 0, declined: 0};
    sum.rules++;
    sum.terminators += rule.terminators_per_second;
    sum.share += shareOf(rule);
    sum.declined += rule.declined;
    known.set(rule.engine, sum);
  }
  return [...known.values()];
}

const costOf = (rule: Rule) => Object.entries(rule.costs).find(([engine]) => rule.engine.startsWith(engine))?.[1] ?? null;
const takes = (rule: Rule) => (costOf(rule) === null ? null : evaluationOf(costOf(rule)!));
const cheapest = (rule: Rule) =>
  Object.entries(rule.costs)
    .map(([engine, cost]) => ({engine, takes: evaluationOf(cost)}))
    .filter((each) => each.takes !== null)
    .sort((a, b) => a.takes! - b.takes!)[0];

interface Comparison {
  id: string;
  rule: Rule;
  engine: string;
  estimate: number;
  measured: number;
}

/// Where a cost was both estimated and measured.
function comparisons(): Comparison[] {
  return [...rules.value.values()].flatMap((rule) =>
    Object.entries(rule.costs).flatMap(([engine, [estimate, measured]]) =>
      estimate === null || measured === null ? [] : [{id: `${rule.name} ${engine}`, rule, engine, estimate, measured}]));
}

const kLongest = 4;  // times: what is further off than that fills the bar
/// How far an estimate is off: to the right where it was too low.
function Off(props: {estimate: number; measured: number}) {
  const off = Math.log2(props.measured / props.estimate), share = Math.min(1, Math.abs(off) / Math.log2(kLongest)) * 50;
  const text = `${(props.measured / props.estimate).toFixed(2)} times the estimate`;
  return (
    <svg class="off" width={90} height={12} viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label={text}>
      <title>{text}</title>
      <rect class={share > 25 ? 'far' : ''} x={off < 0 ? 50 - share : 50} width={Math.max(1, share)} y={2} height={8} />
      <line x1={50} x2={50} y1={0} y2={12} />
    </svg>
  );
}

function Estimates() {
  return (
    <Panel title="Estimates against measurements" note="nanoseconds of one thread for each terminator">
      <Table label="Estimates against measurements" rows={comparisons()} id={(each) => each.id} sorted={4} most={30} empty="Nothing was both estimated and measured yet."
        columns={[
          {title: 'Rule', cell: (each) => <RuleLink rule={each.rule.name} />, sort: (each) => each.rule.name},
          {title: 'Engine', cell: (each) => <Engine name={each.engine} />, sort: (each) => each.engine},
          {title: 'Estimated', cell: (each) => nanoseconds(each.estimate), sort: (each) => each.estimate, number: true},
          {title: 'Measured', cell: (each) => nanoseconds(each.measured), sort: (each) => each.measured, number: true},
          {title: 'Off by', cell: (each) => <Off estimate={each.estimate} measured={each.measured} />, sort: (each) => Math.abs(Math.log(each.measured / each.estimate)), number: true},
        ]} />
    </Panel>
  );
}

function Moves() {
  return (
    <Panel title="Moves" note="since this page was opened">
      <Timeline moves={moves.value} />
      <Table label="Moves" rows={moves.value} id={(move) => `${move.at} ${move.rule}`} most={50} empty="No rule has moved to another engine."
        columns={[
          {title: 'Time', cell: (move) => clock(move.at), sort: (move) => move.at},
          {title: 'Rule', cell: (move) => <RuleLink rule={move.rule} />, sort: (move) => move.rule},
          {title: 'From', cell: (move) => <Engine name={move.from} />},
          {title: 'To', cell: (move) => <Engine name={move.to} />},
          {title: 'Because', cell: (move) => move.because},
        ]} />
    </Panel>
  );
}

function Costs() {
  return (
    <Panel title="What a terminator takes" note="measured, or estimated where nothing was measured">
      <Table label="What a terminator takes" rows={[...rules.value.values()]} id={(rule) => rule.name} sorted={2} most={30} empty="There are no rules."
        columns={[
          {title: 'Rule', cell: (rule) => <RuleLink rule={rule.name} />, sort: (rule) => rule.name},
          {title: 'On', cell: (rule) => <Engine name={rule.engine} />, sort: (rule) => rule.engine},
          {title: 'There', cell: (rule) => nanoseconds(takes(rule)), sort: (rule) => takes(rule) ?? 0, number: true},
          {title: 'Upkeep', cell: (rule) => nanoseconds(costOf(rule)?.[2]), sort: (rule) => costOf(rule)?.[2] ?? 0, number: true},
          {title: 'Cheapest', cell: (rule) => (cheapest(rule) ? `${cheapest(rule)!.engine} ${nanoseconds(cheapest(rule)!.takes)}` : '–')},
          {title: 'Moves', cell: (rule) => count(rule.moves), sort: (rule) => rule.moves, number: true},
        ]} />
    </Panel>
  );
}

const kGroups: [string, (name: string) => boolean][] = [
  ['Rounds and batches', (name) => /round|batch|kernel|search|terminator|fetched/.test(name)],
  ['Pages and memory', (name) => /page|byte|memory|swap/.test(name)],
  ['Others', () => true],
];

function DevicePanel(props: {device: Device}) {
  const {device} = props, rates = deviceRates.value.get(device.name) ?? {};
  const groupOf = (name: string) => kGroups.findIndex(([, holds]) => holds(name));
  return (
    <Panel title={device.name} note={device.problem === '' ? 'in use' : device.problem}>
      {device.failures > 0 && <p class="problem">{count(device.failures)} failures, the last: {device.failure} ({device.failed_on})</p>}
      {kGroups.map(([title], group) => {
        const counters = Object.entries(device.counters).filter(([name]) => groupOf(name) === group);
        return counters.length === 0 ? null : (
          <div key={title}>
            <h3>{title}</h3>
            <dl class="counters">
              {counters.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{count(value)}{(rates[name] ?? 0) > 0 && <small> +{count(rates[name])}/s</small>}</dd></div>)}
            </dl>
          </div>
        );
      })}
    </Panel>
  );
}

export function Engines() {
  return (
    <>
      <div class="columns">
        <Panel title="Terminators per second" note="by the engine in charge, two minutes">
          <Plot label="Terminators in a second by engine" lines={[
            {label: 'CPU', colour: '--blue', of: past.cpu, filled: true},
            {label: 'GPU', colour: '--green', of: past.gpu, filled: true},
            {label: 'both', colour: '--violet', of: past.both, filled: true},
          ]} />
        </Panel>
        <Panel title="Engines">
          <Table label="Engines" rows={sums()} id={(sum) => sum.name} sorted={2} empty="There are no rules."
            columns={[
              {title: 'Engine', cell: (sum) => <Engine name={sum.name} />, sort: (sum) => sum.name},
              {title: 'Rules', cell: (sum) => count(sum.rules), sort: (sum) => sum.rules, number: true},
              {title: 'Terminators/s', cell: (sum) => count(sum.terminators), sort: (sum) => sum.terminators, number: true},
              {title: 'Of a core', cell: (sum) => percent(sum.share), sort: (sum) => sum.share, number: true},
              {title: 'Declined', cell: (sum) => count(sum.declined), sort: (sum) => sum.declined, number: true},
            ]} />
        </Panel>
        <Moves />
        <Costs />
        <Estimates />
        {devices.value.size === 0 && <Panel title="Devices"><p class="empty">No rule has asked for a GPU.</p></Panel>}
        {[...devices.value.values()].map((device) => <DevicePanel key={device.name} device={device} />)}
      </div>
    </>
  );
}
