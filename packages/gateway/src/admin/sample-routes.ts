import { Hono } from "hono";
import { eventSamples } from "../account/event-samples.ts";

/** Routes of samples of the events that Cloudflare's products send to queues. */
export function sampleRoutes(): Hono {
  const app = new Hono();
  app.get("/", (c) => c.json({ samples: eventSamples(Date.now()) }));
  return app;
}
