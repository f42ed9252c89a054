import { existsSync, type FSWatcher, mkdirSync, readdirSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { idOfName } from "@sluice/objects/object-id";
import { BATCH_MESSAGES_MAX, type R2Write } from "@sluice/protocol";
import { WriteLog } from "./write-log.ts";

/** Miniflare's name for the class of its buckets, and for their folder. */
export const BUCKETS = "miniflare-R2BucketObject";

/** How often the logs are read where the system reports no change, in ms. */
const READ_EVERY_MS = 1_000;
/** Delay after which a failed report is repeated, in ms. It doubles with each failure, up to `RETRY_MS_MAX`. */
const RETRY_MS = 100;
const RETRY_MS_MAX = 5_000;
/** Failures in a row before a warning, some 6 s: a reload takes a second. */
const FAILURES_BEFORE_WARNING = 7;

export interface BucketWatchOptions {
  /** Folder of Miniflare's R2. */
  readonly folder: string;
  /** Reports writes of a bucket. @returns id of the last one that the broker has taken. Rejects if it is not known. */
  report(bucket: string, writes: readonly R2Write[]): Promise<number>;
  warn(line: string): void;
}

/** Reports the writes to R2 buckets of Miniflare's, repeatedly until the broker has taken them. */
export class BucketWatch {
  readonly #options: BucketWatchOptions;
  readonly #folder: string;
  /** Buckets by their files. */
  readonly #buckets = new Map<string, Bucket>();
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: BucketWatchOptions) {
    this.#options = options;
    this.#folder = join(options.folder, BUCKETS);
  }

  /**
   * Watches these buckets too, from now on.
   *
   * @throws Error of the first bucket whose file cannot be used. The others are read all the same.
   */
  add(buckets: readonly string[]): void {
    const errors: unknown[] = [];
    for (const bucket of buckets) {
      try {
        this.#open(this.#fileOf(bucket), bucket);
      } catch (error) {
        errors.push(error);
      }
    }
    if (this.#buckets.size === 0) this.#stop();
    else this.#start();
    this.#readAll();
    if (errors.length > 0) throw errors[0];
  }

  #open(file: string, bucket: string): void {
    const watched = this.#buckets.get(file);
    if (watched?.isIn(file)) return;
    watched?.close();
    this.#buckets.delete(file);
    this.#buckets.set(file, new Bucket(file, bucket, this.#options));
  }

  /** Watches these buckets and no others. @throws Error as `add`. */
  set(buckets: readonly string[]): void {
    const files = new Set(buckets.map((bucket) => this.#fileOf(bucket)));
    for (const [file, bucket] of this.#buckets) {
      if (files.has(file)) continue;
      bucket.close();
      this.#buckets.delete(file);
    }
    for (const file of filesIn(this.#folder)) if (!files.has(file)) endLog(file, this.#options.warn);
    this.add(buckets);
  }

  close(): void {
    this.#stop();
    for (const bucket of this.#buckets.values()) bucket.close();
    this.#buckets.clear();
  }

  #start(): void {
    this.#timer ??= setInterval(() => this.#readAll(), READ_EVERY_MS).unref();
    if (this.#watcher !== null) return;
    mkdirSync(this.#folder, { recursive: true });
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, (_, name) => {
        const [id = ""] = (name ?? "").split("-");
        this.#buckets.get(join(this.#folder, id))?.read();
      });
      // The timer still reads.
      this.#watcher.on("error", () => {});
    } catch {
      // Not every file system reports changes.
    }
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#watcher?.close();
    this.#watcher = null;
  }

  #readAll(): void {
    for (const bucket of this.#buckets.values()) bucket.read();
  }

  #fileOf(bucket: string): string {
    return join(this.#folder, `${idOfName(BUCKETS, bucket)}.sqlite`);
  }
}

/** Ends the logs of all buckets. @param folder of Miniflare's R2. */
export function endLogs(folder: string, warn: (line: string) => void): void {
  for (const file of filesIn(join(folder, BUCKETS))) endLog(file, warn);
}

function endLog(file: string, warn: (line: string) => void): void {
  try {
    WriteLog.end(file);
  } catch (error) {
    warn(`${file}: its log of writes stays: ${error}`);
  }
}

/** Lists the files of all buckets. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))
    .map((name) => join(folder, name));
}

/** A watched bucket. */
class Bucket {
  readonly #bucket: string;
  readonly #log: WriteLog;
  /** Identifies the file: the path may lead to a new one later. */
  readonly #inode: number;
  readonly #options: BucketWatchOptions;
  /** Id of the last write that the broker has taken. */
  #takenTo = 0;
  /** Whether a report is under way, or waits for its retry. */
  #isBusy = false;
  #isClosed = false;
  #failures = 0;

  constructor(file: string, bucket: string, options: BucketWatchOptions) {
    this.#bucket = bucket;
    this.#options = options;
    this.#log = WriteLog.open(file);
    this.#inode = statSync(file).ino;
  }

  /** Whether the path still leads to the bucket's file. */
  isIn(file: string): boolean {
    return statSync(file, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  /** Reads and reports new writes until there are none. Has no effect while that is under way. */
  read(): void {
    if (!this.#isBusy && !this.#isClosed) void this.#readOn();
  }

  close(): void {
    this.#isClosed = true;
    this.#log.close();
  }

  async #readOn(): Promise<void> {
    this.#isBusy = true;
    try {
      while (!this.#isClosed) {
        const writes = this.#log.read(this.#takenTo, BATCH_MESSAGES_MAX);
        if (writes.length === 0) break;
        this.#takenTo = await this.#options.report(this.#bucket, writes);
        this.#failures = 0;
      }
      this.#isBusy = false;
    } catch (error) {
      this.#readLater(error);
    }
  }

  #readLater(error: unknown): void {
    const waitMs = Math.min(RETRY_MS * 2 ** this.#failures, RETRY_MS_MAX);
    this.#failures += 1;
    if (this.#failures === FAILURES_BEFORE_WARNING) {
      this.#options.warn(`R2 bucket "${this.#bucket}": its event notifications wait (${error}).`);
    }
    setTimeout(() => {
      this.#isBusy = false;
      this.read();
    }, waitMs).unref();
  }
}
