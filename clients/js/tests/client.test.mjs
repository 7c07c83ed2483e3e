// The client against a real server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as gorgo from "../src/index.js";
import { Proxy, Server, WebSocket } from "./support.mjs";

const temp = (area, value) => ({ type: "Temp", attributes: { area, value } });
const smoke = (area) => ({ type: "Smoke", attributes: { area } });
let server;

const connect = (options = {}) => gorgo.connect(server.address, { timeout: 20, WebSocket, ...options });

async function take(stream, count) {
  const items = [];
  while (items.length < count) items.push(await stream.next(20));
  return items;
}

before(async () => {
  server = await Server.start();
});
after(() => server.end());

test("a fire is reported to its subscriber", async () => {
  const client = await connect();
  const fires = await client.subscribe('Fire(area = "f1")');
  assert.equal((await client.publish(temp("f1", 50.5))).accepted, 1);
  await client.publish([temp("f1", 20), smoke("f1")]);
  const fire = await fires.next(20);
  assert.equal(fire.kind, "event");
  assert.deepEqual(fire.attributes, { area: "f1", measuredTemp: 50.5 });
  assert.ok(fire.place.root > 0 && fire.timestamp > 1e12);
  assert.equal(await fires.next(0.01), undefined);
  await client.drain();
});

test("publications of every way arrive in the order of the calls", async () => {
  const client = await connect();
  const temps = await client.subscribe('Temp(area = "order")');
  await client.send(temp("order", 0));
  await client.send([temp("order", 1), temp("order", 2)]);
  await client.publish(temp("order", 3));
  await client.send(Array.from({ length: 100 }, (_, i) => temp("order", 4 + i)));
  await client.send(temp("order", 104));
  await client.publishColumns({ Temp: { area: ["order"], value: new Float64Array([105]) } });
  assert.equal((await client.flush()).accepted, 104);
  const values = (await take(temps, 106)).map((event) => event.attributes.value);
  assert.deepEqual(values, Array.from({ length: 106 }, (_, i) => i));
  await client.drain();
});

test("a refusal names its row and reason, and flush tells those that nobody asked for", async () => {
  const client = await connect();
  const refused = await client.publish([temp("r", 1), temp(7, 1), temp("r", 2), { type: "Temp" }]).catch((e) => e);
  assert.ok(refused instanceof gorgo.Refused);
  assert.equal(refused.code, "refused");
  assert.deepEqual([refused.published.accepted, refused.published.refused], [2, 2]);
  assert.deepEqual(refused.published.refusals.map((r) => r.row), [1, 3]);
  assert.match(refused.published.refusals[0].reason, /area/);
  const sent = [];
  for (let i = 0; i < 300; ++i) sent.push(await client.send(i % 3 ? temp("s", 1) : temp(i, 1)));
  await assert.rejects(client.flush(), gorgo.Refused);
  assert.deepEqual(sent.map((p) => p.published.refused), sent.map((_, i) => (i % 3 ? 0 : 1)));
  const one = await client.send(temp(7, 1));
  await assert.rejects(one.outcome(), gorgo.Refused);
  await client.drain(); // which does not tell it again
});

test("values keep their types as far as JSON has them", async () => {
  const client = await connect();
  const notes = await client.subscribe("Note");
  const attributes = { i: 3, f: 0.5, b: true, s: 'é"\\\n', big: 2n ** 62n, none: undefined, float: 2 ** 63, negative: -1.5e19 };
  await client.publish({ type: "Note", attributes, timestamp: new Date() });
  const { i, f, b, s, big, none, float, negative } = (await notes.next(20)).attributes;
  assert.deepEqual([i, f, b, s, big, none, float, negative], [3, 0.5, true, 'é"\\\n', 2 ** 62, undefined, 2 ** 63, -1.5e19]);
  await assert.rejects(client.publish({ type: "Note", attributes: { x: {} } }), /attribute 'x'/);
  await client.drain();
});

