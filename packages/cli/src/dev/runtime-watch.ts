import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import type { End } from "../planned-end.ts";
import type { Printer } from "../report/printer.ts";
import { Pulse, SILENT_AT_END_MS_MAX } from "../watchdog/pulse.ts";
import type { WorkerdEvent } from "./inside/contract.ts";

/** Any path of the broker's that asks no queue. */
const HEALTH = "/__sluice/health";

export interface RuntimeWatchOptions {
  /** How long the Workers may be silent before that is said, in ms. */
  silentMsMax(): number;
  /** What is in delivery, as lines for people. */
  inDelivery(): Promise<string>;
  readonly printer: Pick<Printer, "print" | "warn">;
}

/**
 * Knows how each workerd of a `sluice dev` ended, and tells it to the broker in the next one; says when one is silent.
 * It ends none: Wrangler owns the process, and somebody may have stopped a Worker in a debugger.
 */
export class RuntimeWatch {
  /** What the broker asks how the last one ended; no other process can guess it. */
  readonly url: string;
  readonly #options: RuntimeWatchOptions;
  readonly #close: () => void;
  #lastEnd: End = "unplanned";
  /** Of the one that runs, from when it listens on. */
  #pulse: Pulse | null = null;
  /** Since when it has been silent, in ms since 1970. */
  #sinceMs = 0;

  private constructor(options: RuntimeWatchOptions, url: string, close: () => void) {
    this.#options = options;
    this.url = url;
    this.#close = close;
  }

  static async open(options: RuntimeWatchOptions): Promise<RuntimeWatch> {
    const path = `/${randomUUID()}`;
    const server = createServer((request, response) => {
      if (request.url !== path) response.statusCode = 404;
      response.end(request.url === path ? watch.#lastEnd : "");
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    server.unref();
    const { port } = server.address() as AddressInfo;
    const close = () => {
      server.close();
      server.closeAllConnections();
    };
    const watch = new RuntimeWatch(options, `http://127.0.0.1:${port}${path}`, close);
    return watch;
  }

  /** How the last workerd has ended: the broker in the next one is told. */
  get lastEnd(): End {
    return this.#lastEnd;
  }

  /** How the last one of an earlier command has ended. */
  set lastEnd(end: End) {
    this.#lastEnd = end;
  }

  on(event: WorkerdEvent): void {
    if (event.kind === "listening") this.#watch(event.port);
    else if (event.kind === "ending") this.ending();
    else this.#ended("unplanned");
  }

  /** Somebody is ending it on purpose: a signal, or a restart of Wrangler. */
  ending(): void {
    const silentMs = this.#pulse?.silentMs ?? 0;
    this.#ended(silentMs > SILENT_AT_END_MS_MAX ? "unplanned" : "planned");
  }

  close(): void {
    this.#stop();
    this.#close();
  }

  /**
   * What follows from an end, a terminal's signal to workerd itself among it, tells nothing new. Nor does the end of
   * one that has never listened: it has delivered nothing.
   */
  #ended(end: End): void {
    if (this.#pulse !== null) this.#lastEnd = end;
    this.#stop();
  }

  #stop(): void {
    this.#pulse?.stop();
    this.#pulse = null;
  }

  #watch(port: number): void {
    this.#stop();
    const { printer, silentMsMax } = this.#options;
    const limitMs = silentMsMax();
    const pulse = new Pulse({
      ping: (signal) => answer(port, signal),
      silentMsMax: limitMs,
      onSilent: () => {
        this.#sinceMs = Date.now() - limitMs;
        void this.#options.inDelivery().then((lines) => {
          if (this.#pulse === pulse) printer.warn(silentText(this.#sinceMs, lines));
        });
      },
      onBack: () =>
        printer.print(
          `The Workers answer again, after ${Math.round((Date.now() - this.#sinceMs) / 1_000)} s.`,
        ),
    });
    this.#pulse = pulse;
  }
}

function silentText(sinceMs: number, inDelivery: string): string {
  return (
    `The Workers have not answered since ${new Date(sinceMs).toISOString()}: a handler computes without ` +
    "a pause or never ends, or a " +
    `debugger has stopped it.\n${inDelivery}\n` +
    "Save a changed file, or press Ctrl-C and start again. Deliveries that this cuts off count as attempts."
  );
}

/**
 * Resolves when the Workers answer anything. Not by way of Wrangler's proxy, which holds requests back during a reload.
 */
function answer(port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path: HEALTH, agent: false, signal }, (response) => {
      response.resume();
      resolve();
    }).on("error", reject);
  });
}
