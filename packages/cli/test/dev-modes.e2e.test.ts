import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

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
  let lab: Lab;
  const running: Running[] = [];
  const start = async (...args: string[]) => {
    const { options, url } = await freePorts();
    const session = sluice(["dev", ...options, ...args], join(lab.folder, "shop"), lab.env);
    running.push(session);
    await session.printed(/admin +http/);
    return { session, answer: async () => (await fetch(url)).text() };
  };

  beforeAll(() => {
    lab = openLab("staged");
    mkdirSync(join(lab.folder, "shop"));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(lab.folder, "shop", name), text);
  });
  afterAll(async () => {
    await Promise.all(running.map((session) => session.stop()));
    lab.remove();
  });

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
    const folders = () => readdirSync(join(lab.folder, "shop/.sluice/dev"));
    expect(folders()).toHaveLength(3);
    await Promise.all(sessions.map(({ session }) => session.stop()));
    expect(folders()).toEqual(["shop.staging"]);
  });
});
