import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Lab, openLab } from "./lab.ts";
import { Running, sluice, wrangler } from "./running.ts";

const TSC = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const sourceOf = (name: string) => fileURLToPath(new URL(`../../${name}/src/index.ts`, import.meta.url));

/** Module that compiles if our bindings and batches have the types that `wrangler types` writes. */
const CHECK = `
import type { QueueController, QueueMessage } from ${JSON.stringify(sourceOf("consumer"))};
import type { QueueProducer } from ${JSON.stringify(sourceOf("producer"))};
interface Order { readonly id: number }
type Handler = NonNullable<ExportedHandler<Env, Order>["queue"]>;
export function check(
  producer: QueueProducer<Order>, untyped: QueueProducer, batch: QueueController<Order>, message: QueueMessage<Order>,
): [Queue<Order>, Env["MAILS"], MessageBatch<Order>, Parameters<Handler>[0], Message<Order>] {
  return [producer, untyped, batch, batch, message];
}
// @ts-expect-error a body of another type
export const wrong: (batch: QueueController<Order>) => MessageBatch<string> = (batch) => batch;
`;

describe("the types that wrangler types generates", () => {
  let lab: Lab;
  let front: string;
  const types = async () => {
    const running = wrangler(["types"], front, lab.env);
    expect(await running.ended, running.output).toBe(0);
    return readFileSync(join(front, "worker-configuration.d.ts"), "utf8");
  };

  beforeAll(() => {
    lab = openLab("shop");
    front = join(lab.folder, "front");
  });
  afterAll(() => lab.remove());

  it("are the same after sluice build", async () => {
    const before = await types();
    expect(before).toContain("MAILS: Queue;");
    const build = sluice(["build", "front", "objects", "mailer"], lab.folder, lab.env);
    expect(await build.ended, build.output).toBe(0);
    expect(await types()).toBe(before);
  });

  it("fit Sluice's bindings and batches", async () => {
    writeFileSync(join(front, "check.ts"), CHECK);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      target: "esnext",
      lib: ["esnext"],
      module: "esnext",
      moduleResolution: "bundler",
      types: [],
    };
    const include = ["worker-configuration.d.ts", "check.ts"];
    writeFileSync(join(front, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
    const tsc = new Running([TSC, "-p", "."], front, lab.env);
    expect(await tsc.ended, tsc.output).toBe(0);
  });
});
