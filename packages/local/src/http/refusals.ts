import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ResponseParts } from "@sluice/aws";
import { RETRY_AFTER_SECONDS } from "@sluice/gateway/request-limits";

/**
 * How long a client that is refused may go on sending, in ms: what it sends is dropped. A connection that is closed
 * with bytes unread is reset, and its client may never see why it was refused.
 */
export const LINGER_MS_MAX = 1_000;
/** Most connections that are waited for like that; others are closed at once. */
const LINGERING_MAX = 32;

let lingering = 0;

/**
 * Answers what is being read of a connection, whatever that is, and ends the connection. Whoever reads it hears of it
 * no more.
 */
export function refuseSocket(socket: Socket, status: 400 | 408 | 413 | 431 | 503): void {
  socket.removeAllListeners("data");
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const retry = status === 503 ? `Retry-After: ${RETRY_AFTER_SECONDS}\r\n` : "";
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${retry}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
  linger(socket);
  socket.resume();
}

/** Answers a request of which not all is here, or wanted, and ends its connection. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ResponseParts,
): void {
  const { socket } = request;
  if (response.headersSent || socket.destroyed) {
    socket.destroy();
    return;
  }
  const length = Buffer.byteLength(answer.body);
  response.writeHead(answer.status, { ...answer.headers, "content-length": length, connection: "close" });
  request.removeAllListeners("data").removeAllListeners("end");
  request.on("error", () => {});
  if (request.complete) {
    request.resume();
    response.end(answer.body);
    return;
  }
  // `node:http` closes the connection at the end of the answer, and the client has all of it before.
  response.write(answer.body);
  const end = () => response.end();
  request.once("end", end);
  linger(socket, end);
  request.resume();
}

/** Ends a connection that its client does not end in time. */
function linger(socket: Socket, before: () => void = () => {}): void {
  if (lingering >= LINGERING_MAX) {
    before();
    socket.destroySoon();
    return;
  }
  lingering += 1;
  const timer = setTimeout(() => {
    before();
    socket.destroySoon();
  }, LINGER_MS_MAX).unref();
  socket.once("close", () => {
    lingering -= 1;
    clearTimeout(timer);
  });
}
