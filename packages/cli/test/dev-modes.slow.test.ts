import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shopSessions } from "./shop-sessions.ts";

const FILES = {
  "package.json": '{ "type": "module" }',
  "cloudflare.config.ts": `export default ({ mode }: { mode?: string }) => ({ worker: {
    name: "shop",
    entrypoint: "index.js",
    compatibilityDate: "2026-11-01",
    env: { MODE: { type: "text", value: mode ?? "none" } },
  } });`,
  "index.js": 'export default { fetch: (_, { MODE, WHO }) => new Response(MODE + " " + WHO) };',
  ".dev.vars": "WHO=nobody\n",
  ".dev.vars.staging": "WHO=stager\n",
  "one.env": "WHO=one\n",
  "two.env": "WHO=two\n",
};

/** Limit for three Wranglers one after the other on a busy machine, in ms. */
describe("several sluice dev of one Worker, each on its data folder", { timeout: 180_000 }, () => {
  const shop = shopSessions(FILES);
  const start = async (...args: string[]) => {
    const { session, url } = await shop.start(...args);
    await session.printed(/admin +http/);
    return { session, answer: async () => (await fetch(url)).text() };
  };

  it("keep their own variables and secrets, in another mode and in the same one", async () => {
    const sessions = [
      await start("--mode", "staging"),
      await start("--persist-to", "data-1", "--", "--env-file", "one.env"),
      await start("--persist-to", "data-2", "--", "--env-file", "two.env"),
    ];
    expect(await Promise.all(sessions.map(({ answer }) => answer()))).toEqual([
      "staging stager",
      "none one",
      "none two",
    ]);
    const [first, ...later] = sessions.map(({ session }) => session);
    const line = `The Worker "shop" of ${shop.folder()} runs already (process ${first?.pid}). `;
    expect(first?.output).not.toContain("runs already");
    for (const { output } of later) expect(output).toContain(line);
    const folders = () => readdirSync(join(shop.folder(), ".sluice/dev"));
    expect(folders()).toHaveLength(3);
    await Promise.all(sessions.map(({ session }) => session.stop()));
    expect(folders()).toEqual(["shop.staging"]);
  });
});
