import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "@sluice/project/errors";

/** How long a stopping server waits for requests to be answered, in ms. */
const PATIENCE_MS = 5_000;

/** Resolves with `done`, but after `PATIENCE_MS` at the latest, or when the signal is aborted. */
export async function withPatience(done: Promise<void>, signal: AbortSignal): Promise<void> {
  // `sleep` rejects when the signal is aborted.
  const patience = sleep(PATIENCE_MS, undefined, { ref: false, signal }).catch(() => {});
  await Promise.race([done, patience]);
}

/**
 * Has a server listen; resolves with its port.
 *
 * @throws CliError when the port is in use.
 */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, host, port);
  }
  return (server.address() as AddressInfo).port;
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (error.code === "EADDRINUSE") {
    return new CliError(`${address} is in use by another process. Choose another port with --port.`);
  }
  return new CliError(`${address} cannot be listened on: ${error.message}`);
}
