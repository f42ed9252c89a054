import {
  type Answer,
  mediaTypeOf,
  type RequestHeaders,
  type RequestUrl,
  type SignedRequest,
} from "@sluice/aws";
import type { ReadRequest } from "@sluice/protocol";
import type { PageRequest } from "./page-origin.ts";
import { LazyUrl } from "./request-url.ts";

const NO_BYTES = new Uint8Array();
const FORM_TYPE = "application/x-www-form-urlencoded";
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A request to the AWS endpoint, however it came. */
export interface AwsRequest extends SignedRequest {
  /** What it tells of the page that it may be for. */
  readonly page: PageRequest;
  /** Empty unless it was read as bytes: nobody but who checks its signature looks at them. */
  readonly body: Uint8Array;
  /** The body as text where that is here already; `null` elsewhere. To wait for it all the same takes longer than to read it. */
  readonly text: string | null;
  readBytes(): Promise<Uint8Array>;
  readText(): Promise<string>;
  /** Whether nobody waits for the answer any more. */
  readonly hasClientGone: boolean;
  /** Has `listener` called when the client goes, also while it is being answered: at once if it has gone. It may never be. */
  whenClientGoes(listener: () => void): void;
  /** Whether the process that listens is about to end: nobody is to be kept waiting. */
  readonly isStopping: boolean;
  /** Has `listener` called when that comes while the request is being answered. It may never. */
  whenStopping(listener: () => void): void;
}

/** An answer, and whether it was waited for: then its client may have gone meanwhile. */
export interface AwsAnswer extends Answer {
  readonly hasWaited?: boolean;
}

/** A request that the platform has handed to the Worker. Its body is read once, as who has to know it needs it. */
export class HttpAwsRequest implements AwsRequest {
  /** The platform does not say. */
  readonly isStopping = false;
  readonly page: Request;
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly url: RequestUrl;
  #body: Uint8Array | undefined;
  #text: string | undefined;

  constructor(raw: Request) {
    this.page = raw;
    this.method = raw.method;
    this.headers = raw.headers;
    this.url = new LazyUrl(raw.url);
  }

  get body(): Uint8Array {
    return this.#body ?? NO_BYTES;
  }

  get text(): string | null {
    return this.#text ?? null;
  }

  async readBytes(): Promise<Uint8Array> {
    this.#body ??= new Uint8Array(await this.page.arrayBuffer());
    return this.#body;
  }

  /**
   * Of the bytes if they were read, else as the platform hands out texts for less. Of a form's it would say each time that it
   * is none.
   */
  async readText(): Promise<string> {
    if (this.#text !== undefined) return this.#text;
    const isBytes = this.#body !== undefined || isForm(this.headers);
    this.#text = isBytes ? decoder.decode(await this.readBytes()) : await this.page.text();
    return this.#text;
  }

  /** The signal is aborted by a client that goes; the platform makes one when it is asked for. */
  get hasClientGone(): boolean {
    return this.page.signal.aborted;
  }

  whenClientGoes(listener: () => void): void {
    if (this.hasClientGone) listener();
    else this.page.signal.addEventListener("abort", listener);
  }

  whenStopping(): void {}
}

/** A request that was read before it came here. */
export class ReadAwsRequest implements AwsRequest {
  readonly page: PageRequest;
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly url: RequestUrl;
  readonly text: string;
  #body: Uint8Array | undefined;
  #listeners: (() => void)[] | undefined;
  #hasClientGone = false;
  #isStopping = false;
  #tellStopping: (() => void) | undefined;

  constructor({ method, url, headers, body }: ReadRequest) {
    this.method = method;
    this.headers = { get: (name) => (Object.hasOwn(headers, name) ? (headers[name] ?? null) : null) };
    this.page = { method, url, headers: this.headers };
    this.url = new LazyUrl(url);
    this.text = body;
  }

  get body(): Uint8Array {
    return this.#body ?? NO_BYTES;
  }

  async readBytes(): Promise<Uint8Array> {
    this.#body ??= encoder.encode(this.text);
    return this.#body;
  }

  async readText(): Promise<string> {
    return this.text;
  }

  get hasClientGone(): boolean {
    return this.#hasClientGone;
  }

  whenClientGoes(listener: () => void): void {
    if (this.#hasClientGone) {
      listener();
      return;
    }
    this.#listeners ??= [];
    this.#listeners.push(listener);
  }

  /** Whether anybody wants to know that the client goes. */
  get isWatched(): boolean {
    return this.#listeners !== undefined;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** One listener: nobody waits in two places. */
  whenStopping(listener: () => void): void {
    this.#tellStopping = listener;
  }

  /** Nobody is to wait for the answer any longer. */
  stops(): void {
    this.#isStopping = true;
    this.#tellStopping?.();
  }

  /** Tells them, once. */
  clientHasGone(): void {
    this.#hasClientGone = true;
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) listener();
  }
}

/** Whether a body is what HTML forms and the Query protocol send. */
export function isForm(headers: RequestHeaders): boolean {
  return mediaTypeOf(headers) === FORM_TYPE;
}
