// The workbench in a browser: every view, a deployment from its first error to the question why it
// fired, a server that goes and comes back, and the sizes of what is loaded.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {get} from 'node:http';
import {after, before, test} from 'node:test';
import {axePath, deploy, load, openBrowser, post, serve} from './support.mjs';

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
async function withPage(path, use, options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 800}, ...options});
  const page = await context.newPage(), errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) errors.push(message.text());
  });
  try {
    await page.goto(server.url + path);
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

async function write(page, text) {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');  // Chromium styles a text that takes another's place, which the policy forbids
  await page.keyboard.insertText(text);
}

test('a text with an error is marked, a right one is deployed, fires and says why', () =>
  withPage('/editor', async (page) => {
    await page.getByLabel('Deployment').fill('heat');
    await write(page, 'define Hot(area: string) from Temp(value > 45) where area = Temp.nothing.more;');
    await page.getByRole('button', {name: 'Deploy', exact: true}).click();
    await page.getByRole('alert').filter({hasText: 'Nothing was deployed'}).waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    await page.locator('.findings li').filter({hasText: 'error'}).first().waitFor();
    await write(page, 'define Hot(area: string) from Temp(value > 45) where area = Temp.area;');
    await page.getByRole('button', {name: 'Deploy', exact: true}).click();
    await page.getByText('heat is deployed.').waitFor();
    assert.equal(await page.locator('.cm-lintRange-error').count(), 0);
    await page.getByRole('button', {name: 'Compare with deployed'}).and(page.locator(':enabled')).waitFor();

    await page.getByRole('link', {name: 'Rules', exact: true}).click();
    const row = page.getByRole('row').filter({hasText: 'heat.Hot'});
    await row.waitFor();
    await post(server, [{type: 'Temp', attrs: {area: 'here', value: 99}}]);
    await row.getByRole('link', {name: 'heat.Hot'}).click();
    await page.getByRole('link', {name: 'Why', exact: true}).last().click();
    await page.getByText('fired').first().waitFor();
  }));

test('the tail of events shows only what the server lets through the filter', () =>
  withPage('/events?subscribe=Temp(value%20%3E%2060)', async (page) => {
    await page.getByText('Temp').nth(2).waitFor();
    const shown = await page.locator('main').innerText();
    for (const [, value] of shown.matchAll(/value[:=" ]+([\d.]+)/g)) assert.ok(Number(value) > 60, value);
  }));

test('the page goes on when the server has been away', async () => {
  const mine = await serve();
  const context = await browser.newContext(), page = await context.newPage();
  await page.goto(mine.url);
  await page.getByText('live', {exact: true}).waitFor();
  await mine.stop();
  await page.getByText('not connected', {exact: true}).waitFor();
  const again = await serve({http: Number(mine.http.split(':').pop())});
  await page.getByText('live', {exact: true}).waitFor();
  await context.close();
  await again.stop();
});

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
