import type { FramedAnswer, FramedRequest, FrontMessage } from "@sluice/protocol";
import type { Broker } from "../src/serve/alone/contract.ts";
import type { CarrierEvents } from "../src/serve/front/frame-link.ts";

/** A broker in the process that listens: what it has heard, and what it says. */
export class NearBroker implements Pick<Broker, "carrier" | "fetch"> {
  /** Frames that came. */
  readonly frames: FrontMessage[][] = [];
  /** What is done with each. */
  onFrame: (requests: readonly FramedRequest[]) => void = (requests) => this.answer(...requests);
  #events: CarrierEvents | undefined;
  #heard: (() => void)[] = [];

  readonly carrier = (events: CarrierEvents) => {
    this.#events = events;
    return {
      isOpen: true,
      carry: (frame: readonly FrontMessage[]) => {
        this.frames.push([...frame]);
        this.onFrame(requestsOf([frame]));
        for (const tell of this.#heard.splice(0)) tell();
      },
      close: () => {},
    };
  };

  readonly fetch = async (asked: Request): Promise<Response> => {
    const { pathname, search } = new URL(asked.url);
    const body = await asked.arrayBuffer();
    return new Response(`fetched: ${asked.method} ${pathname}${search} ${body.byteLength}`, {
      status: pathname === "/missing" ? 404 : 200,
      headers: { "x-said": "a" },
    });
  };

  get requests(): FramedRequest[] {
    return requestsOf(this.frames);
  }

  /** What was said of clients, and of which. */
  get said(): string[] {
    return this.frames.flat().flatMap((message) => (message.kind === "request" ? [] : said(message)));
  }

  /** Resolves when something is so that can become so by frames only. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#heard.push(resolve));
  }

  /** Answers with how many characters came. */
  answer(...requests: readonly FramedRequest[]): void {
    this.answerWith({}, ...requests);
  }

  answerWith(more: Partial<FramedAnswer>, ...requests: readonly FramedRequest[]): void {
    const answers = requests.map(({ id, body }) => ({
      ...{ id, status: 200, headers: { "x-a": "b" }, body: `framed: ${body.length}`, isWatched: false },
      ...more,
    }));
    this.#events?.answered(answers);
  }

  /** Nobody knows what has become of the requests. */
  lose(): void {
    this.#events?.lost();
  }
}

function requestsOf(frames: readonly (readonly FrontMessage[])[]): FramedRequest[] {
  return frames.flat().flatMap((message) => (message.kind === "request" ? message.request : []));
}

/** A message that is no request, in words. */
export function said(message: Exclude<FrontMessage, { kind: "request" }>): string {
  return "id" in message ? `${message.kind} ${message.id}` : message.kind;
}
