// New versions of rules that run beside those in force, and what they give that those do not.
import {useSignal} from '@preact/signals';
import {get, send, textOf} from '../server';
import {clock, count} from '../format';
import {type Level, Mark, Panel, RuleLink, Table} from '../parts';
import {usePolling} from '../poll';
import {pathTo} from '../route';

interface Counts {
  both: number;
  only_deployed: number;
  only_shadow: number;
}
interface Shadow {
  name: string;
  user: string;
  since: number;    // nanoseconds since the Unix epoch
  rules: string[];
  replaced: string[];
  events: number;
  refused: number;
  filling: boolean;
  full_at: number;  // of the events' clock, nanoseconds
  counts: Counts;
  before: Counts;
  deployed_samples: string[];
  shadow_samples: string[];
  stopped: string;
}

const kPeriod = 2000;

/// Asks every two seconds while the view is shown.
function useShadows() {
  const shadows = useSignal<Shadow[] | null>(null), problem = useSignal('');
  const look = async () => {
    try {
      shadows.value = (await get<{shadows: Shadow[]}>('shadows')).shadows;
    } catch (error) {
      problem.value = textOf(error);
    }
  };
  usePolling(look, kPeriod);
  return {shadows, problem, look};
}

function stateOf(shadow: Shadow): [Level, string] {
  if (shadow.stopped !== '') return ['bad', `ended: ${shadow.stopped}`];
  if (shadow.filling) return ['warn', `windows are full at ${clock(shadow.full_at / 1e6)}`];
  const {only_deployed, only_shadow} = shadow.counts;
  return only_deployed + only_shadow > 0 ? ['warn', 'differs'] : ['good', 'no difference'];
}

const Rules = (props: {names: string[]}) => <>{props.names.map((name, i) => <>{i > 0 && ', '}<RuleLink key={name} rule={name} /></>)}</>;

/// The last composites that only one side gave, the latest one first.
function Samples(props: {title: string; lines: string[]}) {
  return (
    <Panel title={props.title} note={props.lines.length === 0 ? '' : `the last ${count(props.lines.length)}`}>
      {props.lines.length === 0 ? <p class="empty">None.</p> : <pre class="text" tabIndex={0}>{[...props.lines].reverse().join('\n')}</pre>}
    </Panel>
  );
}

function One(props: {shadow: Shadow; act: (method: string, path: string, question: string) => void}) {
  const {shadow} = props, {name, counts} = shadow, path = `shadows/${encodeURIComponent(name)}`;
  const [level, state] = stateOf(shadow);
  const rows = shadow.filling ? [{when: 'while the windows fill', ...counts}] : [{when: 'since the windows are full', ...counts}, {when: 'before', ...shadow.before}];
  const tools = (
    <>
      <a class="button" href={pathTo('editor', name.replace(/\.tesla$/, ''))}>Deployed text</a>
      <button disabled={shadow.stopped !== ''} onClick={() => props.act('POST', `${path}/promote`, `Put ${name} in force, in place of ${shadow.replaced.length} rules?`)}>Promote</button>
      <button onClick={() => props.act('DELETE', path, `End the shadow deployment ${name}?`)}>Drop</button>
    </>
  );
  return (
    <section aria-label={`Shadow ${name}`}>
      <Panel title={name} note={`${shadow.user === '' ? '' : `by ${shadow.user}, `}since ${clock(shadow.since / 1e6)}`} tools={tools}>
        <p><Mark level={level}>{state}</Mark> {count(shadow.events)} events, {count(shadow.refused)} refused</p>
        <p class="links">Would replace {shadow.replaced.length === 0 ? 'nothing' : <Rules names={shadow.replaced} />}</p>
        <Table label={`Composites of ${name}`} rows={rows} id={(row) => row.when} empty=""
          columns={[
            {title: 'Composites', cell: (row) => row.when},
            {title: 'Both gave', cell: (row) => count(row.both), number: true},
            {title: 'Only the deployed rules', cell: (row) => count(row.only_deployed), number: true},
            {title: 'Only the shadow', cell: (row) => count(row.only_shadow), number: true},
          ]} />
      </Panel>
      <Samples title="Only the deployed rules gave" lines={shadow.deployed_samples} />
      <Samples title="Only the shadow gave" lines={shadow.shadow_samples} />
    </section>
  );
}

export function Shadows() {
  const {shadows, problem, look} = useShadows();
  const act = (method: string, path: string, question: string) => {
    if (!confirm(question)) return;
    problem.value = '';
    send(method, path).catch((error) => (problem.value = textOf(error))).then(look);
  };
  return (
    <>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      {shadows.value?.map((shadow) => <One key={shadow.name} shadow={shadow} act={act} />)}
      {shadows.value?.length === 0 && (
        <Panel title="Shadow deployments" note="0">
          <p class="empty">No shadow deployment runs. <a href="/editor">Write rules</a> and choose <i>Deploy as shadow</i>: they run beside those in force, and what both give is compared here.</p>
        </Panel>
      )}
    </>
  );
}
