/** Worker that is a consumer by its configuration, and has no `queue` handler. */
export default { fetch: () => Response.json([]) } satisfies ExportedHandler;
