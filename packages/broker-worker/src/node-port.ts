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

/** How long a connection without requests is kept, in ms: less than most servers keep theirs, which is 5 s and more. */
const IDLE_MS_MAX = 4_000;
/**
 * How long one address of a name that has several may take, in ms. Node.js gives up on it then, and tries the next; its
 * own 250 ms are less than a connection to the other side of the world needs.
 */
const ADDRESS_MS_MAX = 800;

/** `EndpointPort` of a broker on plain Node.js. */
export interface NodePort extends EndpointPort {
  /** Ends all requests and connections. */
  close(): void;
}

/** Where connections to servers are from. */
interface Connections {
  /** Those that have served a request wait here for the next. */
  readonly kept: HttpAgent;
  /** One for each request. */
  readonly single: HttpAgent;
}

type Request = Omit<NodeRequest, "agent">;

/**
 * Calls endpoints with the HTTP client of Node.js, over connections that are kept for a while. Redirects are not
 * followed.
 *
 * @param rules who may be called. Every address that a name resolves to is looked at when a connection is made.
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
    // An address in a URL is not looked up.
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

/** Trusts what Node.js brings along, what `NODE_EXTRA_CA_CERTS` adds to it, and what the system trusts. */
function secureConnections(options: AgentOptions): Connections {
  const ca = [...new Set([...getCACertificates("default"), ...getCACertificates("system")])];
  // Once for all connections: there are hundreds of certificates to read.
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
 * Makes a request. On a kept connection that ended without a byte it may never have been seen, and is made once more on
 * a new one (spec sqsd 3.1), within the same time.
 *
 * @param isClosed whether no request is made any more: what began one runs on for a while after its end.
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
  // Where nobody is there any more the first request may have brought them down: it was seen, for all that is known.
  return { reply: again.kind === "unsent" || again.kind === "refused" ? reply : again, isRepeated: true };
}

/**
 * Resolves when everything that had come in by now is read: that a server has closed a kept connection, for instance.
 */
function whatHasArrived(): Promise<void> {
  // The first of them can come before the next look at what has come in.
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
      return { kind: "closed", reason: reply.reason, isRepeated };
  }
}
