// Where the server itself goes out for events, or takes them: files and brokers, and what became of each event.
import {useSignal} from '@preact/signals';
import {useEffect} from 'preact/hooks';
import {get, textOf} from '../server';
import {count} from '../format';
import {type Level, Mark, Panel, Table} from '../parts';
import {pathTo} from '../route';

interface Door {
  name: string;
  kind: string;
  direction: 'in' | 'out';
  target: string;
  state: 'running' | 'waiting' | 'failing';
  problem: string;
  events: number;
  refused: number;
  dead_letters: number;
  lost: number;
  failures: number;
  position: string;
}
type Moving = Door & {perSecond: number | null};

const kPeriod = 2000;

/// Asks every two seconds while the view is shown; rates are from one answer to the next.
function useDoors() {
  const doors = useSignal<Moving[] | null>(null), problem = useSignal('');
  useEffect(() => {
    let asked = 0, had = new Map<string, number>();
    const look = async () => {
      try {
        const found = (await get<{doors: Door[]}>('doors')).doors, now = performance.now(), seconds = (now - asked) / 1000;
        doors.value = found.map((door) => {
          const before = had.get(door.name);
          return {...door, perSecond: before === undefined ? null : Math.max(0, door.events - before) / seconds};
        });
        asked = now;
        had = new Map(found.map((door) => [door.name, door.events]));
        problem.value = '';
      } catch (error) {
        problem.value = textOf(error);
      }
    };
    void look();
    const timer = setInterval(look, kPeriod);
    return () => clearInterval(timer);
  }, []);
  return {doors, problem};
}

const kLevels: Record<Door['state'], Level> = {running: 'good', waiting: 'warn', failing: 'bad'};
const kMeanings: Record<Door['state'], string> = {running: 'running', waiting: 'waits for the engine', failing: 'failing'};

function State(props: {door: Door}) {
  const {state, problem} = props.door;
  return <><Mark level={kLevels[state]}>{kMeanings[state]}</Mark>{problem !== '' && <small>{problem}</small>}</>;
}

/// Dead letters are events, so the view of events shows them.
function DeadLetters(props: {door: Door}) {
  const {name, dead_letters} = props.door;
  if (dead_letters === 0) return <>0</>;
  return <a href={pathTo('events', '', {subscribe: `gorgo.DeadLetter(door = ${JSON.stringify(name)})`})}>{count(dead_letters)}</a>;
}

const kCommon = [
  {title: 'Door', cell: (door: Moving) => door.name, sort: (door: Moving) => door.name},
  {title: 'Kind', cell: (door: Moving) => door.kind, sort: (door: Moving) => door.kind},
  {title: 'Where', cell: (door: Moving) => door.target},
  {title: 'State', cell: (door: Moving) => <State door={door} />, sort: (door: Moving) => door.state},
  {title: 'Events', cell: (door: Moving) => count(door.events), sort: (door: Moving) => door.events, number: true},
  {title: 'In a second', cell: (door: Moving) => (door.perSecond === null ? '–' : count(door.perSecond)), sort: (door: Moving) => door.perSecond ?? 0, number: true},
];
const kFailures = {title: 'Failures', cell: (door: Moving) => count(door.failures), sort: (door: Moving) => door.failures, number: true};
const kIn = [
  ...kCommon,
  {title: 'Refused', cell: (door: Moving) => count(door.refused), sort: (door: Moving) => door.refused, number: true},
  {title: 'Dead letters', cell: (door: Moving) => <DeadLetters door={door} />, sort: (door: Moving) => door.dead_letters, number: true},
  kFailures,
  {title: 'Position', cell: (door: Moving) => door.position},
];
const kOut = [...kCommon, {title: 'Lost', cell: (door: Moving) => count(door.lost), sort: (door: Moving) => door.lost, number: true}, kFailures];

export function Doors() {
  const {doors, problem} = useDoors();
  const of = (direction: Door['direction']) => doors.value?.filter((door) => door.direction === direction) ?? [];
  return (
    <>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      {doors.value?.length === 0 && (
        <Panel title="Doors" note="0">
          <p class="empty">The configuration has no doors. A table <code>[doors.NAME]</code> lets the server take events from files or an MQTT broker, or bring them there.</p>
        </Panel>
      )}
      {of('in').length > 0 && (
        <Panel title="Events come in" note={count(of('in').length)}>
          <Table label="Doors by which events come in" rows={of('in')} id={(door) => door.name} columns={kIn} empty="" />
        </Panel>
      )}
      {of('out').length > 0 && (
        <Panel title="Events go out" note={count(of('out').length)}>
          <Table label="Doors by which events go out" rows={of('out')} id={(door) => door.name} columns={kOut} empty="" />
        </Panel>
      )}
    </>
  );
}
