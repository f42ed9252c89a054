import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@sluice/harness/random";
import type { PushLedger } from "./push-ledger.ts";

/** Longest time that a request takes, in ms. */
const WORK_MS_MAX = 60;
/** Share of requests that are answered with 500. */
const FAILED_SHARE = 0.1;

/** HTTP server that queues push to, each to the path of its name. */
export class Endpoint {
  readonly #ledger: PushLedger;
  readonly #random: Random;
  readonly #concurrencyMax: number;
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  /** Set at the end of a run: from then on every request succeeds. */
  isDraining = false;

  /** @param concurrencyMax most requests of a queue that may be open at a time. */
  static async open(ledger: PushLedger, random: Random, concurrencyMax: number): Promise<Endpoint> {
    const endpoint = new Endpoint(ledger, random, concurrencyMax);
    await new Promise<void>((resolve) => endpoint.#server.listen(0, "127.0.0.1", resolve));
    return endpoint;
  }

  private constructor(ledger: PushLedger, random: Random, concurrencyMax: number) {
    this.#ledger = ledger;
    this.#random = random;
    this.#concurrencyMax = concurrencyMax;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => null);
    // The broker's ping is no POST.
    if (body === null || request.method !== "POST") return void response.writeHead(204).end();
    const queue = request.url?.slice(1) ?? "";
    const message = this.#ledger.arrived({ queue, body, concurrencyMax: this.#concurrencyMax });
    if (message === null) return void response.writeHead(204).end();
    response.once("close", () => this.#ledger.left(message, false));
    await sleep(this.#random.between(0, WORK_MS_MAX));
    if (response.destroyed) return;
    const isDone = this.isDraining || !this.#random.chance(FAILED_SHARE);
    this.#ledger.left(message, isDone);
    response.writeHead(isDone ? 204 : 500).end();
  }
}
