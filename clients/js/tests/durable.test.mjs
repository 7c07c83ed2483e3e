// Durable subscriptions and publications, credit, and what a server says before it stops.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import * as gorgo from "../src/index.js";
import { Server, WebSocket } from "./support.mjs";

const QUICK = { reconnectLeast: 0.001, reconnectMost: 0.05, timeout: 30, WebSocket };
const note = (number) => ({ type: "Note", attributes: { number } });

/** The next events, whatever notices stand between them; a gap fails the test. */
async function take(stream, count) {
  const found = [];
  while (found.length < count) {
    const item = await stream.next(30);
    assert.ok(item, `nothing came behind ${found.length} events`);
    assert.notEqual(item.kind, "gap", item.reason);
    if (item.kind === "event") found.push(item);
  }
  return found;
}
const numbers = (events) => events.map((event) => event.attributes.number);
const upTo = (first, last) => Array.from({ length: last - first }, (_, i) => first + i);

async function inFolder(work) {
  const folder = mkdtempSync(path.join(tmpdir(), "gorgo-js-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A server with a journal, which can be killed and started again. */
const withJournal = (work) => inFolder(async (folder) => {
  const journal = path.join(folder, "journal");
  const server = await Server.start({}, "--journal", journal);
  try {
    await work(server, journal);
  } finally {
    await server.end();
  }
});

test("each event comes once through kills of the server", () => withJournal(async (server) => {
  const client = await gorgo.connect(server.address, QUICK);
  const stream = await client.subscribe("Note", { durable: "billing" });
  const got = [];
  for (let kill = 0; kill < 3; ++kill) {
    for (let n = 0; n < 100; ++n) await client.send(note(kill * 100 + n), { durable: true });
    await client.flush();
    const events = await take(stream, 60);
    got.push(...events);
    stream.acknowledge(events[29]);
    await server.end("SIGKILL");
    await server.start();
  }
  got.push(...(await take(stream, 120)));
  assert.deepEqual(numbers(got), upTo(0, 300));
  stream.acknowledge(got[279]);
  await stream.drain();
  assert.deepEqual(stream.acknowledged, got[279].place);
  const [durable] = await client.durables();
  assert.deepEqual([durable.name, durable.subscribe, durable.rows], ["billing", "Note", 20]);
  const again = await client.subscribe("Note", { durable: "billing" });
  assert.deepEqual(numbers(await take(again, 20)), upTo(280, 300));
  again.close();
  const later = await client.subscribe("Note", { durable: "billing", seen: got[289].place });
  assert.deepEqual(numbers(await take(later, 10)), upTo(290, 300));
  later.close();
  await client.endDurable("billing");
  assert.deepEqual(await client.durables(), []);
  await client.drain();
}));

test("a reader that is slow loses nothing of a durable subscription", () => withJournal(async (server) => {
  const client = await gorgo.connect(server.address, { ...QUICK, receiveEvents: 10 });
  const stream = await client.subscribe("Note", { durable: "billing" });
  await client.publish(upTo(0, 500).map(note), { durable: true });
  assert.deepEqual(numbers(await take(stream, 500)), upTo(0, 500));
  assert.ok(stream.waitingEvents <= 10);
  await client.drain();
}));

test("a server with another journal begins the subscription anew and says so", () => withJournal(async (server, journal) => {
  const client = await gorgo.connect(server.address, QUICK);
  const stream = await client.subscribe("Note", { durable: "billing" });
  await client.publish([note(1), note(2)], { durable: true });
  const former = (await take(stream, 2))[1];
  stream.acknowledge(former);
  await stream.settled();
  await server.end("SIGKILL");
  rmSync(journal, { recursive: true });
  await server.start();
  const kinds = [];
  for (let i = 0; i < 3; ++i) kinds.push((await stream.next(30)).kind);
  assert.deepEqual(kinds, ["disconnected", "reconnected", "gap"]);
  await client.publish(note(3), { durable: true });
  const event = (await take(stream, 1))[0];
  assert.deepEqual(numbers([event]), [3]);
  stream.acknowledge(former); // by a program that is late with it
  stream.acknowledge(event);
  await stream.settled();
  assert.equal((await client.durables())[0].acknowledged, `${event.place.root}-${event.place.ordinal}`);
  await client.drain();
}));

test("who takes a durable subscription over keeps it", () => withJournal(async (server) => {
  const client = await gorgo.connect(server.address, QUICK);
  const first = await client.subscribe("Note", { durable: "billing" });
  const second = await client.subscribe("Note", { durable: "billing" });
  await assert.rejects(first.next(30), (e) => e.code === "not_found" && /taken over/.test(e.message));
  await client.publish(note(1));
  assert.deepEqual(numbers(await take(second, 1)), [1]);
  client.close();
}));

test("a program that repeats its publications doubles none", () => withJournal(async (server) => {
  const program = async (last) => {
    const client = await gorgo.connect(server.address, { ...QUICK, producer: 7 });
    const done = [];
    for (let n = 1; n < last; ++n) done.push(await client.publish(note(n), { durable: true, sequence: n }));
    await assert.rejects(client.publish(note(1), { sequence: 1 }), (e) => e.code === "event");
    await client.drain();
    return done;
  };
  const client = await gorgo.connect(server.address, QUICK);
  const stream = await client.subscribe("Note", { durable: "all" });
  assert.deepEqual((await program(11)).map((p) => p.accepted), Array(10).fill(1));
  await server.end("SIGKILL");
  await server.start();
  assert.deepEqual((await program(16)).map((p) => p.duplicates), [...Array(10).fill(1), ...Array(5).fill(0)]);
  assert.deepEqual(numbers(await take(stream, 15)), upTo(1, 16));
  await client.drain();
}));

test("who names a producer names the numbers of its publications", () => withJournal(async (server) => {
  const client = await gorgo.connect(server.address, { ...QUICK, producer: 7 });
  const isUnnumbered = (e) => e.code === "event" && /sequence/.test(e.message);
  await assert.rejects(client.publish(note(1)), isUnnumbered);
  await assert.rejects(client.send(note(1)), isUnnumbered);
  await client.send(note(2), { sequence: 2 });
  assert.equal((await client.flush()).accepted, 1);
  await client.drain();
}));

/** With a server that has no room while a megabyte waits for a durable subscription. */
const withFullServer = (work) => inFolder(async (folder) => {
  const room = { GORGO__JOURNAL__BACKLOG_BYTES: "1048576", GORGO__JOURNAL__BACKLOG_POLICY: "refuse" };
  const server = await Server.start(room, "--journal", path.join(folder, "journal"));
  try {
    await work(server);
  } finally {
    await server.end();
  }
});

test("what the server has no room for is sent again and applied once", () => withFullServer(async (server) => {
  const client = await gorgo.connect(server.address, QUICK);
  const stream = await client.subscribe("Note", { durable: "slow" });
  let published = 0;
  const got = [];
  const publish = async (timeout) => {
    published += 100;
    await client.publish(upTo(published - 100, published).map(note), { timeout }).catch((error) => {
      assert.ok(error instanceof gorgo.OutcomeUnknown, error); // the client goes on with it
    });
  };
  const read = async (until) => {
    while (got.length < until) {
      const events = await take(stream, 100);
      got.push(...numbers(events));
      stream.acknowledge(events.at(-1));
    }
  };
  while (client.metrics().repeated === 0) {
    await publish(0.2);
    assert.ok(published < 1_000_000);
  }
  await read(published - 100);
  await publish(30);
  await read(published);
  assert.equal((await client.flush()).duplicates, 0);
  assert.deepEqual(got.sort((a, b) => a - b), upTo(0, published));
  await client.drain();
}));

test("what was put off gets its turn while the publisher never pauses", () => withFullServer(async (server) => {
  const client = await gorgo.connect(server.address, QUICK);
  const stream = await client.subscribe("Note", { durable: "slow" });
  let sent = 0;
  const send = () => {
    sent += 100;
    return client.send(upTo(sent - 100, sent).map(note));
  };
  const got = [];
  const read = async () => {
    while (got.length < sent) {
      const events = await take(stream, 100);
      got.push(...numbers(events));
      stream.acknowledge(events.at(-1));
    }
  };
  const waiting = [];
  while (client.metrics().repeated === 0) { // until the first ones were put off
    waiting.push(await send());
    await new Promise((resolve) => setTimeout(resolve, 10)); // a slow server shall say no before much waits
    assert.ok(sent < 1_000_000);
  }
  const reading = read();
  while (!waiting.every((publication) => publication.done)) {
    for (let i = 0; i < 3; ++i) await send();
    await new Promise(setImmediate);
    assert.ok(sent < 10_000_000);
  }
  assert.equal((await client.flush()).duplicates, 0);
  await reading;
  assert.deepEqual(got.sort((a, b) => a - b), upTo(0, sent));
  await client.drain();
}));

test("the server keeps what goes beyond the credit", async () => {
  const server = await Server.start();
  const client = await gorgo.connect(server.address, QUICK);
  const stream = await client.subscribe("Note", { credit: 10 });
  for (let n = 0; n < 100; ++n) await client.publish(note(n), { processed: true });
  assert.ok(stream.metrics().received <= 10);
  assert.deepEqual(numbers(await take(stream, 100)), upTo(0, 100));
  await client.drain();
  await server.end();
});

test("a server that is about to stop says so in the stream, and serves on", () => inFolder(async (folder) => {
  const config = path.join(folder, "gorgo.toml");
  writeFileSync(config, "[operations]\ngrace_ms = 3600000\n");
  const server = await Server.start({}, "--config", config);
  const client = await gorgo.connect(server.address, QUICK);
  const stream = await client.subscribe("Note");
  server.process.kill("SIGTERM");
  const leaving = await stream.next(30);
  assert.ok(leaving.kind === "leaving" && leaving.grace > 0 && leaving.grace <= 3600);
  await client.publish(note(1));
  assert.deepEqual(numbers(await take(stream, 1)), [1]);
  await client.drain();
  await server.end();
}));

test("a gap names the places of what the server's backlog had no room for", () => inFolder(async (folder) => {
  const server = await Server.start({ GORGO__JOURNAL__BACKLOG_BYTES: "1048576" }, "--journal", path.join(folder, "journal"));
  try {
    const client = await gorgo.connect(server.address, QUICK);
    (await client.subscribe("Note", { durable: "billing" })).close();
    const text = "x".repeat(20_000);
    const events = upTo(0, 100).map((number) => ({ type: "Note", attributes: { number, text } }));
    for (let at = 0; at < events.length; at += 10) await client.publish(events.slice(at, at + 10), { durable: true });
    const stream = await client.subscribe("Note", { durable: "billing" });
    const gap = await stream.next(30);
    const next = await stream.next(30);
    assert.deepEqual([gap.kind, next.kind], ["gap", "event"]);
    assert.match(gap.reason, /journal\.backlog_bytes/);
    assert.equal(gap.lost, next.attributes.number);
    assert.deepEqual([gap.first.root, gap.last.root], [next.place.root - gap.lost, next.place.root - 1]);
    const lost = stream.metrics().lost;
    await server.end("SIGKILL");
    await server.start();
    const kinds = [];
    for (let item = next; item; item = await stream.next(kinds.includes("reconnected") ? 2 : 30)) kinds.push(item.kind);
    assert.equal(kinds.filter((kind) => kind === "event").length, events.length - gap.lost);
    assert.ok(!kinds.includes("gap")); // it is not told again
    assert.equal(stream.metrics().lost, lost);
    client.close();
  } finally {
    await server.end();
  }
}));