test("what is no event is an error with a code and a hint, and nothing of it is sent", async () => {
  const client = await connect();
  const isWrong = (code) => (e) => e instanceof gorgo.GorgoError && e.code === code && e.message !== "" && e.hint !== "";
  for (const wrong of [null, "A", { attributes: {} }, { type: 7 }, { type: "A", attributes: [1] }, { type: "A", attributes: { x: [1] } },
    { type: "A", attributes: { s: "half \ud83d" } }, { type: "A\ude00" }, { type: "A", attributes: { "\ud83d": 1 } },
    { type: "A", timestamp: NaN }, { type: "A", timestamp: new Date("no date") }, { type: "A", timestamp: "5" }, { type: "A", timestamp: 1e16 },
    { type: "A", attributes: new Map([["x", 1]]) }, { type: "A", attributes: "text" }, { type: "A", attrs: { x: 1 } }, { type: "A", ts: 1 }, { type: "A", tpye: "B" }]) {
    await assert.rejects(client.publish([temp("fine", 1), wrong]), isWrong("event"));
  }
  await assert.rejects(client.publish({ type: "A", attrs: {} }), (e) => /'attrs'/.test(e.message) && /attributes/.test(e.hint));
  await assert.rejects(client.publish({ type: "A", ts: 1 }), (e) => /'ts'/.test(e.message) && /timestamp/.test(e.hint));
  for (const wrong of [null, [1], new Map(), { A: [1] }, { A: null }, { A: { x: [1, 2], y: [1] } }, { A: { x: [1], y: null } }]) {
    await assert.rejects(client.publishColumns(wrong), isWrong("event"));
  }
  await assert.rejects(client.publish({ type: "A" }, { processed: true, durable: true }), isWrong("option"));
  assert.equal(client.metrics().outstandingMessages, 0);
  await client.drain();
});

test("an event whose timestamp is null is stamped by the server", async () => {
  const client = await connect();
  const notes = await client.subscribe("Note");
  await client.publish({ type: "Note", attributes: { n: 1 }, timestamp: null });
  await client.publishColumns({ Note: { n: [2], timestamp: [null] } });
  const begin = Date.now() - 3_600_000;
  for (let n = 0; n < 2; ++n) assert.ok((await notes.next(10)).timestamp > begin);
  await client.drain();
});

test("what a subscription yields is published as it is", async () => {
  const client = await connect();
  const notes = await client.subscribe("Note");
  const now = Date.now();
  await client.publish({ type: "Note", attributes: { n: 1 }, timestamp: now });
  const first = await notes.next(20);
  await client.publish(first);
  const { attributes, timestamp } = await notes.next(20);
  assert.deepEqual([attributes, timestamp], [{ n: 1 }, now]);
  await client.drain();
});

test("rules are checked, deployed, listed, pinned, explained and removed", async () => {
  const client = await connect();
  const wrong = "define Hot(area: string) from Temp(valu > 45) where area = Temp.area;";
  const [found] = await client.check("x", wrong);
  assert.deepEqual([found.severity, wrong.slice(found.column - 1, found.column - 1 + found.length)], ["error", "valu"]);
  await assert.rejects(client.deploy("x", wrong), gorgo.InvalidText);
  await assert.rejects(client.subscribe("Fire("), (e) => e instanceof gorgo.InvalidText && e.diagnostics[0].line === 1);
  await client.deploy("js", wrong.replace("valu ", "value "));
  await client.pin("js.Hot", "column");
  await client.publish(temp("hot", 60));
  assert.equal((await client.rule("js.Hot")).engine, "column");
  assert.ok((await client.rules()).some((rule) => rule.name === "js.Hot"));
  assert.equal((await client.why("js.Hot", { last: 1 })).produced, 1);
  assert.ok((await client.types()).some((type) => type.name === "Temp"));
  await client.remove("js");
  await assert.rejects(client.rule("js.Hot"), (e) => e instanceof gorgo.ServerError && e.code === "not_found");
  await client.drain();
});

