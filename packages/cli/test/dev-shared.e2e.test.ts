// @module-tag slow
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shopSessions } from "./shop-sessions.ts";

/** Two Workers of one folder: one sends orders, the other packs them and sends reminders to itself. */
const FILES = {
  "seller.jsonc": JSON.stringify({
    name: "seller",
    main: "seller.js",
    compatibility_date: "2026-11-01",
    queues: { producers: [{ binding: "ORDERS", queue: "orders" }] },
  }),
  "seller.js": `export default {
    async fetch(request, env) {
      await env.ORDERS.send(new URL(request.url).search);
      return new Response("sent");
    },
  };`,
  "packer.jsonc": JSON.stringify({
    name: "packer",
    main: "packer.js",
    compatibility_date: "2026-11-01",
    queues: {
      producers: [{ binding: "REMINDERS", queue: "reminders" }],
      consumers: ["orders", "reminders"].map((queue) => ({ queue, max_batch_timeout: 0 })),
    },
  }),
  "packer.js": `export default {
    async fetch(request, env) {
      const { search, searchParams } = new URL(request.url);
      await env.REMINDERS.send(search, { delaySeconds: Number(searchParams.get("delay")) });
      return new Response("sent");
    },
    queue(batch) {
      for (const { body } of batch.messages) console.log("got", body, "of", batch.queue);
    },
  };`,
};

const get = async (url: string) => (await fetch(url)).text();

/** Limit for six Wranglers one after the other on a busy machine, in ms. */
describe("two sluice dev on one data folder", { timeout: 300_000 }, () => {
  const { start, running } = shopSessions(FILES);
  let sellerUrl: string;

  it("share the broker of the first, which the second takes over with all messages", async () => {
    const seller = await start("seller.jsonc");
    await seller.session.printed(/admin +http/);
    const packer = await start("packer.jsonc");
    await packer.session.printed(
      /The broker of this data folder runs in another "sluice dev" \(process \d+\)/,
    );
    await packer.session.printed(/admin +http/);
    await seller.session.printed(/reminders +packer \(REMINDERS\) +packer \(elsewhere\)/);

    expect(await get(`${seller.url}/?first`)).toBe("sent");
    await packer.session.printed(/\[orders [0-9a-f]{8}\?\] got \?first of orders/);
    await expect.poll(() => get(`${packer.url}/?delay=0`)).toBe("sent");
    await packer.session.printed(/got \?delay=0 of reminders/);
    expect(await get(`${packer.url}/__sluice/api/queues`)).toContain("reminders");

    expect(await get(`${packer.url}/?delay=5`)).toBe("sent");
    const before = packer.session.output.length;
    await seller.session.stop();
    await packer.session.printed(/The broker runs here now, with all messages/, before);
    await packer.session.printed(/got \?delay=5 of reminders/, before);
    // A session that starts again uses the broker where it is now.
    const again = await start("seller.jsonc");
    sellerUrl = again.url;
    await again.session.printed(/runs in another "sluice dev"/);
    await again.session.printed(/admin +http/);
    await expect.poll(() => get(`${again.url}/?again`)).toBe("sent");
    await packer.session.printed(/got \?again of orders/);
  });

  it("go on when the one with the broker is killed", async () => {
    const [, packer, seller] = running;
    const before = seller?.output.length;
    await packer?.stop("SIGKILL");
    await seller?.printed(/The broker runs here now, with all messages/, before);
    await expect.poll(() => get(`${sellerUrl}/?after`)).toBe("sent");
    const again = await start("packer.jsonc");
    await again.session.printed(/got \?after of orders/);
  });

  it("refuse the same Worker twice", async () => {
    const twin = await start("packer.jsonc");
    expect(await twin.session.ended).toBe(1);
    expect(twin.session.output).toMatch(
      /packer\.jsonc runs already: in another "sluice dev" \(process \d+\)/,
    );
  });
});

describe("two sluice dev whose broker has a configuration", { timeout: 300_000 }, () => {
  const durable_objects = { bindings: [{ name: "SLUICE_QUEUES", class_name: "QueueBroker" }] };
  const broker = { name: "sluice", compatibility_date: "2026-11-01", durable_objects };
  const { start, folder } = shopSessions({ ...FILES, "wrangler.jsonc": JSON.stringify(broker) });

  it("share it, and one whose own file is broken takes it over with what it read before", async () => {
    const seller = await start("seller.jsonc");
    await seller.session.printed(/admin +http/);
    const packer = await start("packer.jsonc");
    await packer.session.printed(/admin +http/);
    const file = join(folder(), "packer.jsonc");
    writeFileSync(file, "{");
    await packer.session.printed(/Sluice goes on with what it read before/);
    const before = packer.session.output.length;
    await seller.session.stop();
    await packer.session.printed(/The broker runs here now, with all messages[\s\S]*admin +http/, before);
    expect(await get(`${packer.url}/?delay=0`)).toBe("sent");
    await packer.session.printed(/got \?delay=0 of reminders/);
    writeFileSync(file, FILES["packer.jsonc"]);
    await packer.session.printed(/The configuration has been read again/, before);
  });
});

describe("a project whose broker came after another one's", { timeout: 300_000 }, () => {
  const named = (worker: string) => JSON.stringify({ ...JSON.parse(worker), sluice: { broker: "packers" } });
  const { start, startIn } = shopSessions({
    ...FILES,
    "seller.jsonc": named(FILES["seller.jsonc"]),
    "packer.jsonc": named(FILES["packer.jsonc"]),
    "other.jsonc": JSON.stringify({ name: "other", main: "packer.js", compatibility_date: "2026-11-01" }),
  });

  it("shares it with the registry that the refusal names", async () => {
    const other = await start("other.jsonc", "--persist-to", "other");
    await other.session.printed(/admin +http/);
    const packer = await start("packer.jsonc");
    await packer.session.printed(/admin +http/);
    const refused = await start("seller.jsonc");
    expect(await refused.session.ended).toBe(1);
    const [, registry] = /WRANGLER_REGISTRY_PATH=(\S+):/.exec(refused.session.output) ?? [];
    await packer.session.stop();

    const env = { WRANGLER_REGISTRY_PATH: registry };
    const again = await startIn(env, ["packer.jsonc"]);
    await again.session.printed(/admin +http/);
    const seller = await startIn(env, ["seller.jsonc"]);
    await seller.session.printed(/admin +http/);
    await expect.poll(async () => (await fetch(`${seller.url}/?apart`)).text()).toBe("sent");
    await again.session.printed(/got \?apart of orders/);
  });
});
