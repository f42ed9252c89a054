import { networkInterfaces } from "node:os";

/** An address by which other machines reach this one; `null` where it has none. */
export function machineAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? null;
}

/** Says that a test does not run. */
export const NO_ADDRESS =
  "This machine has no address beside loopback: what other machines reach is not tested.";
