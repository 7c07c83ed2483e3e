// Why a rule fired for an event or did not: what was left at each step of its pattern.
import {useSignal} from '@preact/signals';
import {useEffect} from 'preact/hooks';
import {ask, textOf} from '../server';
import {clock, count, counted} from '../format';
import {eventsIn, type Named, pathToEvent, WithLinks} from '../event_links';
import {type Level, Mark, Panel} from '../parts';
import {go, pathTo, place} from '../route';
import {hasJournal, rules} from '../store';

interface Miss {
  event: string;
  test: string;
  found: string;
}
interface Loss {
  kind: string;
  test: string;
  count: number;
  nearest: Miss | null;
}
interface Step {
  kind: string;
  clause: string;
  sequences: number;
  candidates: number;
  passed: number;
  left: number;
  losses: Loss[];
  outside: Miss | null;
}
interface Funnel {
  event: string;
  timestamp_ms: number;
  outcome: string;
  forgotten: boolean;
  steps: Step[];
  complete: number;
  composites: number;
  waiting: number;
  cut: number;
  number: number;
  every: number;
  nearest: Miss | null;
}
interface Answer {
  rule: string;
  terminator: string;
  evaluated: number;
  produced: number;
  funnels: Funnel[];
}

const kOutcomes: Record<string, string> = {
  BeforeDeployment: 'it came before the rule was deployed',
  TooDeep: 'it is too deep in a chain of composites',
  TooMany: 'it has more partial sequences than max_sequences',
  Stopped: 'the search was given up',
};

function verdict(funnel: Funnel): {level: Level; text: string} {
  if (funnel.outcome === 'Counted') return {level: 'plain', text: `counted: ${count(funnel.number)} of ${count(funnel.every)}`};
  if (funnel.outcome !== 'Evaluated') return {level: 'warn', text: kOutcomes[funnel.outcome] ?? funnel.outcome};
  if (funnel.composites > 0) return {level: 'good', text: `fired ${funnel.composites === 1 ? '' : count(funnel.composites)}`.trim()};
  if (funnel.waiting > 0) return {level: 'plain', text: 'waits for its deadline'};
  if (funnel.cut > 0) return {level: 'plain', text: 'cut by @at_most: it came too soon after others'};
  return {level: 'plain', text: 'did not fire'};
}

const Near = (props: {miss: Miss; lead: string}) => (
  <p class="near">{props.lead} <WithLinks text={props.miss.event} />: it takes <code>{props.miss.test}</code>, and there is <WithLinks text={props.miss.found} /></p>
);

function Bar(props: {step: Step; most: number}) {
  const {step} = props, share = (value: number) => `${(100 * Math.log2(1 + value)) / Math.log2(1 + props.most)}%`;
  return (
    <li class={step.left === 0 ? 'step ends' : 'step'}>
      <div class="clause"><small>{step.kind}</small><code>{step.clause}</code></div>
      <div class="flow" role="img" aria-label={`${counted(step.candidates, 'candidate')}, ${count(step.passed)} passed, ${count(step.left)} left`}>
        <i class="candidates" style={{width: share(step.candidates)}} />
        <i class="passed" style={{width: share(step.passed)}} />
        <i class="left" style={{width: share(step.left)}} />
        <span>{counted(step.candidates, 'candidate')} → {count(step.passed)} passed → {count(step.left)} left</span>
      </div>
      {step.losses.map((loss) => (
        <div key={loss.kind + loss.test} class="loss">
          <Mark level={loss.kind === 'Negation' ? 'warn' : 'plain'}>{loss.kind.toLowerCase()}</Mark> {count(loss.count)} lost to <code>{loss.test}</code>
          {loss.nearest && <Near miss={loss.nearest} lead={loss.kind === 'Negation' || loss.kind === 'Absence' ? 'Excluded was' : 'The nearest was'} />}
        </div>
      ))}
      {step.outside && <Near miss={step.outside} lead="Outside of the window was" />}
    </li>
  );
}

const kUnits: Record<string, number> = {ms: 1, millisecond: 1, s: 1e3, sec: 1e3, second: 1e3, m: 6e4, min: 6e4, minute: 6e4, h: 36e5, hour: 36e5, d: 864e5, day: 864e5};

/// How far a clause looks back, in milliseconds, as it is written; null: it names no window.
export function windowOf(clause: string): number | null {
  const found = /within\s+([\d.]+)\s*([a-z]+)/.exec(clause);
  if (found === null) return null;
  const unit = found[2]!, size = kUnits[unit] ?? kUnits[unit.replace(/s$/, '')];
  return size === undefined ? null : Number(found[1]) * size;
}

interface Dot extends Named {
  kind: 'missed' | 'excluded' | 'outside';
  told: string;
}

/// The events that a step names: those that came nearest, that excluded others, or that lay outside of the window.
function dotsOf(step: Step): Dot[] {
  const dots: Dot[] = [];
  const add = (kind: Dot['kind'], text: string, told: string) => eventsIn(text).forEach((event) => dots.push({...event, kind, told}));
  for (const loss of step.losses) {
    if (loss.nearest === null) continue;
    const excludes = loss.kind === 'Negation' || loss.kind === 'Absence';
    if (excludes) add('excluded', loss.nearest.found, `excluded ${count(loss.count)}`);
    else add('missed', loss.nearest.event, `${loss.nearest.test}: ${loss.nearest.found}`);
  }
  if (step.outside) add('outside', step.outside.event, 'outside of the window');
  return dots;
}

