import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ResponseParts } from "@sluice/aws";
import { RETRY_AFTER_SECONDS } from "@sluice/gateway/request-limits";

/**
 * How long a refused client may go on sending, in ms; the bytes are dropped. A connection that is closed with unread
 * bytes is reset, and its client may never see why it was refused.
 */
export const LINGER_MS_MAX = 1_000;
/** Most connections that linger like that; further ones are closed at once. */
const LINGERING_MAX = 32;

let lingering = 0;

/**
 * Writes a response to whatever is being read of a connection, and ends the connection. Its listeners for data are
 * removed.
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

/** Answers a request whose body has not arrived or is not wanted, and ends its connection. */
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
  // `end` closes the connection, so it waits until the client has sent its body: the client reads the answer meanwhile.
  response.write(answer.body);
  const end = () => response.end();
  request.once("end", end);
  linger(socket, end);
  request.resume();
}

/** Ends a connection that its client does not end within `LINGER_MS_MAX`. */
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
