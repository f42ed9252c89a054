import type { EndView } from "@sluice/gateway/views";
import {
  type BrokerRequest as ApiRequest,
  type BrokerError,
  callBroker,
  errorIn,
} from "@sluice/local/broker/call-broker";
import { RESTARTING } from "@sluice/local/watchdog/restarting";
import { CliError, EXIT_FAILED, EXIT_NO_BROKER, EXIT_NOT_FOUND, EXIT_USAGE } from "@sluice/project/errors";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import type { BrokerAddress } from "./find-broker.ts";

/** Time limit of a request, in ms. */
const PATIENCE_MS = 60_000;
/** Time without an answer after which the user is told, in ms. */
export const TOLD_AFTER_MS = 5_000;

const SILENT_WORKER =
  "A Worker beside it may throw while it is loaded, or hang: where the broker was started its output says which.";

/** A request below one of the two APIs. */
export interface BrokerRequest extends Pick<ApiRequest, "method" | "body"> {
  /** Below the API's root, encoded, `/queues/orders`. */
  readonly path: string;
  /** Time limit. Default: 60,000. */
  readonly patienceMs?: number;
}

/** A refusal of the broker, or no answer at all. The message says what to do. */
export class BrokerFailure extends CliError {
  /** The API's own code; `null` where it gave none. */
  readonly code: string | number | null;
  /** Index of the refused message in a batch; `null` for other failures. */
  readonly index: number | null;
  /** Status of the answer; 0 where there was none. */
  readonly status: number;

  constructor(
    message: string,
    exitCode: number,
    code: string | number | null = null,
    index: unknown = null,
    status = 0,
  ) {
    super(message, exitCode);
    this.code = code;
    this.status = status;
    this.index = typeof index === "number" ? index : null;
  }

  /** Error text without the message's index, for output that names the message by its line in a file. */
  get ofMessage(): string {
    return this.message.replace(/^Message \d+ of the batch /, "the message ");
  }
}

/** Client of a broker's HTTP APIs: `docs/admin-api.md` and `docs/rest-api.md`. */
export class BrokerClient {
  readonly #address: BrokerAddress;
  /** Tells the user of the first slow answer; `null` once it has. */
  #tell: ((text: string) => void) | null;

  /** @param tell tells the user that the broker has not answered for 5 s. Default: the user is not told. */
  constructor(address: BrokerAddress, tell: ((text: string) => void) | null = null) {
    this.#address = address;
    this.#tell = tell;
  }

  get url(): string {
    return this.#address.url;
  }

  /**
   * Sends a request to the admin API.
   *
   * @returns the body of the answer, of the shape that the API documents for it.
   * @throws BrokerFailure
   */
  async admin<T>(request: BrokerRequest): Promise<T> {
    const { status, body } = await this.#ask(`${SLUICE_PATH}/api`, request);
    if (status < 300) return body as T;
    throw this.#failure(status, errorIn(body));
  }

  /**
   * Sends a request to the API in Cloudflare's shape, below `/accounts/ACCOUNT/queues`.
   *
   * @returns the answer's `result`.
   * @throws BrokerFailure
   */
  async rest<T>(request: BrokerRequest): Promise<T> {
    const { status, body } = await this.#ask(`${SLUICE_PATH}/client/v4/accounts/sluice/queues`, request);
    if (status < 300) return memberOf(body, "result") as T;
    throw this.#failure(status, errorIn(body));
  }

