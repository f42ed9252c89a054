import { CliError, EXIT_FAILED, EXIT_NOT_FOUND } from "@sluice/project/errors";
import { type Credentials, NO_ROUTE, refusesCredentials } from "../../deploy/account.ts";
import { isPassingStatus, PassingFailure } from "../../patience.ts";
import type { OtherQueue } from "../same-queue.ts";
import { type StrangeAnswer, strangeAnswer } from "../strange-answer.ts";

export const API_URL = "https://api.cloudflare.com/client/v4";
/** Time limit for an answer, in ms. */
const PATIENCE_MS = 60_000;

/** A queue as Cloudflare's API shows it. */
export interface CloudflareQueue {
  readonly queue_id: string;
  readonly queue_name: string;
  readonly settings?: {
    readonly delivery_delay?: number;
    readonly delivery_paused?: boolean;
    readonly message_retention_period?: number;
  };
  readonly consumers?: readonly CloudflareConsumer[];
}

/** A consumer as Cloudflare's API shows it. */
export interface CloudflareConsumer {
  readonly consumer_id: string;
  readonly type: string;
  readonly script?: string;
  readonly script_name?: string;
  readonly service?: string;
  readonly dead_letter_queue?: string;
  readonly settings?: ConsumerSettings;
}

export interface ConsumerSettings {
  readonly batch_size?: number;
  readonly max_retries?: number;
  readonly max_wait_time_ms?: number;
  readonly max_concurrency?: number | null;
  readonly retry_delay?: number;
  readonly visibility_timeout_ms?: number;
}

/** A consumer to be added. */
export interface NewConsumer {
  readonly type: string;
  readonly script_name?: string;
  readonly dead_letter_queue?: string;
  readonly settings: ConsumerSettings;
}

/** A message as a pull shows it. */
export interface PulledMessage {
  readonly id: string;
  readonly body: string;
  readonly timestamp_ms: number;
  readonly lease_id: string;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

/** Refusal of a request because of its credentials. */
class RefusedCredentials extends CliError {}

/** Refusal of a request because of its contents. */
export class RefusedRequest extends CliError {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message, EXIT_FAILED);
    this.status = status;
  }
}

interface Opened {
  readonly credentials: Credentials;
  /** Reads credentials that expire again, such as those of a login. Default: the credentials do not expire. */
  readonly renew?: () => Promise<Credentials>;
  /** Id of the account. */
  readonly account: string;
  readonly apiUrl: string;
}

/** The queues of an account of Cloudflare. A failure that may pass is thrown as `PassingFailure`. */
export class CloudflareQueues {
  readonly #opened: Opened;
  #credentials: Credentials;
  #renewing: Promise<void> | null = null;

  constructor(opened: Opened) {
    this.#opened = opened;
    this.#credentials = opened.credentials;
  }

  get account(): string {
    return this.#opened.account;
  }

  /** Account and address, in words. */
  get place(): string {
    return `account ${this.account} of Cloudflare at ${this.#opened.apiUrl}`;
  }

  /** Facts for deciding whether a queue is the broker's own. */
  identityOf({ queue_id: id }: CloudflareQueue): OtherQueue {
    return { id, hasQueue: async (name) => (await this.find(name)) !== null };
  }

  /** Finds a queue by its name; `null` for none. */
  async find(name: string): Promise<CloudflareQueue | null> {
    const path = `?page=1&name=${encodeURIComponent(name)}`;
    const found = await this.#ask<CloudflareQueue[]>("GET", path, undefined, isListOfObjects);
    return found.find(({ queue_name }) => queue_name === name) ?? null;
  }

  get(id: string): Promise<CloudflareQueue> {
    return this.#ask("GET", `/${id}`, undefined, isObject);
  }

  /** Creates a queue, with the API's defaults for absent settings. */
  create(name: string, settings: NonNullable<CloudflareQueue["settings"]>): Promise<CloudflareQueue> {
    const isDefault = Object.keys(settings).length === 0;
    return this.#ask("POST", "", { queue_name: name, ...(isDefault ? {} : { settings }) }, isObject);
  }

  async addConsumer(id: string, consumer: NewConsumer): Promise<void> {
    await this.#ask("POST", `/${id}/consumers`, consumer);
  }

  async removeConsumer(id: string, consumerId: string): Promise<void> {
    await this.#ask("DELETE", `/${id}/consumers/${consumerId}`);
  }

