/** Contract on the front door between generated entries and our runtime. Imports nothing: Node and workerd read it. */

/** Path under which everything of ours lives on the primary Worker's port. */
export const SLUICE_PATH = "/__sluice";

/**
 * How the primary Worker of `sluice dev` gets requests for `/__sluice` past its static assets, which are looked at
 * before the Worker is.
 */
export type FrontDoor =
  /** Such a request reaches the Worker. */
  | { readonly kind: "open" }
  /** Every request reaches the Worker, and the entry asks the assets first. `binding` leads to them. */
  | { readonly kind: "asks-assets"; readonly binding: string; readonly fallback: "worker" | "assets" }
  /** The Worker gets browsers' navigations, and the entry asks the assets for a page. `binding` leads to them. */
  | { readonly kind: "asks-assets-for-pages"; readonly binding: string };

export interface FrontDoorOptions {
  /** Service binding to the broker. */
  readonly brokerBinding: string;
  readonly frontDoor: FrontDoor;
}