/// The windows of the steps on one axis that ends with the event, and the events that explain them.
function Windows(props: {funnel: Funnel}) {
  const steps = props.funnel.steps.map((step) => ({step, size: windowOf(step.clause), dots: dotsOf(step)})).filter((each) => each.size !== null || each.dots.length > 0);
  const end = props.funnel.timestamp_ms, most = Math.max(0, ...steps.map((each) => each.size ?? 0));
  if (most === 0) return null;
  const span = most * 1.15, share = (milliseconds: number) => (100 * milliseconds) / span;
  return (
    <div class="windows">
      <h3>Windows</h3>
      {steps.map(({step, size, dots}) => (
        <div key={step.clause} class="window">
          {size !== null && <i class={step.left === 0 ? 'none' : ''} style={{width: `${Math.max(1, share(size))}%`}} />}
          <code title={step.clause}>{step.clause}</code>
          {dots.map((dot, i) => {
            const title = `${dot.text}: ${dot.told}`, style = {right: `${Math.min(99, Math.max(0, share(end - dot.at)))}%`};
            return hasJournal.value
              ? <a key={i} class={`dot ${dot.kind}`} style={style} title={title} aria-label={title} href={pathToEvent(dot)} />
              : <b key={i} class={`dot ${dot.kind}`} style={style} title={title} role="img" aria-label={title} />;
          })}
        </div>
      ))}
      <div class="axis"><span>{clock(end - span)}</span><span>{clock(end)}</span></div>
      <p class="legend"><b class="dot missed" />came nearest <b class="dot excluded" />excluded others <b class="dot outside" />outside of the window</p>
    </div>
  );
}

function Picture(props: {funnel: Funnel}) {
  const {funnel} = props, {level, text} = verdict(funnel);
  const most = Math.max(1, ...funnel.steps.map((step) => Math.max(step.candidates, step.passed, step.left)));
  return (
    <Panel title={text} class={level}>
      <p class="text"><WithLinks text={funnel.event} /></p>
      {funnel.forgotten && <p class="note">Events that it could see may be forgotten by now, so less may be left than there was.</p>}
      <Windows funnel={funnel} />
      <ol class="funnel">{funnel.steps.map((step, i) => <Bar key={i} step={step} most={most} />)}</ol>
      {funnel.nearest && <Near miss={funnel.nearest} lead="The nearest miss of all was" />}
    </Panel>
  );
}

function Events(props: {answer: Answer; chosen: number; choose: (index: number) => void}) {
  return (
    <ol class="choices">
      {props.answer.funnels.map((funnel, i) => {
        const {level, text} = verdict(funnel);
        return (
          <li key={i}>
            <button aria-pressed={i === props.chosen} onClick={() => props.choose(i)}>
              <time>{clock(funnel.timestamp_ms)}</time> <Mark level={level}>{text}</Mark>
              <small>{funnel.event}</small>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function useAnswer(rule: string, at: string) {
  const answer = useSignal<Answer | null>(null), problem = useSignal(''), asked = useSignal(0);
  useEffect(() => {
    answer.value = null;
    problem.value = '';
    if (rule === '') return;
    ask((to) => to.why(rule, {last: 20, at: at === '' ? undefined : Number(at)})).then((told) => (answer.value = told as Answer), (error) => (problem.value = textOf(error)));
  }, [rule, at, asked.value]);
  return {answer, problem, again: () => asked.value++};
}

export function Why() {
  const rule = place.value.name, at = place.value.query.get('at') ?? '', chosenText = place.value.query.get('event') ?? '';
  const {answer, problem, again} = useAnswer(rule, at);
  const told = answer.value;
  const chosen = chosenText === '' ? (told?.funnels.length ?? 0) - 1 : Number(chosenText);
  const funnel = told?.funnels[chosen];
  const open = (name: string, query: Record<string, string> = {}) => go(pathTo('why', name, query));
  return (
    <>
      <Panel title="Why" note={told ? `${count(told.evaluated)} ${told.terminator} evaluated, ${counted(told.produced, 'composite')}` : ''}>
        <div class="form">
          <label for="rule">Rule</label>
          <select id="rule" value={rule} onChange={(event) => open(event.currentTarget.value)}>
            <option value="">choose one</option>
            {[...rules.value.keys()].sort().map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
          <label for="at">At (milliseconds since 1970)</label>
          <input id="at" inputMode="numeric" value={at} placeholder="the last 20" onChange={(event) => open(rule, {at: event.currentTarget.value.trim()})} />
          <button disabled={rule === ''} onClick={again}>Ask again</button>
        </div>
        {problem.value !== '' && <p class="problem" role="alert">{problem}</p>}
        {rule === '' && <p class="empty">Choose a rule to see what its last events came to.</p>}
        {told?.funnels.length === 0 && <p class="empty">No event of the type {told.terminator} has come that the rule was asked about.</p>}
      </Panel>
      {told && funnel && (
        <div class="beside list-first">
          <Panel title="Events"><Events answer={told} chosen={chosen} choose={(i) => go(pathTo('why', rule, {at, event: String(i)}), true)} /></Panel>
          <Picture funnel={funnel} />
        </div>
      )}
    </>
  );
}
