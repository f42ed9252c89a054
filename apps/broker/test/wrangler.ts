import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const WRANGLER = createRequire(import.meta.url).resolve("wrangler");

/** What a run of the real `wrangler` printed, and how it ended. */
export interface WranglerRun {
  readonly code: number | null;
  /** Standard output and error, without colours. */
  readonly output: string;
}

/** The real `wrangler` with an API of ours: `wrangler("queues", "list")`. */
export type Wrangler = (...args: string[]) => Promise<WranglerRun>;

/**
 * @param apiUrl what `CLOUDFLARE_API_BASE_URL` says.
 * @param folder where the command runs, and where Wrangler keeps what it remembers.
 * @param environment further variables; one that is `undefined` is not set.
 */
export function wranglerFor(
  apiUrl: string,
  folder: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): Wrangler {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    CI: "1",
    NO_COLOR: "1",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: folder,
    CLOUDFLARE_API_BASE_URL: apiUrl,
    CLOUDFLARE_API_TOKEN: "any-token",
    CLOUDFLARE_ACCOUNT_ID: "any-account",
    ...environment,
  };
  return (...args) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, ["--no-warnings", WRANGLER, ...args], { cwd: folder, env });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
        });
      }
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, output }));
    });
}
