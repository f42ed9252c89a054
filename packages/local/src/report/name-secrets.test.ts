import { expect, it, vi } from "vitest";

const LINE = "Using secrets defined in .dev.vars";

it("a file of secrets is named each time, or once in a process that wants that, and other lines as they come", async () => {
  // Another test of this process may have had each file named once.
  vi.resetModules();
  const { nameSecrets, nameSecretsOnce } = await import("./name-secrets.ts");
  const printed: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line) => void printed.push(line));
  const print = () => {
    for (const line of [LINE, "other", LINE, "other"]) console.log(line);
    return printed.splice(0);
  };
  const place = () => nameSecrets({ directory: "/generated", userDirectory: "/project", env: "" });
  {
    using _ = place();
    expect(print()).toEqual([LINE, "other", LINE, "other"]);
  }
  expect(console.log).toBe(log);
  nameSecretsOnce();
  nameSecretsOnce();
  expect(print()).toEqual([LINE, "other", "other"]);
  {
    using _ = place();
    expect(print()).toEqual(["other", "other"]);
  }
  expect(print()).toEqual(["other", "other"]);
});
