import { isUtf8 } from "node:buffer";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { FramedAnswer, ReadRequest } from "@sluice/protocol";
import { CliError } from "../../errors.ts";
import { SLUICE_PATH } from "../../runtime/front-door-contract.ts";
import { Forwarder } from "./forward.ts";
import { FrameLink } from "./frame-link.ts";
import { routeConnection } from "./route-connection.ts";

/** Where AWS's clients post to. */
const AWS_PATH = `${SLUICE_PATH}/aws`;
/** Paths below it that mean what they say: nothing in them is encoded, and there is no query. */
const PLAIN_AWS_PATH = new RegExp(`^${AWS_PATH}(/[\\w.~-]*)*$`);
/** The same of those that are not ours, which AWS's clients post to where no Worker has them. */
const PLAIN_PATH_OF_OTHERS = new RegExp(`^(?!${SLUICE_PATH}(/|$))(/[\\w.~-]*)+$`);
const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i;
/** Largest body that is handed over in a frame, in bytes; a larger one costs enough that its way does not matter. */
export const FRAMED_BYTES_MAX = 65_536;
/** Most characters of headers that a frame takes; whoever sends more gets a request of its own. */
export const FRAMED_HEADERS_LENGTH_MAX = 16_384;
/** Longest headers that are read at all, in bytes; for longer ones Node.js answers 431. workerd has no such limit. */
const HEADERS_BYTES_MAX = 1_048_576;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** How long a client may keep a connection without a request, in ms: longer than clients' own pools keep theirs. */
const IDLE_MS_MAX = 75_000;
/** How long requests may take to be answered once the front is to stop, in ms. */
const PATIENCE_MS = 5_000;

type Headers = ReadRequest["headers"];

export interface FrontOptions {
  /** Address and port to listen on; 0 for one that is free. */
  readonly host: string;
  readonly port: number;
  /** Ports of workerd on 127.0.0.1: of the first Worker, and of the broker's entrypoint for frames. */
  readonly workerd: { readonly http: number; readonly frames: number };
  readonly token: string;
  /** Where AWS's clients may post to: below our own path, or anywhere where the broker has the address to itself. */
  readonly aws: "below-prefix" | "anywhere";
  readonly warn: (text: string) => void;
}

/** A front that listens. */
export interface Front {
  readonly port: number;
  /** Listens no more and resolves when what was begun is answered, after five seconds, or when the signal is aborted. */
  stop(signal: AbortSignal): Promise<void>;
  /** Ends every connection. */
  destroy(): void;
}

/**
 * Listens in workerd's place. What AWS's clients post is read here and handed to the broker many at a time: to take a request
 * off the wire costs workerd more than twice as much as Node.js, and what arrives together shares the calls that it makes. A client
 * that goes is known of at once here. All other connections are workerd's, byte for byte.
 *
 * @throws CliError when the port is in use.
 */
export async function startFront(options: FrontOptions): Promise<Front> {
  const { host, port, workerd, token, aws: awsAt, warn } = options;
  const link = new FrameLink({ url: `ws://127.0.0.1:${workerd.frames}/`, token, warn });
  const forwarder = new Forwarder(workerd.http);
  const limits = { keepAliveTimeout: IDLE_MS_MAX, maxHeaderSize: HEADERS_BYTES_MAX };
  const aws = createHttpServer(limits, (request, response) => {
    if (link.isOpen && isForFrames(request, awsAt)) readForFrame(request, response, link, forwarder);
    else forwarder.forward(request, response, []);
  });
  const sockets = new Set<Socket>();
  const start = Buffer.from(awsAt === "anywhere" ? "POST /" : `POST ${AWS_PATH}`);
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    routeConnection(socket, {
      start,
      here: (own) => aws.emit("connection", own),
      elsewhere: workerd.http,
    });
  });
  const destroy = () => {
    server.close();
    link.close();
    forwarder.close();
    for (const socket of sockets) socket.destroy();
  };
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    destroy();
    throw listenError(error as NodeJS.ErrnoException, host, port);
  }
  return {
    port: (server.address() as AddressInfo).port,
    stop: async (signal) => {
      server.close();
      const patience = new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
        setTimeout(resolve, PATIENCE_MS).unref();
      });
      await Promise.race([link.whenIdle(), patience]);
      link.close();
    },
    destroy,
  };
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (error.code === "EADDRINUSE") {
    return new CliError(`${address} is in use by another process. Choose another port with --port.`);
  }
  return new CliError(`${address} cannot be listened on: ${error.message}`);
}

function readForFrame(
  request: IncomingMessage,
  response: ServerResponse,
  link: FrameLink,
  forwarder: Forwarder,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes <= FRAMED_BYTES_MAX) return;
    request.off("data", take).off("end", handOver);
    forwarder.forward(request, response, chunks);
  };
  const handOver = () => {
    const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    // What is no text is refused by the broker in its own words.
    if (link.isOpen && isText(body)) handOverTo(link, request, response, body.toString());
    else forwarder.forward(request, response, chunks);
  };
  request.on("data", take).on("end", handOver);
}

function handOverTo(link: FrameLink, request: IncomingMessage, response: ServerResponse, body: string): void {
  const { method = "POST", url = "", headers } = request;
  // Of the headers of a request only Set-Cookie is a list.
  const framed = { method, url: `http://${headers.host}${url}`, headers: headers as Headers, body };
  const { socket } = request;
  let isWatched = false;
  let isWritten = false;
  const write = (given: FramedAnswer) => {
    isWritten = true;
    const length = Buffer.byteLength(given.body);
    response.writeHead(given.status, { ...given.headers, "content-length": length });
    response.end(given.body);
  };
  const id = link.submit(framed, (given) => {
    if (given === null) {
      response.destroy();
      return;
    }
    isWatched = given.isWatched;
    if (!isWatched) {
      write(given);
      return;
    }
    // What has come in with the answer is seen first. The ends of connections are among it if the machine is busy.
    setImmediate(() => {
      if (!hasEnded(socket)) write(given);
    });
  });
  response.on("close", () => {
    if (!isWritten || !response.writableFinished) link.gone(id);
    else if (isWatched) link.written(id);
  });
}

/** Whether the client has closed its connection: what is written to it then is lost without a word. */
function hasEnded({ readableEnded, destroyed }: Socket): boolean {
  return readableEnded || destroyed;
}

function isForFrames(
  { method, url, headers, rawHeaders }: IncomingMessage,
  awsAt: FrontOptions["aws"],
): boolean {
  const { host, upgrade } = headers;
  const isPlain =
    method === "POST" &&
    url !== undefined &&
    (PLAIN_AWS_PATH.test(url) ||
      (awsAt === "anywhere" && isOfAws(headers) && PLAIN_PATH_OF_OTHERS.test(url)));
  const isSmall =
    Number(headers["content-length"] ?? 0) <= FRAMED_BYTES_MAX &&
    rawHeaders.reduce((length, text) => length + text.length, 0) <= FRAMED_HEADERS_LENGTH_MAX;
  return isPlain && isSmall && host !== undefined && HOST.test(host) && upgrade === undefined;
}

/** As the broker tells them from others at the root of its address: by AWS JSON's header, or as forms. */
function isOfAws(headers: IncomingMessage["headers"]): boolean {
  const { "x-amz-target": target, "content-type": type = "" } = headers;
  return target !== undefined || /^application\/x-www-form-urlencoded\s*(;|$)/i.test(type);
}

function isText(body: Buffer): boolean {
  return isUtf8(body) && !body.subarray(0, BYTE_ORDER_MARK.byteLength).equals(BYTE_ORDER_MARK);
}
