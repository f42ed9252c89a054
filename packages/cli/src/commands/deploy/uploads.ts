import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { CliError } from "@sluice/project/errors";
import { writeIfChanged } from "@sluice/project/files/write-plan";
import type { RunWrangler, WranglerRun } from "@sluice/project/wrangler/run-wrangler";
import { afterMigration, withoutServices } from "./parts.ts";
import type { Step } from "./steps.ts";

/**
 * Configuration of a broker without some of its service bindings or migrations. It lies beside the complete one, since
 * its paths are relative.
 */
const PARTIAL_CONFIG = "wrangler.partial.json";

/**
 * Cloudflare's error codes for a binding to a Worker or class that does not exist. A new one may not be visible yet, so
 * such an upload is retried.
 */
const NOT_SEEN = /\[code: (?:10143|10144|10061)\]/;
/** Waits between the attempts, in ms. */
const NOT_SEEN_WAITS_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 15_000];

/**
 * Warning after which Wrangler ends successfully although only the code is deployed, and observability, log push and
 * tail consumers are not.
 */
const SETTINGS_REFUSED = /Could not apply service and environment tags/;
const SETTINGS_HINT =
  "The code is deployed, but settings outside of versions (observability, logpush, tail consumers) may not be. " +
  "On another machine than this one, --force deploys it again.";
const EDITS_HINT =
  "The configuration that Wrangler was given is generated anew by each deployment. Edits that are to stay " +
  "belong in your own one.";
const CONFLICT_HINT =
  "To deploy nevertheless: sluice deploy --yes, which answers each question of Wrangler's with yes.";

/** Refusal of Wrangler for a Worker that requires secrets which the account does not have. */
const SECRETS_MISSING = /required secrets have not been set: (.+)$/m;

interface UploadOptions {
  /** Message of every version, by which a rollback finds the versions that were deployed together. */
  readonly message: string;
  /** Secrets uploaded with the code. A secret that is not named here is kept. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Tag of the last migration of a broker that is on the account; `null` for other parts. */
  readonly migration: string | null;
  readonly wrangler: RunWrangler;
  /** Whether each question of Wrangler's is answered with yes. Otherwise it asks, or stops without a terminal. */
  readonly yes: boolean;
  wait(ms: number): Promise<void>;
}

/**
 * Uploads and deploys a part.
 *
 * @returns the addresses of the Worker.
 * @throws CliError with Wrangler's output.
 */
export async function upload(step: Step, options: UploadOptions): Promise<string[]> {
  const { wrangler, message, secrets, yes, migration } = options;
  const args = ["deploy", "--config", configOf(step, migration), "--tag", step.tag, "--message", message];
  if (!yes) args.push("--strict");
  const given = Object.keys(secrets).length > 0 ? { secrets } : {};
  const { code, all, report } = await untilSeen(() => wrangler(args, { asks: !yes, ...given }), options);
  if (code !== 0) {
    const conflict = all.includes("--strict") ? `\n\n${CONFLICT_HINT}` : "";
    throw new CliError(`${all}${conflict}${secretsHint(all, step.part.name)}`);
  }
  // Only now: a Wrangler that was killed may have written half a line.
  const entries = deploymentsIn(report);
  // Wrangler ends successfully also when a question was answered with no.
  if (entries.some(({ version_id }) => version_id === null)) throw new CliError(`${all}\n\n${EDITS_HINT}`);
  if (SETTINGS_REFUSED.test(all)) throw new CliError(`${all}\n\n${SETTINGS_HINT}`);
  return entries.flatMap(({ targets = [] }) => targets);
}

/** Explains how to set missing secrets. Wrangler's own advice is a deployment by hand, with a file of secrets. */
function secretsHint(all: string, worker: string): string {
  const [, names] = SECRETS_MISSING.exec(stripVTControlCharacters(all)) ?? [];
  if (names === undefined) return "";
  const lines = names.split(", ").map((name) => `  npx wrangler secret put ${name} --name ${worker}`);
  return `\n\nTo set them, also before the first deployment of "${worker}":\n${lines.join("\n")}`;
}

async function untilSeen(
  run: () => Promise<WranglerRun>,
  { wait }: Pick<UploadOptions, "wait">,
): Promise<WranglerRun> {
  for (const ms of NOT_SEEN_WAITS_MS) {
    const done = await run();
    if (done.code === 0 || !NOT_SEEN.test(done.all)) return done;
    await wait(ms);
  }
  return run();
}

function configOf({ part, without }: Step, migration: string | null): string {
  const bound = without.length === 0 ? part.config : withoutServices(part, without);
  const config = migration === null ? bound : afterMigration(bound, migration);
  if (config === part.config) return part.configFile;
  const file = join(dirname(part.configFile), PARTIAL_CONFIG);
  writeIfChanged(file, config);
  return file;
}

interface DeploymentReport {
  readonly type: string;
  readonly version_id?: string | null;
  readonly targets?: readonly string[];
}

/** Picks the deployments from Wrangler's report, which has a line of JSON for each finished action. */
function deploymentsIn(text: string): DeploymentReport[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as DeploymentReport).filter(({ type }) => type === "deploy");
}
