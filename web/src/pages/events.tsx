// What comes, as it comes: a subscription whose text the server evaluates.
import {useSignal} from '@preact/signals';
import {useEffect, useRef} from 'preact/hooks';
import {textOf} from '../api';
import {clock, count} from '../format';
import {Panel, Table} from '../parts';
import {go, pathTo, place} from '../route';
import {listen, type SentEvent} from '../sse';
import {shapes, types} from '../store';

interface Row {
  id: string;
  type: string;
  ts: number;
  attrs: Record<string, unknown>;
}

// So many rows are shown; the server sends at most kMostPerSecond and says how many it left out.
const kShown = 200, kMostPerSecond = 100;

function useTail(text: string, paused: boolean) {
  const rows = useSignal<Row[]>([]), left = useSignal(0), problem = useSignal(''), came = useSignal(0);
  const stopped = useRef(paused);
  stopped.current = paused;
  useEffect(() => {
    rows.value = [];
    left.value = came.value = 0;
    problem.value = '';
    if (text === '') return;
    const ends = new AbortController();
    const take = (events: SentEvent[]) => {
      const fresh: Row[] = [];
      for (const event of events) {
        if (event.kind === 'left_out') left.value += (JSON.parse(event.data) as {rows: number}).rows;
        if (event.kind === 'gap') left.value += (JSON.parse(event.data) as {lost: number | null}).lost ?? 0;
        if (event.kind === 'error') problem.value = (JSON.parse(event.data) as {reason: string}).reason;
        if (event.kind === 'message') fresh.push({...(JSON.parse(event.data) as Omit<Row, 'id'>), id: event.id});
      }
      came.value += fresh.length;
      if (!stopped.current && fresh.length > 0) rows.value = [...fresh.reverse(), ...rows.value].slice(0, kShown);
    };
    const query = new URLSearchParams({subscribe: text, slow: 'drop', most: String(kMostPerSecond)});
    listen(`/v1/events?${query}`, ends.signal, take).then(
      () => (problem.value ||= 'the server has ended the stream'),
      (error) => (problem.value = ends.signal.aborted ? '' : textOf(error)),
    );
    return () => ends.abort();
  }, [text]);
  return {rows, left, problem, came};
}

const shortly = (attrs: Record<string, unknown>) => Object.entries(attrs).map(([name, value]) => `${name} ${typeof value === 'number' ? +value.toPrecision(7) : JSON.stringify(value)}`).join('  ');

export function Events() {
  const text = place.value.query.get('subscribe') ?? '', paused = useSignal(false);
  const {rows, left, problem, came} = useTail(text, paused.value);
  const typed = useRef<HTMLInputElement>(null);
  const subscribe = (event: Event) => {
    event.preventDefault();
    go(pathTo('events', '', {subscribe: typed.current!.value.trim()}));
  };
  const makers = (type: string) => [...shapes.value.values()].filter((shape) => shape.type === type);
  return (
    <Panel title="Events" note={text === '' ? '' : `${count(came.value)} shown, ${count(left.value)} left out`}
      tools={<button aria-pressed={paused.value} onClick={() => (paused.value = !paused.value)}>{paused.value ? 'Go on' : 'Pause'}</button>}>
      <form class="form" onSubmit={subscribe}>
        <label for="filter">Subscribe to</label>
        <input id="filter" key={text} ref={typed} list="types" defaultValue={text} placeholder="Temp(value > 45), or *" spellcheck={false} />
        <datalist id="types">{[...types.value.keys()].filter((name) => name !== '').map((name) => <option key={name} value={name} />)}</datalist>
        <button class="primary">Subscribe</button>
      </form>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      <Table label="Events" rows={rows.value} id={(row) => row.id} empty={text === '' ? 'Name a type, with conditions if you like, or * for all events.' : 'Nothing has come yet.'}
        columns={[
          {title: 'Time', cell: (row) => <time title={String(row.ts)}>{clock(row.ts)}</time>},
          {title: 'Type', cell: (row) => row.type},
          {title: 'Attributes', cell: (row) => <code>{shortly(row.attrs)}</code>},
          {title: 'Why', cell: (row) => makers(row.type).map((rule) => <a key={rule.name} href={pathTo('why', rule.name, {at: String(row.ts)})}>{rule.name}</a>)},
        ]} />
    </Panel>
  );
}
