// What the server tells of itself: rows by kind and name, fed by one stream, and what the browser
// remembers of the last minutes.
import {batch, computed, signal} from '@preact/signals';
import {isRefusal, loginWanted, textOf} from './server';
import {listen, type SentEvent} from './sse';

export interface Totals {
  events_accepted: number;
  events_refused: number;
  composites: number;
  events_accepted_per_second: number;
  events_refused_per_second: number;
  composites_per_second: number;
  [statistic: string]: number;
}
/// Nanoseconds for each terminator: estimated, measured, and for keeping indexes up to date.
export type Cost = [number | null, number | null, number | null];
/// What is known best of an evaluation.
export const evaluationOf = (cost: Cost) => cost[1] ?? cost[0];

export interface Rule {
  name: string;
  engine: string;
  automatic: boolean;
  moves: number;
  events_per_second: number;
  terminators_per_second: number;
  composites_per_second: number;
  /// Of composites of late, in milliseconds: the mean, and the longest.
  latency: [number, number] | null;
  terminators: number;
  composites: number;
  pending: number;
  overflows: number;
  declined: number;
  suspended: boolean;
  passed_over: number;
  alarm: string;
  bytes: number;
  because: string;
  costs: Record<string, Cost>;
}
export interface Shape {
  name: string;
  type: string;
  reads: string[];
}
export interface EventType {
  name: string;
  per_second: number;
  accepted: number;
  seen: number;
  events: number;
  bytes: number;
  kept_ms: number;
  late: number;
  too_late: number;
  no_value: number;
  unread: boolean;
  subscribed: boolean;
}
export interface Device {
  name: string;
  problem: string;
  failures: number;
  failure: string;
  failed_on: string;
  counters: Record<string, number>;
}
export interface Latency {
  name: string;
  events: number;
  p50_us: number | null;
  p99_us: number | null;
  p999_us: number | null;
  most_us: number | null;
}
export interface Connections {
  open: number;
  closed: Record<string, number>;
}
export interface Move {
  at: number;
  rule: string;
  from: string;
  to: string;
  because: string;
}

interface Kinds {
  totals: Totals;
  refused: Record<string, number>;
  latency: Latency;
  connections: Connections;
  rule: Rule;
  shape: Shape;
  type: EventType;
  device: Device;
}
type Kind = keyof Kinds;
type Table<K extends Kind> = ReadonlyMap<string, Kinds[K]>;

const tables = {
  totals: signal<Table<'totals'>>(new Map()),
  refused: signal<Table<'refused'>>(new Map()),
  latency: signal<Table<'latency'>>(new Map()),
  connections: signal<Table<'connections'>>(new Map()),
  rule: signal<Table<'rule'>>(new Map()),
  shape: signal<Table<'shape'>>(new Map()),
  type: signal<Table<'type'>>(new Map()),
  device: signal<Table<'device'>>(new Map()),
};

export const rules = tables.rule;
export const shapes = tables.shape;
export const types = tables.type;
export const devices = tables.device;
export const totals = computed(() => tables.totals.value.get(''));
export const refused = computed(() => tables.refused.value.get(''));
/// Whether the server keeps what it accepts, so that one can look at it later.
export const hasJournal = computed(() => totals.value?.journal_records !== undefined);
export const connections = computed(() => tables.connections.value.get(''));
export const latency = computed(() => tables.latency.value.get('latency'));

/// Whether the stream is open; else what is wrong.
export const link = signal<{open: boolean; problem: string}>({open: false, problem: ''});

// Two minutes at two pushes a second.
export const kTicks = 240;

/// The last values of something, the newest last. `ticks` counts those that ever were.
export class Series {
  readonly values: (number | null)[] = [];
  push(value: number | null) {
    this.values.push(value);
    if (this.values.length > kTicks) this.values.shift();
  }
}

export type EngineClass = 'cpu' | 'gpu' | 'both' | 'none';
export function classOf(engine: string): EngineClass {
  if (engine === '') return 'none';
  if (!engine.includes('cuda')) return 'cpu';
  return engine.includes(' and ') ? 'both' : 'gpu';
}

export interface RulePast {
  composites: Series;
  terminators: Series;
  engines: EngineClass[];
}
export const past = {
  times: new Series(),
  events: new Series(),
  composites: new Series(),
  p50: new Series(),
  p99: new Series(),
  cpu: new Series(),
  gpu: new Series(),
  both: new Series(),
  rules: new Map<string, RulePast>(),
  totals: [] as Totals[],
};
/// Rises with each push that `past` has taken in.
export const tick = signal(0);
export const moves = signal<readonly Move[]>([]);
/// What the counters of devices rose by in a second, lately.
export const deviceRates = signal<ReadonlyMap<string, Record<string, number>>>(new Map());
const deviceSeen = new Map<string, {at: number; counters: Record<string, number>}>();

