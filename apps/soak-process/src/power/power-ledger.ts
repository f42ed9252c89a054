/** Request that changes the broker's state. */
export interface Operation {
  /** Time at which it was sent, in ms since 1970. */
  readonly begunMs: number;
  /** Name of the answer that confirms it (`answerName`); `null` until one comes. */
  answer: string | null;
  /** Time at which that came, in ms since 1970. */
  answeredMs: number | null;
}

/** Message with all requests of clients about it. */
export interface SentMessage {
  readonly tag: number;
  readonly queue: string;
  /** Group in a FIFO queue. */
  readonly group: string | null;
  readonly sent: Operation;
  /** Receives that returned it, each with a lease of `LEASE_MS`. */
  readonly receives: Operation[];
  /** Calls that ended a lease. */
  readonly releases: Operation[];
  readonly deletes: Operation[];
}

/** Visibility timeout of each receive, in ms: longer than a run takes. */
export const LEASE_MS = 3_600_000;

/** Requests of clients about a queue, other than its messages. */
export interface LedgerQueue {
  readonly name: string;
  readonly created: Operation;
  readonly deletes: Operation[];
  /** Retention periods that it was given, in seconds, in order. */
  readonly retentions: { readonly value: string; readonly operation: Operation }[];
  readonly pauses: { readonly value: boolean; readonly operation: Operation }[];
}

/** Requests of all clients over all lives of a broker. Filled while it runs, and read for each cut. */
export class PowerLedger {
  readonly messages: SentMessage[] = [];
  readonly queues = new Map<string, LedgerQueue>();
  /** SNS topics with a subscription of a queue. */
  readonly topics = new Map<string, { readonly created: Operation; readonly subscribed: Operation }>();
  /** Requests that were refused or failed, in words: none is expected. */
  readonly failures: string[] = [];

  /** Adds a message that is about to be sent. */
  message(queue: string, group: string | null, sent: Operation): SentMessage {
    const tag = this.messages.length;
    const message = { tag, queue, group, sent, receives: [], releases: [], deletes: [] };
    this.messages.push(message);
    return message;
  }

  /** Finds the message of a body. Throws if no message has that body. */
  messageOf(body: string): SentMessage {
    const message = this.messages[Number(/^(\d+):/.exec(body)?.[1])];
    if (message === undefined || bodyOf(message.tag, body.length) !== body)
      throw new Error("a body that nobody sent");
    return message;
  }
}

/** Makes a message's body of `length` bytes or a little more: it begins with the tag. */
export function bodyOf(tag: number, length: number): string {
  const start = `${tag}:`;
  return (start + `${tag % 997}-`.repeat(Math.ceil(length / 2))).slice(0, Math.max(length, start.length));
}
