import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { type RunWrangler, wranglerIn } from "@sluice/project/wrangler/run-wrangler";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deploy } from "../src/commands/deploy/deploy.ts";
import { type Call, type Cloudflare, startCloudflare } from "./cloudflare/api.ts";
import { openConverted } from "./cloudflare-configs.ts";
import { type Lab, openLab } from "./lab.ts";
import { sampled } from "./thorough.ts";

/** Calls that Wrangler makes after an upload. */
const AROUND = `
workers_dev = true
routes = [
  { pattern = "shop.example/api/*", zone_id = "a-zone" },
  { pattern = "jobs.shop.example", custom_domain = true },
]
`;
const MORE = `
[triggers]
crons = ["*/5 * * * *"]
[observability]
enabled = true
[[queues.consumers]]
queue = "jobs"
`;
/** Module in the place of the broker's, each bundle of which takes most of a second: the account runs no code. */
const NO_BROKER = "export const defineBroker = () => ({ handler: {} });\n";
/** Limit for all of them on a busy machine, in ms. */
const PATIENCE_MS = 1_200_000;

let lab: Lab;
let cloudflare: Cloudflare;
let env: NodeJS.ProcessEnv;
// One process of Wrangler serves all runs: it takes longer to start than a deployment.
let wrangler: RunWrangler & Disposable;

beforeAll(async () => {
  lab = openLab("staged");
  cloudflare = await startCloudflare();
  env = { ...lab.env, ...cloudflare.env, SLUICE_API_TOKENS: "a-token-of-the-tests" };
  const config = join(lab.folder, "sender/wrangler.toml");
  writeFileSync(config, AROUND + readFileSync(config, "utf8") + MORE);
  takeWranglerOf([lab.folder]);
  wrangler = wranglerIn(lab.folder, env);
});
afterAll(async () => {
  wrangler[Symbol.dispose]();
  await cloudflare[Symbol.asyncDispose]();
  lab.remove();
});

/** Runs Wrangler, on a broker without its code. */
const withoutBroker: RunWrangler = (args, options) => {
  if (args[0] === "deploy") {
    const config = args[args.indexOf("--config") + 1] ?? "";
    const { main } = JSON.parse(readFileSync(config, "utf8")) as { main: string };
    const entry = join(dirname(config), main);
    const code = readFileSync(entry, "utf8");
    writeFileSync(join(dirname(entry), "no-broker.js"), NO_BROKER);
    writeFileSync(entry, code.replace(/"[^"]*\/define-broker\.ts"/, '"./no-broker.js"'));
  }
  return wrangler(args, options);
};

/** Deploys as a machine that has never done so, such as a runner of CI. */
async function run(): Promise<{ readonly error: unknown; readonly output: string }> {
  rmSync(join(lab.folder, ".sluice"), { recursive: true, force: true });
  let output = "";
  const print = (text: string) => {
    output += `${text}\n`;
  };
  const options = { targets: [join(lab.folder, "sender")] };
  const done = deploy(options, { print, warn: print }, { cwd: lab.folder, env }, () => withoutBroker);
  const error: unknown = await done.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, output };
}

const state = () => cloudflare.triggers.stateOf(cloudflare.account);

/** Deploys to an empty account. Returns the state then, and every request in order. */
async function whole() {
  cloudflare.clear();
  const requests: Call[] = [];
  cloudflare.holds = (call) => {
    requests.push(call);
    return undefined;
  };
  const { error, output } = await run();
  cloudflare.holds = () => undefined;
  expect(error).toBeNull();
  expect(output).toContain("\nDeployed.");
  return { expected: state(), requests };
}

interface Failure {
  readonly fails: "refuses" | "loses";
  readonly change: Call;
  /** How many such changes go well before it. */
  readonly occurrence: number;
}

/** Deploys to an empty account on which a change fails, and again on one where none does. */
async function finishedAfter({ fails, change, occurrence }: Failure, expected: ReturnType<typeof state>) {
  const name = `${change}, the ${occurrence + 1}. time`;
  let seen = 0;
  cloudflare.clear();
  cloudflare[fails] = (call) => call === change && seen++ === occurrence;
  const failed = await run();
  cloudflare[fails] = () => false;
  // No success is reported for a change that is missing.
  if (failed.error === null) expect(state(), name).toEqual(expected);
  else expect(failed.output, name).not.toContain("\nDeployed.");
  expect(await run(), name).toMatchObject({ error: null });
  expect(state(), name).toEqual(expected);
}

it.each([
  ["is refused", "refuses", 0],
  ["is done and its answer lost", "loses", 1],
] as const)(
  "a deployment is finished by the next run, on another machine too, where one of its changes %s",
  async (_, fails, first) => {
    const { expected, requests } = await whole();
    expect(expected.domains).toEqual(["jobs.shop.example sender"]);
    const changes = requests.filter((call) => !call.startsWith("GET"));
    expect(changes.toSorted()).toEqual([
      "PATCH scripts/sluice/script-settings",
      "POST scripts/sender/domains/changeset",
      "POST scripts/sender/subdomain",
      ...["POST scripts/sluice/deployments", "POST scripts/sluice/subdomain"],
      ...["POST scripts/sluice/subdomain", "POST scripts/sluice/versions"],
      ...["PUT scripts/sender", "PUT scripts/sender/domains/records", "PUT scripts/sender/routes"],
      ...["PUT scripts/sender/schedules", "PUT scripts/sluice"],
    ]);
    for (const [i, change] of sampled([...changes.entries()], first)) {
      const occurrence = changes.slice(0, i).filter((call) => call === change).length;
      await finishedAfter({ fails, change, occurrence }, expected);
    }
  },
  PATIENCE_MS,
);

it("a deployment is finished by later runs, of which each is refused another request", {
  timeout: PATIENCE_MS,
}, async () => {
  const { expected, requests } = await whole();
  const questions = new Set(requests.filter((call) => call.startsWith("GET")));
  cloudflare.clear();
  for (const question of sampled([...questions], 2)) {
    let refused = false;
    cloudflare.refuses = (call) => {
      const isFirst = !refused && call === question;
      refused ||= isFirst;
      return isFirst;
    };
    // A run on the same account does not repeat finished calls, so each case has its own account.
    while (!refused) {
      const { error } = await run();
      if (error !== null) {
        expect(refused, `${error}`).toBe(true);
        continue;
      }
      expect(state(), question).toEqual(expected);
      cloudflare.clear();
    }
  }
  cloudflare.refuses = () => false;
  expect(await run()).toMatchObject({ error: null });
  expect(state()).toEqual(expected);
});

it("a deployment of a cloudflare.config.ts is finished by the next run too", async () => {
  const other = lab;
  lab = openConverted("staged");
  try {
    const { expected, requests } = await whole();
    const change = "PUT scripts/sender";
    expect(requests).toContain(change);
    await finishedAfter({ fails: "refuses", change, occurrence: 0 }, expected);
  } finally {
    lab.remove();
    lab = other;
  }
});
