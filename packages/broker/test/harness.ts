import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path, { basename } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type BacklogMetrics,
  type Delivery,
  type DeliveryResult,
  type DrainReply,
  deliveryReply,
  type QueueDefinition,
  type QueueDescription,
  type QueueHistoryRpc,
  type QueuePostRpc,
  type QueuePullRpc,
  type SendReply,
  type SendRequest,
} from "@sluice/protocol";
import { resultOf } from "@sluice/protocol/test/delivery-result";
import { bundle as bundleFor } from "@sluice/protocol/test/workerd-process";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { onTestFinished } from "vitest";
import type { DirectoryObject } from "../src/rpc/directory-object.ts";
import { definition, packTexts, type SeenBatch, type SendOptions, seenOf } from "./messages.ts";
import { fromText, toText } from "./text.ts";

const HERE = path.dirname(fileURLToPath(import.meta.url));

/** Makes a folder that goes when the test and its hooks are over. */
export function folderOfTest(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "sluice-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Behaviour of the test's consumer; runs in the test, called from the consumer Worker. */
export type Handler = (batch: SeenBatch) => Partial<DeliveryResult> | Promise<Partial<DeliveryResult>>;

/** A queue's object, called over real RPC. */
export interface QueueStub extends QueuePullRpc, QueuePostRpc, QueueHistoryRpc {
  send(queue: string, requests: readonly SendRequest[]): Promise<SendReply>;
  metrics(queue: string): Promise<BacklogMetrics>;
  describe(queue: string): Promise<QueueDescription>;
  drain(queue: string): Promise<DrainReply>;
  advanceClock(queue: string, ms: number): Promise<void>;
}

export interface BrokerHarness {
  readonly persistDir: string;
  queue(name: string): Promise<QueueStub>;
  /** The directory's object, called over real RPC. */
  directory(): Promise<DirectoryObject>;
  send(queue: string, bodies: readonly string[], options?: SendOptions): Promise<SendReply>;
  /** Calls a queue's object from a Worker and answers with what it throws: the stubs in Node lose an error's text. */
  refusal(object: string, method: string, ...args: unknown[]): Promise<string>;
  /** Sends from as many senders at once as are asked for, each `each` times one after the other, all inside workerd. */
  swarm(
    queue: string,
    bodies: readonly string[],
    senders: number,
    each: number,
    options?: SendOptions,
  ): Promise<void>;
  /** Batches that were delivered, in order. */
  readonly seen: SeenBatch[];
  /** Resolves when `condition` holds; asked again at every delivery and every printed line. */
  until(condition: (seen: readonly SeenBatch[]) => boolean): Promise<void>;
  handler: Handler;
  /** Lines that the broker printed. */
  readonly lines: string[];
  /** kill -9 of the workerd process. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** The broker, whose options are a module of their own: it is bundled once for all of them. */
const BROKER_SOURCE = (members: string, timerSpeed: number) => `
import { workersHost } from "../src/platform/host.ts";
import { workersPort } from "../src/endpoint/workers-port.ts";
import { createDirectory, createQueueBroker } from "../src/index.ts";
import { fromText, toText } from "./text.ts";
import deployed from "./options.js";
const hostOf = (ctx, env) => {
  const host = workersHost()(ctx, env);
  return { ...host, after: (callback, ms) => host.after(callback, ms / ${timerSpeed}) };
};
const options = ${timerSpeed === 1 ? "deployed" : "{ ...deployed, hostOf }"};
export const Directory = createDirectory(options);
export class QueueBroker extends createQueueBroker(options, workersPort) {
${members}
}
export default {
  async fetch(request, env) {
    const { namespace = "SLUICE_QUEUES", object, method, args, senders, each } = fromText(await request.text());
    try {
      const stub = env[namespace].get(env[namespace].idFromName(object));
      if (senders !== undefined) {
        const packed = Uint8Array.from(args[0]);
        const send = async () => {
          for (let i = 0; i < each; i++) {
            const reply = await stub.send(object, [{ packed }]);
            if (!reply.ok) throw new Error(reply.cause);
          }
        };
        await Promise.all(Array.from({ length: senders }, send));
        return Response.json({ value: senders * each });
      }
      return new Response(toText({ value: await stub[method](...args) }));
    } catch (error) {
      return Response.json({ error: String(error) });
    }
  },
};
`;

/** Forwards every delivery to the test. */
const CONSUMER_SOURCE = `
import { WorkerEntrypoint } from "cloudflare:workers";
export class SluiceQueueConsumer extends WorkerEntrypoint {
  async deliver(delivery) {
    const response = await this.env.TEST.fetch("http://test/deliver", {
      method: "POST",
      headers: { "x-delivery": JSON.stringify({ ...delivery, packed: undefined }) },
      body: delivery.packed,
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  }
  async callsOf() {
    await this.ping();
    return null;
  }
  async ping() {
    const response = await this.env.TEST.fetch("http://test/ping");
    if (!response.ok) throw new Error("not running");
    return "pong";
  }
}
export default { fetch() { return new Response("consumer"); } };
`;

/** Starts a broker and one consumer Worker called "consumer" in real workerd. `stop()` it. */
export async function startBroker(options: {
  queues: Record<string, Partial<QueueDefinition>>;
  handler?: Handler;
  /** Answers to `ping`: a consumer that is not there fails both. */
  running?: () => boolean;
  persistDir?: string;
  /** Value of the broker's `SLUICE_ENV`; `null` leaves it out, as on a deployed broker. */
  sluiceEnv?: string | null;
  /** Further environment variables of the broker. */
  bindings?: Record<string, string>;
  /** How many times faster than time the timers of objects run: those of reports take 5 s. Default: 1. */
  timerSpeed?: number;
  /** Source of further members of the object's class: what a test needs to see or to break from inside. */
  members?: string;
}): Promise<BrokerHarness> {
  const persistDir = options.persistDir ?? (await mkdtemp(path.join(tmpdir(), "sluice-broker-")));
  const queues = Object.fromEntries(
    Object.entries(options.queues).map(([name, changes]) => [name, definition(changes)]),
  );
  const seen: SeenBatch[] = [];
  const lines: string[] = [];
  const waiters = new Set<() => void>();
  const running = options.running ?? (() => true);

  const harness: BrokerHarness = {
    persistDir,
    seen,
    lines,
    handler: options.handler ?? (() => ({})),
    async queue(name) {
      return stubOf<QueueStub>("SLUICE_QUEUES", name);
    },
    async directory() {
      return stubOf<DirectoryObject>("SLUICE_DIRECTORY", "directory");
    },
    async send(queue, bodies, sendOptions = {}) {
      const packed = packTexts(bodies, sendOptions);
      const { delaySeconds } = sendOptions;
      const stub = await harness.queue(queue);
      return stub.send(queue, [{ packed, ...(delaySeconds === undefined ? {} : { delaySeconds }) }]);
    },
    async refusal(object, method, ...args) {
      const { error } = await ask({ object, method, args });
      if (error === undefined) throw new Error(`${method} was not refused`);
      return error;
    },
    async swarm(object, bodies, senders, each, options) {
      const { error } = await ask({ object, args: [[...packTexts(bodies, options)]], senders, each });
      if (error !== undefined) throw new Error(error);
    },
    until(condition) {
      return new Promise<void>((resolve) => {
        const check = () => {
          if (!condition(seen)) return;
          waiters.delete(check);
          resolve();
        };
        waiters.add(check);
        check();
      });
    },
    async kill() {
      const pids = childrenCalled("workerd");
      if (pids.length === 0) throw new Error("no workerd process of this test is running");
      for (const pid of pids) process.kill(pid, "SIGKILL");
    },
    async stop() {
      await mf.dispose();
      if (options.persistDir === undefined) await rm(persistDir, { recursive: true, force: true });
    },
  };

  /** Has the broker's Worker call an object. */
  const ask = async (what: object): Promise<{ value?: unknown; error?: string }> => {
    const response = await mf.dispatchFetch("http://broker/", { method: "POST", body: toText(what) });
    return fromText(await response.text()) as { value?: unknown; error?: string };
  };

  /** Its methods are those of the object. Miniflare's own stubs start a thread each time that there is a broker. */
  const stubOf = <Stub>(namespace: string, object: string): Stub =>
    new Proxy(
      {},
      {
        get(_, method) {
          // The stub itself is no promise.
          if (method === "then") return undefined;
          return async (...args: unknown[]) => {
            const { value, error } = await ask({ namespace, object, method, args });
            if (error !== undefined) throw new Error(error);
            return value;
          };
        },
      },
    ) as Stub;

  const answer = async (request: Request): Promise<Response> => {
    if (!running()) return new Response("consumer is not running", { status: 503 });
    if (new URL(request.url).pathname === "/ping") return new Response("pong");
    const delivery = JSON.parse(request.headers.get("x-delivery") ?? "") as Omit<Delivery, "packed">;
    const packed = new Uint8Array(await request.arrayBuffer());
    const batch = seenOf({ ...delivery, packed });
    seen.push(batch);
    for (const check of [...waiters]) check();
    return Response.json(deliveryReply(resultOf(await harness.handler(batch))));
  };

  const mf = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: persistDir,
      handleStructuredLogs: ({ message }) => {
        lines.push(message);
        for (const check of [...waiters]) check();
      },
      workers: [
        {
          name: "broker",
          compatibilityDate: "2026-11-01",
          modules: [
            {
              type: "ESModule",
              path: "broker.js",
              contents: await bundle(BROKER_SOURCE(options.members ?? "", options.timerSpeed ?? 1), [
                "./options.js",
              ]),
            },
            {
              type: "ESModule",
              path: "options.js",
              contents: `export default ${JSON.stringify({ topology: { queues }, consumers: { consumer: "CONSUMER" } })}`,
            },
          ],
          durableObjects: {
            SLUICE_QUEUES: { className: "QueueBroker", useSQLite: true },
            SLUICE_DIRECTORY: { className: "Directory", useSQLite: true },
          },
          serviceBindings: { CONSUMER: { name: "consumer", entrypoint: "SluiceQueueConsumer" } },
          bindings: {
            ...(options.sluiceEnv === null ? {} : { SLUICE_ENV: options.sluiceEnv ?? "development" }),
            ...options.bindings,
          },
        },
        {
          name: "consumer",
          compatibilityDate: "2026-11-01",
          modules: [{ type: "ESModule", path: "consumer.js", contents: CONSUMER_SOURCE }],
          serviceBindings: { TEST: answer as never },
        },
      ],
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  );
  await mf.ready;
  return harness;
}

/** Process ids of this process's children with that name. */
function childrenCalled(name: string): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,comm="], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => {
    const [, pid, parent, command = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === process.pid && basename(command) === name ? [Number(pid)] : [];
  });
}

/** Bundles a module that may import from this folder, for workerd, without the modules `apart`. */
export function bundle(source: string, apart: readonly string[] = []): Promise<string> {
  return bundleFor(source, HERE, "kept", apart);
}
