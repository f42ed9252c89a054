import { networkInterfaces } from "node:os";

/** Finds an address by which other machines reach this one; `null` where there is none. */
export function machineAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? null;
}

/** Reason for skipping a test where there is no such address. */
export const NO_ADDRESS =
  "This machine has no address beside loopback: what other machines reach is not tested.";
