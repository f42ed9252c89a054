import { getRequestListener } from "@hono/node-server";
import { createBoundedServer } from "../http/bounded-server.ts";
import type { Ingress } from "../http/ingress.ts";
import { listen, withPatience } from "../http/listen.ts";
import type { Broker } from "../node/contract.ts";

export interface ServerOptions {
  /** Address and port to listen on; port 0 for a free one. */
  readonly host: string;
  readonly port: number;
  readonly broker: Pick<Broker, "fetch" | "asksForSignatures">;
}

/**
 * Serves a broker in this process.
 *
 * @throws CliError when the port is in use.
 */
export async function startServer({ host, port, broker }: ServerOptions): Promise<Ingress> {
  const listener = getRequestListener((request) => broker.fetch(request));
  // Hono's listener takes a body that was read already from `rawBody`.
  const { server, stop } = createBoundedServer({
    asksForSignatures: broker.asksForSignatures,
    answer: (request, response, body) => void listener(Object.assign(request, { rawBody: body }), response),
  });
  const listening = await listen(server, host, port);
  return {
    port: listening,
    stop: (signal) => withPatience(stop(), signal),
    destroy: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
