import { decodeFrontMessages, encodeAnswers, type FramedAnswer, type FramedRequest } from "@sluice/protocol";
import { type AwsAnswer, ReadAwsRequest } from "../aws-request.ts";
import { COMPANY_TURNS, turns } from "../microtasks.ts";

/** How a `FrameServer` is wired up. */
export interface FramePorts {
  /** Must not reject. */
  answer(request: ReadAwsRequest): Promise<AwsAnswer>;
  /** Must not throw. */
  send(frame: string): void;
}

/**
 * The broker's end of the connection to the front of `sluice serve`: answers the requests that come in frames
 * (`request-frames.ts` of the protocol). Those of one frame are begun together and so share calls to queues' objects; what
 * is answered at one moment goes back in one frame.
 */
export class FrameServer {
  readonly #ports: FramePorts;
  /** Requests whose client can go, by id: those that are not answered, and those whose answer may be lost. */
  readonly #open = new Map<number, ReadAwsRequest>();
  #answers: FramedAnswer[] = [];

  constructor(ports: FramePorts) {
    this.#ports = ports;
  }

  /** Throws FrameError for a frame that is none. */
  receive(frame: string): void {
    for (const message of decodeFrontMessages(frame)) {
      switch (message.kind) {
        case "request":
          void this.#answer(message.request);
          break;
        case "gone":
          this.#open.get(message.id)?.clientHasGone();
          this.#open.delete(message.id);
          break;
        case "written":
          this.#open.delete(message.id);
          break;
      }
    }
  }

  /** All clients have gone with the front. */
  end(): void {
    for (const request of this.#open.values()) request.clientHasGone();
    this.#open.clear();
  }

  /** Requests of which something is remembered. */
  get size(): number {
    return this.#open.size;
  }

  async #answer(framed: FramedRequest): Promise<void> {
    const { id } = framed;
    const request = new ReadAwsRequest(framed);
    this.#open.set(id, request);
    const { status, headers, body } = await this.#ports.answer(request);
    if (!this.#open.has(id)) return;
    const { isWatched } = request;
    if (!isWatched) this.#open.delete(id);
    this.#answers.push({ id, status, headers, body, isWatched });
    if (this.#answers.length === 1) await this.#send();
  }

  async #send(): Promise<void> {
    for (let count = 0; count < this.#answers.length; ) {
      count = this.#answers.length;
      await turns(COMPANY_TURNS);
    }
    const answers = this.#answers;
    this.#answers = [];
    this.#ports.send(encodeAnswers(answers));
  }
}
