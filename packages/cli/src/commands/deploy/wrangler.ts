import { type SpawnOptions, spawn } from "node:child_process";
import { CliError } from "../../errors.ts";
import { wranglerFile } from "../../wrangler/load-wrangler.ts";

/** What a run of Wrangler came to. */
export interface WranglerRun {
  readonly code: number;
  /** Standard output alone. */
  readonly out: string;
  /** Everything that it printed, in order. */
  readonly all: string;
}

/** Runs Wrangler to its end. */
export type RunWrangler = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<WranglerRun>;

/**
 * Runs the Wrangler that is installed, in a folder. Nobody can answer its questions: it takes the default of each.
 *
 * @param env variables of the process that runs it.
 */
export function wranglerIn(cwd: string, env: NodeJS.ProcessEnv): RunWrangler {
  const cli = wranglerFile();
  return (args, more = {}) =>
    new Promise((resolve, reject) => {
      const options: SpawnOptions = {
        cwd,
        // Colours would be in the way of whoever reads a log.
        env: { ...env, NO_COLOR: "1", FORCE_COLOR: "0", ...more },
        stdio: ["ignore", "pipe", "pipe"],
      };
      const child = spawn(process.execPath, ["--no-warnings", "--", cli, ...args], options);
      let [out, all] = ["", ""];
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        out += text;
        all += text;
      });
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        all += text;
      });
      child.once("error", reject);
      child.once("close", (code) => resolve({ code: code ?? 1, out, all: all.trim() }));
    });
}

/** Headers that say to Cloudflare's API who asks, as Wrangler is logged in. */
export async function loginHeaders(wrangler: RunWrangler): Promise<Record<string, string>> {
  const { code, out, all } = await wrangler(["auth", "token", "--json"]);
  const credentials = code === 0 ? readCredentials(out) : null;
  if (credentials === null) {
    throw new CliError(
      `Wrangler is not logged in to Cloudflare. Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN.\n${all}`,
    );
  }
  return credentials;
}

function readCredentials(text: string): Record<string, string> | null {
  try {
    const { token, key, email } = JSON.parse(text) as Readonly<Record<string, string | undefined>>;
    if (token !== undefined) return { authorization: `Bearer ${token}` };
    return key === undefined || email === undefined ? null : { "x-auth-key": key, "x-auth-email": email };
  } catch {
    return null;
  }
}
