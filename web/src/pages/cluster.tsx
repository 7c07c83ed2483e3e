// The nodes of the cluster that this server is in, and who owns which partition.
import {useSignal} from '@preact/signals';
import {count} from '../format';
import {type Level, Mark, Panel, Table} from '../parts';
import {usePolling} from '../poll';
import {get, textOf} from '../server';

interface Node {
  name: string;
  owns: number;
  ready: number;
  drained: boolean;
}
interface Partition {
  family: string;
  number: number;
  owners: string[];
  standbys: string[];
  appointed: string;
  here: {role: 'owner' | 'standby'; caught_up: boolean; lag_messages: number; waiting_messages: number; problem: string; snapshot_problem: string; last_bad: string} | null;
}
interface Known {
  cluster: string;
  node: string;
  problem: string;
  nodes: Node[];
  partitions: Partition[];
}

const kPeriod = 1000;  // nodes renew their leases as often

function useCluster() {
  const known = useSignal<Known | null>(null), problem = useSignal('');
  const look = async () => {
    try {
      known.value = await get<Known>('cluster');
      problem.value = '';
    } catch (error) {
      problem.value = textOf(error);
    }
  };
  usePolling(look, kPeriod);
  return {known, problem};
}

/// One owner is right; none or two are so while a partition changes hands.
function ownerOf({owners}: Partition): [Level, string] {
  if (owners.length === 0) return ['bad', 'nobody'];
  return [owners.length === 1 ? 'good' : 'warn', owners.join(', ')];
}

function Owner(props: {partition: Partition}) {
  const [level, text] = ownerOf(props.partition), {appointed} = props.partition;
  return <><Mark level={level}>{text}</Mark>{appointed !== '' && <small>appointed: {appointed}</small>}</>;
}

function Here(props: {partition: Partition}) {
  const {here} = props.partition;
  if (here === null) return <>–</>;
  if (here.problem !== '') return <><Mark level="bad">{here.role}</Mark><small>{here.problem}</small></>;
  if (here.snapshot_problem !== '') return <><Mark level="warn">{here.role}</Mark><small>{here.snapshot_problem}</small></>;
  if (here.last_bad !== '') return <><Mark level="warn">{here.role}</Mark><small>{here.last_bad}</small></>;
  return <Mark level={here.caught_up ? 'good' : 'warn'}>{here.caught_up ? here.role : 'reads what the stream has'}</Mark>;
}

function Nodes(props: {known: Known}) {
  const {nodes, node, cluster} = props.known;
  return (
    <Panel title="Nodes" note={`that live in ${cluster}; this is ${node}`}>
      <Table label="Nodes" rows={nodes} id={(each) => each.name} empty="None is known yet."
        columns={[
          {title: 'Node', cell: (each) => each.name, sort: (each) => each.name},
          {title: 'State', cell: (each) => <Mark level={each.drained ? 'warn' : 'good'}>{each.drained ? 'drained' : 'takes part'}</Mark>},
          {title: 'Owns', cell: (each) => count(each.owns), sort: (each) => each.owns, number: true},
          {title: 'Ready for', cell: (each) => count(each.ready), sort: (each) => each.ready, number: true},
        ]} />
    </Panel>
  );
}

function Partitions(props: {known: Known}) {
  const {partitions} = props.known, orphans = partitions.filter((each) => each.owners.length === 0).length;
  const order = (each: Partition) => `${each.family}/${String(each.number).padStart(6, '0')}`;
  return (
    <Panel title="Partitions" note={orphans === 0 ? count(partitions.length) : `${count(partitions.length)}, of which ${count(orphans)} have no owner`}>
      <Table label="Partitions" rows={partitions} id={order} most={100} empty="No node has one. gorgo cluster deploy brings the cluster rules."
        columns={[
          {title: 'Partition', cell: (each) => `${each.family}/${each.number}`, sort: order},
          {title: 'Owner', cell: (each) => <Owner partition={each} />, sort: (each) => each.owners.join()},
          {title: 'Also ready', cell: (each) => each.standbys.join(', ') || '–', sort: (each) => each.standbys.join()},
          {title: 'Here', cell: (each) => <Here partition={each} />},
          {title: 'Messages behind', cell: (each) => (each.here === null ? '–' : count(each.here.lag_messages)), sort: (each) => each.here?.lag_messages ?? 0, number: true},
          {title: 'To be published', cell: (each) => (each.here === null ? '–' : count(each.here.waiting_messages)), sort: (each) => each.here?.waiting_messages ?? 0, number: true},
        ]} />
    </Panel>
  );
}

export function Cluster() {
  const {known, problem} = useCluster();
  if (known.value === null) return <Panel title="Cluster"><p class="empty">{problem.value === '' ? 'Loading …' : problem}</p></Panel>;
  return (
    <>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      {known.value.problem !== '' && <p class="problem" role="alert">This node does not reach its brokers: {known.value.problem}. What it heard last is shown.</p>}
      <Nodes known={known.value} />
      <Partitions known={known.value} />
    </>
  );
}
