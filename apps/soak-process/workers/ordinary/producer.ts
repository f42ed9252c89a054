import type { SendAnswer, SendOrder } from "../wire.ts";

/** An ordinary Worker with queue bindings: sends the messages of an order. */
export default {
  async fetch(request, env) {
    const order = await request.json<SendOrder>();
    return Response.json(await send(env[order.queue] as Queue<string>, order));
  },
} satisfies ExportedHandler<Record<string, unknown>>;

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
