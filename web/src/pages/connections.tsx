// Who is connected, what they take and send, who has gone and why.
import {useSignal} from '@preact/signals';
import {ServerError} from 'gorgo';
import {ask, get, send, textOf} from '../server';
import {bytes, clock, count, seconds} from '../format';
import {Mark, Panel, Table} from '../parts';
import {usePolling} from '../poll';

interface Open {
  id: number;
  peer: string;
  dialect: string;
  seconds: number;
  bytes: number;
  name: string;
  user: string;
  backlog: number;
  subscriptions: number;
  published: number;
  delivered: number;
  published_per_second: number;
  delivered_per_second: number;
}
interface Closed extends Open {
  reason: string;
  detail: string;
  closed_ms: number;
}
interface Durable {
  name: string;
  text: string;
  rows: number;
  bytes: number;
  lost: number;
  peer?: string | null;
}

const kPeriod = 2000, kClosedShown = 200;
const kExpected = ['client_left', 'completed', 'stopped', 'disconnected'];

/// Asks every two seconds while the view is shown. What the server has not is empty.
function useLists() {
  const open = useSignal<Open[]>([]), closed = useSignal<Closed[]>([]), durables = useSignal<Durable[]>([]), problem = useSignal('');
  const look = async () => {
    try {
      open.value = (await get<{connections: Open[]}>('connections')).connections;
      closed.value = (await get<{connections: Closed[]}>('connections?closed=true')).connections;
      problem.value = '';
      durables.value = ((await ask((to) => to.durables())) as Durable[] | undefined) ?? [];
    } catch (error) {
      if (!(error instanceof ServerError)) problem.value = textOf(error);
    }
  };
  usePolling(look, kPeriod);
  return {open, closed, durables, problem, look};
}

export function Connections() {
  const {open, closed, durables, problem, look} = useLists();
  const disconnect = async (connection: Open) => {
    if (!confirm(`Disconnect ${connection.name || connection.peer}?`)) return;
    await send('DELETE', `connections/${connection.id}`).catch((error) => (problem.value = textOf(error)));
    await look();
  };
  return (
    <>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      <Panel title="Connections" note={count(open.value.length)}>
        <Table label="Connections" rows={open.value} id={(each) => String(each.id)} sorted={0} most={500} empty="Nobody is connected."
          columns={[
            {title: 'Id', cell: (each) => each.id, sort: (each) => each.id, number: true},
            {title: 'Client', cell: (each) => each.name || '–', sort: (each) => each.name},
            {title: 'User', cell: (each) => each.user || '–', sort: (each) => each.user},
            {title: 'From', cell: (each) => each.peer, sort: (each) => each.peer},
            {title: 'Speaks', cell: (each) => each.dialect, sort: (each) => each.dialect},
            {title: 'For', cell: (each) => seconds(each.seconds), sort: (each) => each.seconds, number: true},
            {title: 'Subs', cell: (each) => count(each.subscriptions), sort: (each) => each.subscriptions, number: true},
            {title: 'Sends/s', cell: (each) => count(each.published_per_second), sort: (each) => each.published_per_second, number: true},
            {title: 'Gets/s', cell: (each) => count(each.delivered_per_second), sort: (each) => each.delivered_per_second, number: true},
            {title: 'Waits for it', cell: (each) => bytes(each.backlog), sort: (each) => each.backlog, number: true},
            {title: 'Holds', cell: (each) => bytes(each.bytes), sort: (each) => each.bytes, number: true},
            {title: 'End', cell: (each) => <button aria-label={`Disconnect ${each.id}`} onClick={() => void disconnect(each)}>Disconnect</button>},
          ]} />
      </Panel>
      {durables.value.length > 0 && (
        <Panel title="Durable subscriptions" note={count(durables.value.length)}>
          <Table label="Durable subscriptions" rows={durables.value} id={(each) => each.name} empty=""
            columns={[
              {title: 'Name', cell: (each) => each.name, sort: (each) => each.name},
              {title: 'Text', cell: (each) => <code>{each.text}</code>},
              {title: 'Client', cell: (each) => each.peer ?? 'away'},
              {title: 'Wait', cell: (each) => `${count(each.rows)} (${bytes(each.bytes)})`, sort: (each) => each.rows, number: true},
              {title: 'Lost', cell: (each) => count(each.lost), sort: (each) => each.lost, number: true},
            ]} />
        </Panel>
      )}
      <Panel title="Ended" note={`the last ${count(Math.min(kClosedShown, closed.value.length))}`}>
        <Table label="Ended" rows={closed.value.slice(-kClosedShown).reverse()} id={(each) => String(each.id)} empty="No connection has ended."
          columns={[
            {title: 'Ended', cell: (each) => clock(each.closed_ms), sort: (each) => each.closed_ms},
            {title: 'Client', cell: (each) => each.name || '–', sort: (each) => each.name},
            {title: 'From', cell: (each) => each.peer, sort: (each) => each.peer},
            {title: 'Speaks', cell: (each) => each.dialect, sort: (each) => each.dialect},
            {title: 'Reason', cell: (each) => <Mark level={kExpected.includes(each.reason) ? 'plain' : 'warn'}>{each.reason}</Mark>, sort: (each) => each.reason},
            {title: 'Detail', cell: (each) => each.detail},
            {title: 'Sent', cell: (each) => count(each.published), sort: (each) => each.published, number: true},
            {title: 'Got', cell: (each) => count(each.delivered), sort: (each) => each.delivered, number: true},
          ]} />
      </Panel>
    </>
  );
}
