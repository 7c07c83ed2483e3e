// The client in a browser, in a page that comes from elsewhere.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { PACKAGE, Server } from "./support.mjs";

const CHROMIUM = process.env.CHROMIUM ?? "chromium";
const hasChromium = spawnSync(CHROMIUM, ["--version"]).status === 0;

/** Runs in the page: what it returns is what the test gets. */
const SCRIPT = `
import { connect, Refused } from "/src/index.js";
const ask = async () => {
  const client = await connect(new URLSearchParams(location.search).get("server"));
  const fires = await client.subscribe("Fire");
  await client.publish([{ type: "Temp", attributes: { area: "page", value: 51.5 } }]);
  await client.publish({ type: "Smoke", attributes: { area: "page" } });
  const fire = await fires.next(20);
  const refused = await client.publish({ type: "Temp", attributes: { area: 1 } }).catch((error) => error);
  await client.drain();
  return { attributes: fire.attributes, refused: refused instanceof Refused };
};
const found = await ask().catch((error) => ({ error: String(error) }));
await fetch("/found", { method: "POST", body: JSON.stringify(found) });
`;

/** A site with the page and the client's sources; `found` is what the page has sent. */
async function openSite() {
  const site = createServer(async (request, response) => {
    const name = new URL(request.url, "http://here").pathname;
    if (name === "/found") {
      let body = "";
      for await (const part of request) body += part;
      response.end();
      site.emit("found", JSON.parse(body));
    } else if (name === "/") {
      response.setHeader("Content-Type", "text/html");
      response.end('<!doctype html><script type="module" src="/page.js"></script>');
    } else if (!name.endsWith(".js")) {
      response.writeHead(404).end();
    } else {
      response.setHeader("Content-Type", "text/javascript");
      response.end(name === "/page.js" ? SCRIPT : readFileSync(path.join(PACKAGE, path.normalize(name))));
    }
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  return site;
}

test("a page gets its fire, and a refusal with its reason", { skip: hasChromium ? false : "there is no Chromium" }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gorgo-js-"));
  const site = await openSite();
  const origin = `http://127.0.0.1:${site.address().port}`;
  const config = path.join(folder, "gorgo.toml");
  writeFileSync(config, `[http]\norigins = ["${origin}"]\n`);
  const server = await Server.start({}, "--config", config);
  const found = new Promise((resolve) => site.once("found", resolve));
  const browser = spawn(CHROMIUM, ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    `--user-data-dir=${folder}/profile`, `${origin}/?server=${encodeURIComponent(server.address)}`], { stdio: "ignore" });
  const ended = new Promise((resolve) => browser.once("exit", (code) => resolve({ error: `the browser ended with ${code}` })));
  try {
    assert.deepEqual(await Promise.race([found, ended]), { attributes: { area: "page", measuredTemp: 51.5 }, refused: true });
  } finally {
    browser.kill();
    await ended;
    site.close();
    site.closeAllConnections?.();
    await server.end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});
