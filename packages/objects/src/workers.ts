/**
 * Base of the classes that replace those of `cloudflare:workers` on plain Node.js. The broker's classes extend them.
 * As the platform's, they keep `ctx` and `env`.
 */
class Constructed {
  readonly ctx: unknown;
  readonly env: unknown;

  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx;
    this.env = env;
  }
}

export class DurableObject extends Constructed {}

export class WorkerEntrypoint extends Constructed {}
