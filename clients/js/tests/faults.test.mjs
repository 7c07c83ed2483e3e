// Lost connections, dead servers: no publication is doubled or lost, and no stream is silent.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as gorgo from "../src/index.js";
import { Proxy, Server, WebSocket } from "./support.mjs";

const QUICK = { reconnectLeast: 0.001, reconnectMost: 0.05, timeout: 30, WebSocket };
const note = (session, number) => ({ type: "Note", attributes: { session, number } });

/** The items up to the first one of a kind, which is the last of the list. */
async function following(stream, kind) {
  const items = [];
  while (items.at(-1)?.kind !== kind) {
    const item = await stream.next(30);
    assert.ok(item, `${kind} did not come`);
    items.push(item);
  }
  return items;
}

/** The numbers of the events up to `last`, without notices. */
async function numbers(stream, last) {
  const found = [];
  while (found.at(-1) !== last) {
    const item = await stream.next(30);
    assert.ok(item, `${last} did not come behind ${found.at(-1)}`);
    if (item.kind === "event") found.push(item.attributes.number);
  }
  return found;
}

async function with_server(work) {
  const server = await Server.start();
  try {
    await work(server);
  } finally {
    await server.end();
  }
}

test("a server that is killed and restarted gets each publication once", () => with_server(async (server) => {
  const client = await gorgo.connect(server.address, QUICK);
  const stream = await client.subscribe("Note");
  const sent = [];
  for (let n = 0; n < 2000; ++n) sent.push(await client.send(note("restart", n)));
  await client.publish(note("restart", 2000));
  for (let n = 2001; n < 4000; ++n) sent.push(await client.send(note("restart", n)));
  await server.end("SIGKILL");
  const before = (await following(stream, "disconnected")).slice(0, -1).map((item) => item.attributes.number);
  assert.deepEqual(before, before.map((_, i) => i));
  while (client.link.connection) await new Promise((resolve) => setTimeout(resolve, 1));
  const known = sent.filter((publication) => publication.done).length + 1;
  await server.start();
  await following(stream, "reconnected");
  assert.deepEqual((await following(stream, "gap")).map((item) => item.lost), [null]);
  await client.flush();
  assert.ok(sent.every((publication) => publication.published.accepted === 1));
  const metrics = await (await fetch(`${server.address}/metrics`)).text();
  assert.equal(Number(/^gorgo_events_accepted_total (\d+)/m.exec(metrics)[1]), 4000 - known);
  await client.publish(note("restart", 4000));
  const rest = await numbers(stream, 4000);
  assert.deepEqual(rest, rest.map((_, i) => 4001 - rest.length + i));
  await client.drain();
}));

