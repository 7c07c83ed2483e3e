// Takes the pictures of docs/workbench.md: node tests/web/shots.mjs FOLDER. It takes half a minute,
// for the plots show the last two.
import {mkdirSync, readFileSync} from 'node:fs';
import {deploy, load, openBrowser, root, serve, withRecordedGpu} from './support.mjs';

const folder = process.argv[2] ?? '.';
const seconds = Number(process.argv[3] ?? 30);
mkdirSync(folder, {recursive: true});
const server = await serve();
await deploy(server, 'fire', 'host', 'stocks');
// A version of the fire's rules with another limit, beside them.
const warmer = readFileSync(`${root}/rules/fire.tesla`, 'utf8').replaceAll('value > 45', 'value > 50');
await fetch(`${server.url}/v1/rules/fire?shadow=true`, {method: 'PUT', body: warmer});
const stop = load(server);
const browser = await openBrowser();
const views = {
  overview: '/',
  graph: '/graph?rule=fire',
  rules: '/rules',
  editor: '/editor/fire',
  why: '/why/fire',
  events: '/events?subscribe=Temp(value%20%3E%2045)',
  engines: '/engines',
  shadows: '/shadows',
  connections: '/connections',
};

async function shoot(theme) {
  const context = await browser.newContext({viewport: {width: 1280, height: 800}, colorScheme: theme});
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && console.error(theme, message.text()));
  page.on('pageerror', (error) => console.error(theme, error.stack));
  await page.goto(server.url);
  await page.waitForTimeout(1000 * seconds);
  for (const [name, path] of Object.entries(views)) {
    await page.evaluate((to) => {
      history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate'));
    }, path);
    await page.waitForTimeout(2500);
    await page.screenshot({path: `${folder}/${name}-${theme}.png`});
  }
  const gpu = await context.newPage();
  await withRecordedGpu(gpu);
  await gpu.goto(`${server.url}/engines`);
  await gpu.waitForTimeout(4000);
  await gpu.screenshot({path: `${folder}/gpu-${theme}.png`});
  await context.close();
}

await Promise.all([shoot('light'), shoot('dark')]);
await browser.close();
stop();
await server.stop();
