// All rules, or one of them.
import {useSignal} from '@preact/signals';
import {bytes, count, microseconds} from '../format';
import {Engine, Panel, RuleLink, RuleSpark, Table} from '../parts';
import {place} from '../route';
import {Marks, RuleDetail} from '../rule_detail';
import {rules, shapes} from '../store';
import {percent, shareOf} from './overview';

export function Rules() {
  const wanted = useSignal('');
  if (place.value.name !== '') return <RuleDetail key={place.value.name} name={place.value.name} />;
  const word = wanted.value.toLowerCase();
  const typeOf = (rule: string) => shapes.value.get(rule)?.type ?? '';
  const shown = [...rules.value.values()].filter((rule) => `${rule.name} ${typeOf(rule.name)} ${rule.engine}`.toLowerCase().includes(word));
  const tools = (
    <>
      <input type="search" aria-label="Show rules with" placeholder="name, type, engine" onInput={(event) => (wanted.value = event.currentTarget.value)} />
      <a class="button primary" href="/editor">New rules</a>
    </>
  );
  return (
    <Panel title="Rules" note={`${count(shown.length)} of ${count(rules.value.size)}`} tools={tools}>
      <Table label="Rules" rows={shown} id={(rule) => rule.name} sorted={6} most={500} empty="No rule is deployed, or none has such a name."
        columns={[
          {title: 'Rule', cell: (rule) => <RuleLink rule={rule.name} />, sort: (rule) => rule.name},
          {title: 'Makes', cell: (rule) => typeOf(rule.name), sort: (rule) => typeOf(rule.name)},
          {title: 'Engine', cell: (rule) => <Engine name={rule.engine} />, sort: (rule) => rule.engine},
          {title: 'State', cell: (rule) => <Marks rule={rule} />},
          {title: 'Events/s', cell: (rule) => count(rule.events_per_second), sort: (rule) => rule.events_per_second, number: true},
          {title: 'Terminators/s', cell: (rule) => count(rule.terminators_per_second), sort: (rule) => rule.terminators_per_second, number: true},
          {title: 'Composites/s', cell: (rule) => count(rule.composites_per_second), sort: (rule) => rule.composites_per_second, number: true},
          {title: 'Latency', cell: (rule) => (rule.latency ? microseconds(rule.latency[0] * 1000) : ''), sort: (rule) => rule.latency?.[0] ?? 0, number: true},
          {title: 'Two minutes', cell: (rule) => <RuleSpark rule={rule.name} />},
          {title: 'Of a core', cell: (rule) => percent(shareOf(rule)), sort: shareOf, number: true},
          {title: 'Memory', cell: (rule) => bytes(rule.bytes), sort: (rule) => rule.bytes, number: true},
        ]} />
    </Panel>
  );
}
