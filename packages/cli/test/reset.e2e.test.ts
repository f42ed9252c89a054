import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { QueueView } from "@sluice/gateway/views";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";

const lab = new BrokerLab();
const state = join(lab.folder, ".wrangler/state");
/** Files of others in the data folder. */
const others = ["v3/kv/miniflare-KV/a.sqlite", "v3/d1/b.sqlite", "v3/do/shop-Basket/c.sqlite"];

const names = async () => (await lab.json<QueueView[]>(["queues", "list"])).map(({ name }) => name);

beforeAll(async () => {
  await lab.serve();
  for (const name of ["orders", "mails"]) await lab.run(["queues", "create", name]);
  await lab.run(["messages", "send", "orders", "--body", "1"]);
  for (const file of others) {
    mkdirSync(join(state, file, ".."), { recursive: true });
    writeFileSync(join(state, file), "theirs");
  }
});
afterAll(() => lab.close());

it("reset refuses while a broker has the data, and names it", async () => {
  expect(await lab.words(1, ["reset", "--force"])).toMatch(
    /^The data in .* are in use by sluice serve \(process \d+\)\. End that first, or choose another folder with --persist-to\.\n$/,
  );
  expect(await names()).toEqual(["mails", "orders"]);
});

it("reset names what it deletes, deletes nothing without a confirmation, and leaves the data of others", async () => {
  await lab.stop();
  const what = new RegExp(
    `^Deletes 2 queues \\(mails, orders\\) of the broker "sluice" in ${state}, with all messages, topics, tokens and ` +
      "history: [\\d.,]+ [kM]B\\. KV, D1, R2 and Durable Objects of your own stay\\. That cannot be undone",
  );
  expect(await lab.words(5, ["reset"])).toMatch(what);
  const refused = await lab.run(["reset"], { types: "slice" });
  expect(refused).toMatchObject({ code: 5, asked: expect.stringMatching(what) });
  await lab.serve();
  expect(await names()).toEqual(["mails", "orders"]);
  await lab.stop();

  const done = await lab.run(["reset"], { types: "sluice" });
  expect(done).toMatchObject({ code: 0, err: `Deleted the data of "sluice" in ${state}.\n` });
  expect(readdirSync(join(state, "v3/do"))).toEqual(["shop-Basket"]);
  for (const file of others) expect(existsSync(join(state, file))).toBe(true);
  expect(await lab.words(0, ["reset", "--force"])).toBe(`"sluice" keeps no data in ${state}.\n`);
  await lab.serve();
  expect(await names()).toEqual([]);
});

it("reset of a folder without data makes none", async () => {
  const folder = join(lab.folder, "elsewhere");
  expect(await lab.words(0, ["reset", "--persist-to", folder])).toBe(
    `"sluice" keeps no data in ${folder}.\n`,
  );
  expect(existsSync(folder)).toBe(false);
});
