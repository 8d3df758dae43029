// src/http/pages/client/browser.ts
var { document, navigator } = globalThis;
var page = document;
var clipboard = navigator.clipboard;
function element(id) {
  const found = page.getElementById(id);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found;
}
function banner(kind, title, text) {
  const words = made("p");
  words.append(made("strong", title), ` ${text}`);
  const box = made("div");
  box.className = `banner ${kind}`;
  box.append(words);
  return box;
}
function made(name, text = "") {
  const node = page.createElement(name);
  node.textContent = text;
  return node;
}

// src/core/json.ts
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/certificate/members.ts
function member(value, ...path) {
  let found = value;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : void 0;
  return found;
}

// src/http/pages/client/checks.ts
var Trouble = class extends Error {
  name = "Trouble";
};
async function checkDraw(draw) {
  const { verifyDraw } = await import("./qrn-verify.mjs");
  const witnesses = await witnessesGiven();
  const verification = await verifyDraw({ draw, keys: await keysOfLog(), ...witnesses, nowMs: Date.now() });
  return { verification, subject: "draw", status: member(draw, "certificate", "certificate", "status") };
}
async function witnessesGiven() {
  const [keys, quorum] = ["witnesses", "quorum"].map((id) => page.getElementById(id)?.value.trim() ?? "");
  if (keys === "" && quorum === "") return {};
  const { readWitnessPolicy } = await import("./qrn-verify.mjs");
  const policy = readWitnessPolicy(keys, quorum);
  if (typeof policy === "string") throw new Trouble(`Witnesses: ${policy}.`);
  return { witnesses: policy };
}
function keysOfLog() {
  return fetched("/.well-known/qrn-keys.json");
}
async function fetched(path) {
  let response;
  try {
    response = await fetch(path, { headers: { accept: "application/json" } });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Trouble(`The service could not be reached (${error.message}).`);
  }
  if (response.status === 404) throw new Trouble("This service has no certificate with this identifier.");
  if (!response.ok) throw new Trouble(`The service answered ${response.status} for ${path}.`);
  return response.json();
}
async function attempt(button2, shown, work) {
  button2.disabled = true;
  try {
    shown.replaceChildren(...await work());
  } catch (error) {
    shown.replaceChildren(troubleBanner(error));
    if (!(error instanceof Trouble)) throw error;
  } finally {
    button2.disabled = false;
  }
}
async function showCheck(button2, check) {
  const result = element("result");
  result.setAttribute("aria-busy", "true");
  result.replaceChildren(made("p", "Checking…"));
  try {
    await attempt(button2, result, async () => report(await check()));
  } finally {
    result.setAttribute("aria-busy", "false");
    result.focus({ preventScroll: true });
    result.scrollIntoView({ block: "nearest" });
  }
}
function report({ verification, subject, status }) {
  const { checks, notCovered } = verification;
  const isDraw = verification.ok && "standing" in verification;
  const verdict = isDraw ? drawSummary(verification) : summary(checks, subject, status);
  const details = made("details");
  details.className = "exact";
  if (checks.some((check) => !check.ok)) details.setAttribute("open", "");
  const title = made("summary");
  title.append(made("span", "What was checked"));
  details.append(title, list(checks));
  if (notCovered.length > 0) {
    const hint = made("p", `The certificate does not cover: ${notCovered.join(", ")}.`);
    hint.className = "hint";
    details.append(hint);
  }
  return [verdict, details];
}
function troubleBanner(error) {
  const isTold = error instanceof Trouble;
  return banner("bad", "Not checked.", isTold ? error.message : `The check itself failed: ${String(error)}`);
}
function drawSummary({ standing, advice }) {
  if (advice === void 0) return banner("good", "Verified.", "The draw ended as its statement promised.");
  return banner(standing === "pending" ? "wait" : "bad", STANDINGS[standing], advice);
}
var STANDINGS = {
  revealed: "Verified.",
  pending: "Pending: genuine so far.",
  overdue: "Overdue: it has no result.",
  cancelled: "Cancelled: genuine, without a result.",
  failed: "Failed: genuine, without a result."
};
function summary(checks, subject, status) {
  const failed = checks.filter((check) => !check.ok);
  if (failed.length === 0 && subject === "certificate")
    return banner("good", "The certificate is valid.", "Paste the answer to check its values too.");
  if (failed.length === 0) return banner("good", "Verified.", "These are the certified values.");
  if (status === "revoked" && failed.every((check) => check.name === "status"))
    return banner(
      "bad",
      "Genuine, but revoked.",
      "This is what was certified, but the operator has since withdrawn one of its lots."
    );
  const count = `${failed.length} of ${checks.length} checks failed.`;
  return banner("bad", count, `Do not rely on this ${subject}.`);
}
function list(checks) {
  const items = made("ul");
  for (const { name, ok, why } of checks) {
    const item = made("li");
    item.className = ok ? "holds good" : "fails bad";
    const words = made("div");
    words.append(made("strong", name), made("p", why));
    item.append(made("span", ok ? "✓ holds" : "✗ fails"), words);
    items.append(item);
  }
  return items;
}

// src/http/pages/client/draw-page.ts
var button = element("check-draw");
button.disabled = false;
button.addEventListener("click", () => {
  showCheck(button, async () => checkDraw(await fetched(`/v1/draws/${button.dataset["draw"]}`)));
});
var countdown = page.getElementById("countdown");
if (countdown !== null) {
  const dueMs = Date.parse(countdown.dataset["due"] ?? "");
  const count = () => {
    const leftS = Math.max(0, Math.ceil((dueMs - Date.now()) / 1e3));
    countdown.textContent = leftS === 0 ? "Now. Reload this page to see the outcome." : `in ${spanText(leftS)}`;
    if (leftS === 0) clearInterval(timer);
  };
  const timer = setInterval(count, 1e3);
  count();
}
function spanText(seconds) {
  const parts = [
    [Math.floor(seconds / 86400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"]
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  return parts.slice(first).map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}
