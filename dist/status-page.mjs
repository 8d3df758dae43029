// src/http/pages/client/browser.ts
var { document, isSecureContext, navigator } = globalThis;
var page = document;
var clipboard = navigator.clipboard;
function element(id) {
  const found = page.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found;
}

// src/http/pages/client/checks.ts
import { verifyAnswer } from "./qrn-verify.mjs";
import { verifyDraw } from "./qrn-verify.mjs";
import { readWitnessPolicy } from "./qrn-verify.mjs";
var Trouble = class extends Error {
  name = "Trouble";
};
async function fetched(path) {
  let response;
  try {
    response = await fetch(path, { headers: { accept: "application/json" } });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Trouble(`The service could not be reached (${error.message}).`);
  }
  if (response.status === 404) throw new Trouble("This service has nothing with that id.");
  if (!response.ok) throw new Trouble(`The service answered ${response.status} for ${path}.`);
  return response.json();
}

// src/http/pages/client/status-page.ts
var INTERVAL_MS = 2e3;
setInterval(async () => {
  try {
    show(await fetched("/status.json"));
    element("freshness").textContent = ", and change as you look.";
  } catch {
    element("freshness").textContent = "; the service does not answer now.";
  }
}, INTERVAL_MS);
function show(texts) {
  for (const each of page.querySelectorAll("[data-live]")) {
    const text = texts[each.dataset["live"] ?? ""];
    if (text !== void 0 && each.textContent !== text) each.textContent = text;
  }
  for (const each of page.querySelectorAll("[data-live-path]"))
    set(each, "d", texts[each.dataset["livePath"] ?? ""]);
  for (const each of page.querySelectorAll("[data-live-label]"))
    set(each, "aria-label", texts[each.dataset["liveLabel"] ?? ""]);
  const edition = element("edition");
  edition.hidden = texts["edition"] === edition.dataset["edition"];
}
function set(target, name, value) {
  if (value !== void 0) target.setAttribute(name, value);
}
