// How many events a second one process publishes and receives: `node throughput.mjs ADDRESS COUNT WAY`. It prints the
// seconds. clients/python/bench/throughput.py runs it beside the other clients.
import { connect } from "../src/index.js";
import { WebSocket } from "../tests/support.mjs";

const [address, text, way] = process.argv.slice(2);
const count = Number(text);
const EVENTS = Array.from({ length: 1000 }, (_, i) => ({
  type: "Reading", attributes: { area: `area${i % 10}`, value: 20.5 + (i % 20) },
}));

async function publish(how) {
  const client = await connect(address, { WebSocket });
  const begin = performance.now();
  for (let sent = 0; sent < count; sent += 1000) {
    if (how === "lists") await client.send(EVENTS);
    else for (const event of EVENTS) await client.send(event);
  }
  await client.flush(600);
  const seconds = (performance.now() - begin) / 1000;
  await client.drain();
  return seconds;
}

/** Seconds from the first event to the last, while another process publishes. */
async function receive(how) {
  const client = await connect(address, { WebSocket, receiveEvents: count });
  const stream = await client.subscribe("Reading");
  console.log("ready");
  let begin = 0;
  let seen = 0;
  const items = how === "batches" ? stream.batches() : stream;
  for await (const item of items) {
    begin ||= performance.now();
    seen += how === "batches" ? item.events.length : 1;
    if (seen >= count) break;
  }
  client.close();
  return (performance.now() - begin) / 1000;
}

const ways = { lists: publish, single: publish, batches: receive, each: receive };
console.log(String(await ways[way](way)));
