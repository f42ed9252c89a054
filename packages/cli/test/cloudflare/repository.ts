import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { parseEnv } from "node:util";
import { ConfigError } from "@sluice/config";
import { CliError } from "@sluice/project/errors";
import { expect } from "vitest";
import { deploy } from "../../src/commands/deploy/deploy.ts";
import type { StartWrangler } from "../../src/commands/deploy/deployment.ts";
import { destroy } from "../../src/commands/deploy/destroy.ts";
import { rollback } from "../../src/commands/deploy/rollback.ts";

/** Queues of a Worker. */
interface Queues {
  readonly sends?: string;
  readonly consumes?: string;
  readonly maxBatchSize?: number;
}

/** A Worker of a repository. */
interface RepositoryWorker extends Queues {
  /** Its queues in the environment `x`, where its name ends in `-x`. Default: there is no such environment. */
  readonly inX?: Queues;
  /** Id of the account that it names. */
  readonly account?: string;
  /** Names of secrets that it requires, in each environment. */
  readonly secrets?: readonly string[];
  /** Further tables of its configuration. */
  readonly more?: string;
  /** Its code. */
  readonly code?: string;
}

/** Kinds of configuration that the Workers of a repository have. */
export const KINDS = ["wrangler.toml", "cloudflare.config.ts"] as const;
export type Kind = (typeof KINDS)[number];

const COMMANDS = { deploy, rollback, destroy };

/** End of a command. */
export interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** A checkout of a project, whose commands run in this process. */
export class Repository {
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #start: StartWrangler | undefined;
  readonly #kind: Kind;

  /** @param name name in its `package.json`. */
  constructor(name: string, env: NodeJS.ProcessEnv, start?: StartWrangler, kind: Kind = "wrangler.toml") {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-repository-")));
    this.#env = env;
    this.#start = start;
    this.#kind = kind;
    this.write("package.json", JSON.stringify({ name, type: "module" }));
  }

  write(file: string, contents: string): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), contents);
  }

  remove(file: string): void {
    rmSync(join(this.folder, file));
  }

  /** Reads a file below `.sluice/deployed` as variables. */
  deployed(file: string): Record<string, string | undefined> {
    return parseEnv(readFileSync(join(this.folder, ".sluice/deployed", file), "utf8"));
  }

  /** Sets variables for the commands that follow. */
  set(env: NodeJS.ProcessEnv): void {
    Object.assign(this.#env, env);
  }

  /** Writes a Worker into a folder of its name. Beside a `cloudflare.config.ts` further tables are those of Sluice. */
  worker(name: string, worker: RepositoryWorker): void {
    const { more = "", code = "" } = worker;
    this.write(`${name}/index.js`, `export default { fetch() {}, queue() {} };\n// ${code}\n`);
    if (this.#kind === "wrangler.toml") {
      this.write(`${name}/wrangler.toml`, wranglerToml(name, worker) + more);
      return;
    }
    this.write(`${name}/cloudflare.config.ts`, cloudflareConfig(name, worker));
    if (more !== "") this.write(`${name}/wrangler.toml`, more);
  }

  async run(
    command: keyof typeof COMMANDS,
    targets: readonly string[],
    options: Readonly<Record<string, unknown>> = {},
  ): Promise<Outcome> {
    const lines: string[] = [];
    const printer = { print: (text: string) => lines.push(text), warn: (text: string) => lines.push(text) };
    const surroundings = {
      cwd: this.folder,
      env: this.#env,
      input: Readable.from([]),
      isInteractive: false,
      showsProgress: false,
      ask: () => Promise.reject(new Error("no person answers")),
    };
    try {
      const code = await COMMANDS[command]({ ...options, targets }, printer, surroundings, this.#start);
      return { code, output: lines.join("\n") };
    } catch (error) {
      if (!(error instanceof CliError || error instanceof ConfigError)) throw error;
      const code = error instanceof CliError ? error.exitCode : 1;
      return { code, output: [...lines, error.message].join("\n") };
    }
  }

  /** Runs a command that has to succeed, and returns its output. */
  succeed(...run: Parameters<Repository["run"]>): Promise<string> {
    return this.#ended(0, run);
  }

  /** Runs a command that has to be refused, and returns its output. */
  fail(...run: Parameters<Repository["run"]>): Promise<string> {
    return this.#ended(1, run);
  }

  async #ended(expected: number, run: Parameters<Repository["run"]>): Promise<string> {
    const { code, output } = await this.run(...run);
    expect(code, output).toBe(expected);
    return output;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function wranglerToml(name: string, { account, inX, secrets, ...queues }: RepositoryWorker): string {
  const head = `name = "${name}"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n`;
  const named = account === undefined ? "" : `account_id = "${account}"\n`;
  const inEnvironment = inX === undefined ? "" : `[env.x]\n${tables("env.x.", inX, secrets)}`;
  return `${head}${named}${tables("", queues, secrets)}${inEnvironment}`;
}

/** @param prefix prefix of the tables' names, such as `env.x.`. */
function tables(prefix: string, queues: Queues, secrets: readonly string[] = []): string {
  const { sends, consumes, maxBatchSize } = queues;
  const requiring = secrets.length === 0 ? "" : `[${prefix}secrets]\nrequired = ${JSON.stringify(secrets)}\n`;
  const sending =
    sends === undefined ? "" : `[[${prefix}queues.producers]]\nbinding = "QUEUE"\nqueue = "${sends}"\n`;
  const consuming = consumes === undefined ? "" : `[[${prefix}queues.consumers]]\nqueue = "${consumes}"\n`;
  const size = maxBatchSize === undefined ? "" : `max_batch_size = ${maxBatchSize}\n`;
  return `${requiring}${sending}${consuming}${size}`;
}

function cloudflareConfig(name: string, { account, inX, secrets = [], ...queues }: RepositoryWorker): string {
  const inMode = (itsName: string, { sends, consumes, maxBatchSize }: Queues) => ({
    ...(account === undefined ? {} : { accountId: account }),
    worker: {
      name: itsName,
      entrypoint: "index.js",
      compatibilityDate: "2026-11-01",
      env: {
        ...(sends === undefined ? {} : { QUEUE: { type: "queue", name: sends } }),
        ...Object.fromEntries(secrets.map((secret) => [secret, { type: "secret" }])),
      },
      triggers: consumes === undefined ? [] : [{ type: "queue", name: consumes, maxBatchSize }],
    },
  });
  const x = JSON.stringify(inMode(`${name}-x`, inX ?? {}));
  return `export default ({ mode }) => (mode === "x" ? ${x} : ${JSON.stringify(inMode(name, queues))});\n`;
}
