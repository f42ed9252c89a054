import { DurableObject, env, WorkerEntrypoint, waitUntil } from "cloudflare:workers";
import { metricsText, type PostReply, type SendRequest, unpackMessages } from "@sluice/protocol";
import { installProducers } from "../src/index.ts";

/** Sends from requests of every kind, over a broker that answers when it is told to. */

interface Bindings {
  readonly QUEUE: Queue;
  readonly BROKERS: DurableObjectNamespace<SlowBroker>;
  readonly SENDERS: DurableObjectNamespace<Sender>;
  readonly SELF: Fetcher<Entrypoint>;
  /** Service binding that can start handlers of this Worker, by `service_binding_extra_handlers`. */
  readonly MAIN: {
    scheduled(event: { readonly cron: string }): Promise<unknown>;
    queue(queue: string, messages: readonly object[]): Promise<unknown>;
  };
  readonly SHARES: string;
}

const bindings = env as unknown as Bindings;
installProducers(env, [{ binding: "QUEUE", queue: "orders" }], {
  namespaceBinding: "BROKERS",
  exposeErrorCodes: true,
  defaultContentType: "json",
  ...(bindings.SHARES === "yes" ? { keepAlive: waitUntil } : {}),
});

let begun = 0;
let hurriedMs = 0;
let stoppedMs: number | null = null;
const now = Date.now.bind(Date);
Date.now = () => (stoppedMs ?? now()) + hurriedMs;
const setRealTimeout = setTimeout;
/** While the clock stands still no timer ends. Each waits in its own request. */
function setStoppableTimeout(callback: () => void, ms: number): ReturnType<typeof setTimeout> {
  const end = (): unknown => (stoppedMs === null ? callback() : setRealTimeout(end, 10));
  return setRealTimeout(end, ms);
}
globalThis.setTimeout = setStoppableTimeout as typeof setTimeout;

async function send(body: string): Promise<void> {
  begun += 1;
  await bindings.QUEUE.send(body, { contentType: "text" });
}

interface BrokerCall {
  readonly bodies: readonly string[];
  readonly answered: PromiseWithResolvers<void>;
}

/** Remembers what came, call by call, and answers when it is told to. */
export class SlowBroker extends DurableObject {
  #calls: BrokerCall[] = [];
  #isOpen = false;

  async post(_queue: string, requests: readonly SendRequest[]): Promise<PostReply> {
    const messages = requests.flatMap(({ packed }) => unpackMessages(packed));
    const bodies = messages.map(({ body }) => new TextDecoder().decode(body));
    const answered = Promise.withResolvers<void>();
    this.#calls.push({ bodies, answered });
    if (!this.#isOpen) await answered.promise;
    return metricsText({ backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 });
  }

  /** Answers the call that a message came with. */
  answer(body: string): void {
    for (const { bodies, answered } of this.#calls) if (bodies.includes(body)) answered.resolve();
  }

  /** Answers every call from now on. */
  open(): void {
    this.#isOpen = true;
    for (const { answered } of this.#calls) answered.resolve();
  }

  calls(): (readonly string[])[] {
    return this.#calls.map(({ bodies }) => bodies);
  }
}

export class Sender extends DurableObject {
  send(body: string): Promise<void> {
    return send(body);
  }

  /** Nothing from outside reaches an object meanwhile, promises that others resolve included. */
  sendBlocking(body: string): Promise<void> {
    return this.ctx.blockConcurrencyWhile(() => send(body));
  }

  /** The object is reset with everything that it does. */
  reset(): void {
    this.ctx.abort("reset");
  }
}

export class Entrypoint extends WorkerEntrypoint {
  send(body: string): Promise<void> {
    return send(body);
  }
}

const STEPS: Record<string, (body: string) => Promise<unknown>> = {
  send,
  "send-and-forget": async (body) => {
    send(body).catch((error) => console.error(error));
  },
  "send-from-object": (body) => bindings.SENDERS.getByName(body).send(body),
  "send-from-blocked-object": (body) => bindings.SENDERS.getByName(body).sendBlocking(body),
  "send-from-entrypoint": (body) => bindings.SELF.send(body),
  "send-from-schedule": (cron) => bindings.MAIN.scheduled({ cron }),
  "send-from-consumer": (body) =>
    bindings.MAIN.queue("mails", [{ id: "1", timestamp: new Date(), attempts: 1, body }]),
  "send-twice": async (body) => {
    await send(`${body}1`);
    await send(`${body}2`);
  },
  reset: (name) =>
    bindings.SENDERS.getByName(name)
      .reset()
      .catch(() => {}),
  begun: async () => begun,
  answer: async (body) => bindings.BROKERS.getByName("orders").answer(body),
  open: async () => bindings.BROKERS.getByName("orders").open(),
  calls: () => bindings.BROKERS.getByName("orders").calls(),
  "stop-clock": async () => {
    stoppedMs = now();
  },
  "start-clock": async () => {
    stoppedMs = null;
  },
  hurry: async (ms) => {
    hurriedMs += Number(ms);
  },
};

export default {
  async fetch(request): Promise<Response> {
    const [, step = "", body = ""] = new URL(request.url).pathname.split("/");
    try {
      return Response.json((await STEPS[step]?.(body)) ?? null);
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
  scheduled: ({ cron }) => send(cron),
  async queue({ messages }): Promise<void> {
    for (const { body } of messages) await send(body);
  },
} satisfies ExportedHandler<unknown, string>;
