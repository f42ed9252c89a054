import { ALERTS_SECRET, type AlertSettings, type QueueDefinition, queuesOf } from "@sluice/protocol";
import { Webhook } from "standardwebhooks";
import { vi } from "vitest";
import { World } from "./world.ts";

const SECRET = `whsec_${btoa("0123456789abcdef01234567")}`;

/** A world whose queues have alerts, and the queue that these wait in. */
export function worldWithAlerts(
  queues: Record<string, Partial<QueueDefinition>>,
  alerts: Partial<AlertSettings>,
): World {
  const world = new World(queues);
  const settings: AlertSettings = {
    url: "https://hooks.shop.example/alerts",
    format: "webhook",
    deadLetters: false,
    ...alerts,
  };
  world.alerts = settings;
  Object.assign(world.queues, queuesOf({ queues: {}, alerts: settings }));
  return world;
}

/** The same with a key, so that reports are signed. */
export function alerted(
  queues: Record<string, Partial<QueueDefinition>>,
  alerts: Partial<AlertSettings>,
): World {
  const world = worldWithAlerts(queues, alerts);
  world.variables[ALERTS_SECRET] = SECRET;
  return world;
}

/** Receives alerts as an application does, with the library of Standard Webhooks. Throws for one that is not genuine. */
export function received(world: World): { type: string; data: Record<string, string> }[] {
  const webhook = new Webhook(SECRET);
  return world.posts.map(({ body, headers }) => {
    // A key signs in real time, in which hours of this world pass: the library looks at the time of the signature.
    const signedMs = 1_000 * Number(new Headers(headers).get("webhook-timestamp"));
    vi.useFakeTimers({ toFake: ["Date"], now: signedMs });
    try {
      return webhook.verify(new TextDecoder().decode(body), headers) as ReturnType<typeof received>[number];
    } finally {
      vi.useRealTimers();
    }
  });
}

/** Lists the reports that a webhook has: what happened, the queue and the alert. */
export function told(world: World): string[] {
  return received(world).map(({ type, data }) => `${type} ${data.queue} ${data.alert}`);
}
