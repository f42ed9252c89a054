import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import type { RunOptions, WranglerRun } from "@sluice/project/wrangler/run-wrangler";
import type { StartWrangler } from "../../src/commands/deploy/deployment.ts";
import type { Account, Binding, Metadata } from "./account.ts";
import { Refused } from "./account.ts";
import type { Cloudflare } from "./api.ts";

/** A generated configuration, as far as an upload reads it. */
interface Config {
  readonly name: string;
  readonly main?: string;
  readonly services?: readonly { readonly binding: string; readonly service: string }[];
  readonly durable_objects?: {
    readonly bindings: readonly {
      readonly name: string;
      readonly class_name: string;
      readonly script_name?: string;
    }[];
  };
  readonly migrations?: readonly { readonly tag: string; readonly new_sqlite_classes?: readonly string[] }[];
  readonly vars?: Readonly<Record<string, string>>;
  readonly workers_dev?: boolean;
}

/**
 * Stands in for Wrangler in tests that run hundreds of its commands: each takes the real one seconds. It uploads the
 * configurations to the stand-in of the account. `deploy.e2e.test.ts` tests with the real one.
 *
 * @param before called for each bundle and each command that changes the account; an error that it throws ends the
 *   command.
 */
export function fakeWrangler(
  { accounts }: Pick<Cloudflare, "accounts">,
  before: (command: string, worker: string) => void | Promise<void> = () => {},
): StartWrangler {
  return (cwd, given) =>
    async (args, options = {}) => {
      const env = { ...variablesIn(cwd), ...definedIn({ ...given, ...options.env }) };
      if (args[0] === "auth")
        return done(JSON.stringify({ type: "api_token", token: env.CLOUDFLARE_API_TOKEN }));
      const { CLOUDFLARE_ACCOUNT_ID: id } = env;
      if (!id)
        return failed("More than one account available but unable to select one in non-interactive mode.");
      const account = accounts.get(id);
      if (account === undefined) return failed("Authentication error [code: 10000]");
      try {
        return await run(account, args, { ...options, env }, before);
      } catch (error) {
        if (error instanceof Refused) return failed(`${error.message} [code: ${error.code}]`);
        throw error;
      }
    };
}

/** Reads the variables of the files that every command of Wrangler's reads. */
function variablesIn(folder: string): NodeJS.ProcessEnv {
  const files = [".env", ".env.local"].map((name) => join(folder, name)).filter((file) => existsSync(file));
  return Object.assign({}, ...files.map((file) => parseEnv(readFileSync(file, "utf8"))));
}

/** Picks the variables that are set and not empty. */
function definedIn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value));
}

async function run(
  account: Account,
  args: readonly string[],
  { secrets = {}, env = {} }: RunOptions,
  before: (command: string, worker: string) => void | Promise<void>,
): Promise<WranglerRun> {
  const [command = "", second = ""] = args;
  const option = (name: string) => args[args.indexOf(name) + 1] ?? "";
  switch (command) {
    case "deploy": {
      const file = option("--config");
      const config = inEnvironment(JSON.parse(readFileSync(file, "utf8")) as Config, args, env);
      const isDry = args.includes("--dry-run");
      await before(isDry ? "bundle" : command, config.name);
      if (isDry) return bundle(config, dirname(file), option("--outdir"));
      return uploaded(account, config, secrets, option);
    }
    case "delete":
      await before(command, second);
      account.remove(second, true);
      return done();
    // No configuration of these tests has triggers.
    case "triggers":
      return done();
    default:
      throw new Error(`this Wrangler knows no ${command}`);
  }
}

/** Adds the suffix of an environment to a Worker's name, as Wrangler does for an option or a variable. */
function inEnvironment(config: Config, args: readonly string[], variables: NodeJS.ProcessEnv): Config {
  const option = args.find((arg) => arg.startsWith("--env="))?.slice("--env=".length);
  const env = option ?? variables.CLOUDFLARE_ENV ?? "";
  return env === "" ? config : { ...config, name: `${config.name}-${env}` };
}

/** Writes a stand-in for the code: the generated entry, the broker's topology and the user's module. */
function bundle({ name, main = "" }: Config, folder: string, outdir: string): WranglerRun {
  mkdirSync(outdir, { recursive: true });
  const files = [join(folder, main), join(folder, "topology.json"), join(folder, "../../", name, "index.js")];
  const texts = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, "utf8"));
  writeFileSync(join(outdir, "index.js"), texts.join("\n"));
  return done();
}

function uploaded(
  account: Account,
  config: Config,
  secrets: Readonly<Record<string, string>>,
  option: (name: string) => string,
): WranglerRun {
  const { name, migrations = [] } = config;
  const last = account.scripts.get(name)?.migrationTag ?? null;
  const pending = migrations.slice(migrations.findIndex(({ tag }) => tag === last) + 1);
  const tag = migrations.at(-1)?.tag;
  const metadata: Metadata = {
    bindings: [
      ...bindingsOf(config),
      ...Object.entries(secrets).map(([key, text]) => ({ name: key, type: "secret_text", text })),
    ],
    annotations: { "workers/tag": option("--tag"), "workers/message": option("--message") },
    ...(pending.length === 0 || tag === undefined
      ? {}
      : { migrations: { ...(last === null ? {} : { old_tag: last }), new_tag: tag, steps: pending } }),
  };
  const bound = (config.durable_objects?.bindings ?? []).filter(
    ({ script_name }) => script_name === undefined,
  );
  const classes = bound.map(({ class_name }) => class_name);
  const { id, annotations } = account.upload(name, metadata, {
    "index.js": `export { ${classes.join()} };`,
    "topology.json": topologyBeside(option("--config")),
  });
  account.deploy(name, [{ version_id: id, percentage: 100 }], annotations);
  account.find(name).subdomain = config.workers_dev !== false;
  const targets = config.workers_dev === false ? [] : [`https://${name}.shop.workers.dev`];
  return { ...done(), report: `${JSON.stringify({ type: "deploy", version_id: id, targets })}\n` };
}

/** Reads the topology of a broker; empty for other Workers. */
function topologyBeside(config: string): string {
  const file = join(dirname(config), "topology.json");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function bindingsOf({ services = [], durable_objects, vars = {} }: Config): Binding[] {
  return [
    ...services.map(({ binding, service }) => ({ name: binding, type: "service", service })),
    ...(durable_objects?.bindings ?? []).map((one) => ({ ...one, type: "durable_object_namespace" })),
    ...Object.entries(vars).map(([name, text]) => ({ name, type: "plain_text", text })),
  ];
}

function done(out = ""): WranglerRun {
  return { code: 0, out, all: out, report: "" };
}

function failed(all: string): WranglerRun {
  return { code: 1, out: "", all, report: "" };
}
