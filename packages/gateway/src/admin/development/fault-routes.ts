import {
  FAULT_KINDS,
  FAULT_MS_DEFAULT,
  FAULT_MS_MAX,
  FAULT_TIMES_MAX,
  type FaultSetting,
} from "@sluice/protocol";
import { type Context, Hono } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { AdminError, queueNotFound } from "../failure.ts";
import { checkQueue } from "../queue-of.ts";

/** Body of a request that sets faults. */
export const FAULT_SETTING = z.strictObject({
  seed: z._default(z.int().check(z.gte(0), z.lte(0xffffffff)), 1),
  faults: z
    .array(
      z.strictObject({
        kind: z.enum(FAULT_KINDS),
        times: z._default(z.int().check(z.gte(1), z.lte(FAULT_TIMES_MAX)), 1),
        ms: z._default(z.int().check(z.gte(0), z.lte(FAULT_MS_MAX)), FAULT_MS_DEFAULT),
      }),
    )
    .check(
      z.refine(
        (faults) => new Set(faults.map(({ kind }) => kind)).size === faults.length,
        "one of each kind",
      ),
    ),
});

/** Routes of the faults that are made in the deliveries of a queue, below `/queues/NAME/faults`: development only. */
export function faultRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();
  const check = async (c: Context, name: string) => {
    checkQueue(c, name);
    if (directory.clock === null) {
      throw new AdminError(403, "not_in_production", "Faults are made in development only.");
    }
    if ((await directory.account.findByName(name)) === null) throw queueNotFound(name);
  };
  const set = async (c: Context, name: string, setting: FaultSetting) => {
    await check(c, name);
    await directory.queue(name).setFaults(name, setting);
    return setting;
  };

  app.get("/:name/faults", async (c) => {
    const name = c.req.param("name");
    await check(c, name);
    return c.json(await directory.queue(name).faults(name));
  });

  app.put("/:name/faults", async (c) => {
    const { data, error } = FAULT_SETTING.safeParse(await c.req.json().catch(() => null));
    if (error !== undefined) {
      const [issue] = error.issues;
      const text =
        `The body must be {"faults": [{"kind", "times"?, "ms"?}], "seed"?}, with a kind of ` +
        `${FAULT_KINDS.join(", ")}. ${issue?.path.join(".") || "It"}: ${issue?.message}.`;
      throw new AdminError(400, "invalid_body", text);
    }
    return c.json(await set(c, c.req.param("name"), data));
  });

  app.delete("/:name/faults", async (c) =>
    c.json(await set(c, c.req.param("name"), { seed: 1, faults: [] })),
  );

  return app;
}
