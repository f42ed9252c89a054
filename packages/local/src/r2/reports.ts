import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "@sluice/project/read/project";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import type { QueueTopology, R2Write } from "@sluice/protocol";
import { callBroker } from "../broker/call-broker.ts";
import { fetchHere } from "../broker/fetch-here.ts";
import type { Printer } from "../report/printer.ts";
import type { BucketWatch } from "./bucket-watch.ts";

/** Folder of R2 in a data folder, as Wrangler has it. */
export const R2_FOLDER = "v3/r2";
/** File in it that exists while buckets may have logs of writes: a killed session leaves them behind. */
const MARK = ".sluice-watched";
/** Longest that a report may take, in ms. Then it is repeated. */
const REPORT_MS_MAX = 10_000;

/** Lists the R2 buckets that a project's Workers bind. */
export function bucketsOf({ workers }: Pick<Project, "workers">): string[] {
  const bindings = workers.flatMap(({ wrangler }) => wrangler.r2_buckets);
  const names = bindings.flatMap(({ binding, bucket_name: name = binding, preview_bucket_name: preview }) =>
    preview === undefined ? [name] : [name, preview],
  );
  return [...new Set(names)];
}

export interface R2ReportsOptions {
  /** The data folder. */
  data(): string;
  /** Base URL of the broker, without a slash at its end; `null` while it does not answer. */
  url(): string | null;
  /** Headers that authorize calls of its admin API. */
  headers(): Readonly<Record<string, string>>;
  readonly printer: Pick<Printer, "warn">;
}

/**
 * Reports writes to R2 buckets with event notification rules to the broker. The modules for that are loaded with the
 * first rule.
 */
export class R2Reports {
  readonly #options: R2ReportsOptions;
  #watch: BucketWatch | null = null;
  /** The last change of what is watched. It never rejects. */
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Request for the buckets of the broker's rules for this configuration; `null` before it, and if it failed. */
  #asked: Promise<unknown> | null = null;
  #bound: readonly string[] = [];
  /** Buckets that a warning was printed for. */
  readonly #unbound = new Set<string>();

  constructor(options: R2ReportsOptions) {
    this.#options = options;
  }

  /**
   * Watches the buckets of a configuration, before anything writes to them.
   *
   * @param bound buckets that the Workers bind.
   */
  async begin({ r2Notifications = [] }: QueueTopology, bound: readonly string[]): Promise<void> {
    this.#bound = bound;
    this.#asked = null;
    const buckets = [...new Set(r2Notifications.map(({ bucket }) => bucket))];
    // Without rules in the configuration: the broker may have rules for other buckets, whose logs go on.
    if (buckets.length === 0) return;
    this.#warnOfUnbound(buckets);
    await this.#change((watch) => watch.add(buckets)).catch((error: unknown) => this.#warn(error));
  }

  /**
   * Watches the buckets that the broker has rules for. The broker is asked once for each reading of the configuration:
   * it posts later changes of its rules itself.
   */
  refresh(): void {
    if (this.#asked !== null) return;
    const asked = this.#ask("GET").then(({ buckets }) => buckets as { bucket: string }[]);
    this.#asked = asked;
    asked.then(
      (buckets) => this.set(buckets.map(({ bucket }) => bucket)).catch((error: unknown) => this.#warn(error)),
      () => {
        // The next call asks again.
        if (this.#asked === asked) this.#asked = null;
      },
    );
  }

  /** Watches these buckets and no others. Resolves to "", the answer to the broker's POST, once it does. */
  async set(buckets: readonly string[]): Promise<string> {
    this.#warnOfUnbound(buckets);
    const mark = join(this.#options.data(), R2_FOLDER, MARK);
    if (buckets.length === 0 && this.#watch === null && !existsSync(mark)) return "";
    await this.#change((watch) => {
      watch.set(buckets);
      if (buckets.length === 0) rmSync(mark, { force: true });
    });
    return "";
  }

  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
  }

  /** Warns, once each, of buckets that no Worker binds: most often the name is misspelled. */
  #warnOfUnbound(buckets: readonly string[]): void {
    const bound = this.#bound.join(", ") || "none";
    for (const bucket of buckets) {
      if (this.#bound.includes(bucket) || this.#unbound.has(bucket)) continue;
      this.#unbound.add(bucket);
      this.#options.printer.warn(
        `A rule is for writes to R2 bucket "${bucket}", which no Worker here binds. They bind: ${bound}.`,
      );
    }
  }

  #warn(error: unknown): void {
    this.#options.printer.warn(
      `Writes to R2 buckets are not seen, so no queue is notified of them: ${error}`,
    );
  }

  /** Changes what is watched, after earlier changes. */
  #change(change: (watch: BucketWatch) => void): Promise<void> {
    const changed = this.#last.then(async () => {
      const { BucketWatch } = await import("./bucket-watch.ts");
      if (this.#isClosed) return;
      const folder = join(this.#options.data(), R2_FOLDER);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, MARK), "");
      this.#watch ??= new BucketWatch({
        folder,
        report: (bucket, writes) => this.#report(bucket, writes),
        warn: (line) => this.#options.printer.warn(line),
      });
      change(this.#watch);
    });
    this.#last = changed.catch(() => {});
    return changed;
  }

  async #report(bucket: string, writes: readonly R2Write[]): Promise<number> {
    const { takenTo } = await this.#ask("POST", { bucket, writes });
    if (typeof takenTo !== "number") throw new Error("the broker does not say what it has taken");
    return takenTo;
  }

  async #ask(method: "GET" | "POST", body?: unknown): Promise<Record<string, unknown>> {
    const url = this.#options.url();
    if (url === null) throw new Error("the broker does not answer yet");
    const request = {
      method,
      path: `${SLUICE_PATH}/api/r2`,
      headers: this.#options.headers(),
      body,
      signal: AbortSignal.timeout(REPORT_MS_MAX),
    };
    const response = await callBroker(url, request, fetchHere);
    const text = await response.text();
    if (!response.ok) throw new Error(`the broker answers ${response.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }
}
