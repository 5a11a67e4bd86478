const base = new URL('..', document.currentScript.src).href;
Scalar.createApiReference('#reference', {
  url: base + 'docs/openapi.json',
  servers: [{ url: base.slice(0, -1) }],
  authentication: { preferredSecurityScheme: 'apiKey' },
  featuredClients: ['shell/curl', 'php/curl', 'js/fetch', 'python/requests'],
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hideModels: true,
  documentDownloadType: 'json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});

// Scalar's markup violates rules of accessibility, most of all in the dialog that sends requests.
const repairs = {
  '[role=combobox]:not([aria-expanded])': (element) => element.setAttribute('aria-expanded', 'false'),
  'button:is([role=none], [role=alert])': (element) => element.removeAttribute('role'),
  '[role=dialog] section[aria-label^="Notifications alt"]': (element) =>
    element.setAttribute('aria-label', 'Notifications about the request'),
  // Scalar's own placeholder is a joke.
  '.scalar-password-input:not([placeholder="Your API key"])': (element) =>
    element.setAttribute('placeholder', 'Your API key'),
  '.cm-content:not([aria-label])': (element) => element.setAttribute('aria-label', 'Code'),
  '.cm-scroller[tabindex="-1"]': (element) => element.setAttribute('tabindex', '0'),
  // The menu of a parameter without a value.
  '[role=dialog] button[aria-haspopup=menu]:not([aria-label])': (element) => {
    if (element.textContent.trim() === '') element.setAttribute('aria-label', 'Choose a value');
  },
  'button[aria-label^=Copy][aria-controls]': (element) => {
    if (!document.getElementById(element.getAttribute('aria-controls'))) element.removeAttribute('aria-controls');
  },
};
new MutationObserver(() => {
  for (const [selector, repair] of Object.entries(repairs)) document.querySelectorAll(selector).forEach(repair);
}).observe(document.body, { childList: true, subtree: true, attributeFilter: ['aria-expanded', 'placeholder', 'role', 'tabindex'] });

// The dialog has a main of its own, so the page behind it is inert. Scalar hides a closed dialog by this class.
new MutationObserver(() => {
  const dialog = document.querySelector('.scalar-client--open [role=dialog]');
  for (const part of document.querySelectorAll('main, .bar')) part.inert = dialog !== null && !dialog.contains(part);
}).observe(document.body, { subtree: true, attributeFilter: ['class'] });
