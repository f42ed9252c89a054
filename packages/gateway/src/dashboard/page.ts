import { PAGE_SCRIPT, PAGE_STYLE } from "./page-parts.generated.ts";

/**
 * The page at `/__sluice/`: queues, topics, and how deliveries to those who consume them go, read from the admin API
 * once a second. One document, so that a deployed broker needs no assets for it; its parts are made from `client/`.
 */
export const DASHBOARD_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
</head>
<body>
<noscript>This page needs JavaScript. The same as JSON: <a href="/__sluice/api/queues">/__sluice/api/queues</a></noscript>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;

/** It has buttons that delete messages, so no other page may frame it; and it needs nothing of anybody else's. */
export const DASHBOARD_HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
} as const;
