/** What a configuration is generated for. */
export type Purpose =
  /** `sluice dev`: Wrangler is given the file with `-c`; the primary Worker owns the port. */
  | { readonly kind: "dev"; readonly primary: boolean }
  /** `sluice serve`: the same, but Wrangler bundles it and workerd alone runs it; where no Worker is, Node.js runs the broker. */
  | { readonly kind: "serve"; readonly primary: boolean }
  /** `sluice build`: Wrangler is redirected to the file, in `dev` and `deploy`. */
  | { readonly kind: "build" };