  /**
   * Opens a stream of the admin API, which has no time limit.
   *
   * @param path below the API's root, encoded.
   * @throws BrokerFailure
   */
  async stream(path: string): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#call({ path: `${SLUICE_PATH}/api${path}` });
    if (response.ok && response.body !== null) return response.body;
    throw this.#failure(response.status, errorIn(await this.#parsed(response)));
  }

  /**
   * Forwards a message of the Model Context Protocol.
   *
   * @param headers headers of the protocol, which repeat fields of the message.
   * @param cancelled aborts the request.
   * @returns the answer; `null` for a message that gets none.
   * @throws BrokerFailure
   */
  async mcp(
    message: unknown,
    headers: Readonly<Record<string, string>>,
    cancelled: AbortSignal,
  ): Promise<object | null> {
    this.#refuseStranger();
    const signal = AbortSignal.any([cancelled, AbortSignal.timeout(PATIENCE_MS)]);
    const response = await this.#call({
      method: "POST",
      path: `${SLUICE_PATH}/mcp`,
      headers,
      body: message,
      signal,
    });
    if (response.status === 202) return null;
    const body = await this.#parsed(response);
    if (memberOf(body, "jsonrpc") === "2.0") return body as object;
    throw this.#failure(response.status, errorIn(body));
  }

  /** Makes the error for a stream that the broker has ended: the one that a new request would get. */
  endOf({ code, message }: EndView): BrokerFailure {
    return this.#failure(code === "unauthorized" ? 401 : 403, { code, message });
  }

  async #ask(root: string, { path, patienceMs = PATIENCE_MS, ...request }: BrokerRequest) {
    if (changesSomething(request)) this.#refuseStranger();
    const signal = AbortSignal.timeout(patienceMs);
    const response = await this.#call({ ...request, path: `${root}${path}`, signal });
    return { status: response.status, body: await this.#parsed(response) };
  }

  /** @throws CliError for a broker of another project that was found and not named. */
  #refuseStranger(): void {
    const { url, stranger = null } = this.#address;
    if (stranger === null) return;
    const text = `Nothing was done: the only broker that runs is another project's, ${stranger}. --url ${url} names it.`;
    throw new CliError(text, EXIT_USAGE);
  }

  async #call(request: ApiRequest): Promise<Response> {
    const { url, token } = this.#address;
    const known: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const silence = setTimeout(() => this.#tellOfSilence(), TOLD_AFTER_MS);
    try {
      return await callBroker(url, { ...request, headers: { ...request.headers, ...known } });
    } catch (error) {
      throw this.#noAnswer(error);
    } finally {
      clearTimeout(silence);
    }
  }

  #tellOfSilence(): void {
    const { url } = this.#address;
    this.#tell?.(
      `The broker at ${url} has not answered for ${TOLD_AFTER_MS / 1_000} s. ${SILENT_WORKER} This command goes on waiting.`,
    );
    this.#tell = null;
  }

  /** Reads the JSON of an answer. */
  async #parsed(response: Response): Promise<unknown> {
    const { url } = this.#address;
    const { status } = response;
    const text = await response.text().catch((error) => {
      throw this.#noAnswer(error);
    });
    if (status === 503 && text === RESTARTING) {
      throw new BrokerFailure(
        `The Workers of the broker at ${url} do not answer and are being started again. Try again in a moment.`,
        EXIT_NO_BROKER,
      );
    }
    try {
      return JSON.parse(text);
    } catch {
      throw new BrokerFailure(
        `There is no broker of Sluice at ${url}: something else answers there, with status ${status}.`,
        EXIT_NO_BROKER,
      );
    }
  }

  #noAnswer(error: unknown): BrokerFailure {
    const { url } = this.#address;
    if (error instanceof Error && error.name === "TimeoutError") {
      const text = `The broker at ${url} has not answered for ${PATIENCE_MS / 1_000} s. ${SILENT_WORKER}`;
      return new BrokerFailure(text, EXIT_NO_BROKER);
    }
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return new BrokerFailure(`No broker answers at ${url}: ${reasonOf(cause)}.`, EXIT_NO_BROKER);
  }

  #failure(status: number, { code, message, index }: BrokerError): BrokerFailure {
    const { url, token } = this.#address;
    const known = typeof code === "string" || typeof code === "number" ? code : null;
    if (status === 401 || message === REST_AUTHENTICATION_ERROR) {
      const text =
        token === null
          ? `The broker at ${url} asks for a token: set SLUICE_API_TOKEN, or --token.`
          : `The broker at ${url} does not know this token, or it has expired.`;
      return new BrokerFailure(text, EXIT_FAILED, known);
    }
    if (typeof message !== "string" || known === "no_route") {
      const text = `The broker at ${url} cannot do that (status ${status}): it may be of another version.`;
      return new BrokerFailure(text, EXIT_FAILED, known, null, status);
    }
    return new BrokerFailure(message, exitCodeOf(status, known), known, index, status);
  }
}

/** Whether a request changes something. One with `dryRun` only counts. */
function changesSomething({ method = "GET", body }: Pick<ApiRequest, "method" | "body">): boolean {
  return method !== "GET" && memberOf(body, "dryRun") !== true;
}

/** Error codes of the API for options that a command forwards unchecked: usage errors. */
const USAGE_CODES: readonly unknown[] = [
  "invalid_filter",
  "invalid_cursor",
  "ambiguous_id",
  "invalid_id",
  "finished",
];

function exitCodeOf(status: number, code: unknown): number {
  if (status === 404) return EXIT_NOT_FOUND;
  return USAGE_CODES.includes(code) ? EXIT_USAGE : EXIT_FAILED;
}

/**
 * Message of Cloudflare's API for an unknown token. Other refusals have the same code and other messages.
 */
const REST_AUTHENTICATION_ERROR = "Authentication error";

const UNTRUSTED = "nobody vouches for its certificate; name who does in NODE_EXTRA_CA_CERTS";

/** Explanations of Node.js's error codes for a connection that fails. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host cannot be resolved now",
  ECONNRESET: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut",
  ETIMEDOUT: "the host does not answer",
  UND_ERR_CONNECT_TIMEOUT: "the host does not answer",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "its network cannot be reached",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

function reasonOf(error: unknown): string {
  const code = memberOf(error, "code");
  const known = typeof code === "string" ? REASONS[code] : undefined;
  return known ?? (error instanceof Error ? error.message : String(error));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
