// What the server does when rules fire: whether each target works, what became of the events, and what is silenced.
import {useSignal} from '@preact/signals';
import {get, send, textOf} from '../server';
import {count} from '../format';
import {type Level, Mark, Panel, Table} from '../parts';
import {usePolling} from '../poll';
import {pathTo} from '../route';

interface Silence {
  id: number;
  matchers: string[];
  until: number;  // nanoseconds since the Unix epoch
  comment: string;
}
interface Target {
  name: string;
  kind: string;
  address: string;
  state: 'running' | 'failing' | 'open';
  problem: string;
  dry_run: boolean;
  waiting: number;
  done: number;
  failures: number;
  dead: number;
  retriable: number;
  lost: number;
  silenced: number;
  inhibited: number;
  silences: Silence[];
}

const kPeriod = 2000;

/// Asks every two seconds while the view is shown.
function useTargets() {
  const targets = useSignal<Target[] | null>(null), problem = useSignal('');
  const look = async () => {
    try {
      targets.value = (await get<{actions: Target[]}>('actions')).actions;
      problem.value = '';
    } catch (error) {
      problem.value = textOf(error);
    }
  };
  const order = async (method: string, path: string, body?: string) => {
    try {
      await send(method, `actions/${path}`, body);
      await look();
    } catch (error) {
      problem.value = textOf(error);
    }
  };
  usePolling(look, kPeriod);
  return {targets, problem, order};
}
type Order = ReturnType<typeof useTargets>['order'];

const kLevels: Record<Target['state'], Level> = {running: 'good', failing: 'warn', open: 'bad'};
const kMeanings: Record<Target['state'], string> = {running: 'running', failing: 'failing', open: 'tried now and then'};

function State(props: {target: Target}) {
  const {state, problem, dry_run} = props.target;
  return <><Mark level={kLevels[state]}>{dry_run ? 'dry run' : kMeanings[state]}</Mark>{problem !== '' && <small>{problem}</small>}</>;
}

/// Dead letters are events, so the view of events shows them.
function DeadLetters(props: {target: Target}) {
  const {name, kind, dead} = props.target;
  if (dead === 0) return <>0</>;
  const door = `action ${kind}("${name}")`;
  return <a href={pathTo('events', '', {subscribe: `gorgo.DeadLetter(door = ${JSON.stringify(door)})`})}>{count(dead)}</a>;
}

function Targets(props: {targets: Target[]; order: Order}) {
  const {targets, order} = props;
  return (
    <Panel title="Targets" note={count(targets.length)}>
      <Table label="Targets of actions" rows={targets} id={(each) => each.name} empty=""
        columns={[
          {title: 'Target', cell: (each) => each.name, sort: (each) => each.name},
          {title: 'Kind', cell: (each) => each.kind, sort: (each) => each.kind},
          {title: 'Where', cell: (each) => each.address},
          {title: 'State', cell: (each) => <State target={each} />, sort: (each) => each.state},
          {title: 'Waiting', cell: (each) => count(each.waiting), sort: (each) => each.waiting, number: true},
          {title: 'Done', cell: (each) => count(each.done), sort: (each) => each.done, number: true},
          {title: 'Failures', cell: (each) => count(each.failures), sort: (each) => each.failures, number: true},
          {title: 'Dead letters', cell: (each) => <DeadLetters target={each} />, sort: (each) => each.dead, number: true},
          {title: 'Silenced', cell: (each) => count(each.silenced), sort: (each) => each.silenced, number: true},
          {title: 'Inhibited', cell: (each) => count(each.inhibited), sort: (each) => each.inhibited, number: true},
          {title: 'Lost', cell: (each) => count(each.lost), sort: (each) => each.lost, number: true},
          {title: 'Orders', cell: (each) => (
            <>
              <button aria-label={`Test ${each.name}`} onClick={() => void order('POST', `${each.name}/test`)}>Test</button>{' '}
              {each.retriable > 0 && <button aria-label={`Send ${count(each.retriable)} again to ${each.name}`} onClick={() => void order('POST', `${each.name}/retry`)}>Send {count(each.retriable)} again</button>}
            </>
          )},
        ]} />
    </Panel>
  );
}

type OfTarget = Silence & {target: string};

/// `area=A1, type=Fire` as the server wants it.
const matchersIn = (text: string) =>
  Object.fromEntries(text.split(',').map((each) => each.trim()).filter((each) => each !== '').map((each) => {
    const equal = each.indexOf('=');
    return equal < 0 ? [each, ''] : [each.slice(0, equal).trim(), each.slice(equal + 1).trim()];
  }));

function NewSilence(props: {targets: Target[]; order: Order}) {
  const submit = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement, given = new FormData(form);
    const text = (name: string) => String(given.get(name) ?? '');
    const body = {matchers: matchersIn(text('matchers')), seconds: Math.round(Number(text('minutes')) * 60), comment: text('comment')};
    await props.order('POST', `${text('target')}/silences`, JSON.stringify(body));
    form.reset();
  };
  return (
    <form class="form" onSubmit={(event) => void submit(event)}>
      <label for="silence-target">Silence</label>
      <select id="silence-target" name="target">{props.targets.map((each) => <option key={each.name}>{each.name}</option>)}</select>
      <label for="silence-matchers">for events with</label>
      <input id="silence-matchers" name="matchers" placeholder="area=A1, type=Fire" size={28} />
      <label for="silence-minutes">minutes</label>
      <input id="silence-minutes" name="minutes" type="number" min="1" max="527040" defaultValue="60" required />
      <label for="silence-comment">because</label>
      <input id="silence-comment" name="comment" size={28} />
      <button class="primary">Silence</button>
    </form>
  );
}

function Silences(props: {targets: Target[]; order: Order}) {
  const all: OfTarget[] = props.targets.flatMap((target) => target.silences.map((each) => ({...each, target: target.name})));
  return (
    <Panel title="Silences" note={count(all.length)}>
      <NewSilence targets={props.targets} order={props.order} />
      <Table label="Silences" rows={all} id={(each) => `${each.target}/${each.id}`} empty="Nothing is silenced."
        columns={[
          {title: 'Target', cell: (each) => each.target, sort: (each) => each.target},
          {title: 'Events', cell: (each) => each.matchers.join(', ') || 'all'},
          {title: 'Until', cell: (each) => new Date(each.until / 1e6).toISOString().slice(0, 19).replace('T', ' '), sort: (each) => each.until},
          {title: 'Why', cell: (each) => each.comment},
          {title: 'End', cell: (each) => (
            <button aria-label={`End silence ${each.id} of ${each.target}`} onClick={() => void props.order('DELETE', `${each.target}/silences/${each.id}`)}>End</button>
          )},
        ]} />
    </Panel>
  );
}

export function Actions() {
  const {targets, problem, order} = useTargets();
  const all = targets.value;
  return (
    <>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      {all?.length === 0 && (
        <Panel title="Actions" note="0">
          <p class="empty">The configuration has no targets. With a table <code>[actions.NAME]</code>, rules may <code>execute</code> a webhook, a mail, a command and more.</p>
        </Panel>
      )}
      {all && all.length > 0 && <><Targets targets={all} order={order} /><Silences targets={all} order={order} /></>}
    </>
  );
}
