import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { AdminError } from "../failure.ts";
import { searchAll } from "./search.ts";

/** `GET /?q=TEXT` searches all queues for a text; with `&in=names` only names, which is answered at once. */
export function searchRoutes(directory: QueueDirectory, elapsedMs = () => performance.now()): Hono {
  const app = new Hono();
  app.get("/", async (c) => {
    const text = c.req.query("q")?.trim() ?? "";
    if (text === "")
      throw new AdminError(400, "invalid_query", 'The query parameter "q" is what to look for.');
    const within = c.req.query("in") ?? "all";
    if (within !== "all" && within !== "names") {
      throw new AdminError(400, "invalid_query", 'The query parameter "in" must be "all" or "names".');
    }
    return c.json(await searchAll(directory, rightsOf(c), text, elapsedMs, within === "names"));
  });
  return app;
}
