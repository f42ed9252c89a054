/** Front door between generated entries and our runtime. No imports: Node.js and workerd both load it. */

/** Path of everything of ours on the primary Worker's port. */
export const SLUICE_PATH = "/__sluice";

/** How requests for `/__sluice` get past the primary Worker's static assets, which come before the Worker. */
export type FrontDoor =
  /** Such a request reaches the Worker directly. */
  | { readonly kind: "open" }
  /** Every request reaches the Worker, and the entry asks the assets first, by `binding`. */
  | { readonly kind: "asks-assets"; readonly binding: string; readonly fallback: "worker" | "assets" }
  /** The Worker gets browsers' navigations, for which the entry asks the assets for a page, by `binding`. */
  | { readonly kind: "asks-assets-for-pages"; readonly binding: string };

export interface FrontDoorOptions {
  /** Service binding to the broker. */
  readonly brokerBinding: string;
  readonly frontDoor: FrontDoor;
}
