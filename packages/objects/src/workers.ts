/**
 * Base of the classes in the place of `cloudflare:workers` where the broker runs on plain Node.js: the broker's own
 * extend them. They hold what they are given, as the platform's do.
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
