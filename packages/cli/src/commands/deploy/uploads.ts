import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CliError } from "../../errors.ts";
import { writeIfChanged } from "../../output/write-plan.ts";
import type { RunWrangler, WranglerRun } from "../../wrangler/run-wrangler.ts";
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

export interface UploadOptions {
  /** Told of every version, and by it a rollback knows what was deployed together. */
  readonly message: string;
  /** Secrets that go with the code. What they do not name is kept. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly wrangler: RunWrangler;
  wait(ms: number): Promise<void>;
}

/**
 * Uploads and deploys a part.
 *
 * @returns the addresses that it answers at.
 * @throws CliError with what Wrangler says.
 */
export async function upload(step: Step, options: UploadOptions): Promise<string[]> {
  const { wrangler, message, secrets } = options;
  const folder = mkdtempSync(join(tmpdir(), "sluice-deploy-"));
  try {
    const args = ["deploy", "--config", configOf(step), "--tag", step.tag, "--message", message];
    if (Object.keys(secrets).length > 0) {
      const file = join(folder, "secrets.json");
      writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 });
      args.push("--secrets-file", file);
    }
    const { code, all, report } = await untilSeen(() => wrangler(args), options);
    if (code !== 0) throw new CliError(all);
    return addressesIn(report);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

/** Wrangler writes a line of JSON for each thing that it has done. */
function addressesIn(text: string): string[] {
  const lines = text.split("\n").filter((line) => line !== "");
  const entries = lines.map((line) => JSON.parse(line) as { type: string; targets?: string[] });
  return entries.flatMap(({ type, targets = [] }) => (type === "deploy" ? targets : []));
}
