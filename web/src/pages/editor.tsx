// A deployment's rules as a text: written, checked, compared with what is in force, deployed.
import {setDiagnostics} from '@codemirror/lint';
import type {EditorView} from '@codemirror/view';
import {useSignal} from '@preact/signals';
import {useEffect, useRef} from 'preact/hooks';
import {get, send, textOf} from '../api';
import {compare, makeEditor, setText} from '../code';
import {count} from '../format';
import {Mark, Panel} from '../parts';
import {go, pathTo, place} from '../route';
import {deploymentOf, type RuleText} from '../rule_detail';
import {rules} from '../store';
import {ask, checker, type Found, marksOf} from '../tesla';

const kExample = `// An event of type Hot for each reading above 45.
define Hot(area: string)
from Temp(value > 45)
where area = Temp.area;
`;

const pathOf = (name: string) => `/v1/rules/${encodeURIComponent(name)}`;
const rulesOf = (deployment: string) => [...rules.value.keys()].filter((rule) => deploymentOf(rule) === deployment);

/// The texts of the deployment's rules, as they are in force.
async function deployedText(deployment: string): Promise<string> {
  const told = await Promise.all(rulesOf(deployment).map((rule) => get<RuleText>(pathOf(rule))));
  return told.map((rule) => `${(rule.text ?? '').trim().replace(/;$/, '')};\n`).join('\n');
}

function Findings(props: {found: Found[]; show: (found: Found) => void}) {
  return (
    <ul class="findings" aria-label="What the server says of the text">
      {props.found.map((each, i) => (
        <li key={i}>
          <button onClick={() => props.show(each)}>
            <Mark level={each.severity === 'error' ? 'bad' : 'warn'}>{each.severity}</Mark> {each.line}:{each.column} {each.message}
            {each.hint !== '' && <small> {each.hint}</small>}
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Editor() {
  const wanted = place.value.name;
  const name = useSignal(wanted), found = useSignal<Found[]>([]), said = useSignal(''), problem = useSignal('');
  const comparing = useSignal(false), busy = useSignal(false);
  const host = useRef<HTMLDivElement>(null), view = useRef<EditorView | null>(null);
  const fail = (error: unknown) => {
    said.value = '';
    problem.value = textOf(error);
  };
  useEffect(() => {
    const path = () => pathOf(name.value || 'unnamed');
    view.current = makeEditor(host.current!, kExample, 'Text of the rules', checker(path, (now) => (found.value = now)));
    return () => view.current?.destroy();
  }, []);
  useEffect(() => {
    name.value = wanted;
    comparing.value = false;
    compare(view.current!, null);
    if (wanted !== '' && rulesOf(wanted).length > 0) deployedText(wanted).then((text) => setText(view.current!, text), fail);
  }, [wanted, rules.value.size === 0]);
  const text = () => view.current!.state.doc.toString();
  const deploy = async () => {
    if (name.value === '') return fail(new Error('Name the deployment first.'));
    // Only rules whose names begin with the deployment's are known to be part of it.
    if (isDeployed && !confirm(`Replace all rules of ${name.value}? Those that the text lacks are removed, also those with names of their own.`)) return;
    busy.value = true;
    try {
      found.value = await ask(isDeployed ? 'PUT' : 'POST', pathOf(name.value), text());
      view.current!.dispatch(setDiagnostics(view.current!.state, marksOf(found.value, view.current!.state.doc)));
      const errors = found.value.filter((each) => each.severity === 'error').length;
      problem.value = errors > 0 ? `Nothing was deployed: ${count(errors)} ${errors === 1 ? 'error' : 'errors'}.` : '';
      said.value = errors > 0 ? '' : `${name.value} is deployed.`;
      if (errors === 0) go(pathTo('editor', name.value), true);
    } catch (error) {
      fail(error);
    }
    busy.value = false;
  };
  const toggleComparison = async () => {
    comparing.value = !comparing.value;
    try {
      compare(view.current!, comparing.value ? await deployedText(name.value) : null);
    } catch (error) {
      fail(error);
    }
  };
  const remove = async () => {
    if (!confirm(`Remove all rules of ${name.value}?`)) return;
    await send('DELETE', pathOf(name.value)).then(() => (said.value = `${name.value} is removed.`), fail);
  };
  const show = (each: Found) => {
    const mark = marksOf([each], view.current!.state.doc)[0]!;
    view.current!.dispatch({selection: {anchor: mark.from, head: mark.to}, scrollIntoView: true});
    view.current!.focus();
  };
  const names = [...new Set([...rules.value.keys()].map(deploymentOf))].filter((each) => each !== '').sort();
  const isDeployed = names.includes(name.value);
  return (
    <Panel title="Editor" note={isDeployed ? `${count(rulesOf(name.value).length)} rules in force` : 'not deployed'}>
      <div class="form">
        <label for="deployment">Deployment</label>
        <input id="deployment" list="deployments" value={name.value} placeholder="a name" spellcheck={false}
          onInput={(event) => (name.value = event.currentTarget.value.trim())}
          onChange={() => names.includes(name.value) && name.value !== wanted && go(pathTo('editor', name.value))} />
        <datalist id="deployments">{names.map((each) => <option key={each} value={each} />)}</datalist>
        <button class="primary" disabled={busy.value} onClick={() => void deploy()}>Deploy</button>
        <button aria-pressed={comparing.value} disabled={!isDeployed} onClick={() => void toggleComparison()}>Compare with deployed</button>
        <button disabled={!isDeployed} onClick={() => void remove()}>Remove</button>
        {said.value !== '' && <span class="said" role="status">{said}</span>}
      </div>
      {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
      <div class="code" ref={host} />
      <Findings found={found.value} show={show} />
    </Panel>
  );
}
