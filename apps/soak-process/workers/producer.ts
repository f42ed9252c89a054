import { env, waitUntil } from "cloudflare:workers";
import { installProducers } from "@sluice/producer";
import type { SendAnswer, SendOrder } from "./wire.ts";

interface ProducerEnv {
  readonly QUEUE_NAMES: readonly string[];
  readonly BROKER: Fetcher;
  readonly [binding: string]: unknown;
}

const { QUEUE_NAMES } = env as unknown as ProducerEnv;
installProducers(
  env,
  QUEUE_NAMES.map((queue) => ({ binding: queue, queue })),
  {
    namespaceBinding: "SLUICE_QUEUES",
    exposeErrorCodes: true,
    defaultContentType: "json",
    keepAlive: waitUntil,
  },
);

/** Sends what it is told to, over the same binding as any user's Worker, and shows the broker's own paths. */
export default {
  async fetch(request, env) {
    if (/^\/__(sluice|soak)/.test(new URL(request.url).pathname)) return env.BROKER.fetch(request);
    const order = await request.json<SendOrder>();
    return Response.json(await send(env[order.queue] as Queue<string>, order));
  },
} satisfies ExportedHandler<ProducerEnv>;

async function send(queue: Queue<string>, { how, messages }: SendOrder): Promise<SendAnswer> {
  if (how === "singles") {
    return Promise.all(messages.map(({ body, ...options }) => outcomeOf(queue.send(body, options))));
  }
  const outcome = await outcomeOf(queue.sendBatch(messages));
  return messages.map(() => outcome);
}

async function outcomeOf(sent: Promise<unknown>): Promise<string | null> {
  try {
    await sent;
    return null;
  } catch (error) {
    return String(error);
  }
}
