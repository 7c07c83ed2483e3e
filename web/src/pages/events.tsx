// What comes, as it comes: a subscription whose text the server evaluates. What came: a place in the journal.
import {useSignal} from '@preact/signals';
import type {Event} from 'gorgo';
import {useEffect, useRef} from 'preact/hooks';
import {get, textOf} from '../server';
import {attributes, clock, count} from '../format';
import {Panel, Table} from '../parts';
import {go, pathTo, place} from '../route';
import {hasJournal, shapes, types} from '../store';
import {follow} from '../tail';

interface Row {
  id: string;
  type: string;
  ts: number;
  attrs: Record<string, unknown>;
}

const rowOf = ({place: {root, ordinal}, type, timestamp, attributes}: Event): Row => ({id: `${root}-${ordinal}`, type, ts: timestamp, attrs: attributes});

// So many rows are shown.
const kShown = 200;
// The server sends at most so many in a second, and says how many it left out.
const kSamples = [10, 100, 1000];

function useTail(text: string, most: string, paused: boolean) {
  const rows = useSignal<Row[]>([]), left = useSignal(0), problem = useSignal(''), came = useSignal(0), open = useSignal(false);
  const stopped = useRef(paused);
  stopped.current = paused;
  useEffect(() => {
    rows.value = [];
    left.value = came.value = 0;
    problem.value = '';
    open.value = false;
    if (text === '') return;
    return follow(text, Number(most), {
      open: () => (open.value = true),
      take: (events) => {
        came.value += events.length;
        const fresh = events.map(rowOf).reverse();
        if (!stopped.current) rows.value = [...fresh, ...rows.value].slice(0, kShown);
      },
      leaveOut: (rows) => (left.value += rows),
      problem: (text) => (problem.value = text),
    });
  }, [text, most]);
  return {rows, left, problem, came, open};
}

const makers = (type: string) => [...shapes.value.values()].filter((shape) => shape.type === type);

const kColumns = [
  {title: 'Time', cell: (row: Row) => <time title={String(row.ts)}>{clock(row.ts)}</time>},
  {title: 'Type', cell: (row: Row) => row.type},
  {title: 'Attributes', cell: (row: Row) => <code>{attributes(row.attrs)}</code>},
  {title: 'Why', cell: (row: Row) => makers(row.type).map((rule) => <a key={rule.name} href={pathTo('why', rule.name, {at: String(row.ts)})}>{rule.name}</a>)},
];

function Tail(props: {text: string; most: string}) {
  const {text, most} = props, paused = useSignal(false), typed = useRef<HTMLInputElement>(null);
  const {rows, left, problem, came, open} = useTail(text, most, paused.value);
  const subscribe = (event: SubmitEvent) => {
    event.preventDefault();
    go(pathTo('events', '', {subscribe: typed.current!.value.trim(), most}));
  };
  return (
    <Panel title="Events" note={text === '' ? '' : `${count(came.value)} shown, ${count(left.value)} left out`}
      tools={<button aria-pressed={paused.value} onClick={() => (paused.value = !paused.value)}>{paused.value ? 'Go on' : 'Pause'}</button>}>
      <form class="form" onSubmit={subscribe}>
        <label for="filter">Subscribe to</label>
        <input id="filter" key={text} ref={typed} list="types" defaultValue={text} placeholder="Temp(value > 45), or *" spellcheck={false} />
        <datalist id="types">{[...types.value.keys()].filter((name) => name !== '').map((name) => <option key={name} value={name} />)}</datalist>
        <label for="most">at most</label>
        <select id="most" value={most} onChange={(event) => go(pathTo('events', '', {subscribe: text, most: event.currentTarget.value}), true)}>
          {kSamples.map((sample) => <option key={sample} value={sample}>{`${sample} a second`}</option>)}
        </select>
        <button class="primary">Subscribe</button>
      </form>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      <Table label="Events" rows={rows.value} id={(row) => row.id} columns={kColumns}
        empty={text === '' ? 'Name a type, with conditions if you like, or * for all events.' : open.value ? 'Nothing has come yet.' : 'Subscribing …'} />
    </Panel>
  );
}

