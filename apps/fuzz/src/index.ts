export { fuzz } from "./fuzz.ts";
export { remoteTarget, type Target } from "./target.ts";