test("a sample leaves out what goes beyond it, and says how much", async () => {
  // What is left out behind the last event that is shown is told with the next heartbeat.
  const own = await Server.start({ GORGO__LIMITS__HEARTBEAT_MS: "200" });
  const client = await gorgo.connect(own.address, { timeout: 20, WebSocket });
  const stream = await client.subscribe("Sampled", { most: 5 });
  const events = Array.from({ length: 1000 }, (_, n) => ({ type: "Sampled", attributes: { n } }));
  await client.publish(events);
  let shown = 0;
  let leftOut = 0;
  while (shown + leftOut < events.length) {
    const item = await stream.next(30);
    if (item.kind === "event") shown += 1;
    else leftOut += item.rows;
  }
  assert.ok(shown >= 1 && shown <= 10, `${shown} are shown`);
  await assert.rejects(client.subscribe("Sampled", { most: 5, credit: 5 }), (e) => e.code === "option");
  await assert.rejects(client.subscribe("Sampled", { most: 0 }), (e) => e.code === "option");
  await client.drain();
  await own.end();
});

test("a client that only asks or subscribes opens no connection to publish", async () => {
  const client = await connect({ token: undefined });
  const fires = await client.subscribe("Fire");
  assert.equal(client.link.opening, undefined);
  assert.ok((await client.request("GET", "connections")).connections.length > 0);
  await client.publish(temp("lazy", 1));
  assert.ok(client.link.connection);
  assert.deepEqual(client.metrics(), { reconnections: 0, repeated: 0, outstandingMessages: 0, outstandingBytes: 0 });
  fires.close();
  await client.drain();
});

test("drain delivers what matched before, and a drained client is closed", async () => {
  const client = await connect();
  const temps = await client.subscribe('Temp(area = "drain")');
  for (let i = 0; i < 1000; ++i) await client.send(temp("drain", i));
  await client.flush();
  await client.drain();
  let count = 0;
  for await (const batch of temps.batches()) count += batch.events.length;
  assert.equal(count, 1000);
  await assert.rejects(temps.next(), gorgo.ClosedError);
  await assert.rejects(client.publish(temp("drain", 0)), gorgo.ClosedError);
});

test("events that come while too many wait are counted in a gap that names the first and the last place", async () => {
  const client = await connect({ receiveEvents: 100 });
  const temps = await client.subscribe('Temp(area = "slow")');
  const other = await client.subscribe('Temp(area = "slow")');
  const seen = (async () => {
    const events = [];
    while (events.length < 500) events.push(await other.next(20));
    return events;
  })();
  for (let i = 0; i < 500; ++i) await client.publish(temp("slow", i));
  const all = await seen;
  const items = await take(temps, 101);
  assert.deepEqual(items.slice(0, 100).map((item) => item.attributes.value), Array.from({ length: 100 }, (_, i) => i));
  const gap = items[100];
  assert.deepEqual([gap.kind, gap.first, gap.last], ["gap", all[100].place, all[99 + gap.lost].place]);
  await client.drain();
});

test("a full buffer of publications waits, and then says that nothing was sent", async () => {
  const proxy = await Proxy.start(server.port);
  const client = await gorgo.connect(proxy.address, { publishBytes: 20000, timeout: 0.5, heartbeat: 0, WebSocket });
  proxy.freeze();
  let sent = 0;
  await assert.rejects(async () => {
    for (; sent < 1000; ++sent) await client.send(Array.from({ length: 64 }, (_, i) => temp("full", i)));
  }, (e) => e.code === "timeout" && /nothing of this one was sent/.test(e.message));
  await assert.rejects(client.flush(0.01), gorgo.OutcomeUnknown);
  proxy.thaw();
  assert.equal((await client.flush(20)).accepted, 64 * sent);
  client.close();
  proxy.close();
});

test("without a server connecting says so, and addresses are checked", async () => {
  await assert.rejects(gorgo.connect("http://127.0.0.1:1", { timeout: 0.1, WebSocket }), gorgo.ConnectError);
  for (const address of ["gorgo://x", "nonsense", "http://u:p@h", "http://h?token=x"]) {
    await assert.rejects(gorgo.connect(address, { WebSocket }), (e) => e.code === "address" && e.hint !== "");
  }
});
