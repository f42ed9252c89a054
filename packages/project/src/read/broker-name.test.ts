import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { readProject } from "./project.ts";
// Loading takes seconds on a busy machine, which must not count for a test.
import "wrangler";

const INDEX = "export default { fetch() {}, queue() {} };";

describe("the broker's name on an account", () => {
  const onAccount = (folder: string, broker?: string, env = "") =>
    readProject({ targets: ["api"], env, workingDirectory: folder, onAccount: { broker } });
  const files = (table: string) => ({
    "api/wrangler.toml": `name = "api"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n${table}\n[env.x]\n`,
    "api/index.js": INDEX,
  });
  const BROKER_TABLE =
    'name = "orders-broker"\n[[durable_objects.bindings]]\nname = "SLUICE_QUEUES"\nclass_name = "QueueBroker"\n';

  it("is that of a file, or of the command line, with the environment's suffix", async () => {
    const folder = projectFolder(files('[sluice]\nbroker = "team"'));
    expect((await onAccount(folder)).broker.name).toBe("team");
    expect((await onAccount(folder, undefined, "x")).broker.name).toBe("team-x");
    expect((await onAccount(folder, "other")).broker.name).toBe("other");
    expect((await onAccount(folder, "other", "x")).broker.name).toBe("other-x");
  });

  it("does not apply to a broker on this machine", async () => {
    const folder = projectFolder(files('[sluice]\nbroker = "team"'));
    expect((await readProject({ targets: ["api"], env: "", workingDirectory: folder })).broker.name).toBe(
      "sluice",
    );
  });

  it("is that of the broker's own configuration, which no file may contradict", async () => {
    const agreed = projectFolder({
      ...files('[sluice]\nbroker = "orders-broker"'),
      "wrangler.toml": BROKER_TABLE,
    });
    expect((await onAccount(agreed)).broker.name).toBe("orders-broker");
    const folder = projectFolder({ ...files('[sluice]\nbroker = "team"'), "wrangler.toml": BROKER_TABLE });
    await expect(onAccount(folder)).rejects.toThrow(
      `${folder}/api/wrangler.toml:5: "sluice.broker" is "team", and the broker's own configuration calls it ` +
        `"orders-broker" (${folder}/wrangler.toml)`,
    );
  });
});
