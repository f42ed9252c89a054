import type { Subscription, SubscriptionReply } from "@sluice/protocol";
import { type Context, Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { setChanged } from "../../rights/route-needs.ts";
import { succeed } from "../envelope.ts";
import { readJson } from "../json-body.ts";
import { pageOf } from "../paging.ts";
import { errorOf } from "./refusal.ts";
import { checkEvents, newSubscriptionBody, sourceOf, subscriptionChangeBody } from "./subscription-body.ts";

/**
 * Routes of event subscriptions (spec cloudflare-queues 6.6), which are checked, kept and listed. No service emits
 * events here, so none is ever sent.
 */
export function subscriptionRoutes({ account }: QueueDirectory): Hono {
  const app = new Hono();
  const find = async (c: Context): Promise<Subscription> => {
    const id = c.req.param("subscription_id");
    const found = (await account.listSubscriptions()).find((subscription) => subscription.id === id);
    if (found === undefined) throw errorOf({ kind: "subscriptionNotFound" });
    setChanged(c, found.name);
    return found;
  };

  app.get("/", async (c) => {
    const queueId = c.req.query("queue_id");
    const all = await account.listSubscriptions();
    const asked =
      queueId === undefined ? all : all.filter((subscription) => subscription.queueId === queueId);
    // The SDK's first request names no page, and the second one page 2.
    const { page, info } = pageOf(c, sorted(asked, c.req.query("order"), c.req.query("direction")), {
      isAlwaysPaged: true,
    });
    return succeed(c, page.map(view), info);
  });

  app.post("/", async (c) => {
    const body = await readJson(c, newSubscriptionBody);
    const source = sourceOf(body.source);
    checkEvents(body.source.type, body.events);
    const queueId = body.destination.queue_id;
    const queue = await account.findById(queueId);
    if (queue === null) throw errorOf({ kind: "queueNotFound" });
    const { enabled = true, events, name = `${queue.name} ${body.source.type}` } = body;
    const reply = await account.createSubscription({ name, enabled, source, queueId, events });
    setChanged(c, name);
    return succeed(c, view(subscriptionIn(reply)));
  });

  app.get("/:subscription_id", async (c) => succeed(c, view(await find(c))));

  app.patch("/:subscription_id", async (c) => {
    const { id, source } = await find(c);
    const { destination, ...change } = await readJson(c, subscriptionChangeBody);
    if (change.events !== undefined) checkEvents(source.type ?? "", change.events);
    const reply = await account.changeSubscription(id, {
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.enabled === undefined ? {} : { enabled: change.enabled }),
      ...(change.events === undefined ? {} : { events: change.events }),
      ...(destination === undefined ? {} : { queueId: destination.queue_id }),
    });
    return succeed(c, view(subscriptionIn(reply)));
  });

  app.delete("/:subscription_id", async (c) => {
    const { id } = await find(c);
    return succeed(c, view(subscriptionIn(await account.deleteSubscription(id))));
  });

  return app;
}

function subscriptionIn(reply: SubscriptionReply): Subscription {
  if (reply.ok) return reply.subscription;
  throw errorOf(reply.refusal);
}

function view(subscription: Subscription) {
  const { id, name, enabled, source, queueId, events } = subscription;
  return {
    id,
    name,
    enabled,
    created_at: new Date(subscription.createdAtMs).toISOString(),
    modified_at: new Date(subscription.modifiedAtMs).toISOString(),
    source,
    destination: { type: "queues.queue", queue_id: queueId },
    events,
  };
}

const SORT_KEYS: Readonly<Record<string, (subscription: Subscription) => string | number>> = {
  created_at: ({ createdAtMs }) => createdAtMs,
  name: ({ name }) => name,
  enabled: ({ enabled }) => Number(enabled),
  source: ({ source }) => source.type ?? "",
};

function sorted(
  subscriptions: readonly Subscription[],
  order: string | undefined,
  direction: string | undefined,
): Subscription[] {
  const key = order === undefined || !Object.hasOwn(SORT_KEYS, order) ? undefined : SORT_KEYS[order];
  const sign = direction === "desc" ? -1 : 1;
  if (key === undefined) return sign === 1 ? [...subscriptions] : [...subscriptions].reverse();
  return [...subscriptions].sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    return left === right ? 0 : sign * (left < right ? -1 : 1);
  });
}
