import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { build } from "esbuild";

/** The package is CommonJS with an ES module's default export, which `import` hands out differently here and there. */
const { default: workerdPath } = createRequire(import.meta.url)("workerd") as { default: string };

/** One Worker of a test. */
export interface WorkerdService {
  readonly name: string;
  /** The bundled source of its only module of code: see `bundle`. */
  readonly source: string;
  /** Other modules of code, by name without `.js`. */
  readonly modules?: Readonly<Record<string, string>>;
  /** Its modules of bytes, by name. */
  readonly data?: Readonly<Record<string, Uint8Array>>;
  /** Default `TEST_COMPATIBILITY_DATE`. */
  readonly compatibilityDate?: string;
  readonly compatibilityFlags?: readonly string[];
  /** Bindings in the syntax of workerd.capnp, without the brackets. */
  readonly bindings?: string;
  /** Classes of its Durable Objects, backed by SQLite in the folder of the test. */
  readonly durableObjects?: readonly string[];
}

export interface WorkerdOptions {
  /** An existing folder that keeps the Durable Objects. Default: one that goes with the process. */
  readonly objects?: string;
  /** Services that other processes are, by name: `127.0.0.1:8080`. */
  readonly external?: Readonly<Record<string, string>>;
}

/** Disposing of it is `kill -9`; resolves when it has ended. */
export interface WorkerdProcess extends AsyncDisposable {
  /** A request to a service; by default the first one. */
  fetch(path: string, init?: RequestInit, service?: string): Promise<Response>;
  readonly pid: number;
  /** Everything that was printed so far, in order: warnings of the runtime as well as the console. */
  readonly lines: readonly string[];
  /** Resolves when a line from number `from` on contains `text`, at once if one did before. */
  printed(text: string, from?: number): Promise<void>;
}

export const TEST_COMPATIBILITY_DATE = "2026-11-01";

/**
 * Starts real workerd with experimental features, which the dispatch of queue events by a service binding needs. The
 * broker-side counterpart of what is tested is whatever service the test defines: nothing of Miniflare takes part.
 */
