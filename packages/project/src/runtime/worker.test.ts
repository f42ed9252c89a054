import { describe, expect, it } from "vitest";
import { hideBindings } from "./worker.ts";

describe("hideBindings", () => {
  it("removes bindings from every listing, and leaves them readable by name", () => {
    const env: Record<string, unknown> = { OURS: "broker", USERS: "queue" };
    hideBindings(env, ["OURS", "ABSENT"]);
    expect(Object.keys(env)).toEqual(["USERS"]);
    expect(JSON.stringify({ ...env })).toBe('{"USERS":"queue"}');
    expect(env.OURS).toBe("broker");
    expect("ABSENT" in env).toBe(false);
  });
});
