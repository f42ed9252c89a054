import type { QueueTopology } from "./topology.ts";

/** JSON that is the same for the same value, whatever order its keys were written in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** What tells two topologies apart: SHA-256 in hexadecimal. */
export async function topologyFingerprint(topology: QueueTopology): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(topology));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
