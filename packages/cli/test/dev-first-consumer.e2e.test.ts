// @module-tag slow
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freePorts, openLab } from "./lab.ts";
import { sluice } from "./running.ts";

const PRODUCER = `name = "a-web"
main = "index.js"
compatibility_date = "2026-01-01"
[[queues.producers]]
queue = "orders"
binding = "ORDERS"
`;
const CONSUMER = `${PRODUCER}[[queues.consumers]]
queue = "orders"
max_batch_timeout = 0
`;
const CODE = `export default {
  async fetch(request, env) {
    await env.ORDERS.send("lamp");
    return new Response("sent");
  },
  async queue(batch) {
    for (const { body } of batch.messages) console.log("got", body);
  },
};`;

it("sluice dev goes on when a Worker gets its first consumer and loses its last", async () => {
  const lab = openLab("staged");
  onTestFinished(() => lab.remove());
  const folder = join(lab.folder, "web");
  mkdirSync(folder);
  const config = join(folder, "wrangler.toml");
  writeFileSync(config, PRODUCER);
  writeFileSync(join(folder, "index.js"), CODE);
  const { options, url } = await freePorts();
  const running = sluice(["dev", ...options], folder, lab.env);
  onTestFinished(async () => void (await running.stop()));
  await running.printed(/admin +http/);
  expect(await (await fetch(url)).text()).toBe("sent");

  let from = running.output.length;
  writeFileSync(config, CONSUMER);
  await running.printed(/got lamp/, from);

  from = running.output.length;
  writeFileSync(config, PRODUCER);
  await running.printed(/admin +http/, from);
  expect(await (await fetch(url)).text()).toBe("sent");
  expect(running.output).not.toContain("has no such named entrypoint");
});
