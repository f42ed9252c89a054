/** Bundle of a broker, as a deployment uploads it. */
declare module "old-broker" {
  type Class = new (ctx: DurableObjectState, env: object) => import("cloudflare:workers").DurableObject;
  export const QueueBroker: Class;
  export const Directory: Class;
  const handler: ExportedHandler;
  export default handler;
}
declare module "new-broker" {
  export * from "old-broker";
  export { default } from "old-broker";
}
