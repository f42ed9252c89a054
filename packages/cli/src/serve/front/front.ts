import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type Socket } from "node:net";
import { Forwarder } from "./forward.ts";
import { FrameLink } from "./frame-link.ts";
import { AWS_PATH, handOver, isPostedBelowPrefix, textOf } from "./framed-requests.ts";
import { HTTP_LIMITS, listen, withPatience } from "./listen.ts";
import { FRAMED_BYTES_MAX } from "./plain-post.ts";
import { routeConnection } from "./route-connection.ts";
import { SocketCarrier } from "./socket-carrier.ts";

export interface FrontOptions {
  /** Address and port to listen on; 0 for one that is free. */
  readonly host: string;
  readonly port: number;
  /** Ports of workerd on 127.0.0.1: of the first Worker, and of the broker's entrypoint for frames. */
  readonly workerd: { readonly http: number; readonly frames: number };
  readonly token: string;
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
  const { host, port, workerd, token, warn } = options;
  const url = `ws://127.0.0.1:${workerd.frames}/`;
  const link = new FrameLink({ open: (events) => new SocketCarrier({ url, token, warn }, events) });
  const forwarder = new Forwarder(workerd.http);
  const aws = createHttpServer(HTTP_LIMITS, (request, response) => {
    if (link.isOpen && isPostedBelowPrefix(request)) readForFrame(request, response, link, forwarder);
    else forwarder.forward(request, response, []);
  });
  const sockets = new Set<Socket>();
  const start = Buffer.from(`POST ${AWS_PATH}`);
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
  const listening = await listen(server, host, port).catch((error) => {
    destroy();
    throw error;
  });
  return {
    port: listening,
    stop: async (signal) => {
      server.close();
      link.stopping();
      await withPatience(link.whenIdle(), signal);
      link.close();
    },
    destroy,
  };
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
    request.off("data", take).off("end", end);
    forwarder.forward(request, response, chunks);
  };
  const end = () => {
    const text = textOf(chunks);
    // What is no text is refused by the broker in its own words.
    if (link.isOpen && text !== null) handOver(link, request, response, text);
    else forwarder.forward(request, response, chunks);
  };
  request.on("data", take).on("end", end);
}
