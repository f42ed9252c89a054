import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { build } from "esbuild";

const { default: workerdPath } = createRequire(import.meta.url)("workerd") as { default: string };

/** Calls of an object by its name. */
export type Call = (name: string, method: string, ...args: readonly unknown[]) => Promise<unknown>;

/** The class of `subject.ts` in a process that keeps its objects in a folder. */
export interface Platform extends AsyncDisposable {
  readonly call: Call;
  /** Resolves when it has printed this. */
  printed(text: string): Promise<void>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

/** Name of a Worker and its class, as workerd makes ids with it and calls the folder of the objects. */
export const UNIQUE_KEY = "subject-Subject";

const SOURCE = `
  import { DurableObject } from "cloudflare:workers";
  import { subjectOf } from "./subject.ts";
  import { workersHost } from "@sluice/broker/host";
  export class Subject extends subjectOf(DurableObject, workersHost()) {}
  export default {
    async fetch(request, env) {
      const { name, method, args } = await request.json();
      try {
        return Response.json({ result: (await env.SUBJECTS.getByName(name)[method](...args)) ?? null });
      } catch (error) {
        return Response.json({ error: { name: error.name, message: error.message } });
      }
    },
  };
`;

/** Starts real workerd on a folder of objects. */
export async function startWorkerd(folder: string): Promise<Platform> {
  await mkdir(path.join(folder, "objects"), { recursive: true });
  await writeFile(path.join(folder, "main.js"), await bundled());
  await writeFile(path.join(folder, "config.capnp"), CONFIG);
  const child = spawn(
    workerdPath,
    ["serve", "config.capnp", "--experimental", "--socket-addr=http=127.0.0.1:0", "--control-fd=3"],
    { cwd: folder, stdio: ["ignore", "pipe", "pipe", "pipe"] },
  );
  const output = outputOf(child);
  const port = await listeningPort(child, output.text);
  const call: Call = async (name, method, ...args) => {
    const body = JSON.stringify({ name, method, args });
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
    return resultOf((await response.json()) as Answer);
  };
  const kill = () => killed(child);
  return { call, printed: output.printed, kill, [Symbol.asyncDispose]: kill };
}

export interface NodePlatform extends Platform {
  /** Ends it by closing the objects. */
  close(): Promise<void>;
}

/** Starts a process of Node.js on the same folder. */
export async function startNode(folder: string): Promise<NodePlatform> {
  const program = path.join(import.meta.dirname, "node-objects.ts");
  const child = fork(program, [path.join(folder, "objects")], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const output = outputOf(child);
  const waiting = new Map<number, (answer: Answer) => void>();
  child.on("message", ({ id, ...answer }: Answer & { id: number }) => waiting.get(id)?.(answer));
  let calls = 0;
  const call: Call = async (name, method, ...args) => {
    calls += 1;
    const id = calls;
    const answer = await new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      child.send({ id, name, method, args });
    });
    return resultOf(answer);
  };
  const close = async () => {
    const exited = once(child, "exit");
    child.send("close");
    await exited;
  };
  const kill = () => killed(child);
  return { call, printed: output.printed, kill, close, [Symbol.asyncDispose]: kill };
}

function resultOf({ result, error }: Answer): unknown {
  if (error !== undefined) throw Object.assign(new Error(error.message), { name: error.name });
  return result;
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

function outputOf(child: ChildProcess) {
  let all = "";
  const waiters = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data) => {
      all += String(data);
      for (const look of waiters) look();
    });
  }
  const printed = (wanted: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!all.includes(wanted)) return;
        waiters.delete(look);
        resolve();
      };
      waiters.add(look);
      look();
    });
  return { text: () => all, printed };
}

export interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
  const config :Workerd.Config = (
    services = [
      (name = "main", worker = (
        modules = [(name = "main.js", esModule = embed "main.js")],
        compatibilityDate = "2026-11-01",
        bindings = [(name = "SUBJECTS", durableObjectNamespace = "Subject")],
        durableObjectNamespaces = [(className = "Subject", uniqueKey = "${UNIQUE_KEY}", enableSql = true)],
        durableObjectStorage = (localDisk = "objects"),
      )),
      (name = "objects", disk = (path = "objects", writable = true)),
    ],
    sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
  );`;

async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    external: ["cloudflare:*"],
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error("esbuild wrote nothing");
  return file.text;
}

/** workerd reports the port it got as a line of JSON on the control descriptor. */
async function listeningPort(child: ChildProcess, said: () => string): Promise<number> {
  const control = createInterface({ input: child.stdio[3] as Readable });
  const reported = once(control, "line").then(([line]) => JSON.parse(line) as { port: number });
  const exited = once(child, "exit").then(() => {
    throw new Error(`workerd did not start:\n${said()}`);
  });
  return (await Promise.race([reported, exited])).port;
}
