import type { QueueConsumerRpc } from "@sluice/protocol";

/**
 * Delivers the bytes of a request to the entrypoint in its path and answers with the result, or with why there is none.
 */
export default {
  async fetch(request: Request, env: Readonly<Record<string, QueueConsumerRpc>>): Promise<Response> {
    const url = new URL(request.url);
    const consumer = env[url.pathname.slice(1)];
    if (consumer === undefined) throw new Error(`no entrypoint ${url.pathname}`);
    if (url.searchParams.has("ping")) return Response.json(await consumer.ping());
    const id = "1 delivery";
    const packed = new Uint8Array(await request.arrayBuffer());
    const metrics = { backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 };
    try {
      const result = await consumer.deliver({ id, queue: "orders", packed, attempts: 1, metrics });
      console.log("the result was reported");
      return Response.json({ result });
    } catch (error) {
      const calls = [await consumer.callsOf(id), await consumer.callsOf(id)];
      return Response.json({ rejected: String(error), calls });
    }
  },
};
