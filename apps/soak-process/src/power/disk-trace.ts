import { createReadStream } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Change } from "./disk.ts";
import {
  bytesOf,
  CallReader,
  fileOf,
  lastNumber,
  pathsOf,
  returnedFile,
  type SystemCall,
  textOf,
} from "./strace.ts";

/** System calls that change a disk, sync it, or answer a client. */
export const TRACED_CALLS = [
  ...["open", "openat", "creat", "mkdir", "mkdirat", "rmdir", "link", "linkat", "symlink", "symlinkat"],
  ...["rename", "renameat", "renameat2", "unlink", "unlinkat"],
  ...["pwrite64", "pwritev", "pwritev2", "write", "writev", "ftruncate", "truncate", "fallocate"],
  ...["copy_file_range", "sendfile", "fsync", "fdatasync", "sync", "syncfs", "sync_file_range"],
  ...["sendto", "sendmsg"],
] as const;

/** Event of a disk, or an answer to a client, in the order in which they can first have had an effect. */
export type TraceEvent = {
  /** Line of the trace. */
  readonly at: number;
  readonly atMs: number;
} & (
  | { readonly kind: "change"; readonly change: Change; readonly endedAt: number }
  | { readonly kind: "sync"; readonly path: string; readonly begunAt: number }
  | { readonly kind: "answer"; readonly answer: string }
);

/** Name of an answer: the process's life, the client's port, and the number of the answer there, from 1. */
export function answerName(life: number, port: number, ordinal: number): string {
  return `${life}:${port}:${ordinal}`;
}

/** Number of the life in which an answer was made. */
export function lifeOf(answer: string): number {
  return Number(answer.slice(0, answer.indexOf(":")));
}

const BALLAST = /(^|\/)sluice-reserve$/;

/** Whether a file is left out: its bytes mean nothing, and are more than strace writes down. */
export function isBallast(file: string): boolean {
  return BALLAST.test(file);
}

/** Largest part of a write that strace has to write down, in bytes. */
export const TRACED_BYTES_MAX = 70_000;

/**
 * Reads the traces of a process's lives, which strace has written, as events of the disk below a folder and answers to
 * clients.
 */
export class DiskTrace {
  readonly #root: string;
  readonly #known = new Set<string>();
  /** Position of the next `write` or `writev` to each file. */
  readonly #positions = new Map<string, number>();
  readonly #sizes = new Map<string, number>();
  readonly #events: TraceEvent[] = [];
  readonly #calls = new CallReader();
  #life = 0;
  #answered = new Map<number, number>();

