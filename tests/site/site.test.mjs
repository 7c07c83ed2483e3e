// Every page of the built site in Chromium: node --test site.test.mjs, with the folder in SITE.
import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {extname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {openBrowser} from '../web/support.mjs';

const site = process.env.SITE;
const types = {'.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png'};
let server, browser, origin;

before(async () => {
  server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://site').pathname);
    try {
      const file = join(site, path.endsWith('/') ? `${path}index.html` : path);
      response.setHeader('Content-Type', types[extname(file)] ?? 'text/plain');
      response.end(readFileSync(file));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  server?.close();
});

const pages = readdirSync(site, {recursive: true}).filter((name) => name.endsWith('.html') && name !== '404.html');

/// Calls back with a page that notes what goes wrong on it, and what it asks others for. It gets `index`, if there is one, for the
/// site's index of words.
async function withPage(options, use, index) {
  const context = await browser.newContext(options);
  const page = await context.newPage(), wrong = [];
  page.on('pageerror', (error) => wrong.push(`${page.url()}: ${error}`));
  page.on('response', (response) => response.status() >= 400 && wrong.push(`${page.url()}: ${response.status()} for ${response.url()}`));
  page.on('request', (request) => /^https?:/.test(request.url()) && !request.url().startsWith(origin) && wrong.push(`${page.url()} loads ${request.url()}`));
  if (index) await page.route('**/search_index.json', (route) => route.fulfill({json: index}));
  try {
    await use(page);
    assert.deepEqual(wrong, []);
  } finally {
    await context.close();
  }
}

async function look(page, name) {
  await page.goto(`${origin}/${name}`, {waitUntil: 'load'});
  const seen = await page.evaluate(() => ({
    title: document.querySelector('article h1')?.innerText.trim() ?? '',
    letters: document.querySelector('article')?.innerText.length ?? 0,
    wide: document.documentElement.scrollWidth - innerWidth,
  }));
  assert.notEqual(seen.title, '', name);
  assert.ok(seen.letters > 60, name);
  assert.ok(seen.wide <= 0, `${name} is ${seen.wide} pixels too wide`);
}

/// An index of nothing. Each page would read that of the whole site anew, which takes a third of the time.
const nothing = {config: {lang: ['en'], separator: ' ', pipeline: []}, docs: []};

test(`all ${pages.length} pages open and fit a telephone`, {timeout: 240_000}, async () => {
  assert.ok(pages.length > 20);
  const waiting = [...pages], lookAtSome = (page) => (async () => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) await look(page, name);
  })();
  await Promise.all(['light', 'dark', 'light', 'dark'].map((colorScheme) => withPage({viewport: {width: 400, height: 800}, colorScheme}, lookAtSome, nothing)));
});

test('the search finds a page by a word of its text', () =>
  withPage({viewport: {width: 1280, height: 800}}, async (page) => {
    await page.goto(origin);
    await page.getByRole('textbox', {name: 'Search'}).fill('percentile');
    await page.locator('.md-search-result__link', {hasText: 'Functions'}).first().click();
    await page.waitForURL(/functions\.html/);
  }));

test('users find what is for them before what is for developers', () =>
  withPage({viewport: {width: 1280, height: 800}}, async (page) => {
    await page.goto(origin);
    const tabs = await page.locator('.md-tabs__link').allInnerTexts();
    assert.equal(tabs[0].trim(), 'Start');
    assert.equal(tabs.at(-1).trim(), 'Developers');
  }));
