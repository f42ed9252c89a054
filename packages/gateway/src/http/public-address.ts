import type { RequestHeaders } from "@sluice/aws";
import type { PublicAddressSetting, PublicUrl } from "@sluice/protocol";
import { forwardedAddress, forwardedHost } from "./forwarded.ts";

/** A request as it came here. */
export interface SeenRequest {
  readonly url: URL;
  readonly headers: Pick<Headers, "get">;
}

/** Address at which clients reach a broker. Every URL that they are given is made here. */
export class PublicAddress {
  readonly #setting: PublicAddressSetting;
  #looksForProxy: boolean;

  constructor(setting: PublicAddressSetting) {
    this.#setting = setting;
    this.#looksForProxy = setting === null;
  }

  /** Makes the URL of one of our paths, for the client of a request. */
  urlOf(request: SeenRequest, path: string): string {
    const address = publicUrlOf(this.#setting, request);
    return address === null ? `${request.url.origin}${path}` : `${address.origin}${address.path}${path}`;
  }

  /**
   * Makes the URL of a request as its client has sent and signed it: with the path that a proxy removes. A request that
   * names another host than `SLUICE_PUBLIC_URL` has not come by the proxy.
   */
  sentUrl(request: SeenRequest): URL {
    const { host, path } = publicUrlOf(this.#setting, request) ?? { host: "", path: "" };
    if (path === "" || (this.#setting !== "forwarded" && request.url.host !== host)) return request.url;
    return Object.assign(new URL(request.url), { pathname: `${path}${request.url.pathname}` });
  }

  /** Makes the headers of a request as its client signed them: with the host that the client named to the proxy. */
  sentHeaders(headers: RequestHeaders): RequestHeaders {
    const host = this.#setting === "forwarded" ? forwardedHost(headers) : null;
    if (host === null) return headers;
    return { get: (name) => (name === "host" ? host : headers.get(name)), keys: () => headers.keys() };
  }

  /**
   * Warns once of a proxy that speaks TLS with clients which are then given URLs without: a client that uses such a URL
   * sends its messages in clear. The warning names no host: that of a request is its sender's to choose.
   */
  lookForProxy({ url, headers }: SeenRequest): void {
    if (!this.#looksForProxy || url.protocol !== "http:") return;
    if (headers.get("x-forwarded-proto")?.split(",")[0]?.trim().toLowerCase() !== "https") return;
    this.#looksForProxy = false;
    console.warn(
      "A proxy before this broker speaks HTTPS, but the URLs of queues and subscriptions begin with http: clients " +
        "that go by them send in clear. Set SLUICE_PUBLIC_URL to the address of the proxy, as " +
        "https://NAME-OF-THE-PROXY, or SLUICE_TRUST_PROXY=true if it overwrites X-Forwarded-Proto, X-Forwarded-Host " +
        "and X-Forwarded-Prefix.",
    );
  }
}

/** Returns the address at which a request's client reaches the broker; `null` for the one that the request names. */
export function publicUrlOf(
  setting: PublicAddressSetting | undefined,
  { url, headers }: SeenRequest,
): PublicUrl | null {
  return setting === "forwarded" ? forwardedAddress(url, headers) : (setting ?? null);
}
