// Who the client is, what it may do, and that a refusal of that is told instead of tried again.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import * as gorgo from "../src/index.js";
import { BINARY, Server, WebSocket } from "./support.mjs";

const QUICK = { reconnectLeast: 0.001, reconnectMost: 0.05, timeout: 60, WebSocket };
const note = (number) => ({ type: "Note", attributes: { number } });
const folder = mkdtempSync(path.join(tmpdir(), "gorgo-js-"));
const usersFile = path.join(folder, "users.toml");
let server;

/** A new token, and its hash for the file of users. */
function makeToken() {
  const made = spawnSync(BINARY, ["user", "token"], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  return [/^token: (.*)$/m, /^hash: +(.*)$/m].map((part) => part.exec(made.stdout)[1]);
}
const [token, hash] = makeToken();
const [otherToken, otherHash] = makeToken();

function writeUsers(hashes) {
  const users = hashes.map((each, i) => `[[user]]\nname = "page${i}"\ntokens = ["${each}"]\nsubscribe = ["Note"]\npublish = ["*"]\n`);
  writeFileSync(usersFile, users.join("\n"), { mode: 0o600 });
}

before(async () => {
  writeUsers([hash, otherHash]);
  const config = path.join(folder, "gorgo.toml");
  writeFileSync(config, `[security]\nusers = "${usersFile}"\n`);
  server = await Server.start({}, "--config", config);
});
after(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

test("a token says who the client is", async () => {
  const client = await gorgo.connect(server.address, { ...QUICK, token });
  const stream = await client.subscribe("Note");
  await client.publish(note(1));
  assert.equal((await stream.next(30)).attributes.number, 1);
  assert.deepEqual(await client.durables(), []);
  await client.drain();
  await assert.rejects(gorgo.connect("http://192.0.2.1:8080", { ...QUICK, token }), (e) => e.code === "address");
});

test("who is not known is told so at once, however the client connects", async () => {
  const isUnknown = (error) => error.code === "unauthenticated" && error.message !== "";
  await assert.rejects(gorgo.connect(server.address, QUICK), isUnknown);
  await assert.rejects(gorgo.connect(server.address, { ...QUICK, token: "wrong" }), isUnknown);
  const lazy = gorgo.createClient(server.address, QUICK);
  await assert.rejects(lazy.subscribe("Note"), isUnknown);
  const publication = lazy.publish(note(1));
  await assert.rejects(publication, (error) => error instanceof gorgo.OutcomeUnknown && /given up/.test(error.message));
  await assert.rejects(lazy.publish(note(1)), isUnknown);
  lazy.close();
});

test("what the user may not have is refused at once", async () => {
  const client = await gorgo.connect(server.address, { ...QUICK, token });
  await assert.rejects(client.subscribe("Secret"), (error) => error.code === "forbidden" && error.hint !== "");
  await assert.rejects(client.request("GET", "connections"), (error) => error.code === "forbidden");
  client.close();
});

test("a stream ends with the reason when its user is gone as the server comes back", async () => {
  const client = await gorgo.connect(server.address, { ...QUICK, token: otherToken });
  const stream = await client.subscribe("Note");
  writeUsers([hash]);
  await server.end();
  await server.start();
  assert.equal((await stream.next(60)).kind, "disconnected");
  await assert.rejects(stream.next(60), (error) => error.code === "unauthenticated");
  client.close();
});