export async function startWorkerd(
  services: readonly WorkerdService[],
  options: WorkerdOptions = {},
): Promise<WorkerdProcess> {
  const [first] = services;
  if (first === undefined) throw new Error("a test needs a service");
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-workerd-"));
  for (const { name, source, modules = {}, data = {} } of services) {
    await writeFile(path.join(folder, `${name}.js`), source);
    for (const [module, code] of Object.entries(modules))
      await writeFile(path.join(folder, `${name}.${module}.js`), code);
    for (const [module, bytes] of Object.entries(data)) await writeFile(path.join(folder, module), bytes);
  }
  const objects = options.objects ?? path.join(folder, "objects");
  if (options.objects === undefined) await mkdir(objects);
  await writeFile(path.join(folder, "config.capnp"), capnpConfig(services, objects, options.external ?? {}));
  const child = spawn(
    workerdPath,
    ["serve", "config.capnp", "--experimental", "--verbose", "--control-fd=3"],
    { cwd: folder, stdio: ["ignore", "pipe", "pipe", "pipe"] },
  );
  const output = recordOutput(child);
  const stop = async () => {
    const exited = once(child, "exit");
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const ports = await listeningPorts(child, services.length, output.lines);
    return {
      pid: child.pid ?? 0,
      lines: output.lines,
      printed: output.printed,
      fetch: (requestPath, init, service = first.name) =>
        fetch(`http://127.0.0.1:${ports.get(service)}${requestPath}`, init),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Folder of the bundles that a run of the tests has made, in any of its processes. Without it each makes its own. */
export const BUNDLES_VARIABLE = "SLUICE_TEST_BUNDLES";

/** Bundles that were made in this process: tests start the same Workers again and again. */
const bundles = new Map<string, Promise<string>>();

/**
 * Bundles TypeScript into one module for workerd, once for each source.
 *
 * @param resolveDir where its imports are looked up.
 * @param names what becomes of the names of functions and classes: `kept`, as Wrangler does unless it is told
 *   otherwise, or `shortened`.
 * @param apart modules that are not bundled with it.
 */
export function bundle(
  source: string,
  resolveDir: string,
  names: "kept" | "shortened" = "kept",
  apart: readonly string[] = [],
): Promise<string> {
  const key = JSON.stringify([source, resolveDir, names, apart]);
  const bundled = bundles.get(key) ?? ofThisRun(key, () => bundleAnew(source, resolveDir, names, apart));
  bundles.set(key, bundled);
  return bundled;
}

/** Reads what another process of this run has made, or makes it for the others. */
async function ofThisRun(key: string, make: () => Promise<string>): Promise<string> {
  const folder = process.env[BUNDLES_VARIABLE];
  if (folder === undefined) return make();
  const file = path.join(folder, createHash("sha256").update(key).digest("hex"));
  const made = await readFile(file, "utf8").catch(() => null);
  if (made !== null) return made;
  const text = await make();
  const written = `${file}.${randomUUID()}`;
  await writeFile(written, text);
  await rename(written, file);
  return text;
}

async function bundleAnew(
  source: string,
  resolveDir: string,
  names: "kept" | "shortened",
  apart: readonly string[],
): Promise<string> {
  const result = await build({
    stdin: { contents: source, resolveDir, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    keepNames: names === "kept",
    minifyIdentifiers: names === "shortened",
    external: ["cloudflare:*", "node:*", "*.bin", ...apart],
  });
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error("esbuild wrote nothing");
  return file.text;
}

function capnpConfig(
  services: readonly WorkerdService[],
  objects: string,
  external: Readonly<Record<string, string>>,
): string {
  const described = services.map((service) => {
    const classes = service.durableObjects ?? [];
    const date = service.compatibilityDate ?? TEST_COMPATIBILITY_DATE;
    const code = Object.keys(service.modules ?? {}).map(
      (name) => `, (name = ${text(name)}, esModule = embed ${text(`${service.name}.${name}.js`)})`,
    );
    const data = Object.keys(service.data ?? {}).map(
      (name) => `, (name = ${text(name)}, data = embed ${text(name)})`,
    );
    return `(name = ${text(service.name)}, worker = (
      modules = [(name = "main.js", esModule = embed ${text(`${service.name}.js`)})${[...code, ...data].join("")}],
      compatibilityDate = ${text(date)},
      compatibilityFlags = [${(service.compatibilityFlags ?? []).map(text).join(", ")}],
      bindings = [${service.bindings ?? ""}],
      durableObjectNamespaces = [${classes.map(namespace)}],
      durableObjectStorage = (localDisk = "objects"),
    ))`;
  });
  const outside = Object.entries(external).map(
    ([name, address]) => `, (name = ${text(name)}, external = (address = ${text(address)}, http = ()))`,
  );
  const sockets = services.map(
    ({ name }) => `(name = ${text(name)}, address = "127.0.0.1:0", http = (), service = ${text(name)})`,
  );
  const disk = `(name = "objects", disk = (path = ${text(objects)}, writable = true))`;
  return `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [${described.join(",\n")}, ${disk}${outside.join("")}],
      sockets = [${sockets.join(", ")}],
    );`;
}

function namespace(name: string): string {
  return `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`;
}

function text(value: string): string {
  return JSON.stringify(value);
}

function recordOutput(child: ChildProcess) {
  const lines: string[] = [];
  const waiters = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) throw new Error("output is piped");
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      for (const waiter of waiters) waiter();
    });
  }
  const printed = (wanted: string, from = 0) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!lines.some((line, i) => i >= from && line.includes(wanted))) return;
        waiters.delete(look);
        resolve();
      };
      waiters.add(look);
      look();
    });
  return { lines, printed };
}

/** workerd reports the ports it got, each by a line of JSON on the control descriptor. */
async function listeningPorts(
  child: ChildProcess,
  count: number,
  lines: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => {
    const { socket, port } = JSON.parse(line) as { socket: string; port: number };
    ports.set(socket, port);
    if (ports.size === count) resolve();
  });
  child.once("exit", () => reject(new Error(`workerd did not start:\n${lines.join("\n")}`)));
  await promise;
  return ports;
}
