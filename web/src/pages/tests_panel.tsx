// Rule tests for the text in the editor, run by the server under all of its engines without devices.
import {type Signal, useSignal} from '@preact/signals';
import {send, textOf} from '../server';
import {pathOf} from '../deployment';
import {count} from '../format';
import {Mark, Panel} from '../parts';

interface Report {
  error: string;
  left_out: number;
  cases: {name: string; line: number; passed: boolean; message: string}[];
}

const kExample = `# docs/rule-tests.md says what a test may have. The rules are those in the editor.
rules: editor

case: a reading above 45 is hot
events:
  @1000 Temp(area="A1", value=46.5)
  @2000 Temp(area="A2", value=21.0)
expect:
  @1000 Hot(area="A1")
`;
const kKept = 'gorgo.tests.';

export function TestsPanel(props: {name: Signal<string>; text: Signal<string>}) {
  const {name, text} = props, key = kKept + name.value;
  const tests = localStorage.getItem(key) ?? kExample;
  const report = useSignal<Report | null>(null), problem = useSignal(''), busy = useSignal(false);
  const run = async () => {
    busy.value = true;
    try {
      const body = JSON.stringify({text: text.value, tests: localStorage.getItem(key) ?? kExample});
      report.value = await send<Report>('POST', `${pathOf(name.value || 'unnamed')}/tests`, body);
      problem.value = report.value.error;
    } catch (error) {
      problem.value = textOf(error);
    }
    busy.value = false;
  };
  const told = report.value, failed = told?.cases.filter((each) => !each.passed).length ?? 0;
  return (
    <Panel title="Rule tests" note={told === null ? '' : `${count(told.cases.length - failed)} passed, ${count(failed)} failed`}
      tools={<button disabled={busy.value} onClick={() => void run()}>Run</button>}>
      <textarea key={key} aria-label="Rule tests" spellcheck={false} rows={10} defaultValue={tests} onInput={(event) => localStorage.setItem(key, event.currentTarget.value)} />
      <p class="note">Kept in this browser, for each deployment.</p>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      <ul class="findings" aria-label="Results of the rule tests">
        {told?.cases.map((each) => (
          <li key={each.line}>
            <Mark level={each.passed ? 'good' : 'bad'}>{each.passed ? 'passed' : 'failed'}</Mark> {each.name}
            {each.message !== '' && <pre class="text" tabIndex={0}>{each.message}</pre>}
          </li>
        ))}
        {told !== null && told.left_out > 0 && <li class="note">{count(told.left_out)} cases were not run.</li>}
      </ul>
    </Panel>
  );
}
