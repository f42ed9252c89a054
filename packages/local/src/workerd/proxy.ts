import { connect, createServer, type Socket } from "node:net";
import { Connections, refuseNew } from "../http/connections.ts";
import type { Ingress } from "../http/ingress.ts";
import { HEAD_MS_MAX } from "../http/limits.ts";
import { listen, withPatience } from "../http/listen.ts";
import { RESTARTING } from "../watchdog/restarting.ts";

interface ProxyOptions {
  /** Address and port to listen on; port 0 for a free one. */
  readonly host: string;
  readonly port: number;
  /**
   * Returns workerd's current port on 127.0.0.1, which changes with a restart; `null` while workerd does not run or
   * does not answer.
   */
  readonly workerd: () => number | null;
}

/**
 * Listens in workerd's place, and forwards each connection to workerd, byte for byte. So clients keep their address
 * when workerd is restarted, and get 503 meanwhile.
 *
 * @throws CliError when the port is in use.
 */
export async function startProxy({ host, port, workerd }: ProxyOptions): Promise<Ingress> {
  const connections = new Connections();
  const sockets = new Map<Socket, Exchange>();
  let settled: (() => void) | undefined;
  /** While stopping, ends connections on which no answer is awaited, and settles when all answers are written. */
  const endUnawaited = () => {
    if (settled === undefined) return;
    for (const exchange of sockets.values()) {
      if (exchange.isAwaited || exchange.isEnding) continue;
      exchange.isEnding = true;
      exchange.end();
    }
    if ([...sockets.keys()].every(({ writableFinished }) => writableFinished)) settled();
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // Bytes are not parsed here: a connection counts as quiet only before its first answer.
    const isQuiet = () => socket.bytesWritten === 0;
    if (connections.accept(socket, refuseNew, isQuiet) === null) return;
    const exchange: Exchange = {
      isAwaited: false,
      isEnding: false,
      end: () => socket.destroySoon(),
      changed: endUnawaited,
    };
    sockets.set(socket, exchange);
    socket.on("finish", endUnawaited);
    socket.on("close", () => {
      sockets.delete(socket);
      endUnawaited();
    });
    joinAtFirstBytes(socket, workerd, exchange);
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
      endUnawaited();
      await withPatience(answered, signal);
    },
    destroy,
  };
}

/** State of a connection: which side has sent last. */
interface Exchange {
  /** Whether the client has sent last, so that nothing of the answer has arrived. */
  isAwaited: boolean;
  /** Whether `end` was called. */
  isEnding: boolean;
  /** Ends the connection once all of an answer that has begun is written. Called while no answer is awaited. */
  end(): void;
  /** Called when `isAwaited` has changed. */
  changed(): void;
}

/** Joins a connection to workerd at its first bytes; closes it if they take longer than `HEAD_MS_MAX`. */
function joinAtFirstBytes(socket: Socket, port: () => number | null, exchange: Exchange): void {
  const tooLong = setTimeout(() => socket.destroy(), HEAD_MS_MAX).unref();
  const giveUp = () => socket.end();
  socket.on("close", () => clearTimeout(tooLong));
  // A client may reset its connection, or end it before it has sent anything.
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

/** Beginning of an answer after which the connection no longer carries HTTP. */
const SWITCHING_PROTOCOLS = Buffer.from("HTTP/1.1 101");

/**
 * Joins a client's connection with one to workerd in both directions, until either ends. If workerd's is lost while a
 * request waits for its answer, the client gets 503.
 */
function join(socket: Socket, port: number, exchange: Exchange): void {
  const upstream = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  let isOfHttp = true;
  const ended = () => {
    socket.unpipe(upstream);
    if (exchange.isAwaited && isOfHttp) endUnavailable(socket);
    else end(socket);
  };
  // workerd writes the rest of its answer and then closes a connection on which no more requests come.
  exchange.end = () => {
    if (!isOfHttp) return socket.destroySoon();
    socket.unpipe(upstream).resume();
    upstream.end();
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
    // Later, so that all bytes that have arrived of this answer are written before the connection may be closed.
    setImmediate(awaits, false);
  });
  // "close" follows each error.
  upstream.on("error", () => {});
  upstream.on("end", ended);
  upstream.on("close", () => {
    if (upstream.readableEnded) return;
    if (exchange.isAwaited && isOfHttp && !socket.destroyed) ended();
    else socket.destroy();
  });
  socket.on("close", () => upstream.destroy());
  socket.pipe(upstream);
  upstream.pipe(socket, { end: false });
}

/** Value of Retry-After, in seconds: workerd starts in about one. */
const RETRY_AFTER_SECONDS = 2;
const UNAVAILABLE_HEAD = [
  "HTTP/1.1 503 Service Unavailable",
  `retry-after: ${RETRY_AFTER_SECONDS}`,
  "content-type: text/plain;charset=UTF-8",
  `content-length: ${Buffer.byteLength(RESTARTING)}`,
  "connection: close",
].join("\r\n");

/**
 * Answers with 503 while workerd does not run, or when it has ended before it answered. The request may have had an
 * effect then.
 */
function endUnavailable(socket: Socket): void {
  end(socket, `${UNAVAILABLE_HEAD}\r\n\r\n${RESTARTING}`);
}

/**
 * Ends a connection after these bytes. Later bytes are read and dropped: closing a connection with unread bytes resets
 * it, and the answer is lost.
 */
function end(socket: Socket, bytes = ""): void {
  socket.end(bytes);
  socket.resume();
}
