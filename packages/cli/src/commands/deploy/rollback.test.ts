import { describe, expect, it } from "vitest";
import { targetsOf, type WorkerVersions } from "./rollback.ts";

/**
 * Makes versions from `DEPLOYMENT@NUMBER`, in the order of their deployment; the number counts uploads. Contents are
 * different for each, or the text behind an `=`.
 */
function worker(name: string, ...versions: string[]): WorkerVersions {
  return {
    name,
    versions: versions.map((id) => {
      const [upload = "", tag = id] = id.split("=");
      const [by = "", number] = upload.split("@");
      return { id, deployment: by === "hand" ? null : by, tag, createdOn: `2026-11-0${number}` };
    }),
  };
}

describe("the version that a rollback returns a Worker to", () => {
  it("is the one before the last deployment, and there is none for a Worker that it did not change", () => {
    const workers = [
      worker("web", "r1@1", "r2@3"),
      worker("mailer", "r1@1"),
      worker("sluice", "r1@2", "r2@4", "r2@5"),
    ];
    expect(targetsOf(workers)).toEqual([
      { name: "web", to: "r1@1" },
      { name: "sluice", to: "r1@2" },
    ]);
  });

  it("is none for a Worker that is new", () => {
    expect(targetsOf([worker("web", "r1@1", "r2@3"), worker("new", "r2@2")])).toEqual([
      { name: "web", to: "r1@1" },
      { name: "new", to: null },
    ]);
  });

  it("is the same for a run that continues one that stopped", () => {
    expect(targetsOf([worker("web", "r1@1", "r2@3", "r1@1"), worker("sluice", "r1@2", "r2@4")])).toEqual([
      { name: "sluice", to: "r1@2" },
    ]);
  });

  it("is one deployment earlier after a rollback, also when the undone one was deployed twice", () => {
    expect(targetsOf([worker("web", "r1@1", "r2@2", "r3@3", "r2@2")])).toEqual([{ name: "web", to: "r1@1" }]);
    expect(targetsOf([worker("web", "r1@1", "r2@2", "r1@1", "r2@3")])).toEqual([{ name: "web", to: "r1@1" }]);
  });

  it("is the live one for a broker that was deployed again for its secrets alone", () => {
    expect(targetsOf([worker("web", "r1@1", "r2@3"), worker("sluice", "r1@2=same", "r2@4=same")])).toEqual([
      { name: "web", to: "r1@1" },
    ]);
  });

  it("is none without a deployment by Sluice", () => {
    expect(targetsOf([worker("web", "hand@1"), worker("none")])).toEqual([]);
  });
});
