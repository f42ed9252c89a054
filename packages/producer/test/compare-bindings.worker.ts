import { DurableObject, env } from "cloudflare:workers";
import {
  hexOf,
  metricsText,
  type PostReply,
  type RpcFailure,
  type SendRequest,
  unpackMessages,
} from "@sluice/protocol";
import { installProducers } from "../src/index.ts";
import { CASES } from "./binding-cases.ts";

/** Runs every case against workerd's own binding, `NATIVE`, and against ours, and answers with both outcomes. */

interface Bindings {
  readonly NATIVE: Queue;
  readonly OURS: Queue;
  readonly BROKERS: DurableObjectNamespace<RecordingBroker>;
  readonly RECORDER: Fetcher;
  readonly DEFAULT_CONTENT_TYPE: "json" | "v8";
  readonly EXPOSE_ERROR_CODES: string;
}

const METRICS = { backlogCount: 3, backlogBytes: 40, oldestMessageTimestampMs: 1_700_000_000_000 };

/** Send request as it reached the other side. The bytes of v8 bodies are left out: the formats differ on purpose. */
interface Sent {
  readonly delaySeconds: number | null;
  readonly messages: readonly { contentType: string; delaySeconds: number | null; body: string }[];
}

export class RecordingBroker extends DurableObject {
  #sent: Sent[] = [];
  #failure: RpcFailure | "throw" | undefined;

  post(_queue: string, requests: readonly SendRequest[]): PostReply {
    if (this.#failure === "throw") throw new Error("broken");
    if (this.#failure !== undefined) return this.#failure;
    for (const { packed, delaySeconds = null } of requests) {
      const messages = unpackMessages(packed).map((message) => ({
        contentType: message.contentType,
        delaySeconds: message.delaySeconds ?? null,
        body: message.contentType === "v8" ? "" : hexOf(message.body),
      }));
      this.#sent.push({ delaySeconds, messages });
    }
    return metricsText(METRICS);
  }

  metrics() {
    if (this.#failure !== undefined) throw new Error("broken");
    return METRICS;
  }

  fail(failure: RpcFailure | "throw") {
    this.#failure = failure;
  }

  take() {
    return this.#sent.splice(0);
  }
}

const bindings = env as unknown as Bindings;
installProducers(env, [{ binding: "OURS", queue: "orders" }], {
  namespaceBinding: "BROKERS",
  exposeErrorCodes: bindings.EXPOSE_ERROR_CODES === "yes",
  defaultContentType: bindings.DEFAULT_CONTENT_TYPE,
});

async function outcome(run: () => unknown): Promise<unknown> {
  let promise: unknown;
  try {
    promise = run();
  } catch (error) {
    return { threw: describeError(error) };
  }
  try {
    return { resolved: (await promise) ?? null };
  } catch (error) {
    return { rejected: describeError(error) };
  }
}

function describeError(error: unknown): unknown {
  return error instanceof Error ? [error.constructor.name, error.name, error.message] : String(error);
}

async function compareCases(): Promise<Record<string, unknown>> {
  const results: Record<string, unknown> = {};
  for (const [name, run] of Object.entries(CASES)) {
    const native = await outcome(() => run(bindings.NATIVE));
    const nativeSent = await (await bindings.RECORDER.fetch("http://recorder/take")).json();
    const ours = await outcome(() => run(bindings.OURS));
    const oursSent = await bindings.BROKERS.getByName("orders").take();
    results[name] = [
      { ...(native as object), sent: nativeSent },
      { ...(ours as object), sent: oursSent },
    ];
  }
  return results;
}

/** How each method fails while the other side fails: with a reason, or without one. */
async function compareFailures(failure: RpcFailure | "throw"): Promise<unknown> {
  await bindings.BROKERS.getByName("orders").fail(failure);
  const response: ResponseInit =
    failure === "throw"
      ? { status: 500, statusText: "Internal Server Error" }
      : {
          status: 429,
          statusText: failure.cause,
          headers: { "CF-Queues-Error-Code": String(failure.code), "CF-Queues-Error-Cause": failure.cause },
        };
  await bindings.RECORDER.fetch("http://recorder/fail", { method: "POST", body: JSON.stringify(response) });
  const methods = (queue: Queue) =>
    Promise.all([
      outcome(() => queue.send(1)),
      outcome(() => queue.sendBatch([{ body: 1 }])),
      failure === "throw" ? outcome(() => queue.metrics()) : null,
    ]);
  return [await methods(bindings.NATIVE), await methods(bindings.OURS)];
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/cases") return Response.json(await compareCases());
    if (pathname === "/send") {
      return Response.json(await Promise.all([1, 2, 3].map((n) => bindings.OURS.send(n))));
    }
    if (pathname === "/sent") return Response.json(await bindings.BROKERS.getByName("orders").take());
    return Response.json(await compareFailures(await request.json()));
  },
};
