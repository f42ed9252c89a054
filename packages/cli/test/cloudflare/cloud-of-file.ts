import { afterAll, beforeEach } from "vitest";
import { Cloud } from "./cloud.ts";

/** Starts a cloud for the tests of a file. It is empty before each of them, and ends with the last. */
export async function cloudOfFile(): Promise<Cloud> {
  const cloud = await Cloud.start();
  beforeEach(() => cloud.clear());
  afterAll(() => cloud[Symbol.asyncDispose]());
  return cloud;
}
