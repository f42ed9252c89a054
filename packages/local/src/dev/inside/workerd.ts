import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { WorkerdEvent } from "./contract.ts";

/** Descriptor on which workerd reports its ports, a line of JSON for each. */
const CONTROL = 3;
/** Socket on which Miniflare has requests come in. */
const ENTRY = "entry";

/** A process that is about to be started, as Node.js tells of it. */
interface Unstarted extends ChildProcess {
  spawn(options: unknown): unknown;
}

/**
 * Tells what becomes of a workerd. Wrangler ends it with SIGKILL whenever a file is saved, so that to workerd a reload
 * looks like a crash. Only in Wrangler's process can the two be told apart: by whether somebody has called `kill`.
 *
 * @param mark text in the configuration that it is given.
 */
export function tellOfWorkerd(mark: string, tell: (event: WorkerdEvent) => void): void {
  subscribe("child_process", (message) => {
    const { process: child } = message as { process: Unstarted };
    const { spawn } = child;
    // Its pipes are there afterwards, and nothing has been written to them.
    child.spawn = function (this: Unstarted, options) {
      const result = Reflect.apply(spawn, this, [options]);
      if (child.stdin !== null && child.stdio[CONTROL] !== undefined) onFirstWrite(child, mark, tell);
      return result;
    };
  });
}

/** Miniflare writes the configuration at once. */
function onFirstWrite(child: ChildProcess, mark: string, tell: (event: WorkerdEvent) => void): void {
  const { stdin } = child;
  if (stdin === null) return;
  const { write } = stdin;
  stdin.write = (...args: unknown[]) => {
    stdin.write = write;
    const [configuration] = args;
    if (configuration instanceof Uint8Array && uncopied(configuration).includes(mark)) watch(child, tell);
    return Reflect.apply(write, stdin, args);
  };
}

/** A view of bytes: those of a configuration are megabytes. */
function uncopied({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function watch(workerd: ChildProcess, tell: (event: WorkerdEvent) => void): void {
  const { kill } = workerd;
  let isAsked = false;
  workerd.kill = (...args) => {
    if (!isAsked) tell({ kind: "ending" });
    isAsked = true;
    return Reflect.apply(kill, workerd, args);
  };
  workerd.once("exit", () => {
    if (!isAsked) tell({ kind: "died" });
  });
  createInterface({ input: workerd.stdio[CONTROL] as Readable }).on("line", (line) => {
    const { event, socket, port } = JSON.parse(line) as Partial<Record<string, unknown>>;
    if (event === "listen" && socket === ENTRY && typeof port === "number") tell({ kind: "listening", port });
  });
}
