/*
 * Contract between generated entries and our runtime in Workers. It has no imports, because Node.js and workerd both
 * load it. The primary Worker is the first one that a command names; the "front door" in its entry passes requests for
 * `/__sluice` on to the broker.
 */

/** Path below which the broker answers on the primary Worker's port. */
export const SLUICE_PATH = "/__sluice";

/** Ways for requests for `/__sluice` to get past the primary Worker's static assets, which precede the Worker. */
export type FrontDoor =
  /** These requests reach the Worker directly. */
  | { readonly kind: "open" }
  /** Every request reaches the Worker. The entry asks the assets first, by `binding`, and then `fallback`. */
  | { readonly kind: "asks-assets"; readonly binding: string; readonly fallback: "worker" | "assets" }
  /** The Worker gets browsers' navigations too. For these the entry asks the assets for a page first, by `binding`. */
  | { readonly kind: "asks-assets-for-pages"; readonly binding: string };

export interface FrontDoorOptions {
  /** Service binding to the broker. */
  readonly brokerBinding: string;
  readonly frontDoor: FrontDoor;
}
