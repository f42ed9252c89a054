import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "node:net";
import type { Duplex } from "node:stream";
import { isLoopback } from "@sluice/local/settings/admission";

/** Events of a Node.js server with a request and its response. */
const REQUESTS = new Set(["request", "checkContinue", "checkExpectation"]);
/** Events with a request and its connection. */
const UPGRADES = new Set(["upgrade", "connect"]);

const LOCAL = "cdn-cgi";
/** Most decodings of a path. One that is encoded more often is refused. */
const DECODINGS_MAX = 5;

const REFUSAL = "The paths under /cdn-cgi/ are tools of Cloudflare's for this machine only.\n";

/**
 * Refuses paths under `/cdn-cgi/` to other machines, before any listener of the server gets the request. Miniflare
 * serves its Local Explorer there, which reads and writes the data of every Durable Object without a token, and trusts
 * the `Host` of a request.
 *
 * Vite's middleware cannot do so, because upgrades bypass it.
 */
export function keepLocalPaths(server: Server): void {
  const { emit } = server;
  server.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
    const isUpgrade = UPGRADES.has(event);
    if (isUpgrade || REQUESTS.has(event)) {
      const [request, answer] = args as [IncomingMessage, ServerResponse | Duplex];
      if (isLocalPath(request.url ?? "") && !isOfThisMachine(request.socket.remoteAddress)) {
        if (isUpgrade) refuseUpgrade(answer as Duplex);
        else refuseRequest(answer as ServerResponse);
        return true;
      }
    }
    return Reflect.apply(emit, this, [event, ...args]);
  } as typeof emit;
}

/**
 * Whether any part of Vite or Miniflare may read the target of a request as a path under `/cdn-cgi/`: in any case,
 * encoded, after an origin, with doubled or backward slashes, or by `..`.
 */
export function isLocalPath(target: string): boolean {
  let [path = ""] = target.split(/[?#]/, 1);
  for (let times = 0; times < DECODINGS_MAX; times += 1) {
    if (path.toLowerCase().includes(LOCAL)) return true;
    const decoded = path.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === path) return false;
    path = decoded;
  }
  return true;
}

/** Whether a connection comes from this machine. A closed one has no address, and gets no answer. */
function isOfThisMachine(remoteAddress: string | undefined): boolean {
  return remoteAddress !== undefined && isLoopback(remoteAddress.replace(/^::ffff:/i, ""));
}

function refuseRequest(response: ServerResponse): void {
  response.writeHead(403, { "content-type": "text/plain; charset=utf-8" }).end(REFUSAL);
}

function refuseUpgrade(socket: Duplex): void {
  socket.on("error", () => socket.destroy());
  socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
}
