/** What programs import of this package. */
export { getPlatformProxy } from "./platform-proxy/get-platform-proxy.ts";
