import { HostService } from "@sluice/local/http/host-service";
import { alreadyInSource, stackNamer } from "@sluice/local/stacks/named-stack";
import { STACKS_VARIABLE } from "@sluice/project/names";

/** Folder of the Worker of Cloudflare's plugin that runs the modules, as its frames have it below the root. */
const RUNNER = /(?<=[ (])workers\/runner-worker\//g;

/** Makes the frames of Cloudflare's plugin in a stack trace those of the runtime. */
export function namedRunner(stack: string): string {
  return stack.replaceAll(RUNNER, "cloudflare:runner-worker/");
}

/** Services by the root that they name files from, until the process ends: Vite reads its configuration again. */
const services = new Map<string, HostService>();

/**
 * Has the broker name the files in stack traces from the project's root. Vite itself leads them to the sources.
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
