import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { FrameLink, NEAR } from "../front/frame-link.ts";
import { handOver, isPostedAnywhere, textOf } from "../front/framed-requests.ts";
import type { Front } from "../front/front.ts";
import { HTTP_LIMITS, listen, withPatience } from "../front/listen.ts";
import { NearPace } from "../front/near-pace.ts";
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
  let idle: (() => void)[] = [];
  const ended = () => {
    underWay -= 1;
    if (underWay > 0) return;
    for (const tell of idle) tell();
    idle = [];
  };
  const server = createServer(HTTP_LIMITS, (request, response) => {
    underWay += 1;
    response.on("close", ended);
    if (isPostedAnywhere(request) && request.headers["transfer-encoding"] === undefined) {
      readAndHandOver(request, response, link, broker);
    } else void others(request, response);
  });
  const destroy = () => {
    server.close();
    server.closeAllConnections();
    link.close();
  };
  const listening = await listen(server, host, port);
  return {
    port: listening,
    stop: async (signal) => {
      server.close();
      const whenIdle = new Promise<void>((resolve) => {
        if (underWay === 0) resolve();
        else idle.push(resolve);
      });
      await withPatience(whenIdle, signal);
    },
    destroy,
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
