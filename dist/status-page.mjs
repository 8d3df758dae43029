// src/http/pages/client/browser.ts
var { document, navigator } = globalThis;
var page = document;
var clipboard = navigator.clipboard;
function element(id) {
  const found = page.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found;
}

// src/http/pages/client/status-page.ts
var INTERVAL_MS = 2e3;
var { XMLHttpRequest } = globalThis;
setInterval(() => {
  const request = new XMLHttpRequest();
  request.open("GET", "/status");
  request.responseType = "document";
  request.onloadend = () => {
    const fresh = request.response?.getElementById("main") ?? null;
    if (fresh !== null) update(element("main"), fresh);
    element("freshness").textContent = fresh === null ? "; the service does not answer now." : ", updated automatically.";
  };
  request.send();
}, INTERVAL_MS);
function update(shown, fresh) {
  if (shown.isEqualNode(fresh)) return;
  const parts = [...fresh.childNodes];
  const hasSameFrame = shown.cloneNode(false).isEqualNode(fresh.cloneNode(false));
  if (!hasSameFrame || parts.length === 0 || parts.length !== shown.childNodes.length) {
    shown.replaceWith(fresh);
    return;
  }
  for (const [i, part] of parts.entries()) update(shown.childNodes[i], part);
}
