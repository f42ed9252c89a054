import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Account } from "./cloudflare/account.ts";
import { ACCOUNT_ID, SECOND_ACCOUNT_ID } from "./cloudflare/api.ts";
import { Cloud } from "./cloudflare/cloud.ts";
import { KINDS, type Outcome, type Repository } from "./cloudflare/repository.ts";

/*
 * Histories of two projects with one broker, or with a broker each and a Worker of the same name. They have several
 * Workers, two checkouts of one project, an environment and two accounts; they are deployed (also by hand), detached,
 * rolled back and destroyed in any order, with and without secrets, cut off anywhere, and two at a time. The commands are the real ones against
 * the stand-in of the account. Wrangler is a fake, since a real one takes seconds for each step.
 */

/** Number of histories. Set it higher for a long run. */
const RUNS = Number(process.env.SLUICE_DEPLOY_HISTORIES ?? 8);
/** A history takes a second, and five on a busy machine. */
const TIMEOUT_MS = 60_000 + 10_000 * RUNS;
const SEED = process.env.SLUICE_DEPLOY_SEED;

/** Workers of the projects: each sends to, or consumes, the one queue of its project. */
const PROJECTS = {
  shop: { sender: "web", consumer: "mailer", queue: "mails" },
  bank: { sender: "teller", consumer: "biller", queue: "bills" },
} as const;
type ProjectName = keyof typeof PROJECTS;

/**
 * Brokers of a history.
 *
 * - `own`: no configuration names one, so that the second project is refused.
 * - `shared`: both projects name the same one.
 * - `apart`: each project has its own, and both have a sender, or a consumer, of the same name.
 */
type Brokers = { readonly kind: "own" | "shared" } | { readonly kind: "apart"; readonly same: Role };
type Role = "sender" | "consumer";

/** The Workers of a project, with its queue and its broker. */
interface Shape extends Readonly<Record<Role, string>> {
  readonly queue: string;
  readonly broker: string;
  /** Whether a configuration names the broker. */
  readonly names: boolean;
}

function shapeOf(name: ProjectName, brokers: Brokers): Shape {
  const shape = PROJECTS[name];
  switch (brokers.kind) {
    case "own":
      return { ...shape, broker: "sluice", names: false };
    case "shared":
      return { ...shape, broker: "team", names: true };
    case "apart":
      return { ...shape, [brokers.same]: PROJECTS.shop[brokers.same], broker: `team-${name}`, names: true };
  }
}

const ACCOUNTS = [ACCOUNT_ID, SECOND_ACCOUNT_ID] as const;

interface Act {
  /** The third checkout is a clone of the first. */
  readonly checkout: 0 | 1 | 2;
  readonly account: 0 | 1;
  readonly env: "" | "x";
  readonly command: "deploy" | "by hand" | "detach" | "rollback" | "destroy";
  readonly names: "sender" | "consumer" | "both";
  readonly edit: "nothing" | "code" | "settings";
  /** Whether a token is set, with which a deployment always uploads the broker. */
  readonly secrets: boolean;
}

interface Step extends Act {
  readonly trouble:
    | { readonly kind: "none" }
    /** Command of Wrangler's at which it is killed. */
    | { readonly kind: "killed"; readonly at: number }
    /** Command of Wrangler's at which another command runs from start to end. */
    | { readonly kind: "overlapped"; readonly at: number; readonly by: Act };
}

