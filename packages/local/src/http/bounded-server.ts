import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  setMaxIdleHTTPParsers,
} from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { bodyBytesMax, type RequestHead, type Unread, unreadRefusal } from "@sluice/gateway/request-limits";
import { type BodyReading, contentLength, readBody } from "./body-reader.ts";
import { type Connection, Connections, type Refuse, refuseNew } from "./connections.ts";
import { HeadGate } from "./head-gate.ts";
import { HTTP_LIMITS, IDLE_PARSERS_MAX, UNTAKEN_MS_MAX } from "./limits.ts";
import { refuseRequest, refuseSocket } from "./refusals.ts";

/** A server of `node:http` that reads requests within the limits of `limits.ts`. */
export interface BoundedServer {
  readonly server: Server;
  readonly connections: Connections;
  /**
   * Stops listening, and closes each connection once no request is under way on it. Resolves when all requests are
   * answered that had begun to arrive.
   */
  stop(): Promise<void>;
}

export interface BoundedServerOptions {
  /** Answers a request that has arrived completely. */
  answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void;
  /** Whether AWS's clients must sign, so that only a little is read of an unsigned request. Default: `false`. */
  readonly asksForSignatures?: boolean;
  /** Default: with the limits of `limits.ts`. */
  readonly connections?: Connections;
  /** Default: `HTTP_LIMITS`. */
  readonly http?: typeof HTTP_LIMITS;
  /** Default: `UNTAKEN_MS_MAX`. */
  readonly untakenMsMax?: number;
}

/** Refuses a connection between requests, or while a head is arriving. */
const refuseUnread: Refuse = ({ socket, answering }, isReading) => {
  if (isReading && answering === 0) refuseSocket(socket, 503);
  else socket.destroySoon();
};

/**
 * Makes a server that reads requests completely before they are answered. A request that is too large, too slow, or too
 * much for the server is refused before it is read, in the error format of its dialect.
 *
 * The server itself listens: only then does `node:http` check for heads and bodies that take too long.
 */
export function createBoundedServer(options: BoundedServerOptions): BoundedServer {
  const {
    answer,
    connections = new Connections(),
    http = HTTP_LIMITS,
    untakenMsMax = UNTAKEN_MS_MAX,
    asksForSignatures = false,
  } = options;
  const known = new WeakMap<Socket, Reading>();
  /** Responses of requests whose head has arrived, until they are closed. */
  const underWay = new Set<ServerResponse>();
  let isStopping = false;
  let tellIdle: (() => void) | undefined;
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const reading = known.get(request.socket);
    // A connection that is being refused may send more requests: they are ignored.
    if (reading === undefined || reading.connection.isGone) return;
    reading.gate.began(request);
    underWay.add(response);
    response.once("close", () => {
      underWay.delete(response);
      if (underWay.size === 0) tellIdle?.();
    });
    if (isStopping) response.shouldKeepAlive = false;
    readRequest(request, response, { ...reading, connections, asksForSignatures, answer });
  };
  setMaxIdleHTTPParsers(IDLE_PARSERS_MAX);
  const server = createServer(http, take);
  // A client that waits with its body is told to send it once the head has been accepted.
  server.on("checkContinue", take);
  server.on("checkExpectation", take);
  server.on("clientError", (error, socket) => {
    const reading = known.get(socket as Socket);
    if (reading === undefined || reading.connection.isGone) return;
    const { connection } = reading;
    const isAnswering = connection.answering > 0;
    connections.forget(connection);
    if (isAnswering || !socket.writable) socket.destroy();
    else refuseSocket(socket as Socket, statusOf(error));
  });
  server.timeout = untakenMsMax;
  server.on("timeout", (socket) => {
    const connection = known.get(socket)?.connection;
    // A quiet connection whose request the broker is still answering stays, unless its client takes no bytes.
    const isAnswering = connection !== undefined && !connection.isGone && connection.answering > 0;
    if (!isAnswering || socket.writableLength > 0) socket.destroy();
  });
  const own = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket) => {
    const connection = connections.accept(socket, refuseNew);
    if (connection === null) return;
    for (const listener of own) listener.call(server, socket);
    const parse = socket.listeners("data").map((listener) => (part: Buffer) => listener.call(socket, part));
    const gate = new HeadGate({
      parse: (part) => {
        for (const each of parse) each(part);
      },
      isReady: () => !connection.isGone && !socket.destroyed && !socket.isPaused(),
      tooLong: () => {
        connections.forget(connection);
        refuseSocket(socket, 431);
      },
    });
    connection.refuse = refuseUnread;
    known.set(socket, { connection, gate });
    socket.removeAllListeners("data");
    socket.on("data", (chunk: Buffer) => {
      if (connections.came(connection, chunk.byteLength)) gate.came(chunk);
    });
    // `node:http` pauses a connection while its client does not take the answers.
    socket.on("resume", () => gate.goOn());
    socket.once("close", () => gate.close());
    socket.resume();
  });
  return {
    server,
    connections,
    stop: async () => {
      isStopping = true;
      // Not the `close` of `node:http`, which cuts off answers that are still being written.
      NetServer.prototype.close.call(server);
      for (const response of underWay) response.shouldKeepAlive = false;
      // Lets `node:http` begin requests that have already arrived.
      await new Promise((resolve) => setImmediate(resolve));
      connections.closeQuiet();
      if (underWay.size === 0 && !connections.isReading) return;
      await new Promise<void>((resolve) => {
        tellIdle = resolve;
      });
    },
  };
}

