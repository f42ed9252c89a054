/** A request to the HTTP side of a broker. */
export interface BrokerRequest {
  /** Default: `GET`. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the broker's address, encoded: `/__sluice/api/queues`. */
  readonly path: string;
  /** Default: none but the type of the body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Becomes JSON. Default: none. */
  readonly body?: unknown;
  /** Ends the call, which rejects then. Default: no limit. */
  readonly signal?: AbortSignal;
}

/** The part of a `Response` that every caller has. */
export type Answer = Pick<Response, "ok" | "status" | "text" | "json">;

/** The part of `fetch` that a call needs. */
export type Fetch<Its extends Answer = Response> = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string | null;
    readonly signal: AbortSignal | null;
  },
) => Promise<Its>;

/**
 * Calls a broker by HTTP. Runs in Node.js and in Workers.
 *
 * @param url base URL of the broker, without `/__sluice` and without a slash at its end.
 * @param by makes the request. Default: `fetch`.
 * @throws the error of `by` where nobody answers. An answer with an error status is returned.
 */
export function callBroker(url: string, request: BrokerRequest): Promise<Response>;
export function callBroker<Its extends Answer>(
  url: string,
  request: BrokerRequest,
  by: Fetch<Its>,
): Promise<Its>;
export async function callBroker(
  url: string,
  request: BrokerRequest,
  by: Fetch<Answer> = fetch,
): Promise<Answer> {
  const { method = "GET", path, headers, body, signal = null } = request;
  const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  const json = body === undefined ? null : JSON.stringify(body);
  return by(`${url}${path}`, { method, headers: { ...headers, ...type }, body: json, signal });
}

/** An error in an answer of a broker's API. */
export interface BrokerError {
  readonly code?: unknown;
  readonly message?: unknown;
  /** Index of the message of a batch that it is about. */
  readonly index?: unknown;
}

/** Reads the error out of an answer of the admin API, or of the API in Cloudflare's shape. */
export function errorIn(answer: unknown): BrokerError {
  const { error, errors } = (answer ?? {}) as { error?: BrokerError; errors?: readonly BrokerError[] };
  return error ?? errors?.[0] ?? {};
}
