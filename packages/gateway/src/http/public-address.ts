import type { PublicUrl } from "@sluice/protocol";

/** Says where a broker's clients reach it. Every URL that they are given is made here. */
export class PublicAddress {
  readonly #url: PublicUrl | null;
  #looksForProxy: boolean;

  /** @param url `null` for a broker that its clients reach at the address that it sees. */
  constructor(url: PublicUrl | null) {
    this.#url = url;
    this.#looksForProxy = url === null;
  }

  /** URL of one of our paths, for the client of a request. */
  urlOf(request: URL, path: string): string {
    return this.#url === null ? `${request.origin}${path}` : `${this.#url.origin}${this.#url.path}${path}`;
  }

  /**
   * URL of a request as its client sent it, which is what it has signed: with the path that a proxy takes off. A
   * request that names another host has not come by the proxy.
   */
  sentUrl(request: URL): URL {
    const { host, path } = this.#url ?? { host: "", path: "" };
    if (path === "" || request.host !== host) return request;
    return Object.assign(new URL(request), { pathname: `${path}${request.pathname}` });
  }

  /**
   * Warns once of a proxy that speaks TLS with clients which are then given URLs without: a client that goes by such a
   * URL sends its messages in clear.
   */
  lookForProxy(request: URL, headers: Pick<Headers, "get">): void {
    if (!this.#looksForProxy || request.protocol !== "http:") return;
    if (headers.get("x-forwarded-proto")?.split(",")[0]?.trim().toLowerCase() !== "https") return;
    this.#looksForProxy = false;
    console.warn(
      "A proxy before this broker speaks HTTPS, but the URLs of queues and subscriptions begin with " +
        `${request.origin}: clients that go by them send in clear. Set SLUICE_PUBLIC_URL to the address of the proxy, ` +
        `such as https://${request.host}.`,
    );
  }
}
