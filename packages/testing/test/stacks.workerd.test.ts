import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createQueueRuntime, type QueueRuntime } from "../src/index.ts";

const FILES = {
  "wrangler.toml": `
name = "shop"
main = "src/index.ts"
compatibility_date = "2026-11-01"
queues.producers = [{ binding = "ORDERS", queue = "orders" }]
queues.consumers = [{ queue = "orders", max_batch_timeout = 0, max_retries = 1 }]
`,
  "src/index.ts": `
import { charge } from "./payment.ts";
export default {
  async queue(batch: MessageBatch<string>): Promise<void> {
    for (const message of batch.messages) {
      if (message.body === "thrown") charge(message.body);
      console.error("no stock");
      message.retry();
    }
  },
};
`,
  "src/payment.ts": `
interface Refused {
  readonly body: string;
}
export function charge(body: Refused["body"]): never {
  throw new RangeError(body + " is not taken");
}
`,
};

interface Env {
  readonly ORDERS: { send(body: string): Promise<unknown> };
}

// Beside our own sources all files would be ours.
const root = mkdtempSync(join(realpathSync(tmpdir()), "sluice-stacks-"));
const printed: string[] = [];
let queues: QueueRuntime<Env>;

beforeAll(async () => {
  for (const folder of ["src", "node_modules"]) mkdirSync(join(root, folder));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(root, name), text);
  const wrangler = fileURLToPath(new URL("../node_modules/wrangler", import.meta.url));
  symlinkSync(realpathSync(wrangler), join(root, "node_modules/wrangler"));
  const log = (line: string) => printed.push(line);
  queues = await createQueueRuntime<Env>({ workers: ["wrangler.toml"], root, log });
});
afterAll(async () => {
  await queues?.[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

it("a story has the places of the errors that a handler printed and threw, from the project's folder", async () => {
  await queues.env.ORDERS.send("printed");
  await queues.env.ORDERS.send("thrown");
  const { errors } = await queues.runUntilIdle();
  const lastErrors = (await queues.stories()).map(({ events }) => events.at(-1)?.error);
  expect(lastErrors).toEqual([
    "no stock (printed at src/index.ts:7:15; its handler asked for the retry)",
    "RangeError: thrown is not taken (src/payment.ts:6:9)",
  ]);
  // Vitest shows the lines of files that it can open.
  const frames = [
    `charge (${join(root, "src/payment.ts")}:6:9)`,
    `Object.queue (${join(root, "src/index.ts")}:6:38)`,
  ];
  expect(errors[0]?.stack).toBe(["RangeError: thrown is not taken", ...frames].join("\n    at "));
});

it("what is printed has the frames of the user's code alone", () => {
  const thrown = printed.filter((line) => line.startsWith("RangeError: "));
  expect(thrown.length).toBeGreaterThan(0);
  for (const line of thrown) expect(line.match(/\n +at .*/g)).toHaveLength(2);
});
