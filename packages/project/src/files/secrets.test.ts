import { existsSync, lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { placeEnvFiles, placeSecrets } from "./secrets.ts";

function placed(files: Record<string, string>, env = "") {
  const user = projectFolder(files);
  const target = projectFolder({});
  placeSecrets(user, target, env);
  const read = (name: string) =>
    existsSync(join(target, name)) ? readFileSync(join(target, name), "utf8") : null;
  return { user, target, read };
}

describe("placeSecrets", () => {
  it("links .dev.vars and .env files, so that a change of the user's is seen", () => {
    const { user, read } = placed({ ".dev.vars": "A=1", ".env": "B=1", ".env.local": "C=1" });
    expect([read(".dev.vars"), read(".env"), read(".env.local")]).toEqual(["A=1", "B=1", "C=1"]);
    writeFileSync(join(user, ".dev.vars"), "A=2");
    expect(read(".dev.vars")).toBe("A=2");
  });

  it("counts a missing file as soon as the user makes it", () => {
    const { user, read } = placed({});
    expect(read(".dev.vars")).toBeNull();
    writeFileSync(join(user, ".dev.vars"), "A=1");
    expect(read(".dev.vars")).toBe("A=1");
  });

  it("replaces the plain .dev.vars by that of the environment", () => {
    const files = { ".dev.vars": "A=plain", ".dev.vars.staging": "A=staging" };
    expect(placed(files, "staging").read(".dev.vars")).toBe("A=staging");
    expect(placed(files, "production").read(".dev.vars")).toBe("A=plain");
    expect(placed(files).read(".dev.vars")).toBe("A=plain");
  });

  it("puts the environment's .env files after the plain ones, where the later value wins", () => {
    const { read } = placed(
      {
        ".env": "A=1",
        ".env.local": "A=2",
        ".env.staging": "A=3",
        ".env.staging.local": "A=4",
        ".env.other": "A=5",
      },
      "staging",
    );
    expect(read(".env")).toBe("A=1");
    expect(read(".env.local")).toBe("A=2\nA=3\nA=4\n");
  });

  it("lets only the user read a copy", () => {
    const { target } = placed({ ".env.staging": "A=1" }, "staging");
    expect(lstatSync(join(target, ".env.local")).mode & 0o777).toBe(0o600);
  });

  it("replaces links by copies and copies by links in the next run", () => {
    const { user, target, read } = placed({ ".env.local": "A=1", ".env.staging": "A=2" }, "staging");
    placeSecrets(user, target, "");
    expect(read(".env.local")).toBe("A=1");
    placeSecrets(user, target, "staging");
    expect(read(".env.local")).toBe("A=1\nA=2\n");
    expect(readFileSync(join(user, ".env.local"), "utf8")).toBe("A=1");
  });
});

describe("placeEnvFiles", () => {
  it("links the named files of any folder under names for Wrangler's arguments", () => {
    const user = projectFolder({ "web/.env.a": "A=1", "b.env": "B=1" });
    const target = projectFolder({});
    placeEnvFiles(join(user, "web"), target, [".env.a", "../b.env", "missing.env"]);
    expect(readFileSync(join(target, "env-file-0"), "utf8")).toBe("A=1");
    expect(readFileSync(join(target, "env-file-1"), "utf8")).toBe("B=1");
    expect(existsSync(join(target, "env-file-2"))).toBe(false);
  });
});
