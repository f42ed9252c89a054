import { type AlertSettings, type QueueDefinition, queuesOf } from "@sluice/protocol";
import { World } from "./world.ts";

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
