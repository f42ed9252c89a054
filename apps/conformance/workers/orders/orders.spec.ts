import { SELF } from "cloudflare:test";
import { inject, it } from "vitest";
import { settledBy } from "./settled.ts";

declare module "vitest" {
  interface ProvidedContext {
    programs: string[];
  }
  interface TaskMeta {
    settled?: string[][];
  }
}

it("programs", async ({ task }) => {
  const ask = (path: string, init?: RequestInit) => SELF.fetch(`http://localhost${path}`, init);
  task.meta.settled = await settledBy(ask, inject("programs"));
});
