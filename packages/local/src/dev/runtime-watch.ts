import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type LastEnd, lastEndText } from "@sluice/protocol";
import { callBroker } from "../broker/call-broker.ts";
import { fetchHere } from "../broker/fetch-here.ts";
import type { End } from "../data/planned-end.ts";
import { createServer } from "../http/node-http.ts";
import type { Printer } from "../report/printer.ts";
import { type DeliveriesRead, describeInDelivery, workersIn } from "../watchdog/in-delivery.ts";
import { Pulse, SILENT_AT_END_MS_MAX } from "../watchdog/pulse.ts";
import { consequence, type Judgement, judge, NO_SUSPICION } from "../watchdog/suspects.ts";
import type { WorkerdEvent } from "./inside/contract.ts";

/** A path of the broker that calls no queue. */
const HEALTH = "/__sluice/health";
/**
 * Routes the ping to a Worker that does not exist, so that Miniflare answers it: one ping a second would fill the
 * traces of the user's Worker.
 */
const PAST_WORKERS = { "MF-Route-Override": "__sluice" };

export interface RuntimeWatchOptions {
  /** How long the Workers may be silent before a warning, in ms. */
  silentMsMax(): number;
  /** Reads which deliveries are under way. */
  inDelivery(): Promise<DeliveriesRead>;
  readonly printer: Pick<Printer, "print" | "warn">;
}

/**
 * Records how each workerd of a `sluice dev` ended, for the broker in the next one. Warns when a workerd is silent, and
 * does not end it: Wrangler owns the process, and a Worker may be stopped in a debugger.
 */
export class RuntimeWatch {
  /** URL at which the broker asks how the last workerd ended; no other process can guess its path. */
  readonly url: string;
  readonly #options: RuntimeWatchOptions;
  readonly #close: () => void;
  #lastEnd: End = "unplanned";
  /** The last end with its suspects. The deliveries are read before the next workerd changes them. */
  #judgedEnd: Promise<LastEnd> = Promise.resolve({ kind: "unplanned" });
  #suspicion = NO_SUSPICION;
  #reported: LastEnd | null = null;
  /** Pulse of the workerd that listens; `null` while none does. */
  #pulse: Pulse | null = null;
  #startedMs = 0;
  /** Since when the workerd has been silent, in ms since 1970. */
  #silentSinceMs = 0;

  private constructor(options: RuntimeWatchOptions, url: string, close: () => void) {
    this.#options = options;
    this.url = url;
    this.#close = close;
  }

  static async open(options: RuntimeWatchOptions): Promise<RuntimeWatch> {
    const path = `/${randomUUID()}`;
    const server = createServer((request, response) => {
      if (request.url === path) {
        void watch.#judgedEnd.then((end) => {
          response.end(lastEndText(end));
          watch.#report(end);
        });
        return;
      }
      response.statusCode = 404;
      response.end();
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

  /** How the last workerd has ended, as the broker in the next one learns at `url`. */
  get lastEnd(): End {
    return this.#lastEnd;
  }

  /** How the last one of an earlier command has ended. */
  set lastEnd(end: End) {
    this.#lastEnd = end;
    this.#judgedEnd = Promise.resolve({ kind: end });
  }

  on(event: WorkerdEvent): void {
    if (event.kind === "listening") this.#watch(event.port);
    else if (event.kind === "ending") this.ending();
    else this.#ended("unplanned");
  }

  /**
   * Records that workerd is being ended on purpose, by a signal or a restart of Wrangler. Such an end is unplanned all
   * the same if workerd has been silent for more than `SILENT_AT_END_MS_MAX`.
   */
  ending(): void {
    const silentMs = this.#pulse?.silentMs ?? 0;
    this.#ended(silentMs > SILENT_AT_END_MS_MAX ? "unplanned" : "planned");
  }

  close(): void {
    this.#stop();
    this.#close();
  }

  /**
   * Records the end of the workerd that listens. Later events of the same end are ignored: a terminal, for instance,
   * also signals workerd itself. So is the end of a workerd that has never listened: it has delivered nothing.
   */
  #ended(end: End): void {
    const pulse = this.#pulse;
    if (pulse !== null) {
      this.lastEnd = end;
      if (end === "unplanned")
        this.#judgedEnd = this.#judge(performance.now() - this.#startedMs - pulse.silentMs);
    }
    this.#stop();
  }

  /** Warns what follows from an end, once the broker of the next workerd has read it. */
  #report(end: LastEnd): void {
    if (end === this.#reported || end.kind === "planned" || end.kind === "unplanned") return;
    this.#reported = end;
    this.#options.printer.warn(`The Workers have ended. ${consequence(end)}`);
  }

  async #judge(ranMs: number): Promise<LastEnd> {
    const { end, suspicion } = this.#judgementOf(await this.#options.inDelivery(), ranMs);
    this.#suspicion = suspicion;
    return end;
  }

  #judgementOf(read: DeliveriesRead, ranMs: number): Judgement {
    return judge(this.#suspicion, { workers: workersIn(read), ranMs });
  }

  #stop(): void {
    this.#pulse?.stop();
    this.#pulse = null;
  }

  #watch(port: number): void {
    this.#stop();
    const { printer, silentMsMax } = this.#options;
    const limitMs = silentMsMax();
    this.#startedMs = performance.now();
    const pulse = new Pulse({
      // Past Wrangler's proxy, which holds requests back during a reload.
      ping: (signal) =>
        callBroker(`http://127.0.0.1:${port}`, { path: HEALTH, headers: PAST_WORKERS, signal }, fetchHere),
      silentMsMax: limitMs,
      onSilent: () => {
        this.#silentSinceMs = Date.now() - limitMs;
        const ranMs = performance.now() - this.#startedMs - limitMs;
        void this.#options.inDelivery().then((read) => {
          if (this.#pulse !== pulse) return;
          printer.warn(silentText(this.#silentSinceMs, read, this.#judgementOf(read, ranMs).end));
        });
      },
      onBack: () =>
        printer.print(
          `The Workers answer again, after ${Math.round((Date.now() - this.#silentSinceMs) / 1_000)} s.`,
        ),
    });
    this.#pulse = pulse;
  }
}

function silentText(sinceMs: number, read: DeliveriesRead, end: LastEnd): string {
  const since = `The Workers have not answered since ${new Date(sinceMs).toISOString()}`;
  if (read.kind === "read" && read.deliveries.length === 0)
    return (
      `${since}. ${describeInDelivery(read)} The broker may be busy opening many queues, a Worker may ` +
      "be busy in another handler, or a debugger has stopped it. If it stays so, save a changed file: they start again."
    );
  return (
    `${since}: a handler computes without ` +
    "a pause or never ends, or a " +
    `debugger has stopped it.\n${describeInDelivery(read)}\n` +
    `Save a changed file to end it. ${consequence(end)} ` +
    "Or press Ctrl-C and start again: all of them count as attempts then."
  );
}
