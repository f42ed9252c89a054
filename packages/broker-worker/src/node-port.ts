import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { createSecureContext, getCACertificates } from "node:tls";
import {
  type EndpointOutcome,
  type EndpointPort,
  outcomeOf,
  refusalOfTarget,
  type TargetRules,
} from "@sluice/broker";
import { checkedLookup, type Resolve, systemResolve } from "./node-lookup.ts";
import { makeRequest, type NodeReply, type NodeRequest } from "./node-request.ts";

/** Time in ms that an idle connection is kept: less than the 5 s and more of most servers. */
const IDLE_MS_MAX = 4_000;
/**
 * Time in ms for one of several addresses of a name, after which Node.js tries the next. Its own 250 ms are too short
 * for a connection to the other side of the world.
 */
const ADDRESS_MS_MAX = 800;

/** `EndpointPort` of a broker on plain Node.js. */
interface NodePort extends EndpointPort {
  /** Ends all requests and connections. */
  close(): void;
}

/** Agents for connections to servers. */
interface Connections {
  readonly kept: HttpAgent;
  readonly single: HttpAgent;
}

type Request = Omit<NodeRequest, "agent">;

/**
 * Makes a port that calls endpoints with the HTTP client of Node.js, over connections that are kept for a while. It
 * does not follow redirects.
 *
 * @param rules rules for targets, applied to every address that a name resolves to when a connection is made.
 */
export function createNodePort(rules: TargetRules, resolve: Resolve = systemResolve): NodePort {
  const options: AgentOptions = {
    keepAlive: true,
    timeout: IDLE_MS_MAX,
    autoSelectFamilyAttemptTimeout: ADDRESS_MS_MAX,
  };
  const plain: Connections = {
    kept: new HttpAgent(options),
    single: new HttpAgent({ ...options, keepAlive: false }),
  };
  let secure: Connections | undefined;
  const connectionsTo = ({ protocol }: URL): Connections => {
    if (protocol !== "https:") return plain;
    secure ??= secureConnections(options);
    return secure;
  };
  let isClosed = false;
  const call = async (request: Omit<Request, "lookup">): Promise<EndpointOutcome> => {
    const { url } = request;
    // An address in a URL gets no lookup.
    const refusal = refusalOfTarget(url.href, rules);
    if (refusal !== null) return { kind: "unreachable", reason: refusal, isRefused: true };
    const lookup = checkedLookup(url, rules, resolve);
    return outcomeIn(await callOver(connectionsTo(url), { ...request, lookup }, () => isClosed));
  };
  const status = async (url: URL, method: "GET" | "HEAD", responseTimeoutMs: number) => {
    const request = { url, method, headers: {}, body: null, connectTimeoutMs: null, responseTimeoutMs };
    const outcome = await call(request);
    return outcome.kind === "answered" ? outcome.status : null;
  };
  return {
    post: ({ url, ...request }) => call({ ...request, url: new URL(url), method: "POST" }),
    async isReady(url, path, timeoutMs) {
      if (path === null) return (await status(new URL(url), "HEAD", timeoutMs)) !== null;
      return (await status(new URL(new URL(url).origin + path), "GET", timeoutMs)) === 200;
    },
    close() {
      isClosed = true;
      for (const { kept, single } of secure === undefined ? [plain] : [plain, secure]) {
        kept.destroy();
        single.destroy();
      }
    },
  };
}

/** Makes agents for TLS, which trust the certificates of Node.js, of `NODE_EXTRA_CA_CERTS` and of the system. */
function secureConnections(options: AgentOptions): Connections {
  const ca = [...new Set([...getCACertificates("default"), ...getCACertificates("system")])];
  // Once for all connections, because there are hundreds of certificates to read.
  const secureContext = createSecureContext({ ca });
  return {
    kept: new HttpsAgent({ ...options, secureContext }),
    single: new HttpsAgent({ ...options, secureContext, keepAlive: false }),
  };
}

const STOPPING: NodeReply = { kind: "unsent", reason: "the broker is stopping" };

interface Called {
  readonly reply: NodeReply;
  readonly isRepeated: boolean;
}

/**
 * Makes a request. If it was lost on a kept connection without a byte of an answer, the server may never have seen it,
 * so it is repeated once on a new connection (spec sqsd 3.1), within the same time.
 *
 * @param isClosed whether the port is closed, so that no request is made any more: the caller may run on for a while.
 */
async function callOver(
  { kept, single }: Connections,
  request: Request,
  isClosed: () => boolean,
): Promise<Called> {
  if (Object.keys(kept.freeSockets).length > 0) await whatHasArrived();
  if (isClosed()) return { reply: STOPPING, isRepeated: false };
  const startMs = performance.now();
  const reply = await makeRequest({ ...request, agent: kept });
  if (reply.kind !== "lost" || !reply.wasKept || isClosed()) return { reply, isRepeated: false };
  const responseTimeoutMs = request.responseTimeoutMs - (performance.now() - startMs);
  if (responseTimeoutMs <= 0) return { reply, isRepeated: false };
  const again = await makeRequest({ ...request, responseTimeoutMs, agent: single });
  // If the server is gone now, the first request may have brought it down, so it counts as seen.
  return { reply: again.kind === "unsent" || again.kind === "refused" ? reply : again, isRepeated: true };
}

/** Resolves when everything that has arrived is read, such as a server's end of a kept connection. */
function whatHasArrived(): Promise<void> {
  // The first turn of the event loop may come before arrived data is read.
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

function outcomeIn({ reply, isRepeated }: Called): EndpointOutcome {
  switch (reply.kind) {
    case "answered":
      return outcomeOf(reply.status, (name) => {
        const value = reply.headers[name];
        return typeof value === "string" ? value : null;
      });
    case "refused":
      return { kind: "unreachable", reason: reply.reason, isRefused: true };
    case "unsent":
      return { kind: "unreachable", reason: reply.reason };
    case "late":
      return { kind: "timedOut", reason: reply.reason };
    case "lost":
      return { kind: "closed", reason: reply.reason, isRepeated, isBegun: reply.isBegun };
  }
}
