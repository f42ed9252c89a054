import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { FrameLink, NEAR } from "../front/frame-link.ts";
import { handOver, isPlainForAws, isPostedAnywhere, textOf } from "../front/framed-requests.ts";
import type { Front } from "../front/front.ts";
import { HTTP_LIMITS, listen, withPatience } from "../front/listen.ts";
import { NearPace } from "../front/near-pace.ts";
import { PlainConnections } from "../front/plain-connections.ts";
import type { Broker } from "./contract.ts";

export interface ServerOptions {
  /** Address and port to listen on; 0 for one that is free. */
  readonly host: string;
  readonly port: number;
  readonly broker: Pick<Broker, "carrier" | "fetch">;
}

/**
 * Serves a broker in this process. What AWS's clients post goes to it many at a time, as it comes: requests of one moment share a
 * commit. All others are its `fetch`'s.
 *
 * @throws CliError when the port is in use.
 */
export async function startServer({ host, port, broker }: ServerOptions): Promise<Front> {
  const link = new FrameLink({ open: (events) => broker.carrier(events), pace: new NearPace(), ...NEAR });
  const others = getRequestListener((request) => broker.fetch(request), { overrideGlobalObjects: false });
  let underWay = 0;
  let whenIdle: (() => void)[] = [];
  const began = () => {
    underWay += 1;
  };
  const ended = () => {
    underWay -= 1;
    if (underWay > 0) return;
    for (const tell of whenIdle) tell();
    whenIdle = [];
  };
  const server = createServer(HTTP_LIMITS, (request, response) => {
    began();
    response.on("close", ended);
    if (isPostedAnywhere(request) && request.headers["transfer-encoding"] === undefined) {
      readAndHandOver(request, response, link, broker);
    } else void others(request, response);
  });
  const plain = new PlainConnections({
    ...{ link, began, ended, others: takenOver(server) },
    isFramed: isPlainForAws,
    keepAliveMs: HTTP_LIMITS.keepAliveTimeout,
  });
  server.on("connection", (socket) => plain.accept(socket));
  const destroy = () => {
    server.close();
    plain.destroy();
    server.closeAllConnections();
    link.close();
  };
  const answered = async () => {
    // Requests that were coming in are begun by `node:http` before this.
    await new Promise((resolve) => setImmediate(resolve));
    if (underWay > 0) await new Promise<void>((resolve) => whenIdle.push(resolve));
    await plain.flushed();
  };
  const listening = await listen(server, host, port).catch((error) => {
    destroy();
    throw error;
  });
  return {
    port: listening,
    stop: async (signal) => {
      server.close();
      plain.stop();
      link.stopping();
      await withPatience(answered(), signal);
    },
    destroy,
  };
}

/**
 * Takes a server's connections away from it. Returns what gives it one of them back, of which some bytes were read. The server
 * itself listens all the same: else it would not look for headers and requests that take too long.
 */
function takenOver(server: Server): (socket: Socket, bytes: Buffer) => void {
  const own = server.listeners("connection");
  server.removeAllListeners("connection");
  return (socket, bytes) => {
    socket.pause();
    socket.unshift(bytes);
    for (const listener of own) listener.call(server, socket);
    socket.resume();
  };
}

function readAndHandOver(
  request: IncomingMessage,
  response: ServerResponse,
  link: FrameLink,
  broker: Pick<Broker, "fetch">,
): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const text = textOf(chunks);
    if (text !== null) handOver(link, request, response, text);
    else answerBytes(request, response, Buffer.concat(chunks), broker).catch(() => response.destroy());
  });
}

/** What is no text is refused by the broker in its own words. */
async function answerBytes(
  { method = "POST", url = "/", headers }: IncomingMessage,
  response: ServerResponse,
  body: Buffer<ArrayBuffer>,
  broker: Pick<Broker, "fetch">,
): Promise<void> {
  const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const answer = await broker.fetch(
    new Request(`http://${headers.host}${url}`, { method, headers: given, body }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}
