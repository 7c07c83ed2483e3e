// A real server, and a proxy that treats connections badly.
import { spawn } from "node:child_process";
import { createServer, connect as dial } from "node:net";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import path from "node:path";

export const PACKAGE = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const REPOSITORY = path.dirname(path.dirname(PACKAGE));
export const BINARY = process.env.GORGO_BINARY ?? path.join(REPOSITORY, "build/release/gorgo");

/** Node before 22 has no global WebSocket, or has it behind a flag; there users pass one, and so do the tests. */
function findWebSocket() {
  if (globalThis.WebSocket) return globalThis.WebSocket;
  const require = createRequire(import.meta.url);
  for (const name of ["ws"]) {
    try {
      return require(name).WebSocket;
    } catch {
      // the next one
    }
  }
  return undefined;
}
export const WebSocket = findWebSocket();

/** `gorgo serve` with the rules of rules/fire.tesla. It keeps its ports when it is started again. */
export class Server {
  port = 0;

  static async start(environment = {}, ...options) {
    const server = new Server();
    server.options = options;
    server.environment = { ...process.env, ...environment };
    await server.start();
    return server;
  }

  get address() {
    return `http://127.0.0.1:${this.port}`;
  }

  async start() {
    const rules = path.join(REPOSITORY, "rules/fire.tesla");
    this.process = spawn(BINARY, ["serve", "--listen", "127.0.0.1:0", "--http", `127.0.0.1:${this.port}`, "--rules", rules,
      ...this.options],
      { stdio: ["ignore", "pipe", "pipe"], env: this.environment });
    this.ended = new Promise((resolve) => this.process.on("exit", resolve));
    let log = "";
    this.process.stderr.on("data", (data) => (log += data));
    for await (const line of createInterface(this.process.stdout)) {
      const found = /^http on .*:(\d+)$/.exec(line);
      if (!found) continue;
      this.port = Number(found[1]);
      return;
    }
    throw new Error(`the server did not start: ${log}`);
  }

  end(signal = "SIGTERM") {
    this.process.kill(signal);
    return this.ended;
  }
}

/**
 * Forwards connections to a port. `cut(n)` says after how many bytes, both ways together, WebSocket n is to be cut.
 * While it is frozen, nothing is forwarded and nothing closed.
 */
export class Proxy {
  webSockets = 0;
  most = 0; // bytes of one WebSocket, both ways together
  sockets = new Set();
  frozen = false;

  static async start(target, cut = () => undefined) {
    const proxy = new Proxy();
    proxy.server = createServer((near) => proxy.serve(near, dial(target, "127.0.0.1"), cut));
    await new Promise((resolve) => proxy.server.listen(0, "127.0.0.1", resolve));
    proxy.address = `http://127.0.0.1:${proxy.server.address().port}`;
    return proxy;
  }

  serve(near, far, cut) {
    let bytes = 0;
    let isWebSocket = false;
    let left;
    near.once("data", (head) => {
      isWebSocket = /^upgrade: *websocket/im.test(head.toString("latin1"));
      if (isWebSocket) left = cut(this.webSockets++);
    });
    const end = () => {
      for (const socket of [near, far]) {
        this.sockets.delete(socket);
        socket.destroySoon();
      }
    };
    for (const [from, to] of [[near, far], [far, near]]) {
      this.sockets.add(from);
      from.setNoDelay(true);
      if (this.frozen) from.pause();
      from.on("error", end);
      from.on("close", end);
      from.on("data", (data) => {
        const some = left === undefined ? data : data.subarray(0, left - bytes);
        bytes += some.length;
        if (isWebSocket) this.most = Math.max(this.most, bytes);
        to.write(some);
        if (left !== undefined && bytes >= left) end();
      });
    }
  }

  freeze() {
    this.frozen = true;
    for (const socket of this.sockets) socket.pause();
  }

  thaw() {
    this.frozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  close() {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}
