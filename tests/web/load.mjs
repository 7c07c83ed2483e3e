// What browsers cost the engine: node tests/web/load.mjs [ROUNDS] [SECONDS] [EVENTS A SECOND]. Each round runs the same load
// with nobody looking, with one browser, and with ten streams of the workbench, in an order that changes from round to round,
// and prints the processor time that the engine thread took for an event. Before that it prints what the engine thread takes
// for those who look while no event comes, which other programs on the machine disturb less. LOAD names bench/load's server_load.
import {spawn} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {deploy, openBrowser, root, serve} from './support.mjs';

const [rounds = 4, seconds = 8, rate = 100_000] = process.argv.slice(2).map(Number);
const loader = process.env.LOAD ?? `${root}/build/release/bench/load/server_load`;
const server = await serve();
await deploy(server, 'auctions', 'cards', 'stocks');

/// Nanoseconds that each thread of the server has run.
function threads() {
  const tasks = `/proc/${server.child.pid}/task`;
  return new Map(readdirSync(tasks).map((id) => [id, Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0])]));
}

async function accepted() {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^gorgo_events_accepted_total ([\d.e+]+)/m.exec(text)[1]);
}

function load() {
  const child = spawn(loader, ['--to', server.native, '--connections', '1', '--subscribers', '1', '--threads', '1', '--batch', '1000', '--rate', String(rate), '--seconds', String(seconds)], {stdio: ['ignore', 'ignore', 'inherit']});
  return new Promise((resolve, reject) => child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${loader} ended with ${code}`)))));
}

let engine = '';
/// Nanoseconds of the engine thread for an event, and events a second.
async function measure() {
  const before = threads(), events = await accepted(), began = performance.now();
  await load();
  const took = (performance.now() - began) / 1000, more = (await accepted()) - events;
  const ran = [...threads()].map(([id, now]) => [id, now - (before.get(id) ?? 0)]).filter(([id]) => id !== String(server.child.pid));
  if (engine === '') engine = ran.sort((a, b) => b[1] - a[1])[0][0];  // the busiest beside the I/O thread
  return {cost: ran.find(([id]) => id === engine)[1] / more, rate: more / took};
}

/// Streams as browsers have them, read and thrown away.
function streams(count) {
  const ends = new AbortController();
  let bytes = 0;
  for (let i = 0; i < count; ++i) {
    fetch(`${server.url}/v1/workbench/stream`, {signal: ends.signal}).then(async (response) => {
      for await (const piece of response.body) bytes += piece.length;
    }).catch(() => {});
  }
  return () => (ends.abort(), bytes);
}

async function withBrowser(use) {
  const browser = await openBrowser(), page = await browser.newPage();
  await page.goto(server.url);
  await page.getByText('live', {exact: true}).waitFor();
  const result = await use();
  await browser.close();
  return result;
}

async function withStreams(use) {
  const stop = streams(10), result = await use();
  const bytes = stop();
  return {...result, bytes: bytes / 10 / seconds};
}

const ways = {nobody: (use) => use(), 'one browser': withBrowser, 'ten streams': withStreams};
const found = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
await measure();  // warms up

/// Microseconds of the engine thread in a second without events.
async function idle() {
  const before = threads(), began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  const ran = threads().get(engine) - before.get(engine);
  return {microseconds: ran / (performance.now() - began)};
}
const quiet = (await idle()).microseconds;
for (const name of ['one browser', 'ten streams']) {
  const {microseconds} = await ways[name](idle);
  console.log(`${name}, no events: ${(microseconds - quiet).toFixed(0)} us of the engine thread in a second, ${((microseconds - quiet) / 1e4).toFixed(3)} % of it`);
}

for (let round = 0; round < rounds; ++round) {
  const names = Object.keys(ways);
  for (let i = 0; i < names.length; ++i) {
    const name = names[(i + round) % names.length], {cost, rate: got, bytes} = await ways[name](measure);
    found[name].push(cost);
    console.log(`round ${round + 1}, ${name}: ${cost.toFixed(1)} ns of the engine thread for an event, ${got.toFixed(0)} events/s${bytes ? `, ${(bytes / 1024).toFixed(1)} KiB/s to each` : ''}`);
  }
}
const median = (values) => values.slice().sort((a, b) => a - b)[Math.floor(values.length / 2)];
for (const name of ['one browser', 'ten streams']) {
  const ratios = found[name].map((cost, round) => cost / found.nobody[round]);
  console.log(`${name}: ${median(ratios).toFixed(3)} of the time with nobody looking (${ratios.map((ratio) => ratio.toFixed(3)).join(' ')})`);
}
await server.stop();
