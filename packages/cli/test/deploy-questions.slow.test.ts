import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cloudflare, startCloudflare } from "./cloudflare/api.ts";
import { openConverted } from "./cloudflare-configs.ts";
import { type Lab, openLab } from "./lab.ts";
import { HAS_SCRIPT, OnTerminal } from "./on-terminal.ts";
import { sluice } from "./running.ts";

/** Limit for several deployments on a busy machine, in ms. */
const PATIENCE_MS = 600_000;
const DOMAIN = "jobs.shop.example";

describe.skipIf(!HAS_SCRIPT)("a question of Wrangler's in a deployment", { timeout: PATIENCE_MS }, () => {
  let lab: Lab;
  let cloudflare: Cloudflare;
  const env = () => ({ ...lab.env, ...cloudflare.env });
  const change = () => appendFileSync(join(lab.folder, "sender/index.js"), "\nconsole.log();\n");
  const uploads = () =>
    cloudflare.changes.filter((call) => /^PUT scripts\/[^/]+$|\/versions$/.test(call)).length;
  const ownerOf = () => cloudflare.triggers.domains.find(({ hostname }) => hostname === DOMAIN)?.service;

  beforeAll(async () => {
    lab = openLab("staged");
    cloudflare = await startCloudflare();
    const config = join(lab.folder, "sender/wrangler.toml");
    appendFileSync(config, '\n[vars]\nMODE = "configured"\n');
    await run(0);
  });
  afterAll(async () => {
    await cloudflare[Symbol.asyncDispose]();
    lab.remove();
  });

  /** Deploys without a terminal, which has to end with a code. */
  async function run(code: number, ...more: string[]): Promise<string> {
    cloudflare.changes.length = 0;
    const running = sluice(["deploy", "sender", ...more], lab.folder, env());
    expect(await running.ended, running.output).toBe(code);
    return running.output;
  }

  /** Deploys at a terminal, which has to end with a code. */
  async function answering(code: number, ...answers: readonly (readonly [question: RegExp, keys: string])[]) {
    cloudflare.changes.length = 0;
    const terminal = new OnTerminal(["deploy", "sender"], lab.folder, env());
    for (const [question, keys] of answers) {
      await terminal.printed(question);
      terminal.type(keys);
    }
    expect(await terminal.ended, terminal.output).toBe(code);
    return terminal.output;
  }

  /** Edits a variable of the Worker, as Cloudflare's dashboard does. */
  function edit(): void {
    const { account } = cloudflare;
    const { bindings, modules } = account.live("sender");
    const edited = bindings.map((one) => (one.name === "MODE" ? { ...one, text: "edited" } : one));
    const { id } = account.upload("sender", { bindings: edited }, modules);
    account.deploy("sender", [{ version_id: id, percentage: 100 }], {});
    account.find("sender").lastDeployedFrom = "dash";
  }
  const mode = () => cloudflare.account.live("sender").bindings.find(({ name }) => name === "MODE")?.text;

  it("is asked at the terminal with its cause, and a no keeps the edits of the dashboard", async () => {
    edit();
    const output = await answering(
      1,
      [/Would you like to continue\?/, "n"],
      [/update the local config file/, "n"],
    );
    expect(output).toMatch(/differs from the remote configuration.*edited.*configured.*Would you like/s);
    expect(output).toContain('"sender" was not deployed, step 1 of 1.');
    expect({ uploads: uploads(), mode: mode() }).toEqual({ uploads: 0, mode: "edited" });
  });

  it("stops a deployment where there is no terminal, and is answered by --yes", async () => {
    const output = await run(1);
    expect({ uploads: uploads(), mode: mode() }).toEqual({ uploads: 0, mode: "edited" });
    expect(output).toContain("sluice deploy --yes");
    await run(0, "--yes");
    expect(mode()).toBe("configured");
  });

  it("lets the deployment go on after a yes, without other output of Wrangler's", async () => {
    edit();
    const output = await answering(0, [/Would you like to continue\?/, "y"]);
    expect(mode()).toBe("configured");
    expect(output).toContain("1 of 1  sender");
    expect(output).not.toContain("Total Upload");
  });

  it("comes before a custom domain is taken from another Worker", async () => {
    const config = join(lab.folder, "sender/wrangler.toml");
    const routes = `workers_dev = true\nroutes = [{ pattern = "${DOMAIN}", custom_domain = true }]\n`;
    writeFileSync(config, routes + readFileSync(config, "utf8"));
    cloudflare.triggers.domains.push({ id: "its", hostname: DOMAIN, service: "another" });

    const alone = await run(5);
    expect(cloudflare.changes).toEqual([]);
    expect(alone).toContain(`  ${DOMAIN}, of "another", for "sender"\n`);

    const no = await answering(1, [/Update them to point to this script instead\?/, "n"]);
    expect(no).toMatch(/used as a domain for "another"/);
    expect(ownerOf()).toBe("another");

    // The code is deployed, and the question comes again.
    const yes = await answering(0, [/Update them to point to this script instead\?/, "y"]);
    expect(ownerOf()).toBe("sender");
    expect(yes).not.toContain("Would you like to continue?");
  });

  it("is not asked on a machine of CI, even at a terminal", async () => {
    Object.assign(cloudflare.triggers.domains[0] ?? {}, { service: "another" });
    const terminal = new OnTerminal(["deploy", "sender"], lab.folder, { ...env(), GITHUB_ACTIONS: "true" });
    expect(await terminal.ended, terminal.output).toBe(1);
    expect(terminal.output).toContain("are not all as configured");
    expect(ownerOf()).toBe("another");
  });

  it("is answered with --yes for domains too", async () => {
    change();
    await run(0, "--yes");
    expect(ownerOf()).toBe("sender");
  });

  it("is ended by Ctrl-C with the whole deployment", async () => {
    edit();
    cloudflare.changes.length = 0;
    const terminal = new OnTerminal(["deploy", "sender"], lab.folder, env());
    await terminal.printed(/Would you like to continue\?/);
    await terminal.interrupt();
    expect(await terminal.ended).not.toBe(0);
    expect({ uploads: uploads(), mode: mode() }).toEqual({ uploads: 0, mode: "edited" });
  });

  it("is asked of a cloudflare.config.ts too, with its cause", async () => {
    edit();
    const other = lab;
    lab = openConverted("staged");
    const file = join(lab.folder, "sender/cloudflare.config.ts");
    const variable = 'env: { MODE: { type: "text", value: "configured" },';
    writeFileSync(file, readFileSync(file, "utf8").replace("env: {", variable));
    try {
      const output = await answering(1, [/Would you like to continue\?/, "n"], [/update the local/, "n"]);
      expect(output).toMatch(/differs from the remote configuration.*edited.*configured.*Would you like/s);
      expect({ uploads: uploads(), mode: mode() }).toEqual({ uploads: 0, mode: "edited" });
    } finally {
      lab.remove();
      lab = other;
    }
  });

  it("leads to no request that the stand-in does not know", () => {
    expect(cloudflare.unknown).toEqual([]);
  });
});
