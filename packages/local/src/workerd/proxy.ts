import { connect, createServer, type Socket } from "node:net";
import { Connections, refuseNew } from "../http/connections.ts";
import type { Ingress } from "../http/ingress.ts";
import { HEAD_MS_MAX } from "../http/limits.ts";
import { listen, withPatience } from "../http/listen.ts";
import { RESTARTING } from "../watchdog/restarting.ts";

interface ProxyOptions {
  /** Address and port to listen on; 0 for one that is free. */
  readonly host: string;
  readonly port: number;
  /**
   * Port on 127.0.0.1 where workerd listens now: it may be started again on another one. `null` while it does not run,
   * or does not answer.
   */
  readonly workerd: () => number | null;
}

/**
 * Listens in workerd's place and joins each connection with one to workerd, byte for byte. So clients keep their
 * address when workerd is started again: meanwhile they are answered with 503.
 *
 * @throws CliError when the port is in use.
 */
export async function startProxy({ host, port, workerd }: ProxyOptions): Promise<Ingress> {
  const connections = new Connections();
  const sockets = new Map<Socket, Exchange>();
  let settled: (() => void) | undefined;
  const look = () => {
    if (settled === undefined) return;
    for (const [socket, { isAwaited }] of sockets) if (!isAwaited) socket.destroy();
    if ([...sockets.values()].every(({ isAwaited }) => !isAwaited)) settled();
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // Of a connection that workerd has, nobody here knows when it is quiet, but before the first answer.
    const isQuiet = () => socket.bytesWritten === 0;
    if (connections.accept(socket, refuseNew, isQuiet) === null) return;
    const exchange: Exchange = { isAwaited: false, changed: look };
    sockets.set(socket, exchange);
    socket.on("close", () => {
      sockets.delete(socket);
      look();
    });
    joinWhenHeard(socket, workerd, exchange);
  });
  const destroy = () => {
    server.close();
    for (const socket of sockets.keys()) socket.destroy();
  };
  const listening = await listen(server, host, port);
  return {
    port: listening,
    stop: async (signal) => {
      server.close();
      const answered = new Promise<void>((resolve) => {
        settled = resolve;
      });
      look();
      await withPatience(answered, signal);
    },
    destroy,
  };
}

/** State of the dialogue on a connection: which side has spoken last. */
interface Exchange {
  /** Whether the client has spoken last: nothing of the answer to it has come. */
  isAwaited: boolean;
  /** Called when that changes. */
  changed(): void;
}

/** Joins a connection when its client says something; ends it if that takes too long. */
function joinWhenHeard(socket: Socket, port: () => number | null, exchange: Exchange): void {
  const tooLong = setTimeout(() => socket.destroy(), HEAD_MS_MAX).unref();
  const giveUp = () => socket.end();
  socket.on("close", () => clearTimeout(tooLong));
  // A client may reset its connection, and end it before it has said anything.
  socket.on("error", () => socket.destroy());
  socket.on("end", giveUp);
  socket.once("data", (chunk: Buffer) => {
    clearTimeout(tooLong);
    socket.off("end", giveUp);
    socket.pause();
    socket.unshift(chunk);
    const at = port();
    if (at === null) endUnavailable(socket);
    else join(socket, at, exchange);
  });
}

/** How an answer begins after which a connection is none of HTTP's any more. */
const SWITCHING_PROTOCOLS = Buffer.from("HTTP/1.1 101");

/**
 * Joins two connections, so that each end of the one is that of the other. Where workerd's is lost while a request
 * waits for its answer, that is a 503.
 */
function join(socket: Socket, port: number, exchange: Exchange): void {
  const upstream = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  let isOfHttp = true;
  let isUnavailable = false;
  const ended = () => {
    socket.unpipe(upstream);
    isUnavailable = exchange.isAwaited && isOfHttp;
    if (isUnavailable) endUnavailable(socket);
    else socket.end();
  };
  const awaits = (isAwaited: boolean) => {
    if (exchange.isAwaited === isAwaited) return;
    exchange.isAwaited = isAwaited;
    exchange.changed();
  };
  awaits(true);
  socket.on("data", () => awaits(isOfHttp));
  upstream.on("data", (chunk: Buffer) => {
    if (exchange.isAwaited && chunk.subarray(0, SWITCHING_PROTOCOLS.length).equals(SWITCHING_PROTOCOLS)) {
      isOfHttp = false;
    }
    // The rest of what has come belongs to the same answer: it is written before anybody looks.
    setImmediate(awaits, false);
  });
  // "close" follows.
  upstream.on("error", () => {});
  upstream.on("end", ended);
  upstream.on("close", () => {
    if (!upstream.readableEnded && exchange.isAwaited && isOfHttp && !socket.destroyed) ended();
    else if (!isUnavailable) socket.destroy();
  });
  socket.on("close", () => upstream.destroy());
  socket.pipe(upstream);
  upstream.pipe(socket, { end: false });
}

/** Time that clients are told to wait before they try again, in seconds: workerd starts in about one. */
const RETRY_AFTER_SECONDS = 2;
const UNAVAILABLE_HEAD = [
  "HTTP/1.1 503 Service Unavailable",
  `retry-after: ${RETRY_AFTER_SECONDS}`,
  "content-type: text/plain;charset=UTF-8",
  `content-length: ${Buffer.byteLength(RESTARTING)}`,
  "connection: close",
].join("\r\n");

/**
 * Answers while workerd does not run, or when it has ended before it answered: nobody knows then whether it did
 * something.
 */
function endUnavailable(socket: Socket): void {
  socket.end(`${UNAVAILABLE_HEAD}\r\n\r\n${RESTARTING}`);
  // What is still to come is read and forgotten: a connection that is closed with something unread in it is reset, and
  // the answer lost.
  socket.resume();
}
