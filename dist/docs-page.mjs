// src/http/pages/client/browser.ts
var { document, isSecureContext } = globalThis;
var page = document;

// src/http/pages/client/docs-page.ts
var SHOWN_MAX = 2e4;
function element(id) {
  const found = page.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
}
var panel = element("try");
panel.hidden = false;
for (const name of wordsOf(panel.dataset["names"])) {
  const form = element(`try-${name}`);
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(name, form);
  });
}
function wordsOf(list) {
  return (list ?? "").split(" ").filter((word) => word !== "");
}
async function send(name, form) {
  const status = element(`${name}-status`);
  const key = element("key").value.trim();
  if (key === "") {
    status.textContent = "Fill in the API key at the top of this page first.";
    element("key").focus({ preventScroll: false });
    return;
  }
  status.textContent = "Waiting for the answer …";
  try {
    const started = performance.now();
    const response = await fetch(targetOf(name, form), requestOf(name, form, key));
    const text = await response.text();
    const tookMs = Math.round(performance.now() - started);
    show(element(`${name}-answer`), text, response.headers.get("Content-Type") ?? "");
    status.textContent = `${response.status} in ${tookMs} ms`;
  } catch (error) {
    status.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}
function targetOf(name, form) {
  const query = wordsOf(form.dataset["fields"]).map((field) => [field, element(`${name}-${field}`).value.trim()]).filter(([, value]) => value !== "").map(([field, value]) => `${field}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&");
  const path = form.dataset["path"] ?? "";
  return query === "" ? path : `${path}?${query}`;
}
function requestOf(name, form, key) {
  const method = form.dataset["method"] ?? "GET";
  const headers = { Authorization: `Bearer ${key}` };
  const options = { method, headers, credentials: "omit" };
  if (method !== "POST") return options;
  headers["Content-Type"] = "application/json";
  return { ...options, body: element(`${name}-body`).value };
}
function show(target, text, contentType) {
  const isJson = contentType.includes("json");
  const whole = isJson ? JSON.stringify(JSON.parse(text), void 0, 2) : `(${contentType}, ${text.length} characters)`;
  const rest = whole.length - SHOWN_MAX;
  target.textContent = rest > 0 ? `${whole.slice(0, SHOWN_MAX)}
… and ${rest} characters more` : whole;
  target.hidden = false;
}
