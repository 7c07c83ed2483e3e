// The workbench in a browser: every view, a deployment from its first error to the question why it
// fired, a server that goes and comes back, and the sizes of what is loaded.
import assert from 'node:assert/strict';
import {execFile, execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createServer, get} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {promisify} from 'node:util';
import {axePath, deploy, gorgo, load, openBrowser, post, readings, serve, withRecordedGpu} from './support.mjs';

const natsServer = process.env.NATS_SERVER ?? '/usr/sbin/nats-server';
const kFirstPage = 80 << 10, kEditor = 160 << 10;  // bytes of gzipped JavaScript
let server, browser, stop;

before(async () => {
  server = await serve();
  await deploy(server, 'fire', 'stocks');
  stop = load(server);
  browser = await openBrowser();
});
after(async () => {
  stop?.();
  await browser?.close();
  await server?.stop();
});

/// Calls back with a page of its own, on which nothing may go wrong unnoticed.
async function withPage(path, use, options = {}, at = server) {
  const context = await browser.newContext({viewport: {width: 1280, height: 800}, ...options});
  const page = await context.newPage(), errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) errors.push(message.text());
  });
  try {
    await page.goto(at.url + path);
    await use(page);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

// The page's policy forbids scripts from elsewhere, but not what a debugger evaluates.
const axe = `${readFileSync(axePath, 'utf8')}; axe.run()`;

const views = {
  '/': 'Throughput',
  '/graph?rule=fire': 'Graph',
  '/rules': 'Rules',
  '/rules/fire': 'fire',
  '/editor/fire': 'Editor',
  '/why/fire': 'Windows',
  '/events?subscribe=Temp(value%20%3E%2045)': 'Events',
  '/engines': 'Engines',
  '/shadows': 'Shadow deployments',
  '/doors': 'Doors',
  '/actions': 'Actions',
  '/cluster': 'Cluster',
  '/connections': 'Connections',
};
for (const [path, title] of Object.entries(views)) {
  for (const colorScheme of ['light', 'dark']) {
    test(`${path} shows what it is for and can be used by everybody, ${colorScheme}`, () =>
      withPage(path, async (page) => {
        await page.getByRole('heading', {name: title, exact: true}).first().waitFor();
        await page.getByText('live', {exact: true}).waitFor();
        const found = await page.evaluate(axe);
        const serious = found.violations.filter((each) => ['serious', 'critical'].includes(each.impact));
        assert.deepEqual(serious.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).join(' ')}`), []);
      }, {colorScheme}));
  }
}

test('every view fits a narrow window', () =>
  withPage('/', async (page) => {
    for (const [path, title] of Object.entries(views)) {
      await page.goto(server.url + path);
      await page.getByRole('heading', {name: title, exact: true}).first().waitFor();
      await page.getByText('live', {exact: true}).waitFor();
      const [wide, shown] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
      assert.ok(wide <= shown, `${path} takes ${wide} of ${shown} pixels`);
    }
  }, {viewport: {width: 360, height: 740}}));

test('the menu works by keyboard', () =>
  withPage('/', async (page) => {
    await page.getByText('live', {exact: true}).waitFor();
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    for (let i = 0; i < 20 && (await focused()) !== 'Rules'; ++i) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', {name: 'Rules', exact: true, level: 1}).waitFor();
  }));

async function write(page, text) {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');  // Chromium styles a text that takes another's place, which the policy forbids
  await page.keyboard.insertText(text);
}

const kHot = 'define Hot(area: string) from Temp(value > 45) where area = Temp.area;';

test('a text with an error is marked; a right one is deployed, fires, says why, and can be taken back', () =>
  withPage('/editor', async (page) => {
    page.on('dialog', (dialog) => dialog.accept());
    const deployIt = page.getByRole('button', {name: 'Deploy', exact: true});
    await page.getByLabel('Deployment').fill('heat');
    await write(page, 'define Hot(area: string) from Temp(value > 45) where area = Temp.nothing.more;');
    await deployIt.click();
    await page.getByRole('alert').filter({hasText: 'Nothing was deployed'}).waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    await page.locator('.findings li').filter({hasText: 'error'}).first().waitFor();
    await write(page, kHot);
    await deployIt.click();
    await page.getByText('heat is deployed.').waitFor();
    assert.equal(await page.locator('.cm-lintRange-error').count(), 0);

    await write(page, `${kHot}\nrule very_hot: define VeryHot(area: string) from Temp(value > 60) where area = Temp.area;`);
    await deployIt.click();
    await page.getByText('2 rules in force').waitFor();
    await page.getByRole('button', {name: 'Compare with deployed'}).click();
    await page.getByText('Compared with what is deployed').waitFor();
    const history = page.getByRole('region', {name: 'History'});
    await history.getByRole('button', {name: /Roll back/}).nth(1).click();
    await page.getByText(/heat is again what change/).waitFor();
    await page.getByText('1 rule in force').waitFor();

    await page.getByRole('link', {name: 'Rules', exact: true}).click();
    const row = page.getByRole('row').filter({hasText: 'heat.Hot'});
    await row.waitFor();
    await page.getByRole('row').filter({hasText: 'very_hot'}).waitFor({state: 'detached'});
    await post(server, [{type: 'Temp', attrs: {area: 'here', value: 99}}]);
    await row.getByRole('link', {name: 'heat.Hot'}).click();
    await page.getByRole('link', {name: 'Why', exact: true}).last().click();
    await page.getByText('fired').first().waitFor();
  }));

test('what is written while the server still answers stays', () =>
  withPage('/editor', async (page) => {
    page.on('dialog', (dialog) => dialog.accept());
    const path = '**/v1/rules/slow';
    let answer, mayAnswer = Promise.resolve(), looks = 0;
    page.on('response', (response) => response.url().endsWith('/slow/trial') && ++looks);  // the last request of a look
    await page.route(path, async (route) => {
      mayAnswer = new Promise((resolve) => (answer = resolve));
      await route.continue();
    });
    await page.route(`${path}/history`, async (route) => {
      await mayAnswer;
      await route.continue();
    });
    await page.getByLabel('Deployment').fill('slow');
    await write(page, kHot);
    const deployIt = page.getByRole('button', {name: 'Deploy', exact: true});
    await deployIt.click();
    await page.getByText('slow is deployed.').waitFor();
    await page.waitForURL('**/editor/slow');
    await write(page, `${kHot}\nrule second: define Second(area: string) from Temp(value > 60) where area = Temp.area;`);
    answer();
    while (looks < 2) await page.waitForResponse((response) => response.url().endsWith('/slow/trial'));
    await page.getByText('1 rule in force').waitFor();
    assert.match(await page.locator('.cm-content').innerText(), /rule second/);
    await fetch(`${server.url}/v1/rules/slow`, {method: 'DELETE'});
  }));

test('another version runs beside the rules in force, is compared with them, and takes their place', () =>
  withPage('/editor', async (page) => {
    page.on('dialog', (dialog) => dialog.accept());
    const put = await fetch(`${server.url}/v1/rules/warm`, {method: 'PUT', body: kHot.replace('Hot', 'Warm').replace('45', '5000')});
    assert.ok(put.ok);
    await page.goto(`${server.url}/editor/warm`);
    await page.getByText('1 rule in force').waitFor();
    await write(page, kHot.replace('Hot', 'Warm').replace('45', '4000'));
    await page.getByRole('button', {name: 'Deploy as shadow'}).click();
    await page.getByText('warm runs as a shadow.').waitFor();
    await post(server, [{type: 'Temp', attrs: {area: 'oven', value: 4500}}, {type: 'Temp', attrs: {area: 'kiln', value: 5500}}]);
    await page.getByRole('link', {name: 'Shadows', exact: true}).click();
    const shadow = page.getByRole('region', {name: 'Shadow warm', exact: true});
    await shadow.getByText('oven').waitFor();
    assert.equal(await shadow.getByText('kiln').count(), 0);
    await shadow.getByRole('link', {name: 'warm.Warm'}).first().waitFor();
    const found = await page.evaluate(axe);
    assert.deepEqual(found.violations.filter((each) => ['serious', 'critical'].includes(each.impact)).map((each) => each.id), []);
    await shadow.getByRole('button', {name: 'Promote'}).click();
    await page.getByText('No shadow deployment runs.').waitFor();
    const rule = await (await fetch(`${server.url}/v1/rules/warm.Warm`)).json();
    assert.match(rule.text, /4000/);
    await fetch(`${server.url}/v1/rules/warm`, {method: 'DELETE'});
  }));

test('a rule shows how long its composites take', () =>
  withPage('/graph?rule=fire', async (page) => {
    const latency = page.locator('dt', {hasText: 'Latency'}).locator('+ dd');
    await latency.getByText(/^[\d.]+ (us|µs|ms|s) on average, [\d.]+ (us|µs|ms|s) at most$/).waitFor();
  }));

test('a rule shows its states, and how they are found', () =>
  withPage('/graph?rule=fire', async (page) => {
    const plan = page.locator('h3', {hasText: 'Plan'}).locator('+ pre');
    await plan.getByText(/state 0 +Smoke: terminator/).waitFor();
    assert.match(await plan.innerText(), /state 1 +Temp: .* from Smoke\n[^]*equality +area = Smoke\.area/);
  }));

test('a deployment is fetched whole, with rules that have names of their own', () =>
  withPage('/editor/fire', async (page) => {
    await page.locator('.cm-content').getByText('rule', {exact: true}).first().waitFor();
    const text = await page.locator('.cm-content').innerText();
    assert.match(text, /rule fire/);
  }));

test('the editor completes names and says what is under the pointer', () =>
  withPage('/editor', async (page) => {
    await page.getByText(/Ctrl-Space completes/).waitFor();
    await write(page, 'event Temp(area: string, value: float);\n' + kHot);
    await page.locator('.cm-content').getByText('Hot', {exact: true}).first().waitFor();
    await page.keyboard.press('End');
    await page.keyboard.type('\ndefine Warm(area: string) from Temp(val');
    await page.keyboard.press('Control+Space');
    await page.locator('.cm-tooltip-autocomplete li').filter({hasText: 'value'}).first().waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.cm-content').getByText('Temp', {exact: true}).first().hover();
    await page.locator('.cm-tooltip').filter({hasText: 'area'}).waitFor();
  }));

test('rules are tried on a sample and on the live stream, with nothing deployed', () =>
  withPage('/editor', async (page) => {
    await page.getByLabel('Deployment').fill('attempt');
    await write(page, kHot);
    await page.getByLabel('Sample of events').fill('{"type":"Temp","ts":1000,"attrs":{"area":"hall","value":50}}\n{"type":"Temp","ts":2000,"attrs":{"area":"hall","value":5}}');
    await page.getByText('2 events, 1 composite').waitFor();
    await page.getByRole('region', {name: 'Composites on trial'}).getByText('hall').waitFor();
    await page.getByRole('button', {name: 'Live stream'}).click();
    await page.getByRole('region', {name: 'Composites on trial'}).getByText(/area "A\d"/).first().waitFor();
    await page.getByRole('button', {name: 'Stop, and keep it'}).click();
    const names = (await (await fetch(`${server.url}/v1/rules`)).json()).rules.map((rule) => rule.name);
    assert.ok(!names.some((name) => name.startsWith('attempt')));
  }));

test('composites on trial have all digits of their numbers', () =>
  withPage('/editor', async (page) => {
    await page.getByLabel('Deployment').fill('digits');
    await write(page, 'event Order(id: int, lat: float);\ndefine Seen(id: int, lat: float) from Order() where id = Order.id, lat = Order.lat;\n');
    await page.getByLabel('Sample of events').fill('{"type":"Order","ts":1000,"attrs":{"id":4929123456781234,"lat":45.46421234}}');
    await page.getByRole('region', {name: 'Composites on trial'}).getByText('id 4929123456781234  lat 45.46421234').waitFor();
  }));

test('rule tests run against the text in the editor', () =>
  withPage('/editor', async (page) => {
    await write(page, kHot);
    await page.getByRole('button', {name: 'Run', exact: true}).click();
    await page.getByText('1 passed, 0 failed').waitFor();
    await page.getByRole('textbox', {name: 'Rule tests'}).fill('rules: editor\ncase: never\nevents:\n  @1 Temp(area="A", value=50.0)\nexpect:\n');
    await page.getByRole('button', {name: 'Run', exact: true}).click();
    await page.getByText('0 passed, 1 failed').waitFor();
  }));

test('the tail of events shows only what the server lets through the filter', () =>
  withPage('/events?subscribe=Temp(value%20%3E%2060)', async (page) => {
    await page.getByText('Temp').nth(2).waitFor();
    const shown = await page.locator('main').innerText();
    for (const [, value] of shown.matchAll(/value[:=" ]+([\d.]+)/g)) assert.ok(Number(value) > 60, value);
  }));

test('the tail says how much it leaves out', () =>
  withPage('/events?subscribe=*&most=10', async (page) => {
    await page.getByText(/shown, [1-9][\d.kM]* left out/).waitFor();
  }));

test('events have all digits of their numbers', () =>
  withPage('/events?subscribe=Order', async (page) => {
    await page.getByText('Nothing has come yet.').waitFor();
    await post(server, [{type: 'Order', attrs: {id: 123456789, card: 4929123456781234, sum: 1234567.89}}]);
    await page.getByText('id 123456789  card 4929123456781234  sum 1234567.89').waitFor();
  }));

test('what was accepted is found by its time, and from the question why', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gorgo-web-'));
  const kept = await serve({options: ['--journal', folder]});
  try {
    await deploy(kept, 'fire');
    await post(kept, [{type: 'Temp', attrs: {area: 'attic', value: 50}}, {type: 'Smoke', attrs: {area: 'attic'}}]);
    await withPage('/events?at=1000', async (page) => {
      const journal = page.getByRole('region', {name: 'Journal'});
      await journal.getByText('attic').first().waitFor();
      await page.goto(`${kept.url}/why/fire`);
      await page.getByText('fired').first().waitFor();
      await page.locator('main').getByRole('link', {name: /Smoke@/}).first().click();
      await journal.getByText('Smoke', {exact: true}).first().waitFor();
    }, {}, kept);
  } finally {
    await kept.stop();
    rmSync(folder, {recursive: true});
  }
});

/// A server whose configuration is this text.
async function serveWith(text, use) {
  const folder = mkdtempSync(join(tmpdir(), 'gorgo-web-'));
  writeFileSync(join(folder, 'gorgo.toml'), text);
  const mine = await serve({options: ['--config', join(folder, 'gorgo.toml')]});
  try {
    await use(mine);
  } finally {
    await mine.stop();
    rmSync(folder, {recursive: true});
  }
}

test('values that the configuration names are shown nowhere', () =>
  serveWith('[http]\nredact = ["Temp.area"]\n', async (mine) => {
    await deploy(mine, 'fire');
    await withPage('/events?subscribe=Temp(area%20%3D%20"attic")', async (page) => {
      await page.getByText('Nothing has come yet.').waitFor();
      // The page shows what comes after it has subscribed, which nothing on it tells.
      const event = (area) => ({type: 'Temp', attrs: {area, value: 50}});
      const posting = setInterval(() => post(mine, [event('cellar'), event('attic')]).catch(() => {}), 200);
      try {
        await page.getByRole('region', {name: 'Events'}).getByText('[redacted]').nth(2).waitFor();
      } finally {
        clearInterval(posting);
      }
      await post(mine, [{type: 'Smoke', attrs: {area: 'attic'}}]);
      const rows = await page.getByRole('region', {name: 'Events'}).getByRole('row').allInnerTexts();
      assert.deepEqual(rows.filter((row) => /attic|cellar/.test(row)), []);
      await page.goto(`${mine.url}/why/fire`);
      await page.getByText('fired').first().waitFor();
      assert.doesNotMatch(await page.locator('main').innerText(), /attic/);
    }, {}, mine);
  }));

test('a client is shown with what it takes, and can be disconnected', () =>
  serveWith('', async (mine) => {
    const subscriber = spawn(gorgo, ['sub', 'Temp', '--to', mine.native], {stdio: 'ignore'});
    try {
      await withPage('/connections', async (page) => {
        page.on('dialog', (dialog) => dialog.accept());
        const row = page.getByRole('region', {name: 'Connections'}).getByRole('row').filter({hasText: 'gorgo sub'});
        await row.waitFor();
        await row.getByRole('button', {name: /Disconnect/}).click();
        await page.getByRole('region', {name: 'Ended'}).getByRole('row').filter({hasText: 'gorgo sub'}).getByText('disconnected', {exact: true}).waitFor();
      }, {}, mine);
    } finally {
      subscriber.kill();
    }
  }));

// The CPU stands in for two devices there; all else is as with GPUs.
test('devices show their rounds, batches and pages; a rule that moves says when, and why', () =>
  serveWith('', async (mine) => {
    const types = 'event Temp(area: string, value: float);\nevent Smoke(area: string);\n';
    const rule = '@engine(cuda-host) rule hot: define Hot(area: string) from Smoke(area = $a) and each Temp(area = $a, value > 45) within 1 min from Smoke where area = $a;';
    const put = await fetch(`${mine.url}/v1/rules/heat`, {method: 'PUT', body: types + rule});
    assert.ok(put.ok);
    const posting = setInterval(() => post(mine, readings(100)).catch(() => {}), 100);
    try {
      await withPage('/engines', async (page) => {
        const panel = (title) => page.locator('section.panel').filter({has: page.getByRole('heading', {name: title, exact: true})});
        const device = panel('cuda-host 0');
        const counter = (name) => device.locator('dl.counters > div').filter({has: page.getByText(name, {exact: true})}).locator('dd');
        await device.getByText('in use', {exact: true}).waitFor();
        await panel('cuda-host 1').waitFor();
        for (const name of ['rounds', 'searches', 'pages in use', 'pages uploaded']) await counter(name).filter({hasText: /[1-9]/}).waitFor();
        for (const name of ['pages swapped in', 'pages swapped out', 'page hits']) await counter(name).filter({hasText: /\d/}).waitFor();
        await counter('rounds').getByText(/\+.*\/s/).waitFor();
        const inCharge = page.getByRole('region', {name: 'Engines', exact: true}).getByRole('row').filter({hasText: 'cuda-host'});
        await inCharge.waitFor();
        execFileSync(gorgo, ['rules', 'pin', 'hot', 'column', '--to', mine.native], {stdio: 'ignore'});
        const moves = panel('Moves'), move = moves.getByRole('row').filter({hasText: 'pinned'});
        await move.getByText('cuda-host').waitFor();
        await move.getByText('column').waitFor();
        await moves.getByRole('img', {name: /Moves of rules/}).locator('circle').waitFor({state: 'attached'});
        await inCharge.waitFor({state: 'detached'});
        const found = await page.evaluate(axe);
        assert.deepEqual(found.violations.filter((each) => ['serious', 'critical'].includes(each.impact)).map((each) => each.id), []);
      }, {}, mine);
    } finally {
      clearInterval(posting);
    }
  }));

test('doors say what came through them, what did not, and what is wrong', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gorgo-web-'));
  writeFileSync(join(folder, 'gorgo.toml'), `
[doors.readings]
kind = "file"
path = "${folder}/readings.ndjson"
[doors.fires]
kind = "file"
subscribe = "Fire"
path = "${folder}/fires.ndjson"
[doors.plant]
kind = "mqtt"
broker = "127.0.0.1:1"
topics = ["plant/{type}"]
`);
  const mine = await serve({options: ['--config', join(folder, 'gorgo.toml')]});
  try {
    await deploy(mine, 'fire');
    await withPage('/doors', async (page) => {
      const row = (name) => page.getByRole('row').filter({has: page.getByRole('cell', {name, exact: true})});
      await row('plant').getByText('failing').waitFor();
      const events = [{type: 'Temp', attrs: {area: 'attic', value: 50}}, {type: 'Smoke', attrs: {area: 'attic'}}].map((event) => JSON.stringify(event));
      writeFileSync(join(folder, 'readings.ndjson'), [...events, 'broken', ''].join('\n'));
      await row('readings').getByRole('cell', {name: '2', exact: true}).waitFor();
      await row('fires').getByRole('cell', {name: '1', exact: true}).waitFor();
      const found = await page.evaluate(axe);
      assert.deepEqual(found.violations.filter((each) => ['serious', 'critical'].includes(each.impact)).map((each) => each.id), []);
      await row('readings').getByRole('link', {name: '1', exact: true}).click();
      await page.getByRole('heading', {name: 'Events', exact: true}).first().waitFor();
      // The page shows what comes after it has subscribed, which nothing on it tells.
      const writing = setInterval(() => writeFileSync(join(folder, 'readings.ndjson'), 'also broken\n', {flag: 'a'}), 200);
      try {
        await page.getByText('also broken').first().waitFor();
      } finally {
        clearInterval(writing);
      }
    }, {}, mine);
  } finally {
    await mine.stop();
    rmSync(folder, {recursive: true});
  }
});

test('actions say what was done and given up, send it again, and are silenced', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gorgo-web-'));
  let status = 400;
  const bodies = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(status).end();
    });
  });
  await new Promise((done) => receiver.listen(0, '127.0.0.1', done));
  writeFileSync(join(folder, 'gorgo.toml'), `
[actions.ops]
kind = "webhook"
url = "http://127.0.0.1:${receiver.address().port}/hook"
[actions.log]
kind = "file"
path = "${folder}/log.ndjson"
`);
  const mine = await serve({options: ['--config', join(folder, 'gorgo.toml')]});
  try {
    const rule = 'define Hot(area: string) from Temp(value > 45) where area = Temp.area execute webhook("ops"), file("log");';
    assert.equal((await fetch(`${mine.url}/v1/rules/hot`, {method: 'PUT', body: rule})).status, 200);
    await withPage('/actions', async (page) => {
      const row = (name) => page.getByRole('row').filter({has: page.getByRole('cell', {name, exact: true})});
      await row('ops').getByText('running').waitFor();
      await post(mine, [{type: 'Temp', attrs: {area: 'attic', value: 50}}]);
      await row('log').getByRole('cell', {name: '1', exact: true}).waitFor();
      await row('ops').getByRole('link', {name: '1', exact: true}).waitFor();
      const found = await page.evaluate(axe);
      assert.deepEqual(found.violations.filter((each) => ['serious', 'critical'].includes(each.impact)).map((each) => each.id), []);
      status = 204;
      await page.getByRole('button', {name: 'Send 1 again to ops'}).click();
      await page.getByRole('button', {name: 'Send 1 again to ops'}).waitFor({state: 'detached'});
      await page.getByRole('button', {name: 'Test log'}).click();
      await row('log').getByRole('cell', {name: '2', exact: true}).waitFor();
      await page.getByLabel('Silence', {exact: true}).selectOption('log');
      await page.getByLabel('for events with').fill('area=attic, type=Hot');
      await page.getByLabel('because').fill('the attic is painted');
      await page.getByRole('button', {name: 'Silence', exact: true}).click();
      await page.getByText('the attic is painted').waitFor();
      await page.getByText('area=attic, type=Hot').waitFor();
      await post(mine, [{type: 'Temp', attrs: {area: 'attic', value: 51}}]);
      await row('log').getByRole('cell', {name: '1', exact: true}).waitFor();
      await page.getByRole('button', {name: 'End silence 1 of log'}).click();
      await page.getByText('Nothing is silenced.').waitFor();
    }, {}, mine);
    assert.equal(bodies.filter((body) => body.includes('attic')).length >= 2, true);
  } finally {
    await mine.stop();
    receiver.close();
    rmSync(folder, {recursive: true});
  }
});

/// A number as the page shows it.
function shownAs(value) {
  for (const [unit, letter] of [[1e6, 'M'], [1e4, 'k']]) {
    const size = value / (letter === 'k' ? 1e3 : unit);
    if (value >= unit) return size.toFixed(size >= 100 || Number.isInteger(size) ? 0 : size >= 10 ? 1 : 2) + letter;
  }
  return String(value);
}

/// 100 000 events a second for two seconds; returns how many were accepted. The generator fails where a composite is missing.
async function storm(to, when) {
  const options = ['--to', to.native, '--batch', '1000', '--rate', '100000', '--seconds', '2'];
  const [said] = (await promisify(execFile)(process.env.LOAD, options)).stdout.split('\n');
  console.log(`${when}: ${said}`);
  return Number(/\((\d+) accepted/.exec(said)[1]);
}

test('100 000 events a second with the page open: nothing is lost, and the page shows it', {skip: process.env.LOAD === undefined}, async () => {
  const mine = await serve();
  try {
    const before = await storm(mine, 'nobody looks');
    await withPage('/', async (page) => {
      await page.getByText('live', {exact: true}).waitFor();
      const sent = before + (await storm(mine, 'a page is open'));
      const metrics = await (await fetch(`${mine.url}/metrics`)).text();
      const of = (name) => Number(new RegExp(`^${name} ([\\d.e+]+)`, 'm').exec(metrics)[1]);
      const events = of('gorgo_events_accepted_total'), composites = of('gorgo_composites_total');
      assert.equal(events, sent + 2);  // each run of the generator begins with one event that it does not count
      const tile = (label) => page.locator('.tile').filter({has: page.getByText(label, {exact: true})});
      await tile('Events').getByText(shownAs(events), {exact: true}).waitFor();
      await tile('Composites').locator('small').getByText(shownAs(composites), {exact: true}).waitFor();
      for (const label of ['Lost', 'Refused', 'Late', 'Slow clients', 'Passed over']) assert.equal(await tile(label).locator('b').innerText(), '0', label);
    }, {}, mine);
  } finally {
    await mine.stop();
  }
});

test('the page goes on when the server has been away', async () => {
  let mine = await serve();
  const context = await browser.newContext(), page = await context.newPage();
  try {
    await page.goto(mine.url);
    await page.getByText('live', {exact: true}).waitFor();
    const tail = await context.newPage();
    await tail.goto(`${mine.url}/events?subscribe=Temp`);
    await tail.getByText('Nothing has come yet.').waitFor();
    await mine.stop();
    await page.getByText('not connected', {exact: true}).waitFor();
    await tail.getByText(/^(?!Not connected).*Trying again/).waitFor();
    mine = await serve({http: Number(mine.http.split(':').pop())});
    await page.getByText('live', {exact: true}).waitFor();
    await tail.getByText(/Trying again/).first().waitFor({state: 'detached'});
    await post(mine, [{type: 'Temp', attrs: {area: 'attic', value: 50}}]);
    await tail.getByRole('region', {name: 'Events'}).getByText('attic').waitFor();
  } finally {
    await context.close();
    await mine.stop();
  }
});

test('a subscription that the server does not answer is tried again', () =>
  withPage('/', async (page) => {
    let isDown = true, refused = () => {};
    await page.clock.install();
    await page.routeWebSocket(/v1\/events/, (socket) => {
      if (!isDown) return void socket.connectToServer();
      socket.close();
      refused();
    });
    await page.goto(`${server.url}/events?subscribe=Temp`);
    const problem = page.getByText('the server does not answer. Trying again.');
    // The client tries for 30 s from its first attempt on. A jump must not fall before that attempt, nor be as long as
    // what the client waits for one answer.
    while (!(await problem.isVisible())) {
      await new Promise((resolve) => (refused = resolve));
      await page.clock.fastForward(20_000);
    }
    isDown = false;
    await page.getByText(/Trying again/).waitFor({state: 'detached'});
    await page.getByRole('region', {name: 'Events'}).getByText('Temp').first().waitFor();
  }));

test('where the server has users, the page asks for a token and works with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gorgo-web-'));
  const made = execFileSync(gorgo, ['user', 'token'], {encoding: 'utf8'});
  const [secret, hash] = [/^token: (.*)$/m, /^hash: +(.*)$/m].map((part) => part.exec(made)[1]);
  writeFileSync(join(folder, 'users.toml'), `[[user]]\nname = "ann"\ntokens = ["${hash}"]\nsubscribe = ["*"]\npublish = ["*"]\nrules = ["see", "deploy", "remove"]\nadmin = true\n`, {mode: 0o600});
  writeFileSync(join(folder, 'gorgo.toml'), `[security]\nusers = "${folder}/users.toml"\n`);
  const mine = await serve({options: ['--config', join(folder, 'gorgo.toml')]});
  try {
    await withPage('/events?subscribe=Temp', async (page) => {
      const logIn = async (token) => {
        await page.getByLabel('Token').fill(token);
        await page.getByRole('button', {name: 'Log in'}).click();
      };
      await logIn('no token at all');
      await page.getByRole('alert').filter({hasText: 'characters that no token has'}).waitFor();
      await logIn('nonsense');
      await page.getByRole('alert').filter({hasText: 'wrong'}).waitFor();
      await logIn(secret);
      await page.getByText('live', {exact: true}).waitFor();
      await page.getByText('Nothing has come yet.').waitFor();
      const event = JSON.stringify({type: 'Temp', attrs: {area: 'attic', value: 50}});
      const published = await fetch(`${mine.url}/v1/events`, {method: 'POST', body: event, headers: {Authorization: `Bearer ${secret}`}});
      assert.ok(published.ok);
      await page.getByRole('region', {name: 'Events'}).getByText('attic').waitFor();
      await page.getByRole('link', {name: 'Editor', exact: true}).click();
      await page.getByText(/Ctrl-Space completes/).waitFor();
    }, {}, mine);
  } finally {
    await mine.stop();
    rmSync(folder, {recursive: true});
  }
});

/// Rules that read each other's composites, in so many deployments.
async function deployMany(to, rules, deployments) {
  for (let d = 0; d < deployments; ++d) {
    const mine = Array.from({length: rules / deployments}, (_, i) => i * deployments + d);
    const text = mine.map((i) => `define C${i}(x: int) from T${i % 40}(x > ${i})${i > d + 40 ? ` and last C${i % 40 === 0 ? 0 : d}(x > 0) within 1 min from T${i % 40}` : ''} where x = T${i % 40}.x;`);
    const types = [...new Set(mine.map((i) => i % 40))].map((t) => `event T${t}(x: int);`);
    const response = await fetch(`${to.url}/v1/rules/d${d}`, {method: 'PUT', body: [...types, ...text].join('\n')});
    assert.ok(response.ok, response.ok ? '' : (await response.text()).slice(0, 500));
  }
}

for (const [rules, deployments] of [[500, 10], [5000, 50], [5000, 1]]) {
  test(`a graph of ${rules} rules in ${deployments} deployments can be used`, async () => {
    const many = await serve();
    try {
      await deployMany(many, rules, deployments);
      await withPage('/graph', async (page) => {
        await page.getByText(`${rules === 5000 ? '5000' : rules} rules`).waitFor();
        const canvas = page.locator('.canvas'), count = () => canvas.locator('.node').count();
        const milliseconds = Number(await canvas.getAttribute('data-layout'));
        console.log(`${rules} rules in ${deployments} deployments: laid out in ${milliseconds} ms, ${await count()} boxes`);
        assert.ok((await count()) <= (rules > 600 ? 600 : 3 * rules));
        if (rules <= 600) return;
        await canvas.getByRole('button', {name: /^group/}).first().click();
        await canvas.getByRole('button', {name: /^rule/}).first().waitFor();
        await canvas.getByRole('button', {name: /^rule/}).first().press('Enter');
        await page.getByRole('heading', {name: 'Text', exact: true}).waitFor();
        await page.getByLabel('Find a rule').fill('d0.C0');
        await page.getByLabel('Find a rule').press('Enter');
        await page.getByRole('heading', {name: 'd0.C0'}).waitFor();
      }, {}, many);
    } finally {
      await many.stop();
    }
  });
}

test('the page is painted soon', () =>
  withPage('/', async (page) => {
    await page.getByText('live', {exact: true}).waitFor();
    const painted = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
    console.log(`first paint after ${painted?.toFixed(0)} ms`);
    assert.ok(painted > 0);
  }));

function gzipped(url) {
  return new Promise((resolve, reject) => {
    get(url, {headers: {'Accept-Encoding': 'gzip'}}, (response) => {
      let bytes = 0;
      assert.equal(response.headers['content-encoding'], 'gzip');
      response.on('data', (data) => (bytes += data.length));
      response.on('end', () => resolve(bytes));
    }).on('error', reject);
  });
}

test('the first page and the editor stay small', () =>
  withPage('/', async (page) => {
    const scripts = () => page.evaluate(() => performance.getEntriesByType('resource').map((each) => each.name).filter((name) => name.endsWith('.js')));
    const size = async (urls) => (await Promise.all(urls.map(gzipped))).reduce((sum, bytes) => sum + bytes, 0);
    await page.getByText('live', {exact: true}).waitFor();
    const first = await scripts(), firstSize = await size(first);
    await page.getByRole('link', {name: 'Editor', exact: true}).click();
    await page.locator('.cm-content').waitFor();
    const editorSize = await size((await scripts()).filter((url) => !first.includes(url)));
    console.log(`first page ${firstSize} bytes, editor ${editorSize} bytes more`);
    assert.ok(firstSize > 0 && firstSize <= kFirstPage, `${firstSize}`);
    assert.ok(editorSize > 0 && editorSize <= kEditor, `${editorSize}`);
  }));

test('a GPU shows its pages, swaps, rounds and batches, and why a rule moved to it', () =>
  withPage('/rules', async (page) => {
    await withRecordedGpu(page);
    await page.goto(`${server.url}/engines`);
    const device = page.locator('section').filter({has: page.getByRole('heading', {name: 'cuda 0'})});
    await device.getByText('in use', {exact: true}).waitFor();
    const counter = (name) => device.locator('dl.counters > div').filter({has: page.locator('dt', {hasText: new RegExp(`^${name}$`)})}).locator('dd');
    await counter('pages swapped out').filter({hasText: /^1074/}).waitFor();
    for (const name of ['rounds', 'searches', 'pages in use', 'bytes uploaded with rounds']) assert.match(await counter(name).innerText(), /^[1-9]/, name);
    await counter('rounds').filter({hasText: /\+\d+\/s/}).waitFor();
    const row = (panel) => page.locator('section').filter({has: page.getByRole('heading', {name: panel})}).getByRole('row').filter({hasText: 'near'});
    await row('Moves').filter({hasText: /column.*cuda.*1.15 ms a terminator under automaton/}).waitFor();
    await row('Estimates against measurements').filter({hasText: /cuda/}).waitFor();
    const found = await page.evaluate(axe);
    assert.deepEqual(found.violations.filter((each) => ['serious', 'critical'].includes(each.impact)), []);
  }));

test('a cluster shows its nodes and who owns each partition', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gorgo-cluster-'));
  const broker = spawn(natsServer, ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', folder, '--ports_file_dir', folder], {stdio: 'ignore'});
  const found = async () => readdirSync(folder).find((name) => name.endsWith('.ports'));
  while (!(await found())) await new Promise((resolve) => setTimeout(resolve, 50));
  const url = JSON.parse(readFileSync(join(folder, await found()))).nats[0];
  writeFileSync(join(folder, 'gorgo.toml'), `
[journal]
path = "${folder}/journal"
backlog_policy = "refuse"
[cluster]
name = "plant"
node = "press"
brokers = "${url.replace('nats://', '')}"
partitions = 3
`);
  writeFileSync(join(folder, 'hot.tesla'), 'event Temp(area: string, value: float);\ndefine Hot(area: string) from Temp(area = $a, value > 45) where area = $a;\n');
  const node = await serve({options: ['--config', join(folder, 'gorgo.toml')]});
  try {
    await withPage('/cluster', async (page) => {
      await page.getByText('press').first().waitFor();
      await promisify(execFile)(gorgo, ['cluster', 'deploy', join(folder, 'hot.tesla'), '--config', join(folder, 'gorgo.toml')]);
      const row = (name) => page.getByRole('row').filter({hasText: name});
      for (const name of ['area/0', 'area/1', 'area/2']) await row(name).filter({hasText: /press.*owner/}).waitFor();
      await row('press').filter({hasText: /takes part.*3.*3/}).first().waitFor();
      const found = await page.evaluate(axe);
      assert.deepEqual(found.violations.filter((each) => ['serious', 'critical'].includes(each.impact)), []);
    }, {}, node);
  } finally {
    await node.stop();
    broker.kill();
    rmSync(folder, {recursive: true});
  }
});
