import { type DaemonMessage, RESERVED_PREFIX } from "./message.ts";

/** Settings of all requests of a daemon. */
export interface RequestSettings {
  /** URL that messages are posted to. A periodic task has a path of its own on the same host. */
  readonly url: string;
  readonly contentType: string;
  /** Name of the queue. */
  readonly queue: string;
}

/** The POST that a message becomes. */
export interface DaemonRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Attributes that no header can carry, with the reason: for the log. */
  readonly dropped: readonly string[];
}

/** User agent of the version that this follows. Receivers look for `aws-sqsd` at the beginning (spec sqsd 4.3). */
const USER_AGENT = "aws-sqsd/3.0.5";
const ATTRIBUTE_PREFIX = "X-Aws-Sqsd-Attr-";

/**
 * Makes the POST of a message (spec sqsd 4.1): its body as it is, everything else in headers. A periodic task is posted
 * to its own path without a body.
 */
export function daemonRequest(message: DaemonMessage, settings: RequestSettings): DaemonRequest {
  const { task } = message;
  const url = new URL(task === null ? settings.url : withPath(settings.url, task.url));
  const { forwarded, dropped } = attributeHeaders(message);
  return {
    url: url.href,
    body: task === null ? message.body : new Uint8Array(),
    dropped,
    headers: {
      "Content-Type": settings.contentType,
      "User-Agent": USER_AGENT,
      // As the daemon of AWS writes it.
      "Accept-Encoding": "gzip, compressed",
      "X-Aws-Sqsd-Msgid": message.id,
      "X-Aws-Sqsd-Queue": settings.queue,
      "X-Aws-Sqsd-Receive-Count": String(message.receiveCount),
      "X-Aws-Sqsd-First-Received-At": isoSeconds(message.firstReceivedMs),
      "X-Aws-Sqsd-Sent-At": isoSeconds(message.sentMs),
      "X-Aws-Sqsd-Path": headerValue(message.path ?? "") || url.pathname + url.search,
      "X-Aws-Sqsd-Sender-Id": message.senderId,
      ...(task === null
        ? {}
        : {
            "X-Aws-Sqsd-Taskname": headerValue(task.name) ?? "",
            "X-Aws-Sqsd-Scheduled-At": isoSeconds(task.scheduledMs),
          }),
      ...forwarded,
    },
  };
}

/**
 * Makes a URL of the same application with another path. A path that begins with two slashes must not name another
 * host.
 */
export function withPath(url: string, path: string): string {
  const { origin } = new URL(url);
  return new URL(origin + (path.startsWith("/") ? path : `/${path}`)).href;
}

function attributeHeaders({ attributes }: DaemonMessage) {
  const forwarded: Record<string, string> = {};
  const dropped: string[] = [];
  const taken = new Set<string>();
  for (const [name, { DataType = "", StringValue = "" }] of Object.entries(attributes)) {
    if (name.startsWith(RESERVED_PREFIX)) continue;
    const header = ATTRIBUTE_PREFIX + name;
    const value = headerValue(StringValue);
    if (!HEADER_NAME.test(name)) {
      dropped.push(`attribute "${name}" has characters in its name that no header can have`);
    } else if (!DataType.startsWith("String") && !DataType.startsWith("Number")) {
      dropped.push(`attribute "${name}" is of the type ${DataType}, which no header can carry`);
    } else if (value === null) {
      dropped.push(
        `attribute "${name}" has a line break or another control character, which no header can carry`,
      );
    } else if (taken.has(header.toLowerCase())) {
      dropped.push(`attribute "${name}" differs from another one in upper and lower case only`);
    } else {
      taken.add(header.toLowerCase());
      forwarded[header] = value;
    }
  }
  return { forwarded, dropped };
}

/** Characters of the name of a header (RFC 9110, 5.6.2). SQS takes letters of any alphabet in names of attributes. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Characters that a header's value cannot have (RFC 9110, 5.5): a client of HTTP would refuse the whole request. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const NOT_IN_HEADERS = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/**
 * Writes a text as its bytes in UTF-8, one character each, as `fetch` wants them; `null` for a text that no header can
 * carry.
 */
function headerValue(text: string): string | null {
  if (NOT_IN_HEADERS.test(text)) return null;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** Writes a time in UTC, in whole seconds: `2019-11-14T00:47:00Z`. */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
