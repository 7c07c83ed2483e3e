// Who evaluates, at what cost, and on which devices.
import {clock, count, nanoseconds} from '../format';
import {Engine, Panel, RuleLink, Table} from '../parts';
import {Plot} from '../plot';
import {devices, moves, past, type Rule, rules} from '../store';
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
const cheapest = (rule: Rule) => Object.entries(rule.costs).sort((a, b) => a[1] - b[1])[0];

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
        <Panel title="Moves" note="since this page was opened">
          <Table label="Moves" rows={moves.value} id={(move) => `${move.at} ${move.rule}`} empty="No rule has moved to another engine."
            columns={[
              {title: 'Time', cell: (move) => clock(move.at), sort: (move) => move.at},
              {title: 'Rule', cell: (move) => <RuleLink rule={move.rule} />, sort: (move) => move.rule},
              {title: 'From', cell: (move) => <Engine name={move.from} />},
              {title: 'To', cell: (move) => <Engine name={move.to} />},
            ]} />
        </Panel>
        <Panel title="What a terminator takes" note="measured or estimated">
          <Table label="What a terminator takes" rows={[...rules.value.values()]} id={(rule) => rule.name} sorted={2} most={30} empty="There are no rules."
            columns={[
              {title: 'Rule', cell: (rule) => <RuleLink rule={rule.name} />, sort: (rule) => rule.name},
              {title: 'On', cell: (rule) => <Engine name={rule.engine} />, sort: (rule) => rule.engine},
              {title: 'There', cell: (rule) => nanoseconds(costOf(rule)), sort: (rule) => costOf(rule) ?? 0, number: true},
              {title: 'Cheapest', cell: (rule) => (cheapest(rule) ? `${cheapest(rule)![0]} ${nanoseconds(cheapest(rule)![1])}` : '–')},
              {title: 'Moves', cell: (rule) => count(rule.moves), sort: (rule) => rule.moves, number: true},
            ]} />
        </Panel>
      </div>
      {devices.value.size === 0 && <Panel title="Devices"><p class="empty">No rule has asked for a GPU.</p></Panel>}
      {[...devices.value.values()].map((device) => (
        <Panel key={device.name} title={device.name} note={device.problem === '' ? 'in use' : device.problem}>
          {device.failures > 0 && <p class="problem">{count(device.failures)} failures, the last: {device.failure} ({device.failed_on})</p>}
          <dl class="counters">
            {Object.entries(device.counters).map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{count(value)}</dd></div>)}
          </dl>
        </Panel>
      ))}
    </>
  );
}
