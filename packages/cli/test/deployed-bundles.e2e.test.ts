import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startWorkerd, type WorkerdService } from "@sluice/protocol/test/workerd-process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Lab, openLab } from "./lab.ts";
import { sluice, wrangler } from "./running.ts";

/** What is read of a generated configuration. */
interface Config {
  readonly compatibility_date: string;
  readonly compatibility_flags?: readonly string[];
  readonly durable_objects?: {
    readonly bindings: readonly {
      readonly name: string;
      readonly class_name: string;
      readonly script_name?: string;
    }[];
  };
  readonly services?: readonly {
    readonly binding: string;
    readonly service: string;
    readonly entrypoint?: string;
  }[];
}

let lab: Lab;
beforeAll(() => {
  lab = openLab("staged");
});
afterAll(() => lab.remove());

/** What a deployment would upload of a Worker, as a service of workerd. */
async function uploaded(name: string): Promise<WorkerdService> {
  const outdir = join(lab.folder, "uploads", name);
  const file = join(lab.folder, ".sluice", name, "wrangler.json");
  const running = wrangler(
    ["deploy", "--dry-run", "--config", file, "--outdir", outdir],
    lab.folder,
    lab.env,
  );
  expect(await running.ended, running.output).toBe(0);
  const config = JSON.parse(readFileSync(file, "utf8")) as Config;
  const data = readdirSync(outdir).filter((module) => module.endsWith(".bin"));
  const objects = config.durable_objects?.bindings ?? [];
  const bindings = [
    ...objects.map(({ name: binding, class_name, script_name }) => {
      const target = script_name === undefined ? "" : `, serviceName = "${script_name}"`;
      return `(name = "${binding}", durableObjectNamespace = (className = "${class_name}"${target}))`;
    }),
    ...(config.services ?? []).map(
      ({ binding, service, entrypoint }) =>
        `(name = "${binding}", service = (name = "${service}", entrypoint = "${entrypoint}"))`,
    ),
  ];
  return {
    name,
    source: readFileSync(join(outdir, "entry.js"), "utf8"),
    data: Object.fromEntries(data.map((module) => [module, readFileSync(join(outdir, module))])),
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags ?? [],
    bindings: bindings.join(", "),
    durableObjects: objects
      .filter(({ script_name }) => script_name === undefined)
      .map((one) => one.class_name),
  };
}

it("what a deployment uploads runs in workerd alone, without any flag that is experimental", async () => {
  const build = sluice(["build", "sender", "receiver"], lab.folder, lab.env);
  expect(await build.ended, build.output).toBe(0);
  const services = await Promise.all(["sender", "receiver", "sluice"].map(uploaded));
  // The broker's tells it of clients that have gone; the Workers' are their own.
  expect(services.map(({ compatibilityFlags }) => compatibilityFlags)).toEqual([
    [],
    [],
    ["enable_request_signal"],
  ]);
  await using workerd = await startWorkerd(services);
  const response = await workerd.fetch("/?hello");
  expect(await response.text()).toBe("sent");
  await workerd.printed("got ?hello on jobs");
  await workerd.printed("QUEUE jobs 1/1");
});
