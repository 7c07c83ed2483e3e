// Is it healthy, what fires, what is silent, what costs.
import {bytes, count, microseconds} from '../format';
import {Engine, type Level, Mark, Panel, RuleLink, RuleSpark, Table, Tile} from '../parts';
import {Plot} from '../plot';
import {connections, evaluationOf, latency, link, past, risen, type Rule, rules, tick, totals, types} from '../store';

/// What a rule's evaluation takes of one core, by what the engine was measured to take.
export function shareOf(rule: Rule): number {
  const cost = Object.entries(rule.costs).find(([engine]) => rule.engine.startsWith(engine));
  return cost === undefined ? 0 : ((evaluationOf(cost[1]) ?? 0) * rule.terminators_per_second) / 1e9;
}

export const percent = (share: number) => (share === 0 ? '0' : share < 0.001 ? '< 0.1 %' : `${(100 * share).toFixed(1)} %`);

/// Bad while it rises, a warning where it has ever been above nothing.
function losses(name: string): {value: string; level: Level; note: string} {
  const total = totals.value?.[name] ?? 0, lately = risen(name);
  const level = lately > 0 ? 'bad' : total > 0 ? 'warn' : 'plain';
  return {value: count(total), level, note: lately > 0 ? `+${count(lately)} lately` : ''};
}

function Health() {
  tick.value;
  const now = totals.value;
  if (now === undefined) return <p class="empty">Waiting for the server …</p>;
  const lag = now.journal_records === undefined ? null : now.journal_records - (now.journal_durable_records ?? 0);
  return (
    <dl class="tiles" aria-label="Health">
      <Tile label="Server" value={link.value.open ? 'ready' : 'away'} level={link.value.open ? 'good' : 'bad'} note={`${count(connections.value?.open)} connections`} />
      <Tile label="Events" value={`${count(now.events_accepted_per_second)}/s`} note={count(now.events_accepted)} />
      <Tile label="Composites" value={`${count(now.composites_per_second)}/s`} note={count(now.composites)} />
      <Tile label="Latency p99" value={microseconds(latency.value?.p99_us)} note={`median ${microseconds(latency.value?.p50_us)}`} />
      <Tile label="Refused" {...losses('events_refused')} />
      <Tile label="Late" {...losses('events_late')} />
      <Tile label="Lost" {...losses('lost_rows')} />
      <Tile label="Slow clients" {...losses('slow_consumers')} />
      <Tile label="Passed over" {...losses('terminators_passed_over')} />
      <Tile label="Clients hold" value={bytes(now.memory_bytes ?? 0)} note={`${bytes(now.queue_bytes ?? 0)} queued`} />
      {lag !== null && <Tile label="Journal" value={`${count(lag)} behind`} note={`${count(now.journal_records)} records`} />}
    </dl>
  );
}

function Firing() {
  const firing = [...rules.value.values()].filter((rule) => rule.composites > 0);
  return (
    <Panel title="What fires" note={`${count(firing.length)} of ${count(rules.value.size)} rules have`}>
      <Table label="What fires" rows={firing} id={(rule) => rule.name} sorted={2} most={12} empty="No rule has fired yet."
        columns={[
          {title: 'Rule', cell: (rule) => <RuleLink rule={rule.name} />, sort: (rule) => rule.name},
          {title: 'Two minutes', cell: (rule) => <RuleSpark rule={rule.name} />},
          {title: 'Per second', cell: (rule) => count(rule.composites_per_second), sort: (rule) => rule.composites_per_second, number: true},
          {title: 'In all', cell: (rule) => count(rule.composites), sort: (rule) => rule.composites, number: true},
        ]} />
    </Panel>
  );
}

function Costing() {
  const all = [...rules.value.values()];
  return (
    <Panel title="What costs" note="of one core, by measured cost">
      <Table label="What costs" rows={all} id={(rule) => rule.name} sorted={1} most={12} empty="There are no rules."
        columns={[
          {title: 'Rule', cell: (rule) => <RuleLink rule={rule.name} />, sort: (rule) => rule.name},
          {title: 'Of a core', cell: (rule) => percent(shareOf(rule)), sort: shareOf, number: true},
          {title: 'Engine', cell: (rule) => <Engine name={rule.engine} />, sort: (rule) => rule.engine},
          {title: 'Memory', cell: (rule) => bytes(rule.bytes), sort: (rule) => rule.bytes, number: true},
        ]} />
    </Panel>
  );
}

interface Silence {
  id: string;
  what: 'rule' | 'type';
  name: string;
  why: string;
}

function silences(): Silence[] {
  const found: Silence[] = [];
  for (const rule of rules.value.values()) {
    const why = rule.suspended ? 'is suspended: it took more than its time' : rule.terminators === 0 ? 'no terminator has come' : rule.composites === 0 ? `${count(rule.terminators)} terminators, no composite` : '';
    if (why !== '') found.push({id: `rule ${rule.name}`, what: 'rule', name: rule.name, why});
  }
  for (const type of types.value.values()) {
    if (type.name === '') continue;
    const why = type.unread && !type.subscribed ? `${count(type.accepted)} came, nobody reads them` : !type.unread && type.seen === 0 ? 'rules read it, none has come' : '';
    if (why !== '') found.push({id: `type ${type.name}`, what: 'type', name: type.name, why});
  }
  return found;
}

function Silent() {
  return (
    <Panel title="What is silent">
      <Table label="What is silent" rows={silences()} id={(silence) => silence.id} most={12} empty="Everything comes, and every rule has fired."
        columns={[
          {title: 'Kind', cell: (silence) => <Mark level="plain">{silence.what}</Mark>, sort: (silence) => silence.what},
          {title: 'Name', cell: (silence) => (silence.what === 'rule' ? <RuleLink rule={silence.name} /> : silence.name), sort: (silence) => silence.name},
          {title: 'Why', cell: (silence) => silence.why, sort: (silence) => silence.why},
        ]} />
    </Panel>
  );
}

function Types() {
  const known = [...types.value.values()].filter((type) => type.name !== '');
  return (
    <Panel title="Event types" note={count(known.length)}>
      <Table label="Event types" rows={known} id={(type) => type.name} sorted={1} most={12} empty="No event has come, and no rule reads a type."
        columns={[
          {title: 'Type', cell: (type) => type.name, sort: (type) => type.name},
          {title: 'Per second', cell: (type) => count(type.per_second), sort: (type) => type.per_second, number: true},
          {title: 'In all', cell: (type) => count(Math.max(type.seen, type.accepted)), sort: (type) => Math.max(type.seen, type.accepted), number: true},
          {title: 'Kept', cell: (type) => count(type.events), sort: (type) => type.events, number: true},
          {title: 'Late', cell: (type) => count(type.late), sort: (type) => type.late, number: true},
        ]} />
    </Panel>
  );
}

export function Overview() {
  return (
    <>
      <Health />
      <div class="columns">
        <Panel title="Throughput" note="per second, two minutes">
          <Plot label="Events and composites in a second" lines={[
            {label: 'events', colour: '--blue', of: past.events, filled: true},
            {label: 'composites', colour: '--green', of: past.composites},
          ]} />
        </Panel>
        <Panel title="Latency" note="from reading an event to queueing its composites">
          <Plot label="Latency" value={microseconds} lines={[
            {label: 'p99', colour: '--violet', of: past.p99},
            {label: 'median', colour: '--blue', of: past.p50},
          ]} />
        </Panel>
        <Firing />
        <Costing />
        <Silent />
        <Types />
      </div>
    </>
  );
}