function noteDevice(at: number, device: Device) {
  const before = deviceSeen.get(device.name);
  deviceSeen.set(device.name, {at, counters: device.counters});
  if (before === undefined || at <= before.at) return;
  const rates = Object.entries(device.counters).map(([name, value]) => [name, ((value - (before.counters[name] ?? 0)) * 1000) / (at - before.at)]);
  deviceRates.value = new Map(deviceRates.value).set(device.name, Object.fromEntries(rates) as Record<string, number>);
}

/// How much a total has risen within what the browser remembers.
export function risen(name: string): number {
  const newest = past.totals[past.totals.length - 1];
  return newest === undefined ? 0 : (newest[name] ?? 0) - (past.totals[0]![name] ?? 0);
}

function pastOf(rule: string): RulePast {
  const known = past.rules.get(rule) ?? {composites: new Series(), terminators: new Series(), engines: []};
  past.rules.set(rule, known);
  return known;
}

function remember(at: number) {
  const now = totals.value;
  if (now === undefined) return;
  past.times.push(at / 1000);
  past.events.push(now.events_accepted_per_second);
  past.composites.push(now.composites_per_second);
  past.p50.push(latency.value?.p50_us ?? null);
  past.p99.push(latency.value?.p99_us ?? null);
  past.totals.push(now);
  if (past.totals.length > kTicks) past.totals.shift();
  const sums = {cpu: 0, gpu: 0, both: 0, none: 0};
  for (const rule of rules.value.values()) {
    const known = pastOf(rule.name), engine = classOf(rule.engine);
    known.composites.push(rule.composites_per_second);
    known.terminators.push(rule.terminators_per_second);
    known.engines.push(engine);
    if (known.engines.length > kTicks) known.engines.shift();
    sums[engine] += rule.terminators_per_second;
  }
  for (const name of past.rules.keys()) if (!rules.value.has(name)) past.rules.delete(name);
  for (const engine of ['cpu', 'gpu', 'both'] as const) past[engine].push(sums[engine]);
  tick.value++;
}

function noteMove(at: number, rule: Rule) {
  const before = rules.value.get(rule.name);
  if (before === undefined || before.engine === rule.engine || before.engine === '') return;
  const move = {at, rule: rule.name, from: before.engine, to: rule.engine, because: rule.because};
  moves.value = [move, ...moves.value].slice(0, 200);
}

type Row = {kind: string; name?: string; gone?: boolean};

function takeRows(at: number, rows: Row[]) {
  const changed = new Map<Kind, Map<string, unknown>>();
  for (const row of rows) {
    const kind = row.kind as Kind, name = row.name ?? '';
    if (!(kind in tables)) continue;
    if (kind === 'rule' && !row.gone) noteMove(at, row as unknown as Rule);
    if (kind === 'device' && !row.gone) noteDevice(at, row as unknown as Device);
    const table = changed.get(kind) ?? new Map<string, unknown>(tables[kind].value);
    changed.set(kind, table);
    if (row.gone) table.delete(name);
    else table.set(name, row);
  }
  for (const [kind, table] of changed) (tables[kind] as {value: unknown}).value = table;
}

function take(events: SentEvent[]) {
  batch(() => {
    for (const event of events) {
      if (event.kind === 'leaving') link.value = {open: true, problem: 'the server is about to stop'};
      if (event.kind !== 'message') continue;
      const push = JSON.parse(event.data) as {at: number; more: boolean; rows: Row[]};
      takeRows(push.at, push.rows);
      remember(push.at);
    }
  });
}

/// The server may be another one than before, so nothing of what it said counts any more.
function forget() {
  for (const table of Object.values(tables)) table.value = new Map();
  past.rules.clear();
  past.totals.length = 0;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/// Keeps the stream open for as long as the page is.
export async function follow() {
  for (let wait = 250; ; wait = Math.min(2 * wait, 4000)) {
    try {
      await listen('workbench/stream', take, () => {
        batch(forget);
        link.value = {open: true, problem: ''};
        wait = 250;
      });
      link.value = {open: false, problem: 'the server has ended the connection'};
    } catch (error) {
      link.value = {open: false, problem: textOf(error)};
      if (isRefusal(error, 'forbidden')) loginWanted.value = textOf(error);
    }
    if (loginWanted.value !== null) await newToken();
    else await pause(wait);
  }
}

function newToken() {
  return new Promise<void>((resolve) => {
    const stop = loginWanted.subscribe((wanted) => {
      if (wanted !== null) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}
