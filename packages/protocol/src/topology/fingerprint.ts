import { hexOf } from "../hex.ts";
import { queuesOf } from "./alerts-queue.ts";
import { canonicalJson, type QueueTopology } from "./topology.ts";

/**
 * Computes the fingerprint that tells two topologies apart: SHA-256 in hexadecimal. The queue of alerts is part of it,
 * because a later version may define that in another way.
 */
export async function topologyFingerprint(topology: QueueTopology): Promise<string> {
  const text = canonicalJson({ ...topology, queues: queuesOf(topology) });
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return hexOf(new Uint8Array(digest));
}
