import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { request as forward } from "node:http";
import { Agent, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createSigningIdentity } from "@sluice/sns";
import { onTestFinished } from "vitest";

/** A proxy that ends TLS before a broker, like nginx in the guide. */
export interface TlsProxy {
  readonly port: number;
  /** Agent of clients: it resolves every name to the proxy, and trusts its certificate. */
  readonly agent: Agent;
  /** `Host` and path of each request, as the client sent them. */
  readonly requests: readonly string[];
  /** Origin of the broker, which the test sets before the first request. */
  target: string;
}

/**
 * Starts a proxy until the end of the test.
 *
 * @param path prefix that the proxy removes from the paths of requests.
 * @param headersFor headers that it overwrites in requests for a host. Default: only the protocol.
 */
export async function startTlsProxy(
  path = "",
  headersFor: (host: string) => Record<string, string> = () => ({}),
): Promise<TlsProxy> {
  const { privateKeyPkcs8, certificatePem } = await createSigningIdentity(Date.now());
  const key = createPrivateKey({ key: Buffer.from(privateKeyPkcs8, "base64"), format: "der", type: "pkcs8" });
  const requests: string[] = [];
  const server = createServer(
    { key: key.export({ format: "pem", type: "pkcs8" }), cert: certificatePem },
    (incoming, outgoing) => {
      const { method, url = "/", headers } = incoming;
      requests.push(`${headers.host}${url}`);
      if (!url.startsWith(path)) return void outgoing.writeHead(404).end();
      const added = { "x-forwarded-proto": "https", ...headersFor(headers.host ?? "") };
      const options = { method, headers: { ...headers, ...added } };
      const passedOn = forward(`${proxy.target}${url.slice(path.length)}`, options, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      passedOn.on("error", () => outgoing.destroy());
      incoming.pipe(passedOn);
    },
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({
    ca: certificatePem,
    // The certificate is that of SNS's signatures, and names no host.
    checkServerIdentity: () => undefined,
    lookup: (_, { all }, found) =>
      all === true ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4),
  });
  onTestFinished(() => {
    agent.destroy();
    server.close();
    server.closeAllConnections();
  });
  const proxy = { port, agent, requests, target: "" };
  return proxy;
}
