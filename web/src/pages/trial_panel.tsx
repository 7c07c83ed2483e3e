// Rules on trial: what they would give for a sample of events, with nothing deployed.
import {type Signal, useSignal, useSignalEffect} from '@preact/signals';
import {useEffect, useMemo} from 'preact/hooks';
import {textOf} from '../server';
import {type Trial, tryRules} from '../deployment';
import {attributes, clock, count, counted} from '../format';
import {Mark, Panel, Table} from '../parts';
import {fromJournal, Recorder} from '../sample';
import {hasJournal} from '../store';

const kExample = '{"type":"Temp","ts":1000,"attrs":{"area":"A1","value":46.5}}\n{"type":"Temp","ts":2000,"attrs":{"area":"A2","value":21}}';
const kPause = 700, kLivePeriod = 2000;

/// Tries the text whenever it, or the sample, has rested for a moment; with the stream every two seconds.
function useTrial(name: Signal<string>, text: Signal<string>, sample: Signal<string>, recorder: Recorder) {
  const told = useSignal<Trial | null>(null), problem = useSignal(''), busy = useSignal(false);
  const run = async () => {
    if (busy.value || text.value.trim() === '') return;
    busy.value = true;
    try {
      const made = new Set(told.value?.rules.map((rule) => rule.type));
      told.value = await tryRules(name.value, text.value, recorder.running.value ? recorder.text(made) : sample.value);
      problem.value = '';
    } catch (error) {
      problem.value = textOf(error);
    }
    busy.value = false;
  };
  useSignalEffect(() => {
    void text.value, sample.value;
    const timer = setTimeout(() => void run(), kPause);
    return () => clearTimeout(timer);
  });
  useSignalEffect(() => {
    if (!recorder.running.value) return;
    const timer = setInterval(() => void run(), kLivePeriod);
    return () => clearInterval(timer);
  });
  return {told, problem};
}

function Outcome(props: {told: Trial}) {
  const {told} = props, failed = told.diagnostics.some((each) => each.severity === 'error');
  if (failed) return <p class="empty">The text has errors, so nothing was tried.</p>;
  return (
    <>
      <p class="note" role="status">
        {counted(told.accepted, 'event')}, {counted(told.composites, 'composite')}{told.refused > 0 && `, ${counted(told.refused, 'line')} refused`}
        {told.stopped && '; given up after ten seconds'}
      </p>
      {told.errors.slice(0, 3).map((error) => <p key={error} class="problem">{error}</p>)}
      <Table label="Rules on trial" rows={told.rules} id={(rule) => rule.name} empty="The text has no rules."
        columns={[
          {title: 'Rule', cell: (rule) => <>{rule.name} {rule.composites === 0 && <Mark level="plain">silent</Mark>} {rule.overflows > 0 && <Mark level="warn">overflows {count(rule.overflows)} at max_sequences {count(rule.max_sequences)}</Mark>}</>},
          {title: 'Terminators', cell: (rule) => count(rule.terminators), number: true},
          {title: 'Composites', cell: (rule) => count(rule.composites), number: true},
        ]} />
      <Table label="Composites on trial" rows={told.events.slice().reverse().map((event, i) => ({...event, id: told.events.length - i}))} id={(event) => String(event.id)} most={100} empty="The rules give nothing for these events."
        columns={[
          {title: 'Time', cell: (event) => clock(event.ts)},
          {title: 'Rule', cell: (event) => event.rule},
          {title: 'Composite', cell: (event) => <code>{event.type} {attributes(event.attrs)}</code>},
        ]} />
    </>
  );
}

export function TrialPanel(props: {name: Signal<string>; text: Signal<string>}) {
  const sample = useSignal(kExample), wrong = useSignal(''), recorder = useMemo(() => new Recorder(), []);
  const {told, problem} = useTrial(props.name, props.text, sample, recorder);
  useEffect(() => () => recorder.stop(), []);
  const running = recorder.running.value;
  const stop = () => {
    sample.value = recorder.text(new Set());
    recorder.stop();
  };
  const take = (events: Promise<string>) => events.then((text) => {
    recorder.stop();
    sample.value = text;
    wrong.value = '';
  }, (error) => (wrong.value = textOf(error)));
  const said = wrong.value || problem.value || recorder.problem.value;
  return (
    <Panel title="Trial" note="nothing is deployed" class="trial">
      <div class="form">
        <button aria-pressed={running} onClick={() => (running ? stop() : recorder.start())}>{running ? 'Stop, and keep it' : 'Live stream'}</button>
        {hasJournal.value && <button onClick={() => void take(fromJournal(60_000))}>Last minute of the journal</button>}
        <label class="button">File<input type="file" class="hidden" accept=".ndjson,.json,.csv,.txt,.trace" onChange={(event) => void take(event.currentTarget.files![0]!.text())} /></label>
      </div>
      {running
        ? <p class="note">{counted(recorder.events.value, 'event')}, {count(recorder.left.value)} left out{recorder.left.value > 0 && ', so that patterns may be missed'}</p>
        : <textarea aria-label="Sample of events" spellcheck={false} rows={5} value={sample.value} onInput={(event) => (sample.value = event.currentTarget.value)} />}
      {said !== '' && <p class="problem" role="alert">{said}</p>}
      {told.value && <Outcome told={told.value} />}
    </Panel>
  );
}
