import { type FramedAnswer, type FramedRequest, type FrontMessage, IdTable } from "@sluice/protocol";
import { type AwsAnswer, ReadAwsRequest } from "../aws-request.ts";
import { COMPANY_TURNS, turns } from "../microtasks.ts";

/** How a `FrameServer` is wired up. */
export interface FramePorts {
  /** Must not reject. */
  answer(request: ReadAwsRequest): Promise<AwsAnswer>;
  /** Must not throw. */
  send(answers: readonly FramedAnswer[]): void;
  /** Resolves when everything has been heard that had come in by now. Must not reject. */
  afterWhatIsReady(): Promise<void>;
}

/**
 * The broker's side of the front of `sluice serve`: answers the requests that it hands over in frames, over a connection
 * (`request-frames.ts` of the protocol) or within one process. Those of one frame are begun together and so share calls to queues' objects; what
 * is answered at one moment goes back in one frame. What a queue's turn brings to receives that wait comes just before its
 * other answers, each by a call of its own: where several requests are under way it waits for them, as a frame for each costs
 * a twentieth of all the CPU time with 25 senders and 8 receivers.
 */
export class FrameServer {
  readonly #ports: FramePorts;
  /** Requests that are not answered, and those whose answer may be lost: seldom any. */
  readonly #open = new IdTable<ReadAwsRequest>();
  readonly #watched = new Map<number, ReadAwsRequest>();
  #answers: FramedAnswer[] = [];
  /** Whether those that are answered next were receives that have waited for messages. */
  #haveWaited = true;
  /** Whether the latest frame brought several. */
  #hasCompany = false;
  #isStopping = false;

  constructor(ports: FramePorts) {
    this.#ports = ports;
  }

  /** Takes a frame. */
  receive(messages: readonly FrontMessage[]): void {
    this.#hasCompany = messages.length > 1;
    for (const message of messages) {
      switch (message.kind) {
        case "request":
          void this.#answer(message.request);
          break;
        case "gone":
          (this.#open.get(message.id) ?? this.#watched.get(message.id))?.clientHasGone();
          this.#open.delete(message.id);
          this.#watched.delete(message.id);
          break;
        case "written":
          this.#watched.delete(message.id);
          break;
        case "stopping":
          this.#isStopping = true;
          for (const request of this.#open.values()) request.stops();
          break;
      }
    }
  }

  /** All clients have gone with who handed their requests over. */
  end(): void {
    for (const request of [...this.#open.values(), ...this.#watched.values()]) request.clientHasGone();
    this.#open.clear();
    this.#watched.clear();
  }

  /** Requests of which something is remembered. */
  get size(): number {
    return this.#open.size + this.#watched.size;
  }

  async #answer(framed: FramedRequest): Promise<void> {
    const { id } = framed;
    const request = new ReadAwsRequest(framed);
    this.#open.set(id, request);
    if (this.#isStopping) request.stops();
    const { status, headers, body, hasWaited } = await this.#ports.answer(request);
    if (!this.#open.delete(id)) return;
    const { isWatched } = request;
    // The front may use the id's place again as soon as it has the answer.
    if (isWatched) this.#watched.set(id, request);
    this.#haveWaited &&= hasWaited === true;
    this.#answers.push({ id, status, headers, body, isWatched });
    if (this.#answers.length === 1) await this.#send();
  }

  async #send(): Promise<void> {
    const isLast = () => this.#open.size === 0;
    for (let count = 0; count < this.#answers.length && !isLast(); ) {
      count = this.#answers.length;
      await turns(COMPANY_TURNS, isLast);
    }
    if (this.#hasCompany && this.#haveWaited) await this.#ports.afterWhatIsReady();
    const answers = this.#answers;
    this.#answers = [];
    this.#haveWaited = true;
    this.#ports.send(answers);
  }
}
