import { connect, type Socket } from "node:net";

/** Ways that the first bytes of a connection lead. */
export interface Ways {
  /** First bytes of the connections that are answered here. */
  readonly start: Buffer;
  /** Takes such a connection over. Its bytes are all still to be read. */
  here(socket: Socket): void;
  /** Port on 127.0.0.1 that all others are handed on to, byte for byte. */
  readonly elsewhere: number;
}

/** Finds out by its first bytes what a connection is for. */
export function routeConnection(socket: Socket, ways: Ways): void {
  const { start } = ways;
  let read: Buffer = Buffer.alloc(0);
  const giveUp = () => socket.end();
  const decide = (chunk: Buffer) => {
    read = read.byteLength === 0 ? chunk : Buffer.concat([read, chunk]);
    const length = Math.min(read.byteLength, start.byteLength);
    const isStart = read.subarray(0, length).equals(start.subarray(0, length));
    if (isStart && length < start.byteLength) return;
    socket.off("data", decide).off("end", giveUp);
    socket.pause();
    socket.unshift(read);
    if (!isStart) return handOn(socket, ways.elsewhere);
    ways.here(socket);
    socket.resume();
  };
  // A client may reset its connection, and end it before it has said anything.
  socket.on("error", () => socket.destroy());
  socket.on("end", giveUp);
  socket.on("data", decide);
}

/** Joins two connections, so that each end of the one is that of the other. */
function handOn(socket: Socket, port: number): void {
  const upstream = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  upstream.on("error", () => socket.destroy());
  upstream.on("close", () => socket.destroy());
  socket.on("close", () => upstream.destroy());
  socket.pipe(upstream);
  upstream.pipe(socket);
}
