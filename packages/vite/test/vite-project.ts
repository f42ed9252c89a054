import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { OTHERS } from "sluice/test/others";
import { unpacked } from "sluice/test/pack";
import { SLUICE } from "sluice/test/running";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
/** Packages of a project besides this one. */
const BESIDE = ["@cloudflare/vite-plugin", "vite", "wrangler"];

/** A running `vite dev` or `sluice dev`. */
export interface DevServer {
  readonly url: string;
  /** All of its output. */
  printed(): string;
  readonly pid: number;
  /** Ends it like Ctrl-C. */
  stop(): Promise<void>;
  /** Kills it, and nothing that it has started. */
  kill(): Promise<void>;
}

/** Asks a server for JSON. @throws Error with the answer and the server's output for a status that is no success. */
export async function ask(server: DevServer, path: string): Promise<unknown> {
  // A build keeps this process busy for seconds, in which the server closes idle connections.
  const response = await fetch(`${server.url}${path}`, { headers: { connection: "close" } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}\n${server.printed()}`);
  return JSON.parse(text);
}

export interface ViteProjectOptions {
  /** Folder of the project in `fixtures`. */
  readonly fixture: string;
  /** Packages of a framework that only the whole check has, from where all others come then too. Default: none. */
  readonly packages?: readonly string[];
  /** Command line of the project's tool, in `node_modules`. Default: Vite's own. */
  readonly tool?: string;
  /** Whether the packed package is installed. Default: yes. */
  readonly hasPackage?: boolean;
}

/** A copy of an example project outside of the workspace, with the packed package installed in it. */
export class ViteProject {
  readonly folder = mkdtempSync(join(realpathSync(tmpdir()), "sluice-vite-"));
  readonly #running = new Set<ChildProcess>();
  readonly #tool: string;

  constructor(
    { fixture, packages = [], tool = "vite/bin/vite.js", hasPackage = true }: ViteProjectOptions = {
      fixture: "shop",
    },
  ) {
    cpSync(fileURLToPath(new URL(`fixtures/${fixture}`, import.meta.url)), this.folder, { recursive: true });
    const dependencies = Object.fromEntries(packages.map((name) => [name, "*"]));
    const manifest = { private: true, type: "module", dependencies };
    writeFileSync(join(this.folder, "package.json"), JSON.stringify(manifest));
    this.#tool = join(this.folder, "node_modules", tool);
    if (hasPackage) unpacked(PACKAGE, "@sluice/vite", this.folder);
    this.link([...BESIDE, ...packages], packages.length === 0 ? undefined : OTHERS);
  }

  /** @param env variables of the process, besides this one's. */
  dev(env: NodeJS.ProcessEnv = {}, ...options: readonly string[]): Promise<DevServer> {
    return this.#start([this.#tool, "dev", ...options], /Local:\s+(http:\S+)\//, env);
  }

  /** Runs `sluice dev`. */
  sluiceDev(...targets: readonly string[]): Promise<DevServer> {
    return this.#start([SLUICE, "dev", ...targets, "--port", "0"], /queues\s+(http:\S+)\/__sluice\//);
  }

  /** @param pattern pattern of the address in its output. */
  async #start(args: readonly string[], pattern: RegExp, env: NodeJS.ProcessEnv = {}): Promise<DevServer> {
    const child = spawn(process.execPath, args, {
      cwd: this.folder,
      env: this.#environment(env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running.add(child);
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    let printed = "";
    const url = await new Promise<string>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        printed += stripVTControlCharacters(String(chunk));
        const found = pattern.exec(printed)?.[1];
        if (found !== undefined) resolve(found);
      };
      child.stdout?.on("data", read);
      child.stderr?.on("data", read);
      void exited.then(() => reject(new Error(`${args[1]} has ended:\n${printed}`)));
    });
    const end = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      await exited;
      this.#running.delete(child);
    };
    const { pid = 0 } = child; // it has been spawned
    const [stop, kill] = [() => end("SIGINT"), () => end("SIGKILL")];
    return { url, pid, printed: () => printed, stop, kill };
  }

  /** @throws Error with the output. */
  build(env: NodeJS.ProcessEnv = {}): void {
    const options = { cwd: this.folder, env: this.#environment(env), stdio: "pipe" } as const;
    execFileSync(process.execPath, [this.#tool, "build"], options);
  }

  remove(): void {
    for (const child of this.#running) child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Makes the environment of the project's processes, without Vitest's variables and requests to the Internet. */
  #environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    const { NODE_ENV: _, VITEST: __, ...rest } = process.env;
    return {
      ...rest,
      CI: "1",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      WRANGLER_REGISTRY_PATH: join(this.folder, "registry"),
      WRANGLER_SEND_METRICS: "false",
      ...env,
    };
  }

  /** Links packages of a folder, by default of this one's own, into the project, as npm would install them. */
  link(names: readonly string[] = BESIDE, from: string = join(PACKAGE, "node_modules")): void {
    const modules = join(this.folder, "node_modules");
    for (const name of names) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      rmSync(join(modules, name), { recursive: true, force: true });
      symlinkSync(realpathSync(join(from, name)), join(modules, name));
    }
  }
}
