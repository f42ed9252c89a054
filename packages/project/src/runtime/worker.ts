/* Module that the generated entries of the users' Workers import. */
export { createQueueConsumer, watchConsole } from "@sluice/consumer";
export { installProducers } from "@sluice/producer";
export { withFrontDoor } from "./front-door.ts";

/** Hides our bindings from code that lists the keys of `env`. They stay readable by name, which the producers need. */
export function hideBindings(env: object, names: readonly string[]): void {
  for (const name of names) {
    if (!(name in env)) continue;
    const value: unknown = Reflect.get(env, name);
    Object.defineProperty(env, name, { value, enumerable: false, configurable: true, writable: true });
  }
}
