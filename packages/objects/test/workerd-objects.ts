import { type ChildProcess, spawn } from "node:child_process";
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

/** The class of `subject.ts` somewhere. */
export interface Platform extends AsyncDisposable {
  readonly call: Call;
  /** As a power cut would end it. */
  kill(): Promise<void>;
}

/** Name of a Worker and its class, as workerd makes ids with it and calls the folder of the objects. */
export const UNIQUE_KEY = "subject-Subject";

const SOURCE = `
  import { DurableObject } from "cloudflare:workers";
  import { subjectOf } from "./subject.ts";
  export class Subject extends subjectOf(DurableObject) {}
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
  const objects = path.join(folder, "objects");
  await mkdir(objects, { recursive: true });
  await writeFile(path.join(folder, "main.js"), await bundled());
  await writeFile(path.join(folder, "config.capnp"), CONFIG);
  const child = spawn(
    workerdPath,
    ["serve", "config.capnp", "--experimental", "--socket-addr=http=127.0.0.1:0", "--control-fd=3"],
    { cwd: folder, stdio: ["ignore", "pipe", "pipe", "pipe"] },
  );
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => said.push(String(data)));
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  const port = await listeningPort(child, said);
  const call: Call = async (name, method, ...args) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      body: JSON.stringify({ name, method, args }),
    });
    const { result, error } = (await response.json()) as Answer;
    if (error !== undefined) throw Object.assign(new Error(error.message), { name: error.name });
    return result;
  };
  return { call, kill, [Symbol.asyncDispose]: kill };
}

interface Answer {
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
async function listeningPort(child: ChildProcess, said: readonly string[]): Promise<number> {
  const control = createInterface({ input: child.stdio[3] as Readable });
  const reported = once(control, "line").then(([line]) => JSON.parse(line) as { port: number });
  const exited = once(child, "exit").then(() => {
    throw new Error(`workerd did not start:\n${said.join("")}`);
  });
  return (await Promise.race([reported, exited])).port;
}
