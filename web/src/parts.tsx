// What the views are made of.
import {useSignal} from '@preact/signals';
import type {ComponentChildren} from 'preact';
import {count} from './format';
import {pathTo} from './route';
import {classOf, past, tick} from './store';

export function Panel(props: {title: string; note?: string; class?: string; children: ComponentChildren; tools?: ComponentChildren}) {
  return (
    <section class={`panel ${props.class ?? ''}`}>
      <header>
        <h2>{props.title}</h2>
        {props.note && <span class="note">{props.note}</span>}
        {props.tools && <span class="tools">{props.tools}</span>}
      </header>
      {props.children}
    </section>
  );
}

export type Level = 'good' | 'warn' | 'bad' | 'plain';

export function Tile(props: {label: string; value: string; note?: string; level?: Level}) {
  return (
    <div class={`tile ${props.level ?? 'plain'}`}>
      <dt>{props.label}</dt>
      <dd>
        <b>{props.value}</b>
        {props.note && <small>{props.note}</small>}
      </dd>
    </div>
  );
}

/// A line of the last two minutes, in the height of a text.
export function Spark(props: {values: readonly (number | null)[]; label: string}) {
  tick.value;
  const width = 88, height = 18, values = props.values;
  const most = Math.max(1e-9, ...values.map((value) => value ?? 0));
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, i) => `${(i * step).toFixed(1)},${(height - 1 - ((value ?? 0) / most) * (height - 2)).toFixed(1)}`);
  return (
    <svg class="spark" width={width} height={height} role="img" aria-label={props.label}>
      <polyline points={points.join(' ')} />
    </svg>
  );
}

export const RuleSpark = (props: {rule: string}) => (
  <Spark values={past.rules.get(props.rule)?.composites.values ?? []} label={`composites of ${props.rule} in the last two minutes`} />
);

export const RuleLink = (props: {rule: string}) => <a href={pathTo('rules', props.rule)}>{props.rule}</a>;

export function Engine(props: {name: string}) {
  const name = props.name === '' ? 'none' : props.name;
  return <span class={`engine ${classOf(props.name)}`}>{name}</span>;
}

export const Mark = (props: {level: Level; children: ComponentChildren}) => <span class={`mark ${props.level}`}>{props.children}</span>;

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  sort?: (row: Row) => number | string;
  number?: boolean;
}

interface TableProps<Row> {
  rows: readonly Row[];
  columns: Column<Row>[];
  id: (row: Row) => string;
  empty: string;
  label: string;
  sorted?: number;   // by this column at first
  most?: number;     // so many rows are shown
}

/// A table that its columns sort.
export function Table<Row>(props: TableProps<Row>) {
  const by = useSignal(props.sorted ?? -1), down = useSignal(true);
  const column = props.columns[by.value];
  let rows = [...props.rows];
  if (column?.sort) {
    const of = column.sort, sign = down.value ? -1 : 1;
    rows.sort((a, b) => (of(a) < of(b) ? -sign : of(a) > of(b) ? sign : props.id(a) < props.id(b) ? -1 : 1));
  }
  const left = props.most === undefined ? 0 : Math.max(0, rows.length - props.most);
  if (left > 0) rows = rows.slice(0, props.most);
  const sortBy = (index: number) => {
    down.value = by.value === index ? !down.value : props.columns[index]!.number === true;
    by.value = index;
  };
  if (rows.length === 0) return <p class="empty">{props.empty}</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
      <table>
        <thead>
          <tr>
            {props.columns.map((each, i) => (
              <th key={each.title} class={each.number ? 'number' : ''} aria-sort={by.value === i ? (down.value ? 'descending' : 'ascending') : undefined}>
                {each.sort ? <button onClick={() => sortBy(i)}>{each.title}</button> : each.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={props.id(row)}>
              {props.columns.map((each) => <td key={each.title} class={each.number ? 'number' : ''}>{each.cell(row)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p class="note">{count(left)} more are not shown</p>}
    </div>
  );
}
