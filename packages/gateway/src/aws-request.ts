import type { RequestUrl, SignedRequest } from "@sluice/aws";
import { LazyUrl } from "./request-url.ts";

const NO_BYTES = new Uint8Array();
const decoder = new TextDecoder();

/** A request to the AWS endpoint. Its body is read once, as who has to know it needs it. */
export class AwsRequest implements SignedRequest {
  readonly raw: Request;
  readonly method: string;
  readonly headers: Headers;
  readonly url: RequestUrl;
  #body: Uint8Array | undefined;
  #text: string | undefined;

  constructor(raw: Request) {
    this.raw = raw;
    this.method = raw.method;
    this.headers = raw.headers;
    this.url = new LazyUrl(raw.url);
  }

  /** Empty unless it was read as bytes: nobody but who checks its signature looks at them. */
  get body(): Uint8Array {
    return this.#body ?? NO_BYTES;
  }

  async readBytes(): Promise<Uint8Array> {
    this.#body ??= new Uint8Array(await this.raw.arrayBuffer());
    return this.#body;
  }

  /** The body as text; of the bytes if they were read, else as workerd hands it out for less. */
  async readText(): Promise<string> {
    this.#text ??= this.#body === undefined ? await this.raw.text() : decoder.decode(this.#body);
    return this.#text;
  }
}
