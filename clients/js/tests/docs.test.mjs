// The examples of the README, and the types.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { PACKAGE, Server } from "./support.mjs";

const flags = process.execArgv.filter((flag) => flag.startsWith("--experimental-websocket"));
const hasTsc = spawnSync("tsc", ["--version"]).status === 0;

function inFolder(work) {
  const folder = mkdtempSync(path.join(tmpdir(), "gorgo-js-"));
  try {
    mkdirSync(path.join(folder, "node_modules"));
    symlinkSync(PACKAGE, path.join(folder, "node_modules", "gorgo"));
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function blocks() {
  const text = readFileSync(path.join(PACKAGE, "README.md"), "utf8");
  return [...text.matchAll(/^```js\n(.*?)^```/gms)].map((found) => found[1]);
}

test("each example of the README runs by itself and prints a composite",
  { skip: globalThis.WebSocket ? false : "this Node has no global WebSocket" }, async () => {
    assert.ok(blocks().length >= 3);
    for (const block of blocks()) {
      const server = await Server.start();
      const done = inFolder((folder) => {
        const file = path.join(folder, "example.mjs");
        writeFileSync(file, block);
        return spawnSync(process.execPath, [...flags, file],
          { env: { ...process.env, GORGO_HTTP: server.address }, timeout: 30_000, encoding: "utf8" });
      });
      await server.end();
      assert.equal(done.status, 0, block + done.stderr);
      assert.match(done.stdout, /Fire|FireReport|Hot/, block);
    }
  });

test("the sources hold strictly, and the types are those of the sources", { skip: hasTsc ? false : "tsc is not installed" }, () => {
  inFolder((folder) => {
    cpSync(path.join(PACKAGE, "src"), path.join(folder, "src"), { recursive: true });
    cpSync(path.join(PACKAGE, "tsconfig.json"), path.join(folder, "tsconfig.json"));
    const done = spawnSync("tsc", ["-p", folder], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stdout);
    const made = readdirSync(path.join(folder, "types")).sort();
    assert.deepEqual(readdirSync(path.join(PACKAGE, "types")).sort(), made);
    for (const name of made) {
      assert.equal(readFileSync(path.join(PACKAGE, "types", name), "utf8"), readFileSync(path.join(folder, "types", name), "utf8"),
        `${name} is old: tsc -p clients/js`);
    }
  });
});

test("a program in TypeScript is checked against the types", { skip: hasTsc ? false : "tsc is not installed" }, () => {
  inFolder((folder) => {
    const program = [
      'import { connect, Event, Refused } from "gorgo";',
      "async function work(): Promise<number> {",
      "  const client = await connect();",
      '  for await (const item of await client.subscribe("T")) {',
      '    if (item.kind === "event") { const event: Event = item; return event.place.root; }',
      '    if (item.kind === "gap") { const lost: number | null = item.lost; void lost; }',
      "  }",
      '  return (await client.publish({ type: "T", attributes: { x: 1n } })).accepted;',
      "}",
      "void work; void Refused;",
    ];
    const check = (lines) => {
      const file = path.join(folder, "program.ts");
      writeFileSync(file, lines.join("\n"));
      const options = ["--strict", "--noEmit", "--target", "ES2021", "--module", "ES2020", "--moduleResolution", "node",
        "--lib", "ES2021,DOM", file];
      return spawnSync("tsc", options, { encoding: "utf8", cwd: folder });
    };
    const good = check(program);
    assert.equal(good.status, 0, good.stdout);
    const bad = check(program.map((line) => line.replace("item.lost", "item.missing")));
    assert.match(bad.stdout, /Property 'missing' does not exist/);
  });
});
