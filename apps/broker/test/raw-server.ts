import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

/** A request as it came over the wire. */
export interface RawRequest {
  /** First line: `POST /path HTTP/1.1`. */
  readonly line: string;
  /** Headers in their order and spelling, byte by byte. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Number of its connection, from 1. */
  readonly connection: number;
}

/** A server whose connections a test controls. */
export interface RawServer {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  /** Number of connections so far. */
  readonly connections: number;
  /** Handles a request. Default: `answer(200)`. */
  on: (request: RawRequest, socket: Socket) => void;
  /** Resolves when a connection has ended. */
  ended(connection: number): Promise<void>;
  /** Ends all connections, as a server does after an idle time. */
  hangUp(): void;
  close(): Promise<void>;
}

/** Makes the bytes of an answer. */
export function answer(status: number, headers: Record<string, string> = {}, body = ""): string {
  const lines = Object.entries({ ...headers, "content-length": String(body.length) });
  return `HTTP/1.1 ${status} Any\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

/** Starts a server. @param tls options for TLS. Default: plain HTTP. */
export async function startRawServer({ host = "127.0.0.1", tls }: { host?: string; tls?: TlsOptions } = {}) {
  const sockets = new Map<number, Socket>();
  const endings: Promise<unknown>[] = [];
  const requests: RawRequest[] = [];
  const connected = (socket: Socket) => {
    const connection = endings.push(new Promise((resolve) => socket.once("close", resolve)));
    sockets.set(connection, socket);
    let pending = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      pending = Buffer.concat([pending, bytes]);
      const read = readRequest(pending);
      if (read === null) return;
      pending = Buffer.alloc(0);
      const request = { ...read, connection };
      requests.push(request);
      raw.on(request, socket);
    });
  };
  const server = tls === undefined ? createServer(connected) : createTlsServer(tls, connected);
  server.listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const raw: RawServer = {
    url: `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}/`,
    requests,
    get connections() {
      return endings.length;
    },
    on: (_, socket) => socket.write(answer(200)),
    ended: async (connection) => void (await endings[connection - 1]),
    hangUp: () => {
      for (const socket of sockets.values()) socket.end();
    },
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets.values()) socket.destroy();
      await closed;
    },
  };
  return raw;
}

/** Reads a request; returns `null` while it is incomplete. */
function readRequest(bytes: Buffer): Omit<RawRequest, "connection"> | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [line = "", ...rest] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = rest.map((text) => {
    const colon = text.indexOf(":");
    return [text.slice(0, colon), text.slice(colon + 1).trim()] as const;
  });
  const length = Number(headers.find(([name]) => name.toLowerCase() === "content-length")?.[1] ?? 0);
  const body = bytes.subarray(end + 4);
  return body.length < length ? null : { line, headers, body: Buffer.from(body) };
}
