import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { ProxyDiedEvent, WorkerdEvent } from "./contract.ts";

/** File descriptor on which workerd reports its ports, a line of JSON for each. */
const CONTROL = 3;
/** Name of the socket on which Miniflare takes requests. */
const ENTRY = "entry";

/** A process that is about to be started, as Node's diagnostics channel `child_process` publishes it. */
interface Unstarted extends ChildProcess {
  spawn(options: unknown): unknown;
}

type Tell = (event: WorkerdEvent | ProxyDiedEvent) => void;

/**
 * Reports the events of a workerd, and the death of the one that is Wrangler's proxy. Wrangler ends the former with
 * SIGKILL whenever a file is saved, so that from outside a reload looks like a crash. Only in Wrangler's process can they
 * be told apart: by whether `kill` was called.
 *
 * @param mark text in the configuration of the workerd to report.
 */
export function tellOfWorkerd(mark: string, tell: Tell): void {
  subscribe("child_process", (message) => {
    const { process: child } = message as { process: Unstarted };
    const { spawn } = child;
    // After `spawn` the pipes exist, and nothing has been written to them yet.
    child.spawn = function (this: Unstarted, options) {
      const result = Reflect.apply(spawn, this, [options]);
      if (child.stdin !== null && child.stdio[CONTROL] !== undefined) onFirstWrite(child, mark, tell);
      return result;
    };
  });
}

/** Watches the process. Its configuration, which Miniflare writes to stdin in one piece, contains the mark or not. */
function onFirstWrite(child: ChildProcess, mark: string, tell: Tell): void {
  const { stdin } = child;
  if (stdin === null) return;
  const { write } = stdin;
  stdin.write = (...args: unknown[]) => {
    stdin.write = write;
    const [configuration] = args;
    const isMarked = configuration instanceof Uint8Array && uncopied(configuration).includes(mark);
    watch(child, isMarked ? tell : tellOfProxy(tell));
    return Reflect.apply(write, stdin, args);
  };
}

/** Passes on only that a proxy that has listened died. One that has not could not open its port. */
function tellOfProxy(tell: Tell): (event: WorkerdEvent) => void {
  let hasListened = false;
  return ({ kind }) => {
    if (kind === "listening") hasListened = true;
    if (kind === "died" && hasListened) tell({ kind: "proxy-died" });
  };
}

/** Returns a view of the bytes without copying them: a configuration has megabytes. */
function uncopied({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function watch(workerd: ChildProcess, tell: (event: WorkerdEvent) => void): void {
  const { kill } = workerd;
  let isKilled = false;
  workerd.kill = (...args) => {
    if (!isKilled) tell({ kind: "ending" });
    isKilled = true;
    return Reflect.apply(kill, workerd, args);
  };
  workerd.once("exit", () => {
    if (!isKilled) tell({ kind: "died" });
  });
  createInterface({ input: workerd.stdio[CONTROL] as Readable }).on("line", (line) => {
    const { event, socket, port } = JSON.parse(line) as Partial<Record<string, unknown>>;
    if (event === "listen" && socket === ENTRY && typeof port === "number") tell({ kind: "listening", port });
  });
}
