// The last two minutes of some rules: who was in charge, and why a rule moved.
import {clock} from './format';
import {type EngineClass, kTicks, type Move, past, tick} from './store';

interface Stretch {
  engine: EngineClass;
  from: number;  // ticks
  to: number;
}

function stretchesOf(engines: readonly EngineClass[]): Stretch[] {
  const found: Stretch[] = [], first = kTicks - engines.length;
  engines.forEach((engine, i) => {
    const last = found[found.length - 1];
    if (last?.engine === engine) last.to = first + i + 1;
    else found.push({engine, from: first + i, to: first + i + 1});
  });
  return found;
}

const kWidth = 720, kRow = 22, kLabel = 150, kMostRows = 20;
const xOf = (at: number) => kLabel + ((kWidth - kLabel) * at) / kTicks;

/// Where on the axis a time stands; null: before it.
function tickOf(at: number): number | null {
  const times = past.times.values, index = times.findIndex((time) => time !== null && time * 1000 >= at);
  return index < 0 ? null : kTicks - times.length + index;
}

function Row(props: {rule: string; y: number; moves: readonly Move[]}) {
  const {rule, y, moves} = props, label = rule.length > 22 ? `${rule.slice(0, 21)}…` : rule;
  return (
    <g transform={`translate(0,${y})`}>
      <text x={0} y={15}>{label}<title>{rule}</title></text>
      {stretchesOf(past.rules.get(rule)?.engines ?? []).map((each) => (
        <rect key={each.from} class={`stretch ${each.engine}`} x={xOf(each.from)} width={xOf(each.to) - xOf(each.from)} y={3} height={kRow - 7} />
      ))}
      {moves.map((move) => {
        const at = tickOf(move.at);
        return at === null ? null : (
          <circle key={move.at} class="move" cx={xOf(at)} cy={kRow / 2 - 0.5} r={4.5}>
            <title>{`${clock(move.at)}: ${move.from} → ${move.to}${move.because === '' ? '' : `, because ${move.because}`}`}</title>
          </circle>
        );
      })}
    </g>
  );
}

export function Timeline(props: {moves: readonly Move[]}) {
  tick.value;
  const names = [...new Set(props.moves.map((move) => move.rule))].slice(0, kMostRows);
  if (names.length === 0) return null;
  const height = names.length * kRow;
  return (
    <svg class="timeline" viewBox={`0 0 ${kWidth} ${height + 14}`} role="img" aria-label="Moves of rules between engines in the last two minutes">
      {names.map((rule, i) => <Row key={rule} rule={rule} y={i * kRow} moves={props.moves.filter((move) => move.rule === rule)} />)}
      <text class="end" x={kLabel} y={height + 11}>two minutes ago</text>
      <text class="end" x={kWidth - 22} y={height + 11}>now</text>
    </svg>
  );
}
