import { execFile } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloudflare, startCloudflare } from "./cloudflare/api.ts";
import { CONFIGURATIONS } from "./cloudflare-configs.ts";
import type { Lab } from "./lab.ts";
import { sluice, WRANGLER_BIN } from "./running.ts";
import { sampled } from "./thorough.ts";

const run = promisify(execFile);

// The tests of a kind share one account and build on one another. `deploy.e2e.test.ts` samples the other kind.
describe.each(sampled(CONFIGURATIONS, 1))("secrets that a Worker requires: $kind", (configurations) => {
  let lab: Lab;
  let cloudflare: Cloudflare;

  beforeAll(async () => {
    lab = configurations.open("staged");
    cloudflare = await startCloudflare();
    configurations.requireSecret(lab, "sender", "x", "API_KEY");
    for (const file of [".dev.vars", ".dev.vars.x", ".env", ".env.x"])
      writeFileSync(join(lab.folder, "sender", file), `API_KEY=of-${file}\nOTHER=of-${file}\n`);
  });
  afterAll(async () => {
    await cloudflare[Symbol.asyncDispose]();
    lab.remove();
  });

  /** Deploys both Workers to the environment, which has to end with a code. */
  async function deploy(code: number): Promise<string> {
    cloudflare.changes.length = 0;
    const args = ["deploy", "sender", "receiver", "--env", "x"];
    const running = sluice(args, lab.folder, { ...lab.env, ...cloudflare.env });
    expect(await running.ended, running.output).toBe(code);
    return running.output;
  }
  const uploads = () => cloudflare.changes.filter((call) => /^PUT scripts\/[^/]+$|\/versions$/.test(call));
  const secrets = () => [...cloudflare.account.find("sender-x").secrets];

  it("stop a deployment that the account has no secrets for, with the command that sets them", async () => {
    expect(await deploy(1)).toContain(
      'To set them, also before the first deployment of "sender-x":\n  npx wrangler secret put API_KEY --name sender-x',
    );
    expect(cloudflare.account.scripts.has("sender-x")).toBe(false);
  });

  it("are those that the account has, and none of a file", async () => {
    const args = [WRANGLER_BIN, "secret", "put", "API_KEY", "--name", "sender-x"];
    const putting = run(process.execPath, args, { cwd: lab.folder, env: { ...lab.env, ...cloudflare.env } });
    putting.child.stdin?.end("of the account");
    await putting;
    await deploy(0);
    expect(secrets()).toEqual([["API_KEY", "of the account"]]);
    const { bindings } = cloudflare.account.live("sender-x");
    expect(bindings.filter(({ type }) => type !== "durable_object_namespace")).toEqual([
      { name: "API_KEY", type: "inherit" },
    ]);
    expect(await deploy(0)).toContain("Nothing to deploy.");
  });

  it("stay when the code changes, and where they have been changed on the account", async () => {
    appendFileSync(join(lab.folder, "sender/index.js"), "\nconsole.log('changed');\n");
    await deploy(0);
    expect(uploads()).toEqual(["POST scripts/sender-x/versions"]);
    cloudflare.account.putSecret("sender-x", "API_KEY", "rotated");
    await deploy(0);
    expect(secrets()).toEqual([["API_KEY", "rotated"]]);
  });

  it("are not looked for in another environment", async () => {
    const running = sluice(["deploy", "sender"], lab.folder, { ...lab.env, ...cloudflare.env });
    expect(await running.ended, running.output).toBe(0);
    expect(cloudflare.account.find("sender").secrets.size).toBe(0);
    expect(readFileSync(join(lab.folder, ".sluice/sender/wrangler.json"), "utf8")).not.toContain("API_KEY");
  });

  it("lead to no request that the stand-in does not know", () => {
    expect(cloudflare.unknown).toEqual([]);
  });
});
