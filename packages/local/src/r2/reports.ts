import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import type { QueueTopology, R2Write } from "@sluice/protocol";
import { callBroker } from "../broker/call-broker.ts";
import { fetchHere } from "../broker/fetch-here.ts";
import type { Printer } from "../report/printer.ts";
import type { BucketWatch } from "./bucket-watch.ts";

/** Where Wrangler keeps R2 in a data folder. */
export const R2_FOLDER = "v3/r2";
/** File in it that is there while logs of writes are: a session that was killed leaves them. */
const MARK = ".sluice-watched";
/** Longest that a report may take, in ms. It is made again then. */
const REPORT_MS_MAX = 10_000;

export interface R2ReportsOptions {
  /** The data folder. */
  data(): string;
  /** Where the broker answers, without a slash at its end; `null` while it does not. */
  url(): string | null;
  /** Headers that its admin API wants. */
  headers(): Readonly<Record<string, string>>;
  readonly printer: Pick<Printer, "warn">;
}

/**
 * Reports writes to R2 buckets with event notification rules to the broker. Loads what it takes for that when there is
 * the first rule.
 */
export class R2Reports {
  readonly #options: R2ReportsOptions;
  #watch: BucketWatch | null = null;
  /** Changes happen one after the other. */
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: R2ReportsOptions) {
    this.#options = options;
  }

  /** Watches the buckets of a configuration, before anything writes to them. */
  async begin({ r2Notifications = [] }: QueueTopology): Promise<void> {
    const buckets = [...new Set(r2Notifications.map(({ bucket }) => bucket))];
    // Others may have rules that the broker knows: their logs go on.
    if (buckets.length === 0) return;
    await this.#change((watch) => watch.add(buckets)).catch((error: unknown) => this.#warn(error));
  }

  /** Watches the buckets that the broker has rules for. */
  refresh(): void {
    const asked = this.#ask("GET").then(({ buckets }) => buckets as { bucket: string }[]);
    asked.then(
      (buckets) => this.set(buckets.map(({ bucket }) => bucket)).catch((error: unknown) => this.#warn(error)),
      // The next one that listens is asked again.
      () => {},
    );
  }

  /** Watches these buckets and no others. Resolves to an empty text once it does. */
  async set(buckets: readonly string[]): Promise<string> {
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
