import { type Agent, type ClientRequest, type IncomingHttpHeaders, request as requestHttp } from "node:http";
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
  /** Time limit for the head of the answer from now on, in ms. */
  readonly responseTimeoutMs: number;
}

/**
 * Outcome of a request.
 *
 * - `answered`: the head of an answer is there. Its body is discarded.
 * - `unsent`: there was no connection, so no server can have seen the request.
 * - `refused`: there was no connection, because no address may be called.
 * - `lost`: the connection ended before an answer. `wasKept`: it was one from before, and not a byte of an answer
 *   came, so the server may have closed it before the request.
 * - `late`: no answer came in time.
 */
export type NodeReply =
  | { readonly kind: "answered"; readonly status: number; readonly headers: IncomingHttpHeaders }
  | { readonly kind: "unsent" | "refused" | "late"; readonly reason: string }
  | { readonly kind: "lost"; readonly reason: string; readonly wasKept: boolean };

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
  const { url, method, headers, body, agent, lookup, connectTimeoutMs, responseTimeoutMs } = input;
  const isTls = url.protocol === "https:";
  let isConnected = false;
  let hasBytes = false;
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
  };
  const connected = () => {
    isConnected = true;
    clearTimeout(notConnected);
  };
  const end = (what: NodeReply) => {
    clearTimeout(notConnected);
    clearTimeout(tooLong);
    socket?.off("data", bytesCame);
    reply(what);
  };
  const giveUp = (afterMs: number) => {
    end(
      isConnected
        ? { kind: "late", reason: `it did not answer within ${afterMs / 1000} s` }
        : { kind: "unsent", reason: `no connection within ${afterMs / 1000} s` },
    );
    request.destroy();
  };
  const tooLong = setTimeout(giveUp, responseTimeoutMs, responseTimeoutMs);
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
    end({ kind: "answered", status: response.statusCode ?? 0, headers: response.headers });
    limitDiscarding(request);
    let bytes = 0;
    response.on("data", ({ length }: Uint8Array) => {
      bytes += length;
      if (bytes > DISCARDED_BYTES_MAX) request.destroy();
    });
    // An early end of the body does not matter any more.
    response.on("error", () => {});
  });
  request.on("upgrade", ({ statusCode, headers: answered }, upgraded) => {
    upgraded.destroy();
    end({ kind: "answered", status: statusCode ?? 0, headers: answered });
  });
  request.on("error", (error) => {
    if (error instanceof RefusedAddress) end({ kind: "refused", reason: error.message });
    else if (!isConnected) end({ kind: "unsent", reason: `it cannot be reached (${codeOf(error)})` });
    else if (hasBytes) {
      const code = codeOf(error);
      const problem = code.startsWith("HPE_") ? "its answer is no HTTP" : "its answer breaks off";
      end({ kind: "lost", reason: `${problem} (${code})`, wasKept: false });
    } else {
      const reason = "it closed the connection without an answer";
      end({ kind: "lost", reason, wasKept: request.reusedSocket });
    }
  });
  request.end(body ?? undefined);
}

/** Makes the headers with the length of the body. Given headers cannot change its framing. */
function framed(headers: Readonly<Record<string, string>>, body: Uint8Array): Record<string, string> {
  const others = Object.entries(headers).filter(([name]) => !FRAMING.has(name.toLowerCase()));
  return { ...Object.fromEntries(others), "content-length": String(body.byteLength) };
}

/** Ends a request whose body, or that of its answer, takes too long after the head of the answer. */
function limitDiscarding(request: ClientRequest): void {
  const tooLong = setTimeout(() => request.destroy(), DISCARDING_MS_MAX).unref();
  request.once("close", () => clearTimeout(tooLong));
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}
