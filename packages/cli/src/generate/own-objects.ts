import type { Unstable_Config } from "wrangler";

/** The part of a configuration that names the Durable Object classes of a Worker. */
export type ObjectClasses = Pick<Unstable_Config, "name" | "durable_objects" | "migrations" | "exports">;

/**
 * Whether a Worker has Durable Objects of its own: it binds, migrates or exports a class, be it one that is gone. Where it has,
 * its requests share no calls. An object blocks what comes from outside while it initialises, and is reset with all that it
 * does when it fails: with its call, those of others would have to wait or be lost. Nothing tells a send within an object from
 * others.
 */
export function hasDurableObjects({ name, durable_objects, migrations, exports }: ObjectClasses): boolean {
  const isOwn = ({ script_name }: { script_name?: string }) =>
    script_name === undefined || script_name === name;
  return (
    durable_objects.bindings.some(isOwn) ||
    migrations.length > 0 ||
    Object.values(exports ?? {}).some(({ type }) => type === "durable-object")
  );
}
