import {
  type Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { RefusedAddress } from "./node-lookup.ts";

/** Limits of the discarded body of an answer, which is read to keep the connection: bytes, and ms. */
const DISCARDED_BYTES_MAX = 65_536;
const DISCARDING_MS_MAX = 2_000;
const HEAD_BYTES_MAX = 65_536;
/** Headers that say where a body ends. */
const FRAMING = new Set(["transfer-encoding", "content-length"]);

/** One request on one connection. */
export interface NodeRequest {
  readonly url: URL;
  readonly method: "GET" | "HEAD" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** Agent of its connection. */
  readonly agent: Agent;
  /** Lookup of addresses for a new connection. */
  readonly lookup: LookupFunction;
  /** Time limit for a new connection, TLS included where it has that, in ms; `null` for no limit but the answer's. */
  readonly connectTimeoutMs: number | null;
  /** Time limit for the head of the answer from now on, or with `wholeAnswerTimeoutMs` for its next bytes, in ms. */
  readonly responseTimeoutMs: number;
  /** Time limit for the end of the answer from now on, in ms. Default: it counts with its head. */
  readonly wholeAnswerTimeoutMs?: number;
}

/**
 * Outcome of a request.
 *
 * - `answered`: the head of an answer is there, or all of it where that is asked for. Its body is discarded.
 * - `unsent`: there was no connection, so no server can have seen the request.
 * - `refused`: there was no connection, because no address may be called.
 * - `lost`: the connection ended before an answer. `isBegun`: a part of it had come. `wasKept`: the connection was one
 *   from before, and not a byte of an answer came, so the server may have closed it before the request.
 * - `late`: no answer came in time.
 */
export type NodeReply =
  | { readonly kind: "answered"; readonly status: number; readonly headers: IncomingHttpHeaders }
  | { readonly kind: "unsent" | "refused" | "late"; readonly reason: string }
  | { readonly kind: "lost"; readonly reason: string; readonly isBegun: boolean; readonly wasKept: boolean };

/** Makes a request. Never rejects. */
export function makeRequest(input: NodeRequest): Promise<NodeReply> {
  return new Promise((resolve) => {
    try {
      run(input, resolve);
    } catch (error) {
      // A header's value from an environment variable may contain invalid characters.
      resolve({ kind: "unsent", reason: `the request cannot be made: ${error}` });
    }
  });
}

function run(input: NodeRequest, reply: (reply: NodeReply) => void): void {
  const { url, method, headers, body, agent, lookup } = input;
  const { connectTimeoutMs, responseTimeoutMs, wholeAnswerTimeoutMs } = input;
  const isTls = url.protocol === "https:";
  let isConnected = false;
  let hasBytes = false;
  let hasHead = false;
  const request = (isTls ? requestHttps : requestHttp)(url.href, {
    method,
    headers: body === null ? headers : framed(headers, body),
    agent,
    lookup,
    maxHeaderSize: HEAD_BYTES_MAX,
  });
  let socket: Socket | undefined;
  const bytesCame = () => {
    hasBytes = true;
    if (wholeAnswerTimeoutMs !== undefined) tooLong.refresh();
  };
  const connected = () => {
    isConnected = true;
    clearTimeout(notConnected);
  };
  const end = (what: NodeReply) => {
    clearTimeout(notConnected);
    clearTimeout(tooLong);
    clearTimeout(unended);
    socket?.off("data", bytesCame);
    reply(what);
  };
  const giveUp = (afterMs: number, what = "it did not answer") => {
    end(
      isConnected
        ? { kind: "late", reason: `${what} within ${afterMs / 1000} s` }
        : { kind: "unsent", reason: `no connection within ${afterMs / 1000} s` },
    );
    request.destroy();
  };
  const tooLong = setTimeout(
    () => giveUp(responseTimeoutMs, hasHead ? "its answer did not go on" : undefined),
    responseTimeoutMs,
  );
  const unended =
    wholeAnswerTimeoutMs === undefined
      ? undefined
      : setTimeout(giveUp, wholeAnswerTimeoutMs, wholeAnswerTimeoutMs, "its answer did not end");
  const notConnected =
    connectTimeoutMs === null || connectTimeoutMs >= responseTimeoutMs
      ? undefined
      : setTimeout(giveUp, connectTimeoutMs, connectTimeoutMs);
  request.on("socket", (given) => {
    socket = given;
    if (request.reusedSocket) connected();
    else given.once(isTls ? "secureConnect" : "connect", connected);
    // Before the parser, which ends a request whose answer it cannot read.
    given.prependListener("data", bytesCame);
  });
  request.on("response", (response) => {
    const answered = {
      kind: "answered",
      status: response.statusCode ?? 0,
      headers: response.headers,
    } as const;
    hasHead = true;
    // An early end of the body is found by its `close`, if it matters.
    response.on("error", () => {});
    if (wholeAnswerTimeoutMs === undefined) {
      end(answered);
      discard(response, request);
      return;
    }
    response.on("close", () => end(response.complete ? answered : brokenOff("its connection ended")));
    response.resume();
  });
  request.on("upgrade", ({ statusCode, headers: answered }, upgraded) => {
    upgraded.destroy();
    end({ kind: "answered", status: statusCode ?? 0, headers: answered });
  });
  request.on("error", (error) => {
    if (error instanceof RefusedAddress) end({ kind: "refused", reason: error.message });
    else if (!isConnected) end({ kind: "unsent", reason: `it cannot be reached (${codeOf(error)})` });
    else if (hasBytes) end(brokenOff(codeOf(error)));
    else {
      const reason = "it closed the connection without an answer";
      end({ kind: "lost", reason, isBegun: false, wasKept: request.reusedSocket });
    }
  });
  request.end(body ?? undefined);
}

/** Makes the headers with the length of the body. Given headers cannot change its framing. */
function framed(headers: Readonly<Record<string, string>>, body: Uint8Array): Record<string, string> {
  const others = Object.entries(headers).filter(([name]) => !FRAMING.has(name.toLowerCase()));
  return { ...Object.fromEntries(others), "content-length": String(body.byteLength) };
}

/** Makes the reply for an answer that has begun. @param code of the error that ended it. */
function brokenOff(code: string): NodeReply {
  const problem = code.startsWith("HPE_") ? "its answer is no HTTP" : "its answer breaks off";
  return { kind: "lost", reason: `${problem} (${code})`, isBegun: true, wasKept: false };
}

/** Discards the body of an answer. Ends a request whose body, or that of its answer, is too long or takes too long. */
function discard(response: IncomingMessage, request: ClientRequest): void {
  const tooLong = setTimeout(() => request.destroy(), DISCARDING_MS_MAX).unref();
  request.once("close", () => clearTimeout(tooLong));
  let bytes = 0;
  response.on("data", ({ length }: Uint8Array) => {
    bytes += length;
    if (bytes > DISCARDED_BYTES_MAX) request.destroy();
  });
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}