interface Kept {
  low: number;
  end: number;
  next: number;
  left_out: number;
  events: (Omit<Row, 'id'> & {place: number})[];
}

/// A time as people write it: milliseconds, a date with a time, or a time of today in UTC.
export function parseTime(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  const today = new Date().toISOString().slice(0, 11);
  const read = Date.parse(/^\d\d:\d\d/.test(text) ? `${today}${text}Z` : text);
  return Number.isNaN(read) ? null : read;
}

function useKept(query: Record<string, string>) {
  const kept = useSignal<Kept | null>(null), problem = useSignal('');
  const search = new URLSearchParams(Object.entries({...query, most: '200'}).filter(([, value]) => value !== '')).toString();
  useEffect(() => {
    kept.value = null;
    problem.value = '';
    if (query.at === '' && query.place === '') return;
    get<Kept>(`journal/events?${search}`).then((told) => (kept.value = told), (error) => (problem.value = textOf(error)));
  }, [search]);
  return {kept, problem};
}

function Journal() {
  const query = Object.fromEntries(['at', 'place', 'type'].map((key) => [key, place.value.query.get(key) ?? '']));
  const {kept, problem} = useKept(query), wrong = useSignal('');
  const form = useRef<HTMLFormElement>(null);
  const look = (event: SubmitEvent) => {
    event.preventDefault();
    const said = new FormData(form.current!), from = String(said.get('from')).trim(), type = String(said.get('type')).trim();
    const isPlace = /^#\d+$/.test(from), at = isPlace ? null : parseTime(from);
    wrong.value = isPlace || at !== null ? '' : `'${from}' is neither a time nor a place`;
    if (wrong.value === '') go(pathTo('events', '', isPlace ? {place: from.slice(1), type} : {at: String(at), type}));
  };
  const told = kept.value, from = query.place !== '' ? `#${query.place}` : query.at;
  const rows = (told?.events ?? []).map((event, i) => ({...event, id: `${event.place} ${i}`}));
  return (
    <Panel title="Journal" note={told === null ? '' : `places ${count(told.low)} to ${count(told.end - 1)}`}>
      <form class="form" ref={form} onSubmit={look}>
        <label for="from">From</label>
        <input id="from" name="from" key={from} defaultValue={from} placeholder="12:30:05, 2026-11-24T12:30Z, milliseconds, or #place" size={34} required />
        <label for="kept-type">Type</label>
        <input id="kept-type" name="type" key={query.type} list="types" defaultValue={query.type} placeholder="any" size={16} />
        <button class="primary">Show</button>
        {told !== null && told.next < told.end && <a class="button" href={pathTo('events', '', {place: String(told.next), type: query.type!})}>Next</a>}
      </form>
      {(wrong.value || problem.value) !== '' && <p class="problem" role="alert">{wrong.value || problem.value}</p>}
      {told !== null && told.left_out > 0 && <p class="note">{count(told.left_out)} further events of the last record are not shown.</p>}
      <Table label="Journal" rows={rows} id={(row) => row.id}
        empty={told === null ? 'Name a time, or a place of the journal, and see what the server accepted from there on.' : 'Nothing was accepted from there on.'}
        columns={[{title: 'Place', cell: (row) => <a href={pathTo('events', '', {place: String(row.place)})}>#{row.place}</a>, number: true}, ...kColumns]} />
    </Panel>
  );
}

export function Events() {
  const text = place.value.query.get('subscribe') ?? '', most = place.value.query.get('most') ?? '100';
  const asks = place.value.query.has('at') || place.value.query.has('place');
  return (
    <>
      {asks && <Journal />}
      <Tail text={text} most={most} />
      {!asks && hasJournal.value && <Journal />}
    </>
  );
}
