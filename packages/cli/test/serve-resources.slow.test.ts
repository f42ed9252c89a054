import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

/** Longest wait for a cron trigger of every minute, in ms. */
const MINUTE_MS = 60_000;

/** A Worker in a named environment with variables, assets and storage. */
describe("sluice serve", () => {
  let lab: Lab;
  let url: string;
  let running: Running;
  const get = async (path: string) => (await fetch(url + path)).text();
  const kept = async () => JSON.parse(await get("/kept"));

  beforeAll(async () => {
    lab = openLab("stock");
    writeFileSync(join(lab.folder, ".dev.vars.staging"), "SECRET=kept\n");
    const port = await getPort();
    url = `http://127.0.0.1:${port}`;
    const args = ["serve", ".", "--env", "staging", "--port", `${port}`, "--persist-to", "state"];
    running = sluice(args, lab.folder, lab.env);
    await running.printed(/data {4}/);
  });
  afterAll(async () => {
    await running?.stop();
    lab.remove();
  });

  it("takes variables and secrets of the environment", async () => {
    expect(await get("/anything")).toBe("staging kept");
  });

  it("serves static assets to browsers and to the Worker", async () => {
    expect(await get("/")).toContain("<title>stock</title>");
    expect(await get("/page")).toContain("<title>stock</title>");
    expect(JSON.parse(await get("/__sluice/health"))).toMatchObject({ status: "ok" });
  });

  it("has KV, R2 and D1, where Wrangler keeps them", async () => {
    expect(await get("/send?count=12")).toBe("sent");
    const expected = { cache: "12", file: "12", base: [{ count: "12" }] };
    await expect.poll(kept).toMatchObject(expected);
    const folders = ["kv", "r2", "d1", "do/sluice-staging-QueueBroker"];
    expect(folders.filter((name) => !existsSync(join(lab.folder, "state/v3", name)))).toEqual([]);
  });

  it("refuses a debugger's port that is in use", async () => {
    const { port } = new URL(url);
    const args = ["serve", ".", "--inspector-port", port, "--port", "0", "--persist-to", "other"];
    const refused = sluice(args, lab.folder, lab.env);
    expect(await refused.ended).toBe(1);
    expect(refused.output).toContain(`Port ${port} of 127.0.0.1 is in use by another process.`);
  });

  it("refuses a binding to a Worker that is not named", async () => {
    const other = openLab("shop");
    const refused = sluice(["serve", "front", "--port", "0"], other.folder, other.env);
    expect(await refused.ended).toBe(1);
    expect(refused.output).toContain(
      'Worker "front": its binding OBJECTS leads to Worker "objects", which is not',
    );
    other.remove();
  });

  // Last, since the others use up some of the minute.
  it("calls scheduled() at the times of cron triggers", { timeout: MINUTE_MS + 20_000 }, async () => {
    await expect
      .poll(async () => (await kept()).cron, { timeout: MINUTE_MS + 15_000, interval: 500 })
      .toEqual({ cron: "* * * * *", second: 0 });
  });
});