function statusOf({ code }: NodeJS.ErrnoException): 400 | 408 | 413 | 431 {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return 431;
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return 413;
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return 408;
    default:
      return 400;
  }
}

function readRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { connection, gate, connections, asksForSignatures, answer }: ReadBy,
): void {
  const head = headOf(request);
  const { headBytes } = gate;
  const refuse = (why: Unread) => {
    const bytesMax = bodyBytesMax(head, asksForSignatures);
    refuseRequest(request, response, unreadRefusal(head, why, bytesMax));
  };
  if (request.headers.host !== undefined && (!isAuthority(request.headers.host) || hasTwoHosts(request))) {
    refuseRequest(request, response, NO_AUTHORITY);
    return;
  }
  if (!isTarget(request.url ?? "")) {
    refuseRequest(request, response, NO_TARGET);
    return;
  }
  const done = (body: Buffer) => {
    connection.refuse = refuseUnread;
    const bytes = headBytes + body.byteLength;
    const hasRoom = connections.complete(connection, bytes);
    if (!gate.ended(request, connection.unreadBytes)) response.shouldKeepAlive = false;
    if (!hasRoom) {
      refuse("busy");
      return;
    }
    response.once("close", () => connections.answered(connection, bytes));
    answer(request, response, body);
  };
  const { expect } = request.headers;
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    refuseRequest(request, response, NO_EXPECTATION);
    return;
  }
  const length = contentLength(request);
  if (length === 0) {
    done(NOTHING);
    return;
  }
  const bytesMax = bodyBytesMax(head, asksForSignatures);
  let reading: BodyReading | undefined;
  const giveUp = (why: Unread) => {
    reading?.stop();
    connections.forget(connection);
    refuse(why);
  };
  if (length !== null && length > bytesMax) {
    giveUp("tooLarge");
    return;
  }
  if (expect !== undefined) response.writeContinue();
  connection.refuse = () => {
    reading?.stop();
    refuse("busy");
  };
  reading = readBody(request, bytesMax, done, giveUp);
}

/** A connection with the gate before its parser. */
interface Reading {
  readonly connection: Connection;
  readonly gate: HeadGate;
}

interface ReadBy extends Reading, Pick<BoundedServerOptions, "answer"> {
  readonly asksForSignatures: boolean;
  readonly connections: Connections;
}

const NOTHING = Buffer.alloc(0);
/** A name or an address, and a port. */
const AUTHORITY = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i;

/** The last valid `Host`: nearly all requests have the same. */
let goodHost = "";

/** Whether a `Host` header can be the authority of a URL: a port of 99999 and an address of 1.2.3.400 cannot. */
export function isAuthority(host: string): boolean {
  if (host === goodHost) return true;
  if (!AUTHORITY.test(host) || !URL.canParse(`http://${host}`)) return false;
  goodHost = host;
  return true;
}

/** Whether a request has a second `Host` header (RFC 9112, 3.2), of which `node:http` shows the first alone. */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (/^host$/i.test(rawHeaders[at] ?? "")) hosts += 1;
  return hosts > 1;
}

const NO_AUTHORITY = {
  status: 400,
  headers: { "content-type": "text/plain" },
  body: "The Host header is neither a name nor an address, or its port is none, or there are two.\n",
};

/** Whether the target of a request is a path or a URL of HTTP. `OPTIONS *` means the server as a whole. */
export function isTarget(url: string): boolean {
  return /^(\/|https?:\/\/)/i.test(url);
}

const NO_TARGET = {
  status: 400,
  headers: { "content-type": "text/plain" },
  body: "The target of the request is neither a path nor a URL of HTTP.\n",
};

const NO_EXPECTATION = { status: 417, headers: {}, body: "" };

function headOf({ method = "", url = "", headers }: IncomingMessage): RequestHead {
  const path = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "");
  const query = path.indexOf("?");
  return {
    method,
    pathname: query === -1 ? path : path.slice(0, query),
    search: query === -1 ? "" : path.slice(query),
    headers: {
      get: (name) => {
        const value = headers[name];
        return value === undefined ? null : String(value);
      },
    },
  };
}
