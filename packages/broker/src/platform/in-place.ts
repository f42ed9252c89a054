import type { Jurisdiction } from "@sluice/protocol";

/** Returns the part of a namespace whose objects are made in a jurisdiction; all of it for none. */
export function inPlace<Namespace extends { jurisdiction?(jurisdiction: Jurisdiction): unknown }>(
  namespace: Namespace,
  place: Jurisdiction | null | undefined,
): Namespace {
  return place == null ? namespace : (namespace.jurisdiction?.(place) as Namespace);
}