/** Runs a session once whole, and then cut after each number of bytes that it has. */
async function sweep(session, server) {
  const whole = await session(server, "whole", undefined);
  assert.ok(whole > 200);
  let cut = 0;
  const worker = async () => {
    while (++cut <= whole) await session(server, `cut${cut}`, cut);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return whole;
}

test("a publisher cut anywhere publishes each event once and in order", () => with_server(async (server) => {
  const watcher = await gorgo.connect(server.address, QUICK);
  const stream = await watcher.subscribe("Note");
  const whole = await sweep(async (_, name, cut) => {
    const proxy = await Proxy.start(server.port, (socket) => (socket === 0 ? cut : undefined));
    const client = await gorgo.connect(proxy.address, QUICK);
    await client.publish(note(name, 0));
    await client.send(note(name, 1));
    await client.publish(note(name, 2));
    await client.drain();
    proxy.close();
    return proxy.most;
  }, server);
  await watcher.publish(note("end", -1));
  const found = {};
  for await (const { kind, attributes } of stream) {
    assert.equal(kind, "event");
    if (attributes.number === -1) break;
    (found[attributes.session] ??= []).push(attributes.number);
  }
  assert.equal(Object.keys(found).length, whole + 1);
  for (const [name, list] of Object.entries(found)) assert.deepEqual(list, [0, 1, 2], name);
  watcher.close();
}));

test("a subscriber cut anywhere has all events or a gap, and goes on", () => with_server(async (server) => {
  await sweep(async (_, name, cut) => {
    const proxy = await Proxy.start(server.port, (socket) => (socket === 0 ? cut : undefined));
    const client = await gorgo.connect(proxy.address, QUICK);
    const stream = await client.subscribe(`Note(session = "${name}")`);
    await client.publish([0, 1, 2].map((n) => note(name, n)));
    const got = [];
    let gaps = 0;
    while (got.at(-1) !== 2 && gaps === 0) {
      const item = await stream.next(30);
      if (item.kind === "event") got.push(item.attributes.number);
      gaps += item.kind === "gap";
    }
    assert.ok(gaps > 0 || got.join() === "0,1,2", `${got} without a gap, cut after ${cut}`);
    await client.publish(note(name, 3));
    while (got.at(-1) !== 3) {
      const item = await stream.next(30);
      if (item.kind === "gap") await client.publish(note(name, 3));
      if (item.kind === "event") got.push(item.attributes.number);
    }
    await client.drain();
    proxy.close();
    return proxy.most;
  }, server);
}));

test("a connection that is dead without a word is noticed and replaced", () => with_server(async (server) => {
  const proxy = await Proxy.start(server.port);
  const watcher = await gorgo.connect(server.address, QUICK);
  const client = await gorgo.connect(proxy.address, { ...QUICK, heartbeat: 0.1 });
  const seen = await watcher.subscribe("Note");
  const stream = await client.subscribe("Note");
  await client.publish(note("dead", 0));
  proxy.freeze();
  const underWay = [];
  for (let n = 1; n < 50; ++n) underWay.push(await client.send(note("dead", n)));
  assert.match((await following(stream, "disconnected")).at(-1).reason, /no sign of life/);
  proxy.thaw(); // what was frozen reaches the server late, beside what is sent again
  await following(stream, "gap");
  await client.flush();
  assert.ok(underWay.every(({ published }) => published.accepted + published.duplicates === 1));
  await client.publish(note("dead", 50));
  assert.deepEqual(await numbers(seen, 50), Array.from({ length: 51 }, (_, i) => i));
  client.close();
  watcher.close();
  proxy.close();
}));

test("a million events arrive with the checksum that they were sent with", () => with_server(async (server) => {
  const count = 1_000_000;
  const client = await gorgo.connect(server.address, { ...QUICK, receiveEvents: count });
  const stream = await client.subscribe("Note");
  const next = (sum, number) => (sum * 31 + number) % 1_000_003;
  const receive = async () => {
    let sum = 0;
    let seen = 0;
    for await (const batch of stream.batches()) {
      assert.equal(batch.kind, "batch");
      for (const event of batch.events) sum = next(sum, event.attributes.number);
      seen += batch.events.length;
      if (seen === count) return sum;
    }
  };
  const received = receive();
  let sum = 0;
  for (let first = 0; first < count; first += 1000) {
    const values = Array.from({ length: 1000 }, (_, i) => ((first + i) * 7919) % 1_000_003);
    sum = values.reduce(next, sum);
    await client.send(values.map((number) => note("many", number)));
  }
  assert.equal((await client.flush(120)).accepted, count);
  assert.equal(await received, sum);
  await client.drain();
}));

test("a message above the server's limit fails, and the others go on", () => with_server(async (server) => {
  const client = await gorgo.connect(server.address, QUICK);
  const stream = await client.subscribe("Note");
  const large = { type: "Note", attributes: { text: "é".repeat(700_000) } };
  const publications = [client.publish(note("a", 1)), client.publish(large), client.publish(note("a", 2)), client.publish(large),
    client.publish(note("a", 3))];
  const outcomes = await Promise.allSettled(publications);
  // Those that the server had taken before it closed the connection are duplicates when they come again.
  const applied = ({ accepted, duplicates }) => accepted + duplicates;
  assert.deepEqual(outcomes.map(({ value, reason }) => (value ? applied(value) : reason.code)), [1, "too_large", 1, "too_large", 1]);
  assert.match(outcomes[1].reason.message, /http\.max_message_bytes/);
  assert.notEqual(outcomes[1].reason.hint, "");
  assert.equal((await client.publish(note("a", 4))).accepted, 1);
  assert.deepEqual(await numbers(stream, 4), [1, 2, 3, 4]);
  await client.drain();
}));
