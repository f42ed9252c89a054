/**
 * Makes the entry of a broker on a platform with jurisdictions. workerd has none, so they are imitated: an object in a
 * jurisdiction has its name as a prefix. `/made` lists the objects that were made, `/send` sends as a Worker's binding
 * does, `/send-old` as the binding of a Worker that was built before Sluice supported jurisdictions.
 */
export const placedEntry = (topology: object) => `
import { defineBroker } from "@sluice/broker-worker";
import { installProducers } from "../../packages/producer/src/index.ts";
import { workersHost } from "../../packages/broker/src/platform/host.ts";

const made = new Set();
const within = (namespace, place = "") => ({
  idFromName: (name) => namespace.idFromName(place + name),
  get: (id) => namespace.get(id),
  getByName: (name) => namespace.getByName(place + name),
  jurisdiction: (next) => within(namespace, next + "/"),
});
const placed = (env) => ({ ...env, SLUICE_QUEUES: within(env.SLUICE_QUEUES) });
const hosts = workersHost();
const hostOf = (ctx, env) => {
  const { name } = ctx.id;
  made.add(name);
  // A queue of alerts has a slash in its name.
  const own = /^(?:eu|us)\\/(.*)$/.exec(name)?.[1] ?? name;
  const id = { name: own, toString: () => ctx.id.toString() };
  return { ...hosts(ctx, placed(env)), id };
};
const consumers = { consumer: "CONSUMER" };
const broker = defineBroker({ topology: ${JSON.stringify(topology)}, consumers, hostOf });
export const { Directory, QueueBroker } = broker;
export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/made") return Response.json([...made].filter((name) => name !== "directory").sort());
    if (!pathname.startsWith("/send")) return broker.handler.fetch(request, placed(env), ctx);
    const bindings = { ...placed(env), ORDERS: null };
    installProducers(bindings, [{ binding: "ORDERS", queue: "orders" }], {
      namespaceBinding: "SLUICE_QUEUES",
      directoryBinding: pathname === "/send" ? "SLUICE_DIRECTORY" : undefined,
      exposeErrorCodes: true,
      defaultContentType: "json",
    });
    try {
      await bindings.ORDERS.send("secret");
      return new Response("sent");
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
};
`;

/** A consumer Worker whose every delivery fails. */
export const FAILING = `
import { WorkerEntrypoint } from "cloudflare:workers";
export class SluiceQueueConsumer extends WorkerEntrypoint {
  async deliver() {
    return { outcome: "exception", error: "Error: secret of a customer", ackAll: false, retryBatch: { retry: false },
      explicitAcks: [], retryMessages: [] };
  }
  async callsOf() { return null; }
  async ping() { return "pong"; }
}
export default { fetch: () => new Response("consumer") };
`;
