// A real server with rules and a load, and a browser that looks at it.
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {createServer} from 'node:http';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {gunzipSync} from 'node:zlib';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const installed = createRequire(`${root}/web/package.json`);
export const {chromium} = installed('playwright-core');
export const axePath = installed.resolve('axe-core/axe.min.js');
export const gorgo = process.env.GORGO ?? `${root}/build/release/gorgo`;

/// A server on free ports, or on those of an earlier one.
export async function serve({native = 0, http = 0, options = []} = {}) {
  const child = spawn(gorgo, ['serve', '--listen', `127.0.0.1:${native}`, '--http', `127.0.0.1:${http}`, ...options], {stdio: ['ignore', 'pipe', 'ignore']});
  const server = {child, native: '', http: ''};
  for await (const line of createInterface({input: child.stdout})) {
    if (line.startsWith('listening on ')) server.native = line.slice(13);
    if (line.startsWith('http on ')) server.http = line.slice(8);
    if (server.native !== '' && server.http !== '') break;
  }
  child.stdout.resume();
  server.url = `http://${server.http}`;
  server.stop = () => new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });
  if (server.http === '') throw new Error(`gorgo serve --http 127.0.0.1:${http} has not begun`);
  return server;
}

/// Deploys files of rules/, each under its name.
export async function deploy(server, ...names) {
  for (const name of names) {
    const response = await fetch(`${server.url}/v1/rules/${name}`, {method: 'PUT', body: readFileSync(`${root}/rules/${name}.tesla`)});
    if (!response.ok) throw new Error(await response.text());
  }
}

export async function post(server, events) {
  const response = await fetch(`${server.url}/v1/events`, {method: 'POST', body: events.map((event) => JSON.stringify(event)).join('\n')});
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

let posted = 0;
/// Readings of some areas, most of them cool; now and then one is hot, and there is smoke or rain.
export function readings(count) {
  return Array.from({length: count}, () => {
    const i = posted++, area = `A${i % 7}`;
    if (i % 40 === 0) return {type: 'Smoke', attrs: {area}};
    if (i % 90 === 0) return {type: 'Rain', attrs: {area}};
    return {type: 'Temp', attrs: {area, value: i % 11 === 0 ? 46 + (i % 20) : 15 + (i % 25)}};
  });
}

/// This machine's readings and those of the areas, until it is stopped.
export function load(server, perTick = 100) {
  const sample = spawn(gorgo, ['sample', 'host', '--interval', '100ms'], {stdio: ['ignore', 'pipe', 'ignore']});
  const pub = spawn(gorgo, ['pub', '--to', server.native], {stdio: [sample.stdout, 'ignore', 'ignore']});
  const timer = setInterval(() => post(server, readings(perTick)).catch(() => {}), 100);
  return () => {
    clearInterval(timer);
    sample.kill();
    pub.kill();
  };
}

export const openBrowser = () => chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']});

/// Has a page get, in the place of its server's stream, what a server with an H100 sent while a rule moved to it and its
/// pages were swapped (2026-11-26, every third message). Ends with the browser's context.
export async function withRecordedGpu(page) {
  const messages = gunzipSync(readFileSync(`${root}/tests/web/h100.sse.gz`)).toString().split(/(?<=\n\n)/);
  const recorder = createServer(async (_, response) => {
    response.writeHead(200, {'Content-Type': 'text/event-stream', 'Access-Control-Allow-Origin': '*'});
    for (const message of messages) {
      response.write(message);
      await new Promise((resolve) => setTimeout(resolve, 50));  // as a browser meets them: one after the other
    }
  });
  await new Promise((resolve) => recorder.listen(0, '127.0.0.1', resolve));
  page.context().once('close', () => {
    recorder.closeAllConnections();
    recorder.close();
  });
  await page.route('**/v1/workbench/stream', (route) => route.continue({url: `http://127.0.0.1:${recorder.address().port}/`}));
}
