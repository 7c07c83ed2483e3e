// A plot over the last two minutes.
import {effect} from '@preact/signals';
import {useEffect, useRef} from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {count} from './format';
import {past, tick, type Series} from './store';

export interface Line {
  label: string;
  colour: string;  // a variable of style.css
  of: Series;
  filled?: boolean;
}

const variable = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dark = matchMedia('(prefers-color-scheme: dark)');

export function Plot(props: {label: string; lines: Line[]; height?: number; value?: (value: number) => string}) {
  const box = useRef<HTMLDivElement>(null);
  const names = props.lines.map((line) => line.label).join();
  useEffect(() => {
    const host = box.current!, height = props.height ?? 170, value = props.value ?? count;
    const data = () => [past.times.values, ...props.lines.map((line) => align(line.of.values))] as uPlot.AlignedData;
    let plot: uPlot | null = null;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(options(props.lines, host.clientWidth, height, value), data(), host);
    };
    draw();
    const resized = new ResizeObserver(() => plot?.setSize({width: host.clientWidth, height}));
    resized.observe(host);
    dark.addEventListener('change', draw);
    const stop = effect(() => {
      tick.value;
      plot?.setData(data());
    });
    return () => {
      stop();
      resized.disconnect();
      dark.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [names]);
  return <div class="plot" ref={box} role="img" aria-label={props.label} />;
}

/// A series that began later than the others has nothing at first.
function align(values: (number | null)[]): (number | null)[] {
  const missing = past.times.values.length - values.length;
  return missing > 0 ? [...new Array<null>(missing).fill(null), ...values] : values.slice(-missing || 0);
}

function options(lines: Line[], width: number, height: number, value: (value: number) => string): uPlot.Options {
  const axis = {stroke: variable('--quiet'), grid: {stroke: variable('--line'), width: 1}, ticks: {show: false}, font: '11px system-ui'};
  return {
    width,
    height,
    cursor: {points: {show: false}},
    legend: {live: true},
    axes: [{...axis, space: 70}, {...axis, size: 52, space: 32, values: (_, ticks) => ticks.map(value)}],
    scales: {y: {range: (_, __, most) => [0, Math.max(most ?? 0, 1e-9) * 1.08]}},
    series: [
      {value: (_, at: number | null) => (at === null ? '' : new Date(at * 1000).toISOString().slice(11, 19))},
      ...lines.map((line) => ({
        label: line.label,
        stroke: variable(line.colour),
        fill: line.filled ? `${variable(line.colour)}22` : undefined,
        width: 1.5,
        points: {show: false},
        value: (_: uPlot, y: number | null) => (y === null ? '–' : value(y)),
      })),
    ],
  };
}
