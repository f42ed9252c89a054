import { HostService } from "@sluice/local/http/host-service";
import { alreadyInSource, stackNamer } from "@sluice/local/stacks/named-stack";
import { STACKS_VARIABLE } from "@sluice/project/names";

/** Folder in the frames of Cloudflare's runner Worker, which runs the modules. The path is relative to the root. */
const RUNNER = /(?<=[ (])workers\/runner-worker\//g;

/** Renames frames of Cloudflare's runner Worker in a stack trace, so that they count as the runtime's. */
export function namedRunner(stack: string): string {
  return stack.replaceAll(RUNNER, "cloudflare:runner-worker/");
}

/** Services by root. They run until the process ends, since Vite may read its configuration again. */
const services = new Map<string, HostService>();

/**
 * Makes the broker name files in stack traces relative to the project's root. Vite has mapped them to the sources.
 *
 * @param vars variables of the broker. Cloudflare's plugin reads them when it starts the Workers, when the variable has
 *   a value.
 * @param root absolute path.
 */
export function nameStacks(vars: object, root: string): void {
  const named = stackNamer(alreadyInSource, root);
  const service = services.get(root) ?? new HostService((stack) => namedRunner(named(stack)));
  services.set(root, service);
  Object.defineProperty(vars, STACKS_VARIABLE, { enumerable: true, get: () => service.url });
}