  /** Counts the waiting messages; `null` where the API refuses to, or gives no number. */
  async backlog(id: string): Promise<number | null> {
    try {
      const { backlog_count: count } = await this.#ask<{ backlog_count?: number }>(
        "GET",
        `/${id}/metrics`,
        undefined,
        isObject,
      );
      return count ?? null;
    } catch (error) {
      if (error instanceof RefusedRequest) return null;
      throw error;
    }
  }

  async pull(id: string, max: number, visibilityMs: number): Promise<readonly PulledMessage[]> {
    const body = { batch_size: max, visibility_timeout_ms: visibilityMs };
    const { messages } = await this.#ask<{ messages?: PulledMessage[] }>(
      "POST",
      `/${id}/messages/pull`,
      body,
      isObject,
    );
    return messages ?? [];
  }

  /** Acknowledges messages. Returns the lease ids that had no effect. */
  async ack(id: string, leaseIds: readonly string[]): Promise<readonly string[]> {
    const body = { acks: leaseIds.map((lease_id) => ({ lease_id })), retries: [] };
    const { warnings } = await this.#ask<{ warnings?: unknown }>(
      "POST",
      `/${id}/messages/ack`,
      body,
      isObject,
    );
    return Object.keys(Object(warnings));
  }

  /** Releases messages, which can be pulled again after that many seconds. */
  async postpone(id: string, leaseIds: readonly string[], seconds: number): Promise<void> {
    const retries = leaseIds.map((lease_id) => ({ lease_id, delay_seconds: seconds }));
    await this.#ask("POST", `/${id}/messages/ack`, { acks: [], retries });
  }

  /** @param messages text of a JSON array: parsing and printing it would change large numbers in bodies. */
  async sendBatch(id: string, messages: string): Promise<void> {
    await this.#ask("POST", `/${id}/messages/batch`, `{"messages":${messages}}`);
  }

  /**
   * Sends a request below the queues of the account, and returns the result. If the credentials are refused, it renews
   * them and tries once more.
   *
   * @param body an object, or JSON text.
   * @param isForm checks the form of a result. Default: any form is accepted.
   */
  async #ask<T>(
    method: string,
    path: string,
    body?: object | string,
    isForm: (result: unknown) => boolean = () => true,
  ): Promise<T> {
    const used = this.#credentials;
    try {
      return await this.#askOnce(method, path, body, isForm);
    } catch (error) {
      const { renew } = this.#opened;
      if (renew === undefined || !(error instanceof RefusedCredentials)) throw error;
      // Another call may have renewed them meanwhile.
      if (this.#credentials === used) {
        this.#renewing ??= this.#renew(renew);
        await this.#renewing;
      }
      return this.#askOnce(method, path, body, isForm);
    }
  }

  async #renew(renew: () => Promise<Credentials>): Promise<void> {
    try {
      this.#credentials = await renew();
    } finally {
      this.#renewing = null;
    }
  }

  async #askOnce<T>(
    method: string,
    path: string,
    body: object | string | undefined,
    isForm: (result: unknown) => boolean,
  ): Promise<T> {
    const { account, apiUrl } = this.#opened;
    const what = `${method} /queues${path.replace(/\?.*/, "")}`;
    const { text, retryAfterMs, ...head } = await this.#fetch(
      `${apiUrl}/accounts/${account}/queues${path}`,
      what,
      {
        method,
        headers: { ...this.#credentials.headers, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      },
    );
    const { status } = head;
    const answer = parsed(text);
    const isFine = answer?.success === true && status < 300;
    if (isFine && isForm(answer.result)) return answer.result as T;
    const strange = strangeAnswer(apiUrl, "Cloudflare", head);
    if (isFine || (status >= 300 && status < 400)) throw new CliError(strange, EXIT_FAILED);
    if (answer === null && status < 300) throw new PassingFailure(strange, retryAfterMs);
    const [error] = answer?.errors ?? [];
    const said = error === undefined ? `status ${status}` : `${error.message} [code: ${error.code}]`;
    const refused = `Cloudflare refuses ${what}: ${said}.`;
    if (isPassingStatus(status) || answer === null) throw new PassingFailure(refused, retryAfterMs);
    throw this.#refusal(refused, status, error?.code);
  }

  #refusal(text: string, status: number, code: number | undefined): CliError {
    const { account } = this.#opened;
    if (code !== undefined && NO_ROUTE.includes(code)) {
      return new CliError(
        `${text} Is there an account ${account}? CLOUDFLARE_ACCOUNT_ID names it.`,
        EXIT_NOT_FOUND,
      );
    }
    if (!refusesCredentials(code, status)) return new RefusedRequest(text, status);
    const need = `A token needs "Queues: Edit" for the account ${account}.`;
    return new RefusedCredentials(
      `${text} The credentials are those of ${this.#credentials.source}. ${need}`,
    );
  }

  async #fetch(
    url: string,
    what: string,
    init: RequestInit,
  ): Promise<StrangeAnswer & { readonly text: string; readonly retryAfterMs: number }> {
    try {
      // A redirect would take the token elsewhere.
      const response = await fetch(url, {
        ...init,
        redirect: "manual",
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const { headers } = response;
      const retryAfterMs = 1_000 * Number(headers.get("retry-after") ?? 0) || 0;
      return {
        status: response.status,
        contentType: headers.get("content-type"),
        location: headers.get("location"),
        text: await response.text(),
        retryAfterMs,
      };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const { message, cause } = error;
      throw new PassingFailure(
        `Cloudflare does not answer ${what}: ${cause instanceof Error ? cause.message : message}.`,
      );
    }
  }
}

interface Envelope {
  readonly success?: boolean;
  readonly errors?: readonly { readonly code: number; readonly message: string }[];
  readonly result?: unknown;
}

function parsed(text: string): Envelope | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as Envelope) : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject);
}
