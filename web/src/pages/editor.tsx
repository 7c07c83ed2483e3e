// A deployment's rules as a text: written, tried, tested, compared with what is in force, deployed, taken back.
import {setDiagnostics} from '@codemirror/lint';
import {EditorView} from '@codemirror/view';
import {type Signal, useSignal} from '@preact/signals';
import type {Diagnostic} from 'gorgo';
import {useEffect, useRef} from 'preact/hooks';
import {ask, textOf} from '../server';
import {compare, makeEditor, setText} from '../code';
import {type Change, deploy, deployed, type Deployed, deployShadow, deploymentNames, deploymentWith, inForce, lostBy} from '../deployment';
import {count} from '../format';
import {connectEditor, languageServer} from '../lsp';
import {Mark, Panel} from '../parts';
import {go, pathTo, place} from '../route';
import {rules} from '../store';
import {checker, marksOf} from '../tesla';
import {HistoryPanel} from './history_panel';
import {TestsPanel} from './tests_panel';
import {TrialPanel} from './trial_panel';

const kExample = `// An event of type Hot for each reading above 45.
define Hot(area: string)
from Temp(value > 45)
where area = Temp.area;
`;

function Findings(props: {found: Diagnostic[]; show: (found: Diagnostic) => void}) {
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

/// The editor in `host`. Its text is in the signal, too.
function useEditor(name: Signal<string>, found: Signal<Diagnostic[]>) {
  const host = useRef<HTMLDivElement>(null), view = useRef<EditorView | null>(null), text = useSignal(kExample);
  useEffect(() => {
    const server = connectEditor('file:///rules.tesla');
    const noteText = EditorView.updateListener.of((update) => update.docChanged && (text.value = update.state.doc.toString()));
    const check = checker(() => name.value || 'unnamed', (now) => (found.value = now));
    view.current = makeEditor(host.current!, kExample, 'Text of the rules', [check, server.extension, noteText]);
    return () => {
      view.current?.destroy();
      server.close();
    };
  }, []);
  const show = (each: Diagnostic) => {
    const mark = marksOf([each], view.current!.state.doc)[0]!;
    view.current!.dispatch({selection: {anchor: mark.from, head: mark.to}, scrollIntoView: true});
    view.current!.focus();
  };
  const markUp = (now: Diagnostic[]) => view.current!.dispatch(setDiagnostics(view.current!.state, marksOf(now, view.current!.state.doc)));
  return {host, view, text, show, markUp};
}

const nothing = (name: string): Deployed => ({name, text: '', rules: [], changes: []});

export function Editor() {
  const wanted = place.value.name, wantedRule = place.value.query.get('rule') ?? '';
  const name = useSignal(wanted), found = useSignal<Diagnostic[]>([]), said = useSignal(''), problem = useSignal('');
  const comparing = useSignal(''), busy = useSignal(false), known = useSignal(nothing(wanted)), names = useSignal<string[]>([]);
  const {host, view, text, show, markUp} = useEditor(name, found), shown = useRef(wanted);
  const fail = (error: unknown) => {
    said.value = '';
    problem.value = textOf(error);
  };
  const look = async () => {
    names.value = await deploymentNames();
    known.value = name.value === '' ? nothing('') : await deployed(name.value);
  };
  const compareWith = (title: string, other: string | null) => {
    comparing.value = other === null ? '' : title;
    compare(view.current!, other);
  };
  useEffect(() => {
    if (shown.current !== wanted) name.value = wanted;  // what was typed before the rules came stays
    shown.current = wanted;
    if (rules.value.size === 0 && wanted + wantedRule !== '') return;  // they have not come yet
    if (wantedRule !== '') {
      const notThere = `The server does not remember the text that ${wantedRule} came with.`;
      deploymentWith(wantedRule).then((found) => (found === '' ? (problem.value = notThere) : go(pathTo('editor', found), true)), fail);
      return;
    }
    compareWith('', null);
    const before = view.current!.state.doc;
    look().then(() => {
      const now = view.current!.state.doc, isWritten = now !== before;  // what was written before the answer came stays
      if (wanted !== '' && known.value.text !== '' && !isWritten && known.value.text !== now.toString()) setText(view.current!, known.value.text);
    }, fail);
  }, [wanted, wantedRule, rules.value.size === 0]);
  /// Marks what is wrong with the text. Returns whether it has no error.
  const tell = (now: Diagnostic[], done: string) => {
    found.value = now;
    markUp(now);
    const errors = now.filter((each) => each.severity === 'error').length;
    problem.value = errors > 0 ? `Nothing was deployed: ${count(errors)} ${errors === 1 ? 'error' : 'errors'}.` : '';
    said.value = errors > 0 ? '' : done;
    return errors === 0;
  };
  const runBeside = async () => {
    busy.value = true;
    await look().then(() => deployShadow(known.value.name, text.value)).then((now) => tell(now, `${name.value} runs as a shadow.`)).catch(fail);
    busy.value = false;
  };
  /// Deploys with what is wrong marked, after asking where rules would go.
  const putInForce = async (fresh: string, done: string) => {
    if (name.value === '') return fail(new Error('Name the deployment first.'));
    busy.value = true;
    try {
      await look();
      const lost = await lostBy(known.value, fresh);
      const agreed = lost.length === 0 || confirm(`The text lacks rules that are in force: ${lost.join(', ')}. Remove them?`);
      if (agreed) {
        if (tell(await deploy(known.value, fresh, lost), done)) go(pathTo('editor', name.value), true);
        await look();
      }
    } catch (error) {
      fail(error);
    }
    busy.value = false;
  };
  const rollBack = (change: Change) => {
    if (!confirm(`Put version ${change.number} of ${name.value} in force?`)) return;
    compareWith('', null);
    setText(view.current!, change.text!);
    void putInForce(change.text!, `${name.value} is again what change ${change.number} made of it.`);
  };
  const remove = async () => {
    if (!confirm(`Remove all rules of ${name.value}: ${inForce(known.value).join(', ')}?`)) return;
    try {
      for (const rule of inForce(known.value)) await ask((to) => to.remove(rule));
      said.value = `${name.value} is removed.`;
      await look();
    } catch (error) {
      fail(error);
    }
  };
  const there = inForce(known.value), isDeployed = there.length > 0;
  return (
    <>
      <div class="beside with-trial">
        <Panel title="Editor" note={isDeployed ? `${count(there.length)} ${there.length === 1 ? 'rule' : 'rules'} in force` : 'not deployed'}
          tools={<span class="note">{languageServer.value ? 'Ctrl-Space completes, F2 renames, Shift-Alt-F formats' : 'without completion: the language server does not answer'}</span>}>
          <div class="form">
            <label for="deployment">Deployment</label>
            <input id="deployment" list="deployments" value={name.value} placeholder="a name" spellcheck={false}
              onInput={(event) => (name.value = event.currentTarget.value.trim())}
              onChange={() => (names.value.includes(name.value) && name.value !== wanted ? go(pathTo('editor', name.value)) : void look().catch(fail))} />
            <datalist id="deployments">{names.value.map((each) => <option key={each} value={each} />)}</datalist>
            <button class="primary" disabled={busy.value} onClick={() => void putInForce(text.value, `${name.value} is deployed.`)}>Deploy</button>
            <button disabled={busy.value || !isDeployed} onClick={() => void runBeside()}>Deploy as shadow</button>
            <button aria-pressed={comparing.value !== ''} disabled={!isDeployed && comparing.value === ''}
              onClick={() => compareWith('what is deployed', comparing.value === '' ? known.value.text : null)}>Compare with deployed</button>
            <button disabled={!isDeployed} onClick={() => void remove()}>Remove</button>
            {said.value !== '' && <span class="said" role="status">{said}</span>}
            {comparing.value !== '' && <span class="note">Compared with {comparing}. Lines that differ are marked.</span>}
          </div>
          {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
          <div class="code" ref={host} />
          <Findings found={found.value} show={show} />
        </Panel>
        <TrialPanel name={name} text={text} />
      </div>
      <div class="columns">
        <TestsPanel name={name} text={text} />
        <HistoryPanel deployed={known.value} compare={(change) => compareWith(`version ${change.number}`, change.text!)} rollBack={rollBack} />
      </div>
    </>
  );
}
