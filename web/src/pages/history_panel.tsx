// The versions of a deployment, and the way back to them.
import {count} from '../format';
import type {Change, Deployed} from '../deployment';
import {Mark, Panel, Table} from '../parts';

const when = (change: Change) => new Date(change.clock / 1e6).toISOString().replace('T', ' ').slice(0, 19);
const linesOf = (change: Change) => (change.text ?? '').split('\n').length;

export function HistoryPanel(props: {deployed: Deployed; compare: (change: Change) => void; rollBack: (change: Change) => void}) {
  const {changes} = props.deployed, newest = changes.find((change) => change.text !== undefined);
  return (
    <Panel title="History" note={`${count(changes.length)} ${changes.length === 1 ? 'change' : 'changes'}, times in UTC`}>
      <Table label="History" rows={changes} id={(change) => String(change.number)} most={100} empty="The server remembers no change of this deployment."
        columns={[
          {title: 'Number', cell: (change) => change.number, number: true},
          {title: 'Time', cell: when},
          {title: 'User', cell: (change) => change.who || '–'},
          {title: 'What', cell: (change) => (change.text === undefined ? <>removed {change.name}</> : <>{change.file ? 'rule file' : 'deployed'} {change === newest && <Mark level="good">latest</Mark>}</>)},
          {title: 'Lines', cell: (change) => (change.text === undefined ? '' : count(linesOf(change))), number: true},
          {title: 'Version', cell: (change) => change.text !== undefined && (
            <>
              <button aria-label={`Compare with version ${change.number}`} onClick={() => props.compare(change)}>Compare</button>{' '}
              <button aria-label={`Roll back to version ${change.number}`} onClick={() => props.rollBack(change)}>Roll back</button>
            </>
          )},
        ]} />
    </Panel>
  );
}
