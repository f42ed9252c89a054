import { Pool } from "undici";

/** Connections that a client keeps open; no workload has more requests under way. */
const CONNECTIONS = 64;

/** Sends requests over connections that stay open, one after the other on each. */
export class HttpPool {
  readonly #pool: Pool;
  readonly #path: string;

  constructor(endpoint: string) {
    const { origin, pathname } = new URL(endpoint);
    this.#path = pathname;
    this.#pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  }

  /** @param path default: that of the endpoint. Rejects with the answer unless its status is 200. */
  async post(headers: Record<string, string>, body: string, path = this.#path): Promise<string> {
    const response = await this.#pool.request({ method: "POST", path, headers, body });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
    return text;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
