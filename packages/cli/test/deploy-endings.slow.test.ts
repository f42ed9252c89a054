import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Call, type Cloudflare, startCloudflare } from "./cloudflare/api.ts";
import { CONFIGURATIONS, type Configurations } from "./cloudflare-configs.ts";
import { descendants, isRunning, type Lab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";
import { sampled } from "./thorough.ts";

/** Limit for several deployments on a busy machine, in ms. */
const PATIENCE_MS = 600_000;
const TOKEN = "a-token-that-stays-secret";

type Kind = Configurations["kind"];
type State = ReturnType<Cloudflare["triggers"]["stateOf"]>;

/** The project with each kind of configuration, and the one that is deployed. */
let labs: ReadonlyMap<Kind, Lab>;
let lab: Lab;
let temporary: string;
let whole: State;

beforeAll(async () => {
  labs = new Map(CONFIGURATIONS.map(({ kind, open }) => [kind, open("staged")]));
  use("wrangler.toml");
  temporary = join(lab.folder, "tmp");
  mkdirSync(temporary);
  await using cloudflare = await startCloudflare();
  const running = deploying(cloudflare);
  expect(await running.ended, running.output).toBe(0);
  whole = cloudflare.triggers.stateOf(cloudflare.account);
  forget();
});
afterAll(() => {
  for (const { remove } of labs.values()) remove();
});

function use(kind: Kind): void {
  lab = labs.get(kind) ?? lab;
}

/** Leaves out the names of versions, which the text of a configuration is part of. */
function withoutNames({ workers, domains }: State) {
  return { workers: [...workers].map(([name, { annotations: _, ...rest }]) => [name, rest]), domains };
}

function deploying({ env }: Cloudflare, ...more: string[]): Running {
  const variables = { ...lab.env, ...env, TMPDIR: temporary, SLUICE_API_TOKENS: TOKEN };
  return sluice(["deploy", "sender", "receiver", ...more], lab.folder, variables);
}

const forget = () => rmSync(join(lab.folder, ".sluice"), { recursive: true, force: true });
const leftovers = () => readdirSync(temporary).filter((name) => name.startsWith("sluice-"));

/** Lists the files that contain the token, wherever a deployment writes. */
function tellingFiles(): string[] {
  const files = readdirSync(lab.folder, { recursive: true, encoding: "utf8" }).map((name) =>
    join(lab.folder, name),
  );
  return files.filter((file) => statSync(file).isFile() && readFileSync(file, "utf8").includes(TOKEN));
}

/** Holds a call forever, and resolves when it has come. */
function held(cloudflare: Cloudflare, call: Call): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  cloudflare.holds = (one) => {
    if (one !== call) return undefined;
    resolve();
    return new Promise(() => {});
  };
  return promise;
}

describe("a deployment that is ended in the middle", { timeout: PATIENCE_MS }, () => {
  const moments: Call[] = [
    "GET services/sluice",
    "PUT scripts/sluice",
    "POST scripts/sender/subdomain",
    "POST scripts/sluice/deployments",
  ];
  const kindOf = (moment: number): Kind => (moment % 2 === 0 ? "wrangler.toml" : "cloudflare.config.ts");
  afterAll(() => use("wrangler.toml"));
  it.each(
    sampled(
      moments.flatMap((call, i) => [
        { call, kind: kindOf(i), signal: "SIGKILL" as const, code: "SIGKILL" as const },
        i % 2 === 0
          ? { call, kind: kindOf(i), signal: "SIGINT" as const, code: 130 }
          : { call, kind: kindOf(i), signal: "SIGTERM" as const, code: 143 },
      ]),
    ),
  )(
    "leaves no process and no secret, and is finished by the next run: $signal at $call, with a $kind",
    async ({ call, kind, signal, code }) => {
      use(kind);
      await using cloudflare = await startCloudflare();
      const comes = held(cloudflare, call);
      const running = deploying(cloudflare);
      await comes;
      expect(tellingFiles()).toEqual([]);
      const all = [running.pid, ...descendants(running.pid)];
      expect(all.length).toBeGreaterThan(1);
      expect(await running.stop(signal)).toBe(code);
      if (signal !== "SIGKILL") expect(running.output).toContain(`Stopped by ${signal}.`);
      await expect.poll(() => all.filter(isRunning)).toEqual([]);
      await expect.poll(leftovers).toEqual([]);
      expect(tellingFiles()).toEqual([]);

      cloudflare.holds = () => undefined;
      const again = deploying(cloudflare);
      expect(await again.ended, again.output).toBe(0);
      const state = cloudflare.triggers.stateOf(cloudflare.account);
      if (kind === "wrangler.toml") expect(state).toEqual(whole);
      else expect(withoutNames(state)).toEqual(withoutNames(whole));
      forget();
    },
  );
});

it("a deployment whose output is closed runs to its end", async () => {
  await using cloudflare = await startCloudflare();
  const running = deploying(cloudflare);
  await running.closeOutput();
  expect(await running.ended, running.output).toBe(0);
  expect(cloudflare.triggers.stateOf(cloudflare.account)).toEqual(whole);
  await expect.poll(leftovers).toEqual([]);
  forget();
});

describe("a deployment of unchanged Workers", { timeout: PATIENCE_MS }, () => {
  let cloudflare: Cloudflare;
  /** Deploys, which has to end with a code. */
  const run = async (code: number, ...more: string[]) => {
    cloudflare.changes.length = 0;
    const running = deploying(cloudflare, ...more);
    expect(await running.ended, running.output).toBe(code);
    const uploads = cloudflare.changes.flatMap(
      (call) => call.match(/^POST scripts\/(.+)\/versions$/)?.[1] ?? [],
    );
    return { output: running.output, uploads };
  };
  beforeAll(async () => {
    forget();
    cloudflare = await startCloudflare();
    await run(0);
  });
  afterAll(() => cloudflare[Symbol.asyncDispose]());

  it("uploads the secrets that are set, since the deployed ones cannot be read and compared", async () => {
    const { secrets } = cloudflare.account.find("sluice");
    secrets.set("SLUICE_API_TOKENS", "a token that has leaked");
    const { output, uploads } = await run(0);
    expect(output).toContain("  ~ sluice  again: with SLUICE_API_TOKENS\n");
    expect(uploads).toEqual(["sluice"]);
    expect(secrets.get("SLUICE_API_TOKENS")).toBe(TOKEN);
    expect(output).not.toContain(TOKEN);
  });

  it("uploads everything with --force", async () => {
    const { output, uploads } = await run(0, "--force");
    expect(output).toContain("  ~ sender  again: --force\n");
    expect(uploads.sort()).toEqual(["receiver", "sender", "sluice"]);
  });

  it("fails where settings outside of versions were refused, and the next run sets them", async () => {
    appendFileSync(join(lab.folder, "receiver/wrangler.toml"), "\n[observability]\nenabled = true\n");
    cloudflare.refuses = (call) => call === "PATCH scripts/receiver/script-settings";
    expect((await run(1)).output).toContain("On another machine than this one, --force deploys it again.");
    expect(cloudflare.triggers.of("receiver").settings).not.toMatchObject({
      observability: { enabled: true },
    });
    cloudflare.refuses = () => false;
    const { output, uploads } = await run(0);
    expect(output).toContain("  ~ receiver  again: its last deployment did not end\n");
    expect(uploads).toContain("receiver");
    expect(cloudflare.triggers.of("receiver").settings).toMatchObject({ observability: { enabled: true } });
    expect((await run(0)).output).toContain("  • receiver  unchanged\n");
  });
});
