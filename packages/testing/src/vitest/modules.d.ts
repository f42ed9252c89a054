/** Exports that are used of the Workers runtime, and of Cloudflare's plugin for Vitest. */
declare module "cloudflare:workers" {
  export const env: object;
}
declare module "cloudflare:test" {
  export function reset(): Promise<void>;
}
