import { lookup } from "node:dns/promises";
import { createServer } from "node:net";
import { CliError } from "@sluice/project/errors";

/** An address that an option or a configuration asks to listen on. */
interface WantedAddress {
  readonly host: string;
  readonly port: number;
  /** Option that chooses another port: `--port`. */
  readonly option: string;
}

/**
 * Refuses an address on which something else listens, before anything is started. Wrangler would report that only at
 * the end of all its output.
 *
 * @throws CliError with the port and the option.
 */
export async function refusePortInUse({ host, port, option }: WantedAddress): Promise<void> {
  if (port === 0) return;
  const addresses = await addressesOf(host);
  const inUse = await Promise.all(addresses.map((address) => isInUse(address, port)));
  if (!inUse.includes(true)) return;
  throw new CliError(
    `Port ${port} of ${host} is in use by another process. End that one, or choose another port with ${option}.`,
  );
}

/** Looks up the addresses of a host; none if it is not found, which Wrangler reports. */
async function addressesOf(host: string): Promise<string[]> {
  if (host === "*") return ["::"];
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}

/** Whether something listens at an address of this machine. */
export function isInUse(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error && error.code === "EADDRINUSE"));
    server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(false)));
  });
}
