import { dirname, join } from "node:path";
import { CliError } from "@sluice/project/errors";
import { writeIfChanged } from "@sluice/project/files/write-plan";
import type { RunWrangler, WranglerRun } from "@sluice/project/wrangler/run-wrangler";
import { withoutServices } from "./parts.ts";
import type { Step } from "./steps.ts";

/** Name of a broker's configuration without some of its bindings, beside the whole one: paths in it are relative. */
const PARTIAL_CONFIG = "wrangler.partial.json";

/**
 * A binding to a Worker, or to a class, that is not there. Just after it was made it may not be seen yet, so such an
 * upload is tried again.
 */
const NOT_SEEN = /\[code: (?:10143|10144|10061)\]/;
/** Waits between the attempts, in ms. */
export const NOT_SEEN_WAITS_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 15_000];

/**
 * A warning after which Wrangler ends as if all were well: the code is there, and its observability, log push and tail
 * consumers are not.
 */
const SETTINGS_REFUSED = /Could not apply service and environment tags/;
const SETTINGS =
  "The code is there, and the settings that are of no version (observability, logpush, tail consumers) may not be. " +
  "On another machine than this one, --force deploys it again.";
const KEEP =
  "The configuration that Wrangler was given is generated anew by each deployment. What is to stay of the edits " +
  "belongs into your own one.";
const CONFLICT =
  "To deploy nevertheless: sluice deploy --yes, which answers each question of Wrangler's with yes.";

export interface UploadOptions {
  /** Told of every version, and by it a rollback knows what was deployed together. */
  readonly message: string;
  /** Secrets that go with the code. What they do not name is kept. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly wrangler: RunWrangler;
  /** Answers yes to each question of Wrangler's. Else it asks at the terminal, and stops where there is none. */
  readonly yes: boolean;
  wait(ms: number): Promise<void>;
}

/**
 * Uploads and deploys a part.
 *
 * @returns the addresses that it answers at.
 * @throws CliError with what Wrangler says.
 */
export async function upload(step: Step, options: UploadOptions): Promise<string[]> {
  const { wrangler, message, secrets, yes } = options;
  const args = ["deploy", "--config", configOf(step), "--tag", step.tag, "--message", message];
  if (!yes) args.push("--strict");
  const given = Object.keys(secrets).length > 0 ? { secrets } : {};
  const { code, all, report } = await untilSeen(() => wrangler(args, { asks: !yes, ...given }), options);
  const entries = deploymentsIn(report);
  if (code !== 0) throw new CliError(all.includes("--strict") ? `${all}\n\n${CONFLICT}` : all);
  // A question was answered with no: Wrangler ends as if all were well.
  if (entries.some(({ version_id }) => version_id === null)) throw new CliError(`${all}\n\n${KEEP}`);
  if (SETTINGS_REFUSED.test(all)) throw new CliError(`${all}\n\n${SETTINGS}`);
  return entries.flatMap(({ targets = [] }) => targets);
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

function configOf({ part, without }: Step): string {
  if (without.length === 0) return part.configFile;
  const file = join(dirname(part.configFile), PARTIAL_CONFIG);
  writeIfChanged(file, withoutServices(part, without));
  return file;
}

interface DeploymentReport {
  readonly type: string;
  readonly version_id?: string | null;
  readonly targets?: readonly string[];
}

/** Wrangler writes a line of JSON for each thing that it has done. */
function deploymentsIn(text: string): DeploymentReport[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as DeploymentReport).filter(({ type }) => type === "deploy");
}