const act = fc.record<Act>({
  checkout: fc.constantFrom(0, 0, 1, 1, 2),
  account: fc.constantFrom(0, 0, 0, 1),
  env: fc.constantFrom("", "", "", "x"),
  command: fc.constantFrom(
    ...(["deploy", "deploy", "deploy", "deploy", "by hand", "detach", "rollback", "destroy"] as const),
  ),
  names: fc.constantFrom("sender", "consumer", "both", "both"),
  edit: fc.constantFrom("nothing", "code", "settings"),
  secrets: fc.constantFrom(false, false, true),
});
const step = fc
  .tuple(
    act,
    fc.oneof(
      { weight: 4, arbitrary: fc.constant<Step["trouble"]>({ kind: "none" }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant("killed" as const), at: fc.integer({ min: 0, max: 5 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant("overlapped" as const),
          at: fc.integer({ min: 0, max: 7 }),
          by: act,
        }),
      },
    ),
  )
  .map(([acted, trouble]): Step => ({ ...acted, trouble }));

const DEPLOYS = {
  account: 0,
  env: "",
  command: "deploy",
  names: "both",
  edit: "nothing",
  secrets: false,
} as const;
/** A history that chance hardly ever makes: the broker is uploaded for its secrets alone while another project changes it. */
const UPLOADED_FOR_SECRETS: readonly Step[] = [
  { ...DEPLOYS, checkout: 0, trouble: { kind: "none" } },
  { ...DEPLOYS, checkout: 1, trouble: { kind: "none" } },
  {
    ...DEPLOYS,
    checkout: 0,
    secrets: true,
    // The upload of the broker comes after three bundles.
    trouble: { kind: "overlapped", at: 3, by: { ...DEPLOYS, checkout: 1, edit: "settings" } },
  },
];

let cloud: Cloud;
beforeAll(async () => {
  cloud = await Cloud.start();
});
afterAll(() => cloud[Symbol.asyncDispose]());

const isBroker = (name: string) => /^(?:team|sluice)/.test(name);
const projectOf = ({ checkout }: Act): ProjectName => (checkout === 1 ? "bank" : "shop");
const suffixed = (name: string, { env }: Act) => (env === "" ? name : `${name}-${env}`);
const targetsOf = (acted: Act, brokers: Brokers): string[] => {
  const { sender, consumer } = shapeOf(projectOf(acted), brokers);
  if (acted.command === "detach") return [sender];
  return acted.names === "both" ? [sender, consumer] : [acted.names === "sender" ? sender : consumer];
};

/** The checkouts of a history, with their edits. */
class History {
  readonly #checkouts: readonly (readonly Repository[])[];
  readonly #brokers: Brokers;
  readonly #edits = { code: 0, batch: 1 };

  constructor(brokers: Brokers) {
    this.#brokers = brokers;
    this.#checkouts = ACCOUNTS.map((id) =>
      (["shop", "bank", "shop"] as const).map((name) => {
        const kind = KINDS[name === "shop" ? 0 : 1];
        const repository = cloud.repository(name, { CLOUDFLARE_ACCOUNT_ID: id }, kind);
        this.#write(repository, name);
        return repository;
      }),
    );
  }

  async run(acted: Act): Promise<Outcome> {
    const repository = this.#checkouts[acted.account]?.[acted.checkout];
    if (repository === undefined) throw new Error("there is such a checkout");
    repository.set({ SLUICE_API_TOKENS: acted.secrets ? "a-token-of-all" : undefined });
    if (acted.edit === "code") this.#edits.code += 1;
    if (acted.edit === "settings") this.#edits.batch = (this.#edits.batch % 100) + 1;
    if (acted.edit !== "nothing") this.#write(repository, projectOf(acted));
    if (acted.command === "by hand") return this.#byHand(acted);
    const { consumer } = shapeOf(projectOf(acted), this.#brokers);
    const options = {
      ...(acted.env === "" ? {} : { env: acted.env }),
      ...(acted.command === "detach" ? { detach: [suffixed(consumer, acted)] } : {}),
    };
    const command = acted.command === "detach" ? "deploy" : acted.command;
    // No broker answers there: waiting messages are another test's subject.
    const unseen = command === "deploy" ? {} : { url: "http://127.0.0.1:1", force: true };
    return repository.run(command, targetsOf(acted, this.#brokers), { ...options, ...unseen });
  }

  /** Deploys as Wrangler alone does, or as an edit of the code in the dashboard, which keeps the bindings. */
  #byHand(acted: Act): Outcome {
    const account = accountOf(ACCOUNTS[acted.account]);
    for (const target of targetsOf(acted, this.#brokers)) {
      const name = suffixed(target, acted);
      const before = acted.edit === "code" && account.scripts.has(name) ? account.live(name).bindings : [];
      const bindings = before.filter(({ script_name = name }) => account.scripts.has(script_name));
      cloud.deployByHand(name, { bindings }, account);
    }
    return { code: 0, output: "" };
  }

  #write(repository: Repository, name: ProjectName): void {
    const { sender, consumer, queue, broker, names } = shapeOf(name, this.#brokers);
    const { code, batch } = this.#edits;
    const table = names ? `[sluice]\nbroker = "${broker}"\n` : "";
    const both = { code: `${code}`, more: table };
    const [sends, consumes] = [{ sends: queue }, { consumes: queue, maxBatchSize: batch }];
    repository.worker(sender, { ...sends, inX: { sends: `${queue}-x` }, ...both });
    repository.worker(consumer, { ...consumes, inX: { ...consumes, consumes: `${queue}-x` }, ...both });
  }
}

/** State that changes only where a command means it to. */
interface Seen {
  readonly versions: ReadonlyMap<string, string>;
  /** Names of the Workers whose live version was deployed by hand. */
  readonly byHand: ReadonlySet<string>;
  /** Brokers with the Workers that they call, or that send to them and were not deployed by hand: `BROKER WORKER`. */
  readonly held: ReadonlySet<string>;
  /** Consumers with the brokers that are bound to them: `BROKER WORKER`. */
  readonly bound: ReadonlySet<string>;
  /** Definitions of the brokers' queues, by `BROKER QUEUE`. */
  readonly queues: ReadonlyMap<string, string>;
}

function look(): readonly Seen[] {
  return ACCOUNTS.map((id) => lookAt(accountOf(id)));
}

function lookAt(account: Account): Seen {
  const names = [...account.scripts.keys()].filter((name) => account.find(name).deployments.length > 0);
  const brokers = names.filter(isBroker);
  const byHand = new Set(
    names.filter((name) => account.live(name).annotations["workers/message"] === undefined),
  );
  const bound = brokers.flatMap((broker) =>
    cloud.bound(broker, account).map((worker) => `${broker} ${worker}`),
  );
  const sending = names
    .filter((name) => !byHand.has(name) && !brokers.includes(name))
    .flatMap((name) =>
      account
        .live(name)
        .bindings.flatMap(({ script_name }) => (script_name === undefined ? [] : `${script_name} ${name}`)),
    );
  return {
    versions: new Map(names.map((name) => [name, account.live(name).id])),
    byHand,
    held: new Set([...bound, ...sending]),
    bound: new Set(bound),
    queues: new Map(
      brokers.flatMap((broker) =>
        Object.entries(cloud.topologyOf(broker, account).queues).map(([queue, definition]) => [
          `${broker} ${queue}`,
          JSON.stringify(definition),
        ]),
      ),
    ),
  };
}

/** Returns the Workers and queues that a command may change. */
function scopeOf(acted: Act, { held, byHand }: Seen, brokers: Brokers) {
  const shape = shapeOf(projectOf(acted), brokers);
  const [broker, queue, consumer] = [shape.broker, shape.queue, shape.consumer].map((name) =>
    suffixed(name, acted),
  ) as [string, string, string];
  const isOthers = (worker: string) =>
    [...held].some((pair) => pair.endsWith(` ${worker}`) && pair !== `${broker} ${worker}`);
  const workers = [shape.sender, shape.consumer].map((name) => suffixed(name, acted));
  return {
    /** A deployment by hand may change everything. A removal leaves Workers deployed by hand alone. */
    workers:
      acted.command === "by hand"
        ? workers
        : workers
            .filter((name) => !isOthers(name))
            .filter((name) => acted.command !== "destroy" || !byHand.has(name)),
    queue: `${broker} ${queue}`,
    /** Consumers that it may unbind. A rollback may return to any earlier state. */
    unbinds:
      acted.command === "rollback" ||
      acted.command === "detach" ||
      (acted.command === "destroy" && targetsOf(acted, brokers).includes(shape.consumer))
        ? [`${broker} ${consumer}`]
        : [],
  };
}

/** @param crossed Worker, or broker, that two projects have changed at the same moment: one of them owns it then. */
function check(
  before: readonly Seen[],
  after: readonly Seen[],
  { acts, brokers, crossed }: { acts: readonly Act[]; brokers: Brokers; crossed?: string },
): void {
  for (const [i, seen] of before.entries()) {
    const now = after[i];
    if (now !== undefined)
      checkAccount(
        seen,
        now,
        acts.filter(({ account }) => account === i).map((acted) => scopeOf(acted, seen, brokers)),
        crossed,
      );
  }
}

function checkAccount(
  before: Seen,
  after: Seen,
  scopes: readonly ReturnType<typeof scopeOf>[],
  crossed: string | undefined,
): void {
  const mayChange = new Set(scopes.flatMap(({ workers }) => workers));
  for (const [name, version] of before.versions) {
    if (mayChange.has(name) || name === crossed || isBroker(name)) continue;
    expect(after.versions.get(name), `no command may change "${name}"`).toBe(version);
  }
  const mayUnbind = new Set(scopes.flatMap(({ unbinds }) => unbinds));
  for (const pair of before.bound) {
    if (mayUnbind.has(pair) || (crossed !== undefined && pair.split(" ").includes(crossed))) continue;
    expect(after.bound.has(pair), `${pair} stays bound`).toBe(true);
  }
  const queues = new Set(scopes.map(({ queue }) => queue));
  for (const [key, definition] of before.queues) {
    if (queues.has(key) || key.startsWith(`${crossed} `)) continue;
    expect(after.queues.get(key), `no command may change ${key}`).toBe(definition);
  }
}

async function runStep(history: History, step: Step, brokers: Brokers): Promise<void> {
  const { trouble } = step;
  const seen = look();
  const acts: Act[] = [step];
  let between: readonly Seen[] = [];
  let crossed: string | undefined;
  let calls = 0;
  cloud.before = async (command, worker) => {
    if (trouble.kind === "none" || calls++ !== trouble.at) return;
    if (trouble.kind === "killed") throw new Error("killed");
    // In one folder both would write the same files.
    if (trouble.by.checkout === step.checkout) return;
    acts.push(trouble.by);
    // The account makes no conditional uploads. Only crossed uploads of a broker are found.
    if (command !== "bundle" && !(command === "deploy" && isBroker(worker))) crossed = worker;
    await history.run(trouble.by);
    // Two deployments of one project at a time cannot be told apart: the later one counts.
    if (projectOf(trouble.by) !== projectOf(step)) between = look();
  };
  const outcome = await history.run(step).catch((error: unknown): Outcome => {
    if (error instanceof Error && error.message === "killed") return { code: -1, output: "" };
    throw error;
  });
  cloud.before = () => {};
  const after = look();
  check(seen, after, { acts, brokers, ...(crossed === undefined ? {} : { crossed }) });
  // Nothing that the other project did in between is lost either.
  check(between, after, { acts: [step], brokers, ...(crossed === undefined ? {} : { crossed }) });
  if (outcome.code === 0 && acts.length === 1 && ["deploy", "detach"].includes(step.command)) {
    expect(
      (
        await history.run({
          ...step,
          command: "deploy",
          names: step.command === "detach" ? "sender" : step.names,
          edit: "nothing",
          secrets: false,
        })
      ).output,
    ).toContain("Nothing to deploy.");
  }
}

function accountOf(id: string): Account {
  const account = cloud.cloudflare.accounts.get(id);
  if (account === undefined) throw new Error("there is such an account");
  return account;
}

it("no act of a project unbinds another project's consumer or changes its Worker", {
  timeout: TIMEOUT_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Brokers>(
        ...([{ kind: "own" }, { kind: "shared" }] as const),
        ...([
          { kind: "apart", same: "sender" },
          { kind: "apart", same: "consumer" },
        ] as const),
      ),
      fc.array(step, { minLength: 2, maxLength: 9 }),
      async (brokers, steps) => {
        cloud.clear();
        const history = new History(brokers);
        for (const one of steps) await runStep(history, one, brokers);
        // In the end a deployment of everything succeeds, unless the broker is another project's.
        const last: Act = {
          checkout: 0,
          account: 0,
          env: "",
          command: "deploy",
          names: "both",
          edit: "code",
          secrets: false,
        };
        const { code, output } = await history.run(last);
        if (code !== 0) expect(output, output).toContain("This is the project");
        else expect(cloud.bound(shapeOf("shop", brokers).broker)).toContain("mailer");
      },
    ),
    {
      numRuns: RUNS,
      examples: [[{ kind: "shared" }, [...UPLOADED_FOR_SECRETS]]],
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    },
  );
});
