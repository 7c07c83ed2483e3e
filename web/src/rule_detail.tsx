// All that is known of one rule.
import {useSignal, useSignalEffect} from '@preact/signals';
import {useEffect} from 'preact/hooks';
import {ask, textOf} from './server';
import {bytes, count, microseconds, nanoseconds} from './format';
import {Engine, Mark, Panel} from './parts';
import {percent, shareOf} from './pages/overview';
import {Plot} from './plot';
import {go, pathTo} from './route';
import {past, type Rule, rules, type RulePast, Series, shapes, tick} from './store';

export interface RuleText {
  name: string;
  type: string;
  text?: string;
  plan?: string;
  placed_because: string;
  declined_because: string;
  costs: {engine: string; estimate_ns: number | null; measured_ns: number | null}[];
}

/// The deployment that a rule's name begins with. A rule with a name of its own does not say where
/// it comes from: ''.
export const deploymentOf = (rule: string) => rule.slice(0, Math.max(0, rule.lastIndexOf('.')));

export function Marks(props: {rule: Rule}) {
  const {rule} = props;
  return (
    <>
      {rule.alarm !== '' && <Mark level="bad">alarm</Mark>}
      {rule.suspended && <Mark level="bad">suspended</Mark>}
      {rule.overflows > 0 && <Mark level="warn">overflows {count(rule.overflows)}</Mark>}
      {rule.declined > 0 && <Mark level="plain">declined {count(rule.declined)}</Mark>}
      {rule.pending > 0 && <Mark level="plain">waiting {count(rule.pending)}</Mark>}
      {!rule.automatic && <Mark level="plain">pinned</Mark>}
    </>
  );
}

// Terminators by who was in charge when they came.
function split(known: RulePast) {
  const lines = {cpu: new Series(), gpu: new Series(), both: new Series()};
  known.terminators.values.forEach((value, i) => {
    for (const of of ['cpu', 'gpu', 'both'] as const) lines[of].push(known.engines[i] === of ? value : 0);
  });
  return lines;
}

function Split(props: {rule: string}) {
  const lines = {cpu: new Series(), gpu: new Series(), both: new Series()};
  const kept = useSignal(lines).value;
  useSignalEffect(() => {
    tick.value;
    const known = past.rules.get(props.rule);
    if (known === undefined) return;
    const fresh = split(known);
    for (const of of ['cpu', 'gpu', 'both'] as const) kept[of].values.splice(0, Infinity, ...fresh[of].values);
  });
  return (
    <Plot label={`Terminators of ${props.rule} in a second by engine`} height={130} lines={[
      {label: 'CPU', colour: '--blue', of: kept.cpu, filled: true},
      {label: 'GPU', colour: '--green', of: kept.gpu, filled: true},
      {label: 'both', colour: '--violet', of: kept.both, filled: true},
    ]} />
  );
}

export function RuleDetail(props: {name: string; narrow?: boolean}) {
  const told = useSignal<RuleText | null>(null), problem = useSignal('');
  const rule = rules.value.get(props.name), shape = shapes.value.get(props.name);
  useEffect(() => {
    told.value = null;
    problem.value = '';
    ask((to) => to.rule(props.name)).then((text) => (told.value = text as RuleText), (error) => (problem.value = textOf(error)));
  }, [props.name, rule?.engine, shape?.type]);
  const act = (done: Promise<unknown>) => done.then(() => (problem.value = ''), (error) => (problem.value = textOf(error)));
  const remove = () => {
    if (!confirm(`Remove the rule ${props.name}?`)) return;
    void act(ask((to) => to.remove(props.name)).then(() => go(pathTo('rules'))));
  };
  const pin = (engine: string) => act(ask((to) => to.pin(props.name, engine)));
  const tools = (
    <>
      <a class="button" href={pathTo('why', props.name)}>Why</a>
      <a class="button" href={deploymentOf(props.name) === '' ? pathTo('editor', '', {rule: props.name}) : pathTo('editor', deploymentOf(props.name))}>Edit</a>
      <button onClick={remove}>Remove</button>
    </>
  );
  return (
    <Panel title={props.name} class={props.narrow ? 'side' : ''} tools={tools}>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      {rule && <Facts rule={rule} pin={pin} />}
      {shape && <p class="reads">{shape.reads.join(', ') || 'a timer'} → <b>{shape.type}</b></p>}
      {rule && <><h3>Terminators per second, by engine</h3><Split key={props.name} rule={props.name} /></>}
      {told.value && <Placement told={told.value} />}
      {told.value?.plan && <><h3>Plan</h3><pre class="text" tabIndex={0}>{told.value.plan}</pre></>}
      {told.value?.text && <><h3>Text</h3><pre class="text" tabIndex={0}>{told.value.text}</pre></>}
    </Panel>
  );
}

const kEngines = ['auto', 'column', 'column-scan', 'automaton', 'cuda', 'reference'];

function Facts(props: {rule: Rule; pin: (engine: string) => void}) {
  const {rule} = props;
  return (
    <>
      <p><Marks rule={rule} /></p>
      {rule.alarm !== '' && <p class="problem">{rule.alarm}</p>}
      <dl class="facts">
        <dt>Composites</dt><dd>{count(rule.composites_per_second)}/s, {count(rule.composites)} in all</dd>
        <dt>Terminators</dt><dd>{count(rule.terminators_per_second)}/s, {count(rule.terminators)} in all</dd>
        <dt>Events read</dt><dd>{count(rule.events_per_second)}/s</dd>
        <dt>Latency</dt><dd>{rule.latency ? `${microseconds(rule.latency[0] * 1000)} on average, ${microseconds(rule.latency[1] * 1000)} at most` : 'unknown'}</dd>
        <dt>Takes</dt><dd>{percent(shareOf(rule))} of a core</dd>
        <dt>Memory</dt><dd>{bytes(rule.bytes)}</dd>
        <dt>Engine</dt>
        <dd>
          <Engine name={rule.engine} />{' '}
          <label class="hidden" for="pin">Engine that evaluates it</label>
          <select id="pin" value={rule.automatic ? 'auto' : rule.engine} onChange={(event) => props.pin(event.currentTarget.value)}>
            {[...new Set([...kEngines, ...(rule.automatic ? [] : [rule.engine])])].map((engine) => <option key={engine}>{engine}</option>)}
          </select>
          {rule.moves > 0 && <small> moved {count(rule.moves)} times</small>}
        </dd>
      </dl>
    </>
  );
}

function Placement(props: {told: RuleText}) {
  const {told} = props;
  const most = Math.max(1, ...told.costs.map((cost) => Math.max(cost.estimate_ns ?? 0, cost.measured_ns ?? 0)));
  return (
    <>
      {told.placed_because !== '' && <p class="note">It runs there because {told.placed_because}.</p>}
      {told.declined_because !== '' && <p class="note">It declines because {told.declined_because}.</p>}
      {told.costs.length > 0 && <h3>A terminator takes</h3>}
      <div class="bars">
        {told.costs.map((cost) => (
          <div key={cost.engine} class="bar">
            <span>{cost.engine}</span>
            <meter min={0} max={most} value={cost.measured_ns ?? cost.estimate_ns ?? 0} aria-label={`cost on ${cost.engine}`} />
            <span>{cost.measured_ns === null ? `about ${nanoseconds(cost.estimate_ns)}` : nanoseconds(cost.measured_ns)}</span>
          </div>
        ))}
      </div>
    </>
  );
}
