import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createQueueRuntime } from "../src/index.ts";

const shop = (name: string) => fileURLToPath(new URL(`../../../apps/${name}/wrangler.toml`, import.meta.url));

it("createQueueRuntime runs several Workers that call each other", async () => {
  await using queues = await createQueueRuntime({ workers: [shop("shop-producer"), shop("shop-consumer")] });
  const order = { customer: "customer-ada", items: [{ sku: "lamp", quantity: 1 }] };
  const placed = await queues.fetch("/api/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(order),
  });
  expect(placed.status).toBe(202);
  const story = await queues.waitFor({ queue: "orders", state: "acked" }, { within: "1h" });
  expect(story.events.at(-1)?.attempt).toBe(3);
  const shown = await queues.fetch("/api/orders?customer=customer-ada");
  expect(await shown.json()).toMatchObject({ orders: [{ state: "charged", attempts: 3 }] });
  // Static assets are served as in development.
  expect(await (await queues.fetch("/")).text()).toContain("<!doctype html>");
});

describe("a Worker that cannot be run", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-bad-"));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ["throws", "throw new Error('at startup'); export default {};", "", "at startup"],
    ["syntax", "export default {", "", 'Worker "syntax" cannot be bundled'],
    [
      "absent",
      "export default {};",
      '[[services]]\nbinding = "X"\nservice = "nobody"\n',
      'leads to Worker "nobody"',
    ],
  ])("is refused with the reason, without leftovers: %s", async (name, code, more, message) => {
    const project = join(folder, name);
    mkdirSync(project);
    const config = `name = "${name}"\nmain = "index.js"\ncompatibility_date = "2026-01-20"\n${more}`;
    writeFileSync(join(project, "wrangler.toml"), config);
    writeFileSync(join(project, "index.js"), code);
    const temporary = join(folder, `${name}-tmp`);
    mkdirSync(temporary);
    vi.stubEnv("TMPDIR", temporary);
    await expect(createQueueRuntime({ workers: [project], log: () => {} })).rejects.toThrow(message);
    expect(readdirSync(project).sort()).toEqual(["index.js", "wrangler.toml"]);
    expect(readdirSync(temporary).filter((file) => file.startsWith("sluice-"))).toEqual([]);
  });
});
