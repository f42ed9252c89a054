import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import getPort from "@sluice/protocol/test/free-port";
import { expect } from "vitest";

const FIXTURES = fileURLToPath(new URL("./fixtures", import.meta.url));

/** A copy of a fixture in its own folder, with its own dev registry. */
export interface Lab {
  readonly folder: string;
  /** Environment for `sluice` and `wrangler`. */
  readonly env: NodeJS.ProcessEnv;
  remove(): void;
}

/** Copies a fixture to a folder with no configuration above it. */
export function openLab(fixture: string): Lab {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sluice-e2e-")));
  const folder = join(root, fixture);
  // Leaves out the output of builds and runs in this checkout.
  const isSource = (path: string) => ![".wrangler", ".sluice"].includes(basename(path));
  cpSync(join(FIXTURES, fixture), folder, { recursive: true, filter: isSource });
  const { CLOUDFLARE_ENV: _, ...rest } = process.env;
  return {
    folder,
    env: {
      ...rest,
      CI: "1",
      NO_COLOR: "1",
      WRANGLER_SEND_METRICS: "false",
      X_LOCAL_OBSERVABILITY: "false",
      WRANGLER_REGISTRY_PATH: join(root, "registry"),
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Finds ports for a runtime and its debugger, as options too, and the address of the first. */
export async function freePorts() {
  const [port, inspectorPort] = await Promise.all([getPort(), getPort()]);
  const options = ["--port", `${port}`, "--inspector-port", `${inspectorPort}`];
  return { port, inspectorPort, options, url: `http://localhost:${port}` };
}

/** Requests an address as a browser that opens it. `fetch` does not allow these headers. */
export function navigate(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { "Sec-Fetch-Mode": "navigate" } }, (response) =>
      resolve(text(response)),
    );
    request.on("error", reject);
  });
}

/**
 * Loads the page at `/__sluice/` as a browser does: the document, then its script and its style.
 *
 * @param origin origin of the broker, without a slash at its end.
 */
export async function seePage(origin: string): Promise<void> {
  const document = await fetch(`${origin}/__sluice/`);
  expect(document.headers.get("content-security-policy")).toContain("script-src 'self'");
  const names = (await document.text()).match(/\bapp\.[0-9a-f]+\.(?:js|css)/g) ?? [];
  expect(names).toHaveLength(2);
  for (const name of names) {
    const file = await fetch(`${origin}/__sluice/${name}`, { headers: { "accept-encoding": "gzip" } });
    expect(file.headers.get("content-encoding"), name).toBe("gzip");
    expect(await file.text()).toContain(name.endsWith(".js") ? "sluice-token" : "color-scheme");
  }
}

/** Polls until `read` returns `expected`. */
export async function eventually<T>(read: () => Promise<T>, expected: T): Promise<void> {
  await expect.poll(read).toEqual(expected);
}

/** Lists the ids of all processes that a process started, with theirs. */
export function descendants(pid: number): number[] {
  const parents = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const found = [pid];
  for (const parent of found)
    found.push(...parents.filter(([, of]) => of === parent).map(([child]) => child));
  return found.slice(1);
}

/** Returns the command line of a process. */
export function commandLineOf(pid: number): string {
  return execFileSync("ps", ["-o", "args=", "-ww", "-p", `${pid}`], { encoding: "utf8" });
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
