import type { AddressInfo } from "node:net";
import { decodeFrontMessages, encodeAnswers, type FramedAnswer, type FramedRequest } from "@sluice/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { said } from "./near-broker.ts";

/** The broker's end of the link to the front of `sluice serve`: what it has heard, and what it says. */
export class BrokerEnd {
  readonly #server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  readonly requests: FramedRequest[] = [];
  readonly events: string[] = [];
  readonly frames: number[] = [];
  readonly tokens: (string | undefined)[] = [];
  #socket: WebSocket | undefined;
  #heard: (() => void)[] = [];

  constructor() {
    this.#server.on("connection", (socket, { headers }) => {
      this.tokens.push(headers.authorization);
      this.#socket = socket;
      socket.on("message", (data) => {
        const messages = decodeFrontMessages(String(data));
        this.frames.push(messages.length);
        for (const message of messages) {
          if (message.kind === "request") this.requests.push(message.request);
          else this.events.push(said(message));
        }
        this.#tell();
      });
      this.#tell();
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when something is so that can become so by what is heard only. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#heard.push(resolve));
  }

  answer(...answers: (Partial<FramedAnswer> & { readonly id: number })[]): void {
    const whole = answers.map((answer) => ({
      ...{ status: 200, headers: {}, body: `answer ${answer.id}`, isWatched: false },
      ...answer,
    }));
    this.#socket?.send(encodeAnswers(whole));
  }

  /** Loses the connection. */
  hangUp(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.hangUp();
    this.#server.close();
  }

  #tell(): void {
    for (const tell of this.#heard.splice(0)) tell();
  }
}
