/**
 * How `sluice serve` hands requests to the broker, and the broker its answers back: many at a time, in the same process as they
 * are, to workerd in one message of a WebSocket. Such a message is a line of JSON, which says what it holds, and behind it the bodies, one after the other: they are
 * text already, and would otherwise be escaped and unescaped on their way.
 */

/** A request, its body read. */
export interface ReadRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request in a frame. */
export interface FramedRequest extends ReadRequest {
  readonly id: number;
}

/** What who reads requests says to the broker. */
export type FrontMessage =
  | { readonly kind: "request"; readonly request: FramedRequest }
  /** The client of a request has gone, before its answer or without having taken it. */
  | { readonly kind: "gone"; readonly id: number }
  /** An answer whose client is watched was written to it. */
  | { readonly kind: "written"; readonly id: number }
  /** It is about to end: nobody is to wait for anything any more. */
  | { readonly kind: "stopping" };

/** The answer to a request. */
export interface FramedAnswer {
  readonly id: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the broker wants to know if the client takes the answer. */
  readonly isWatched: boolean;
}

/** A message that is none of ours. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

const GONE = 0;
const WRITTEN = 1;
const STOPPING = 2;
/** In the place of an id where there is none. */
const NO_ID = 0;

type FrontEntry =
  | readonly [id: number, kind: typeof GONE | typeof WRITTEN | typeof STOPPING]
  | readonly [id: number, method: string, url: string, headers: Record<string, string>, length: number];
type AnswerEntry = readonly [
  id: number,
  status: number,
  headers: Record<string, string>,
  length: number,
  isWatched: 0 | 1,
];

export function encodeFrontMessages(messages: readonly FrontMessage[]): string {
  const entries: FrontEntry[] = [];
  let bodies = "";
  for (const message of messages) {
    if (message.kind !== "request") {
      entries.push(entryOf(message));
      continue;
    }
    const { id, method, url, headers, body } = message.request;
    entries.push([id, method, url, headers, body.length]);
    bodies += body;
  }
  return `${JSON.stringify(entries)}\n${bodies}`;
}

/** Throws FrameError for what no `encodeFrontMessages` has made. */
export function decodeFrontMessages(text: string): FrontMessage[] {
  const { entries, bodyOf } = readFrame<FrontEntry>(text);
  return entries.map((entry): FrontMessage => {
    if (entry.length === 2) return noticeOf(entry);
    const [id, method, url, headers, length] = entry;
    return { kind: "request", request: { id, method, url, headers, body: bodyOf(length) } };
  });
}

type Notice = Exclude<FrontMessage, { kind: "request" }>;
type NoticeEntry = Extract<FrontEntry, { length: 2 }>;

function entryOf(notice: Notice): NoticeEntry {
  if (notice.kind === "stopping") return [NO_ID, STOPPING];
  return [notice.id, notice.kind === "gone" ? GONE : WRITTEN];
}

function noticeOf([id, kind]: NoticeEntry): Notice {
  if (kind === STOPPING) return { kind: "stopping" };
  return { kind: kind === GONE ? "gone" : "written", id };
}

export function encodeAnswers(answers: readonly FramedAnswer[]): string {
  let bodies = "";
  const entries = answers.map(({ id, status, headers, body, isWatched }): AnswerEntry => {
    bodies += body;
    return [id, status, headers, body.length, isWatched ? 1 : 0];
  });
  return `${JSON.stringify(entries)}\n${bodies}`;
}

/** Throws FrameError for what no `encodeAnswers` has made. */
export function decodeAnswers(text: string): FramedAnswer[] {
  const { entries, bodyOf } = readFrame<AnswerEntry>(text);
  return entries.map(([id, status, headers, length, isWatched]) => ({
    ...{ id, status, headers },
    body: bodyOf(length),
    isWatched: isWatched === 1,
  }));
}

/** The entries of a message, and how to take the bodies out of it in their order. */
function readFrame<Entry>(text: string): {
  readonly entries: readonly Entry[];
  bodyOf(length: number): string;
} {
  const end = text.indexOf("\n");
  if (end === -1) throw new FrameError("a frame without its first line");
  const entries: unknown = JSON.parse(text.slice(0, end));
  if (!Array.isArray(entries)) throw new FrameError("a frame whose first line is no list");
  let at = end + 1;
  const bodyOf = (length: number) => {
    const body = text.slice(at, at + length);
    if (body.length !== length) throw new FrameError("a frame that ends within a body");
    at += length;
    return body;
  };
  return { entries, bodyOf };
}