  /** @param root absolute path of a folder that is empty and durable at the beginning. */
  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Reads one more life.
   *
   * @param port port on which the process listened in that life.
   * @throws Error for a call whose effect on a disk is not modelled.
   */
  async read(traceFile: string, port: number): Promise<void> {
    this.#life += 1;
    this.#answered = new Map();
    for await (const line of createInterface({ input: createReadStream(traceFile, "latin1") })) {
      for (const call of this.#calls.read(line)) this.#take(call, port);
    }
    this.#calls.end();
  }

  get events(): readonly TraceEvent[] {
    return this.#events.toSorted((a, b) => a.at - b.at);
  }

  #take(call: SystemCall, port: number): void {
    if (call.result < 0) return;
    const { name, begunAt, endedAt, atMs } = call;
    const changed = (change: Change) =>
      this.#events.push({ kind: "change", at: begunAt, atMs, endedAt, change });
    switch (name) {
      case "open":
      case "openat":
      case "creat":
        this.#open(call, changed);
        break;
      case "mkdir":
      case "mkdirat":
        this.#below(pathsOf(call)[0], (file) => this.#create(file, true, changed));
        break;
      case "unlink":
      case "unlinkat":
      case "rmdir":
        this.#below(pathsOf(call)[0], (file) => {
          this.#known.delete(file);
          changed({ kind: "remove", path: file });
        });
        break;
      case "rename":
      case "renameat":
      case "renameat2":
        this.#rename(call, changed);
        break;
      case "ftruncate":
        this.#below(fileOf(call), (file) => this.#resize(file, lastNumber(call), changed));
        break;
      case "fsync":
      case "fdatasync":
        this.#below(fileOf(call), (file) =>
          this.#events.push({ kind: "sync", at: endedAt, atMs, path: file, begunAt }),
        );
        break;
      case "pwrite64":
        this.#below(fileOf(call), (file) => this.#write(call, file, lastNumber(call), changed));
        break;
      case "write":
      case "writev":
        this.#below(fileOf(call), (file) => {
          this.#write(call, file, this.#positions.get(file) ?? 0, changed);
        });
        this.#answer(call, port);
        break;
      case "sendto":
      case "sendmsg":
        this.#answer(call, port);
        break;
      default:
        for (const file of [fileOf(call), ...pathsOf(call)]) {
          this.#below(file, () => {
            throw new Error(`it is not known what ${name} does to ${file}`);
          });
        }
    }
  }

  #open(call: SystemCall, changed: (change: Change) => void): void {
    this.#below(returnedFile(call), (file) => {
      const isNew = !this.#known.has(file);
      if (isNew && (call.name === "creat" || call.text.includes("O_CREAT")))
        this.#create(file, false, changed);
      else if (call.name === "creat" || call.text.includes("O_TRUNC")) this.#resize(file, 0, changed);
      this.#positions.set(file, call.text.includes("O_APPEND") ? (this.#sizes.get(file) ?? 0) : 0);
    });
  }

  #create(file: string, isFolder: boolean, changed: (change: Change) => void): void {
    this.#known.add(file);
    this.#sizes.set(file, 0);
    changed({ kind: "create", path: file, isFolder });
  }

  #rename(call: SystemCall, changed: (change: Change) => void): void {
    const [from, to] = pathsOf(call);
    this.#below(from, (file) =>
      this.#below(to, (next) => {
        this.#known.delete(file);
        this.#known.add(next);
        this.#sizes.set(next, this.#sizes.get(file) ?? 0);
        this.#positions.set(next, this.#positions.get(file) ?? 0);
        changed({ kind: "rename", path: file, to: next });
      }),
    );
  }

  #resize(file: string, size: number, changed: (change: Change) => void): void {
    this.#sizes.set(file, size);
    changed({ kind: "resize", path: file, size });
  }

  #write(call: SystemCall, file: string, at: number, changed: (change: Change) => void): void {
    const end = at + call.result;
    this.#positions.set(file, end);
    this.#sizes.set(file, Math.max(end, this.#sizes.get(file) ?? 0));
    changed({ kind: "write", path: file, at, bytes: bytesOf(call) });
  }

  #answer(call: SystemCall, port: number): void {
    const client = Number(/^TCP:\[127\.0\.0\.1:(\d+)->127\.0\.0\.1:(\d+)\]$/.exec(fileOf(call) ?? "")?.[2]);
    if (!client || !fileOf(call)?.startsWith(`TCP:[127.0.0.1:${port}->`)) return;
    if (textOf(call, 9) !== "HTTP/1.1 ") return;
    const ordinal = (this.#answered.get(client) ?? 0) + 1;
    this.#answered.set(client, ordinal);
    const answer = answerName(this.#life, client, ordinal);
    this.#events.push({ kind: "answer", at: call.begunAt, atMs: call.atMs, answer });
  }

  /** Calls `take` with the path relative to the root, if it is below that. */
  #below(file: string | null | undefined, take: (file: string) => void): void {
    if (file == null || !file.startsWith("/")) return;
    const relative = path.relative(this.#root, path.normalize(file));
    if (relative.startsWith("..") || relative.endsWith("(deleted)") || isBallast(relative)) return;
    take(relative);
  }
}
