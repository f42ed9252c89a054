import { connect } from "cloudflare:sockets";
import { env } from "cloudflare:workers";
import { type EndpointOutcome, type EndpointPort, type EndpointRequest, outcomeOf } from "./endpoint.ts";
import { arePrivateAllowed, targetRulesOf } from "./target.ts";

/** Means of reaching a server. */
interface Way {
  fetch(url: string, init: RequestInit): Promise<Response>;
  connect(address: SocketAddress): Socket;
}

/** Means that `sluice serve` gives the broker, beside its variables. */
interface Ways {
  /** Reaches public addresses only. */
  readonly SLUICE_PUBLIC_HOSTS?: Way;
  /** Reaches any address, for hosts that may be private. */
  readonly SLUICE_LISTED_HOSTS?: Way;
}

/** Means of the platform. `fetch` must be called as a method of the global scope. */
const USUAL: Way = { fetch: (url, init) => fetch(url, init), connect: (address) => connect(address) };

/** Returns the means of reaching a URL. */
function wayTo(url: string): Way {
  const {
    SLUICE_LISTED_HOSTS: anyHost = USUAL,
    SLUICE_PUBLIC_HOSTS: publicHosts = USUAL,
    ...vars
  } = env as Ways & Readonly<Record<string, unknown>>;
  return arePrivateAllowed(new URL(url), targetRulesOf(vars)) ? anyHost : publicHosts;
}

/** Calls endpoints with the `fetch` of Workers. Redirects are not followed: they could lead anywhere. */
export const workersPort: EndpointPort = {
  async post(request: EndpointRequest): Promise<EndpointOutcome> {
    const { url, headers, body, connectTimeoutMs, responseTimeoutMs, wholeAnswerTimeoutMs } = request;
    const call = new AbortController();
    const give = (outcome: EndpointOutcome) => call.abort(new GivenUp(outcome));
    const giveUpAfter = (ms: number, what: string) =>
      setTimeout(() => give({ kind: "timedOut", reason: `${what} within ${ms / 1000} s` }), ms);
    let tooLong = giveUpAfter(responseTimeoutMs, "it did not answer");
    const unended =
      wholeAnswerTimeoutMs === undefined
        ? undefined
        : giveUpAfter(wholeAnswerTimeoutMs, "its answer did not end");
    let isBegun = false;
    // `fetch` does not tell when it is connected, so a slow server is tested with another connection.
    const notConnected = setTimeout(async () => {
      if (connectTimeoutMs === null) return;
      if ((await hangs(url, connectTimeoutMs)) && !isBegun) {
        give({ kind: "unreachable", reason: `no connection within ${connectTimeoutMs / 1000} s` });
      }
    }, connectTimeoutMs ?? responseTimeoutMs);
    try {
      const { signal } = call;
      const init = {
        method: "POST",
        headers: headerTexts(headers),
        body,
        redirect: "manual",
        signal,
      } as const;
      const response = await wayTo(url).fetch(url, init);
      isBegun = true;
      clearTimeout(notConnected);
      const goneOn = () => {
        clearTimeout(tooLong);
        tooLong = giveUpAfter(responseTimeoutMs, "its answer did not go on");
      };
      // The body is not needed, however it ends, and unread it would keep the connection.
      if (wholeAnswerTimeoutMs === undefined) await response.body?.cancel().catch(() => {});
      else await response.body?.pipeTo(new WritableStream({ start: goneOn, write: goneOn }), { signal });
      return outcomeOf(response.status, (name) => response.headers.get(name));
    } catch {
      if (call.signal.reason instanceof GivenUp) return call.signal.reason.outcome;
      if (isBegun) return { kind: "closed", reason: "its answer breaks off", isBegun };
      if (connectTimeoutMs === null) return { kind: "closed", reason: "it could not be reached, or hung up" };
      // A lost connection and one that was never made look the same.
      return (await answers(url, "HEAD", connectTimeoutMs)) === null
        ? { kind: "unreachable", reason: "it cannot be reached" }
        : { kind: "closed", reason: "it closed the connection without an answer" };
    } finally {
      clearTimeout(tooLong);
      if (unended !== undefined) clearTimeout(unended);
      clearTimeout(notConnected);
    }
  },

  async isReady(url: string, path: string | null, timeoutMs: number): Promise<boolean> {
    if (path === null) return (await answers(url, "HEAD", timeoutMs)) !== null;
    return (await answers(new URL(url).origin + path, "GET", timeoutMs)) === 200;
  },
};

/** Decodes headers for this platform, which sends the characters of a value in UTF-8. */
function headerTexts(headers: EndpointRequest["headers"]): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => {
    if (/^[\0-\x7f]*$/.test(value)) return [name, value];
    return [name, utf8.decode(Uint8Array.from(value, (char) => char.charCodeAt(0)))];
  });
  return Object.fromEntries(entries);
}

const utf8 = new TextDecoder();

/** Requests a URL. @returns the status of its answer, `null` if there is none. */
async function answers(url: string, method: "HEAD" | "GET", timeoutMs: number): Promise<number | null> {
  try {
    const response = await wayTo(url).fetch(url, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel().catch(() => {});
    const outcome = outcomeOf(response.status, () => null);
    return outcome.kind === "answered" ? outcome.status : null;
  } catch {
    return null;
  }
}

/**
 * Tests whether a connection to a server is neither made nor refused in time. A refusal proves nothing, since the
 * platform refuses to connect to some servers that `fetch` reaches.
 */
async function hangs(text: string, timeoutMs: number): Promise<boolean> {
  const { hostname, port, protocol } = new URL(text);
  const late = new Promise<true>((resolve) => setTimeout(resolve, timeoutMs, true));
  let socket: Socket | undefined;
  try {
    socket = wayTo(text).connect({ hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) });
    return await Promise.race([socket.opened.then(() => false), late]);
  } catch {
    return false;
  } finally {
    socket?.close().catch(() => {});
  }
}

/** Reason for which a request was ended from this side. */
class GivenUp extends Error {
  readonly outcome: EndpointOutcome;

  constructor(outcome: EndpointOutcome) {
    super("the request was given up");
    this.outcome = outcome;
  }
}
