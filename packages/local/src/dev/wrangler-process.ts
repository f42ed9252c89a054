import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { removePath } from "@sluice/project/folders";
import { ownModule } from "@sluice/project/own-module";
import { ChildEnded, WranglerChild } from "@sluice/project/wrangler/child";
import { wranglerFile } from "@sluice/project/wrangler/load-wrangler";
import { registryFolder } from "@sluice/project/wrangler/registry";
import { canAsk } from "@sluice/project/wrangler/run-wrangler";
import type { Writing } from "../generation/write.ts";
import { wranglerEnvironment } from "../settings/environment.ts";
import type { FromInside, InsideSettings, WorkerdEvent } from "./inside/contract.ts";
import type { BuildEvent } from "./inside/failed-builds.ts";
import type { FailedLoadEvent } from "./inside/failed-load.ts";
import type { LinesContext } from "./inside/wrangler-lines.ts";

/** Address that `wrangler dev` listens on. */
export interface Listening {
  readonly host: string;
  readonly port: number;
}

export interface WranglerOptions {
  /** Arguments after `wrangler`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Names and paths by which Wrangler's lines are told apart. */
  readonly lines: LinesContext;
  /** Names that other processes have in the registry of Workers: their entries stay. */
  readonly taken: ReadonlySet<string>;
  /** Wrangler listens, and every Worker has been built. */
  readonly onListening: (listening: Listening) => void;
  /** A socket that Wrangler chose was taken by another server, so that Wrangler does not listen. */
  readonly onSocketInUse: () => void;
  /** A Worker does not build, and is built again when its sources change. */
  readonly onWaiting: (worker: string) => void;
  /** A change of a Worker does not build, and the build before it answers requests. */
  readonly onLastBuild: (worker: string) => void;
  /** A changed Worker throws while it is loaded, and no Worker runs until the next change. */
  readonly onFailedLoad: (event: FailedLoadEvent) => void;
  /** Wrangler is about to be killed: a `cloudflare.config.ts` that never returns keeps it from answering. */
  readonly onStuck: () => void;
  /** The workerd by which Wrangler takes requests has died: no request is answered until Wrangler is started again. */
  readonly onProxyDied: () => void;
  /** Listener for the events of the workerd whose configuration contains the text `mark`. */
  readonly workerd: { readonly mark: string; on(event: WorkerdEvent): void };
}

/** A running `wrangler dev`. */
export interface WranglerProcess {
  /** Resolves to its exit code, 128 + n if signal n ended it, as in shells, when nothing that it started runs. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Wrangler in a child process on this process's terminal: it keeps its colours and keys, and its lines are filtered
 * (`wranglerLines`). The child also reads configurations.
 */
export class DevWrangler {
  readonly #child: WranglerChild;
  readonly #inside = pathToFileURL(
    ownModule(new URL("./inside/main.ts", import.meta.url), "dev/inside/main.js"),
  ).href;
  #options: WranglerOptions | null = null;
  /** Workers that do not build, or whose first build is not over. */
  readonly #waiting = new Set<string>();
  /** Address that Wrangler listens on, until `onListening` is called with it. */
  #listening: Listening | null = null;

  /** Starts to load Wrangler. */
  constructor(cwd: string) {
    waitForTerminal();
    this.#child = new WranglerChild({
      cwd,
      env: wranglerEnvironment(process.env),
      file: wranglerFile(),
      stdio: ["inherit", "inherit", "inherit"],
      onStuck: () => this.#options?.onStuck(),
      onStart: (child) => child.on("message", (message) => this.#on(message)),
    });
  }

  get answers() {
    return this.#child.answers;
  }

  /** Writes files that Wrangler watches in Wrangler's own process, so that it never sees only some of them. */
  async write(writing: Writing): Promise<void> {
    await this.#child.call("inside", this.#inside, "write", writing);
  }

  /** Runs `wrangler dev`. To be called only when the one before it has ended. */
  start(options: WranglerOptions): WranglerProcess {
    const { args, env, lines, taken, workerd } = options;
    this.#options = options;
    this.#waiting.clear();
    this.#listening = null;
    // A killed Wrangler leaves its entries behind, and they would keep the names from other processes for minutes.
    const own = lines.workers.filter((worker) => !taken.has(worker));
    const entries = own.map((worker) => join(registryFolder(env), worker));
    for (const file of entries) this.#child.guard.addFile(file);
    const settings: InsideSettings = { lines, workerdMark: workerd.mark, wrangler: wranglerFile() };
    const shown = this.#child
      .call("inside", this.#inside, "prepare", settings)
      .then(() => this.#child.call("show", { args, env }));
    const ended = shown
      .catch((error: unknown) => {
        if (error instanceof ChildEnded) return error.code;
        throw error;
      })
      .finally(() => leftBehind(entries).forEach(removePath));
    return { ended, kill: (signal) => this.#child.kill(signal) };
  }

  #on(message: unknown): void {
    const listening = parseReady(message);
    if (listening !== null) {
      this.#listening = listening;
      this.#tellListening();
    }
    if (typeof message !== "object" || message === null || !("sluice" in message)) return;
    const { sluice: event } = message as FromInside;
    if (event.kind === "socket-in-use") this.#options?.onSocketInUse();
    else if (event.kind === "proxy-died") this.#options?.onProxyDied();
    else if (event.kind === "build") this.#onBuild(event);
    else if (event.kind === "last-build") this.#options?.onLastBuild(event.worker);
    else if (event.kind === "failed-load") this.#options?.onFailedLoad(event);
    else this.#options?.workerd.on(event);
  }

  #onBuild({ worker, state }: BuildEvent): void {
    if (state === "done") {
      this.#waiting.delete(worker);
      this.#tellListening();
      return;
    }
    this.#waiting.add(worker);
    if (state === "failed") this.#options?.onWaiting(worker);
  }

  #tellListening(): void {
    const listening = this.#listening;
    if (listening === null || this.#waiting.size > 0) return;
    this.#listening = null;
    this.#options?.onListening(listening);
  }
}

/** Lists the files that Wrangler leaves behind when a signal ends it: all on Windows, where a signal kills. */
export function leftBehind(
  files: readonly string[],
  platform: NodeJS.Platform = process.platform,
): readonly string[] {
  return platform === "win32" ? files : [];
}

/**
 * Sets the terminal's raw mode for a moment. In a background job this stops the process until the shell brings it to
 * the foreground. Wrangler, in a session of its own, would not be stopped and would read what is typed for the shell.
 */
function waitForTerminal(): void {
  if (canAsk()) process.stdin.setRawMode(true).setRawMode(false);
}

/** Parses the message by which Wrangler tells its parent that it listens: JSON with the event `DEV_SERVER_READY`. */
export function parseReady(message: unknown): Listening | null {
  if (typeof message !== "string") return null;
  try {
    const { event, ip, port } = JSON.parse(message) as Partial<Record<string, unknown>>;
    if (event !== "DEV_SERVER_READY" || typeof ip !== "string" || typeof port !== "number") return null;
    return { host: ip, port };
  } catch {
    return null;
  }
}
